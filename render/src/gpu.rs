//! Gpu: one device with everything that draws a list.
//!
//! Owned by the studio. Passes, in order: depth from the sun (world and players), depth from above
//! (world), the picture (players, world, sky), text. Never: decides what is drawn.

pub(crate) mod adapter;
mod depth_map;
mod globals;
mod images;
mod passes;
mod pipelines;
mod residency;
pub(crate) mod screen;
mod shapes;
mod surfaces;
mod targets;
mod upload;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dh_view::View;
use egui_wgpu::{Renderer as TextRenderer, RendererOptions};
use wgpu::{Backend, BindGroup, Buffer, BufferUsages, Device, Queue, TextureFormat, TextureView};

use self::adapter::{Adapter, NoAdapter, candidates, describe};
use self::depth_map::{DepthMap, Shown};
use self::globals::Globals;
pub(crate) use self::pipelines::Finish;
use self::pipelines::Pipelines;
use self::residency::Residency;
use self::shapes::Shape;
use self::surfaces::Surfaces;
use self::targets::Targets;
use crate::scene::capsule::Capsule;
use crate::scene::{DrawList, SUN_SIDE, TOP_SIDE};
use crate::text::Lettering;

const DEPTH_FORMAT: TextureFormat = TextureFormat::Depth32Float;
/// Shaders and egui both write sRGB encoded bytes, so the target must not encode again.
const PICTURE_FORMAT: TextureFormat = TextureFormat::Rgba8Unorm;

/// One device with everything that draws.
pub(crate) struct Gpu {
    pub(crate) adapter: Adapter,
    /// The longest side of a picture, pixels.
    pub(crate) side_max: u32,
    /// The longest buffer, bytes.
    pub(crate) buffer_max: u64,
    device: Device,
    queue: Queue,
    /// The first thing the device complained of since it was last asked.
    complaint: Arc<Mutex<Option<String>>>,
    lost: Arc<AtomicBool>,
    pipelines: Pipelines,
    samples: u32,
    residency: Residency,
    cube: Shape,
    capsule: Shape,
    globals: Buffer,
    sun: DepthMap,
    top: DepthMap,
    lit: BindGroup,
    targets: Option<Targets>,
}

impl Gpu {
    /// The first adapter that gives a device.
    pub(crate) fn open(shape: &Capsule) -> Result<Self, NoAdapter> {
        Self::open_any(candidates(), shape, |_| Finish::Fine).map(|(gpu, _)| gpu)
    }

    /// The first of these adapters that gives a device.
    fn open_any(
        adapters: Vec<wgpu::Adapter>,
        shape: &Capsule,
        finish: impl Fn(&Adapter) -> Finish,
    ) -> Result<(Self, wgpu::Adapter), NoAdapter> {
        let mut tried = Vec::new();
        for adapter in adapters {
            let mut wanted = wgpu::Limits::downlevel_defaults().using_resolution(adapter.limits());
            wanted.max_buffer_size = adapter.limits().max_buffer_size;
            let asked = adapter.request_device(&wgpu::DeviceDescriptor {
                required_limits: wanted,
                ..wgpu::DeviceDescriptor::default()
            });
            match pollster::block_on(asked) {
                Ok((device, queue)) => {
                    let finish = finish(&describe(&adapter));
                    return Ok((Self::new(&adapter, (device, queue), shape, finish), adapter));
                }
                Err(error) => tried.push(format!("{}: {error}", describe(&adapter))),
            }
        }
        Err(NoAdapter { tried })
    }

