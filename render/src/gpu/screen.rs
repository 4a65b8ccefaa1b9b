//! Screen: how a finished picture gets into a window, and what is done when it cannot.

use dh_view::View;
use egui_wgpu::{Renderer as TextRenderer, RendererOptions};
use wgpu::{
    BindGroupLayout, CurrentSurfaceTexture, Device, Instance, LoadOp, Operations, PresentMode,
    RenderPipeline, StoreOp, Surface, SurfaceConfiguration, SurfaceTexture, TextureUsages,
    TextureView,
};

use super::adapter::{Adapter, NoAdapter, candidates_for};
use super::{Finish, Gpu, pipelines};
use crate::scene::DrawList;
use crate::scene::capsule::Capsule;
use crate::text::Lettering;
use crate::window::Screen;

/// Frames in a row that may fail before everything is made anew.
const STRIKES_MAX: u8 = 3;

/// A window as a device draws into it.
pub(crate) struct Front {
    screen: Screen,
    surface: Surface<'static>,
    config: SurfaceConfiguration,
    blit: RenderPipeline,
    bound: BindGroupLayout,
    /// Glyphs of the window's own text, which lasts from frame to frame.
    text: TextRenderer,
    strikes: u8,
}

/// What became of one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// It is on the screen, or on its way.
    Shown,
    /// Nobody would see it, or the window is changing; the next may do.
    Skipped,
    /// The device or the window's surface is gone: everything is to be made anew.
    Lost,
}

impl Gpu {
    /// The first adapter that gives a device for this window.
    pub(crate) fn open_on(shape: &Capsule, screen: Screen) -> Result<(Self, Front), NoAdapter> {
        let display = Box::new(screen.display.clone());
        let wanted = wgpu::InstanceDescriptor::new_with_display_handle_from_env(display);
        let instance = Instance::new(wanted);
        let pane = std::sync::Arc::clone(&screen.pane);
        let surface = instance
            .create_surface(pane)
            .map_err(|error| NoAdapter { tried: vec![error.to_string()] })?;
        let (gpu, adapter) = {
            let finish = |it: &Adapter| if it.software { Finish::Quick } else { Finish::Fine };
            Self::open_any(candidates_for(&instance, &surface), shape, finish)?
        };
        let formats = surface.get_capabilities(&adapter).formats;
        let size = screen.pane.inner_size();
        let Some(mut config) = surface.get_default_config(&adapter, size.width, size.height) else {
            let tried = vec![String::from("the adapter cannot draw into this window")];
            return Err(NoAdapter { tried });
        };
        // Bytes that are encoded already must not be encoded again.
        let plain = config.format.remove_srgb_suffix();
        if formats.contains(&plain) {
            config.format = plain;
        }
        config.present_mode = PresentMode::Fifo;
        config.usage = TextureUsages::RENDER_ATTACHMENT;
        // Sized at the first frame.
        (config.width, config.height) = (0, 0);
        let front = Front::new(&gpu.device, screen, surface, config);
        Ok((gpu, front))
    }

    /// Draw a list into the window.
    pub(crate) fn show(
        &mut self,
        front: &mut Front,
        view: &View,
        list: &DrawList,
        lettering: &Lettering,
    ) -> Frame {
        let (width, height) = (list.lens.width, list.lens.height);
        if (front.config.width, front.config.height) != (width, height) {
            (front.config.width, front.config.height) = (width, height);
            front.surface.configure(&self.device, &front.config);
        }
        let frame = match self.acquire(front) {
            Ok(frame) => frame,
            Err(why) => return why,
        };
        let targets = self.targets(width, height);
        let mut encoder = self.paint(&targets, view, list);
        self.draw_text(&mut front.text, &mut encoder, &targets, lettering);
        front.copy(&self.device, &mut encoder, &targets.picture, &frame);
        self.queue.submit([encoder.finish()]);
        front.screen.pane.pre_present_notify();
        self.queue.present(frame);
        self.targets = Some(targets);
        match self.complaint() {
            None => {
                front.strikes = 0;
                Frame::Shown
            }
            Some(complaint) => {
                tracing::debug!("a frame failed: {complaint}");
                front.strike(self.is_lost())
            }
        }
    }

    /// The window's next texture. What says lost, and what does not but is, is found by asking the
    /// device: it tells of its own end only when it is polled.
    fn acquire(&self, front: &mut Front) -> Result<SurfaceTexture, Frame> {
        match front.surface.get_current_texture() {
            CurrentSurfaceTexture::Success(frame) => Ok(frame),
            CurrentSurfaceTexture::Suboptimal(frame) => {
                // It is shown once more as it is; the next frame asks for the window's size anew.
                (front.config.width, front.config.height) = (0, 0);
                Ok(frame)
            }
            CurrentSurfaceTexture::Timeout | CurrentSurfaceTexture::Occluded => Err(Frame::Skipped),
            CurrentSurfaceTexture::Outdated
            | CurrentSurfaceTexture::Lost
            | CurrentSurfaceTexture::Validation => {
                drop(self.complaint());
                (front.config.width, front.config.height) = (0, 0);
                Err(front.strike(self.is_lost()))
            }
        }
    }
}

impl Front {
    fn new(
        device: &Device,
        screen: Screen,
        surface: Surface<'static>,
        config: SurfaceConfiguration,
    ) -> Self {
        let (blit, bound) = pipelines::blit(device, config.format);
        let text = TextRenderer::new(device, super::PICTURE_FORMAT, RendererOptions::PREDICTABLE);
        Self { screen, surface, config, blit, bound, text, strikes: 0 }
    }

    /// The window's size in pixels, no side above `side_max`; nothing while it has none.
    pub(crate) fn size(&self, side_max: u32) -> Option<[u32; 2]> {
        let size = self.screen.pane.inner_size();
        let whole = size.width > 0 && size.height > 0;
        let open = whole && !self.screen.is_hidden();
        open.then(|| [size.width.min(side_max), size.height.min(side_max)])
    }

    fn strike(&mut self, lost: bool) -> Frame {
        self.strikes += 1;
        if lost || self.strikes > STRIKES_MAX { Frame::Lost } else { Frame::Skipped }
    }

    fn copy(
        &self,
        device: &Device,
        encoder: &mut wgpu::CommandEncoder,
        picture: &TextureView,
        frame: &SurfaceTexture,
    ) {
        let bound = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("picture"),
            layout: &self.bound,
            entries: &[wgpu::BindGroupEntry {
                binding: 0,
                resource: wgpu::BindingResource::TextureView(picture),
            }],
        });
        let view = frame.texture.create_view(&wgpu::TextureViewDescriptor::default());
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("screen"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &view,
                depth_slice: None,
                resolve_target: None,
                ops: Operations { load: LoadOp::Clear(wgpu::Color::BLACK), store: StoreOp::Store },
            })],
            ..wgpu::RenderPassDescriptor::default()
        });
        pass.set_pipeline(&self.blit);
        pass.set_bind_group(0, &bound, &[]);
        pass.draw(0..3, 0..1);
    }
}

impl std::fmt::Debug for Front {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Front").field("format", &self.config.format).finish_non_exhaustive()
    }
}