    fn new(
        adapter: &wgpu::Adapter,
        (device, queue): (Device, Queue),
        shape: &Capsule,
        finish: Finish,
    ) -> Self {
        let complaint = Arc::new(Mutex::new(None));
        let first = Arc::clone(&complaint);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            let mut slot = first.lock().unwrap_or_else(PoisonError::into_inner);
            slot.get_or_insert_with(|| error.to_string());
        }));
        let lost = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&lost);
        device.set_device_lost_callback(move |_, _| flag.store(true, Ordering::Release));
        let smooth = [PICTURE_FORMAT, DEPTH_FORMAT].iter().all(|format| {
            let flags = adapter.get_texture_format_features(*format).flags;
            flags.sample_count_supported(finish.samples())
        });
        let samples = if smooth { finish.samples() } else { 1 };
        let pipelines = Pipelines::new(&device, PICTURE_FORMAT, samples, finish);
        let globals = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("globals"),
            size: size_of::<Globals>() as u64,
            usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let copies = adapter.get_info().backend != Backend::Gl;
        let shown = if copies { Shown::Copied } else { Shown::Whole };
        let sun = DepthMap::new(&device, &pipelines, SUN_SIDE, shown);
        let top = DepthMap::new(&device, &pipelines, TOP_SIDE, Shown::Still);
        let lit = bind_lit(&device, &pipelines, &globals, [&sun.view, &top.view]);
        let adapter = describe(adapter);
        let surfaces = Surfaces::new(&device, &queue, &pipelines.material, adapter.software);
        Self {
            side_max: device.limits().max_texture_dimension_2d,
            buffer_max: device.limits().max_buffer_size,
            cube: Shape::cube(&device),
            capsule: Shape::new(&device, &shape.corners, &shape.indices),
            residency: Residency::new(surfaces),
            adapter,
            device,
            queue,
            complaint,
            lost,
            pipelines,
            samples,
            globals,
            sun,
            top,
            lit,
            targets: None,
        }
    }

    /// Draw a list and bring the picture back: RGBA, rows from the top.
    pub(crate) fn draw(
        &mut self,
        view: &View,
        list: &DrawList,
        lettering: &Lettering,
    ) -> Result<Vec<u8>, String> {
        let mut targets = self.targets(list.lens.width, list.lens.height);
        let mut encoder = self.paint(&targets, view, list);
        // Fresh glyphs each time, so that a picture depends on nothing that was drawn before.
        let mut text =
            TextRenderer::new(&self.device, PICTURE_FORMAT, RendererOptions::PREDICTABLE);
        self.draw_text(&mut text, &mut encoder, &targets, lettering);
        targets.fetch(&self.device, &mut encoder);
        self.queue.submit([encoder.finish()]);
        let bytes = targets.bytes(&self.device);
        self.targets = Some(targets);
        self.complaint().map_or(bytes, Err)
    }

    /// Whether the device is gone.
    fn is_lost(&self) -> bool {
        // An error of the poll itself says no more than the flag will.
        drop(self.device.poll(wgpu::PollType::Poll));
        self.lost.load(Ordering::Acquire)
    }

    /// End the device, as a driver that resets would.
    pub(crate) fn destroy(&self) {
        self.device.destroy();
    }

    /// Uploads that are not finished.
    pub(crate) fn waiting(&self) -> usize {
        self.residency.waiting()
    }

    /// Bytes of textures on the device.
    #[cfg(test)]
    pub(crate) fn texture_bytes(&self) -> u64 {
        self.residency.texture_bytes()
    }

    /// What pictures of this size are drawn into; given back after.
    fn targets(&mut self, width: u32, height: u32) -> Targets {
        let fits = |it: &Targets| it.width == width && it.height == height;
        self.targets.take().filter(fits).unwrap_or_else(|| {
            Targets::new(&self.device, width, height, PICTURE_FORMAT, self.samples)
        })
    }

    /// The first thing the device complained of since it was last asked.
    fn complaint(&self) -> Option<String> {
        self.complaint.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl std::fmt::Debug for Gpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gpu").field("adapter", &self.adapter).finish_non_exhaustive()
    }
}

fn bind_lit(
    device: &Device,
    pipelines: &Pipelines,
    globals: &Buffer,
    [sun, top]: [&TextureView; 2],
) -> BindGroup {
    let nearer = device.create_sampler(&wgpu::SamplerDescriptor {
        label: Some("nearer"),
        mag_filter: wgpu::FilterMode::Linear,
        min_filter: wgpu::FilterMode::Linear,
        compare: Some(wgpu::CompareFunction::LessEqual),
        ..wgpu::SamplerDescriptor::default()
    });
    let entry = |binding, resource| wgpu::BindGroupEntry { binding, resource };
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("lit"),
        layout: &pipelines.lit,
        entries: &[
            entry(0, globals.as_entire_binding()),
            entry(1, wgpu::BindingResource::TextureView(sun)),
            entry(2, wgpu::BindingResource::TextureView(top)),
            entry(3, wgpu::BindingResource::Sampler(&nearer)),
            entry(5, wgpu::BindingResource::TextureView(top)),
        ],
    })
}
