//! Gpu: one device with everything that draws a list.
//!
//! Owned by the studio. Passes, in order: depth from the sun (boxes and players), depth from above
//! (boxes), the picture (boxes, players, sky), text. Never: decides what is drawn.

pub(crate) mod adapter;
mod globals;
mod pipelines;
mod targets;

use std::sync::{Arc, Mutex, PoisonError};

use bytemuck::{Pod, cast_slice};
use dh_view::View;
use egui_wgpu::{Renderer as TextRenderer, RendererOptions, ScreenDescriptor};
use wgpu::util::{BufferInitDescriptor, DeviceExt};
use wgpu::{
    BindGroup, Buffer, BufferUsages, CommandEncoder, Device, Extent3d, LoadOp, Operations, Queue,
    RenderPass, StoreOp, TextureFormat, TextureUsages, TextureView,
};

use self::adapter::{Adapter, NoAdapter, candidates, describe};
use self::globals::Globals;
use self::pipelines::{MAP_BINDING, Pipelines};
use self::targets::{Targets, texture};
use crate::scene::capsule::Capsule;
use crate::scene::{DrawList, SUN_SIDE, TOP_SIDE};
use crate::text::Lettering;

const DEPTH_FORMAT: TextureFormat = TextureFormat::Depth32Float;
/// Shaders and egui both write sRGB encoded bytes, so the target must not encode again.
const PICTURE_FORMAT: TextureFormat = TextureFormat::Rgba8Unorm;
/// Samples a pixel where the adapter has them.
const SAMPLES: u32 = 4;

/// One device with everything that draws.
pub(crate) struct Gpu {
    pub(crate) adapter: Adapter,
    /// The longest side of a picture, pixels.
    pub(crate) side_max: u32,
    device: Device,
    queue: Queue,
    /// The first thing the device complained of since it was last asked.
    complaint: Arc<Mutex<Option<String>>>,
    pipelines: Pipelines,
    samples: u32,
    cube: Mesh,
    capsule: Mesh,
    globals: Buffer,
    sun: DepthMap,
    top: DepthMap,
    lit: BindGroup,
    text: TextRenderer,
    targets: Option<Targets>,
}

impl Gpu {
    /// The first adapter that gives a device.
    pub(crate) fn open(shape: &Capsule) -> Result<Self, NoAdapter> {
        let mut tried = Vec::new();
        for adapter in candidates() {
            let wanted = wgpu::Limits::downlevel_defaults().using_resolution(adapter.limits());
            let asked = adapter.request_device(&wgpu::DeviceDescriptor {
                required_limits: wanted,
                ..wgpu::DeviceDescriptor::default()
            });
            match pollster::block_on(asked) {
                Ok((device, queue)) => return Ok(Self::new(&adapter, device, queue, shape)),
                Err(error) => tried.push(format!("{}: {error}", describe(&adapter))),
            }
        }
        Err(NoAdapter { tried })
    }

    fn new(adapter: &wgpu::Adapter, device: Device, queue: Queue, shape: &Capsule) -> Self {
        let complaint = Arc::new(Mutex::new(None));
        let first = Arc::clone(&complaint);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            let mut slot = first.lock().unwrap_or_else(PoisonError::into_inner);
            slot.get_or_insert_with(|| error.to_string());
        }));
        let smooth = [PICTURE_FORMAT, DEPTH_FORMAT].iter().all(|format| {
            adapter.get_texture_format_features(*format).flags.sample_count_supported(SAMPLES)
        });
        let samples = if smooth { SAMPLES } else { 1 };
        let pipelines = Pipelines::new(&device, PICTURE_FORMAT, samples);
        let globals = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("globals"),
            size: size_of::<Globals>() as u64,
            usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let sun = DepthMap::new(&device, &pipelines, SUN_SIDE);
        let top = DepthMap::new(&device, &pipelines, TOP_SIDE);
        let lit = bind_lit(&device, &pipelines, &globals, [&sun.view, &top.view]);
        Self {
            adapter: describe(adapter),
            side_max: device.limits().max_texture_dimension_2d,
            text: TextRenderer::new(&device, PICTURE_FORMAT, RendererOptions::PREDICTABLE),
            cube: cube(&device),
            capsule: Mesh::new(&device, &shape.corners, &shape.indices),
            device,
            queue,
            complaint,
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
        let (width, height) = (list.lens.width, list.lens.height);
        let fits = |it: &Targets| it.width == width && it.height == height;
        let targets = self.targets.take().filter(fits).unwrap_or_else(|| {
            Targets::new(&self.device, width, height, PICTURE_FORMAT, self.samples)
        });
        let numbers = Globals::new(list, view);
        self.queue.write_buffer(&self.globals, 0, bytemuck::bytes_of(&numbers));
        self.sun.aim(&self.queue, &numbers.sun_from_world);
        self.top.aim(&self.queue, &numbers.top_from_world);
        let boxes = self.instances(&list.boxes);
        let players = self.instances(&list.players);

        let mut encoder =
            self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        self.draw_depth(&mut encoder, &self.sun, &boxes, Some(&players));
        self.draw_depth(&mut encoder, &self.top, &boxes, None);
        self.draw_picture(&mut encoder, &targets, list, [&boxes, &players]);
        self.draw_text(&mut encoder, &targets, lettering);
        targets.fetch(&mut encoder);
        self.queue.submit([encoder.finish()]);

        let bytes = targets.bytes(&self.device);
        let complaint = self.complaint.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.targets = Some(targets);
        complaint.map_or(bytes, Err)
    }

    fn draw_depth(
        &self,
        encoder: &mut CommandEncoder,
        map: &DepthMap,
        boxes: &Instances,
        players: Option<&Instances>,
    ) {
        let mut pass = begin(encoder, None, &map.view, 1.0, StoreOp::Store);
        pass.set_bind_group(0, &map.bound, &[]);
        pass.set_pipeline(&self.pipelines.box_depth);
        self.cube.draw(&mut pass, boxes, boxes.count);
        if let Some(players) = players {
            pass.set_pipeline(&self.pipelines.player_depth);
            self.capsule.draw(&mut pass, players, players.count);
        }
    }

    fn draw_picture(
        &self,
        encoder: &mut CommandEncoder,
        targets: &Targets,
        list: &DrawList,
        [boxes, players]: [&Instances; 2],
    ) {
        let (view, resolve_target) = match &targets.smooth {
            Some(smooth) => (smooth, Some(&targets.picture)),
            None => (&targets.picture, None),
        };
        let colour = wgpu::RenderPassColorAttachment {
            view,
            depth_slice: None,
            resolve_target,
            ops: Operations { load: LoadOp::Clear(wgpu::Color::BLACK), store: StoreOp::Store },
        };
        let mut pass = begin(encoder, Some(colour), &targets.depth, 0.0, StoreOp::Discard);
        pass.set_bind_group(0, &self.lit, &[]);
        pass.set_pipeline(&self.pipelines.players);
        self.capsule.draw(&mut pass, players, list.players_seen);
        pass.set_pipeline(&self.pipelines.boxes);
        self.cube.draw(&mut pass, boxes, list.boxes_seen);
        pass.set_pipeline(&self.pipelines.sky);
        pass.draw(0..3, 0..1);
    }

    fn draw_text(
        &mut self,
        encoder: &mut CommandEncoder,
        targets: &Targets,
        lettering: &Lettering,
    ) {
        let size = [targets.width, targets.height];
        let screen = ScreenDescriptor { size_in_pixels: size, pixels_per_point: 1.0 };
        for (id, glyphs) in &lettering.glyphs {
            self.text.update_texture(&self.device, &self.queue, *id, glyphs);
        }
        let jobs = &lettering.primitives;
        // Only paint callbacks leave commands of their own, and there are none.
        self.text.update_buffers(&self.device, &self.queue, encoder, jobs, &screen);
        let colour = wgpu::RenderPassColorAttachment {
            view: &targets.picture,
            depth_slice: None,
            resolve_target: None,
            ops: Operations { load: LoadOp::Load, store: StoreOp::Store },
        };
        let pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("text"),
            color_attachments: &[Some(colour)],
            ..wgpu::RenderPassDescriptor::default()
        });
        self.text.render(&mut pass.forget_lifetime(), jobs, &screen);
    }

    fn instances<T: Pod>(&self, items: &[T]) -> Instances {
        let buffer = (!items.is_empty()).then(|| {
            self.device.create_buffer_init(&BufferInitDescriptor {
                label: Some("instances"),
                contents: cast_slice(items),
                usage: BufferUsages::VERTEX,
            })
        });
        Instances { buffer, count: u32::try_from(items.len()).unwrap_or(u32::MAX) }
    }
}

impl std::fmt::Debug for Gpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gpu").field("adapter", &self.adapter).finish_non_exhaustive()
    }
}

/// A depth map with the matrix it is drawn through.
struct DepthMap {
    view: TextureView,
    matrix: Buffer,
    bound: BindGroup,
}

impl DepthMap {
    fn new(device: &Device, pipelines: &Pipelines, side: u16) -> Self {
        let side = u32::from(side);
        let size = Extent3d { width: side, height: side, depth_or_array_layers: 1 };
        let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::TEXTURE_BINDING;
        let map = texture(device, size, DEPTH_FORMAT, 1, usage);
        let matrix = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("map from world"),
            size: size_of::<glam::Mat4>() as u64,
            usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let bound = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("map from world"),
            layout: &pipelines.map,
            entries: &[wgpu::BindGroupEntry {
                binding: MAP_BINDING,
                resource: matrix.as_entire_binding(),
            }],
        });
        Self { view: map.create_view(&wgpu::TextureViewDescriptor::default()), matrix, bound }
    }

    fn aim(&self, queue: &Queue, map_from_world: &glam::Mat4) {
        queue.write_buffer(&self.matrix, 0, bytemuck::bytes_of(map_from_world));
    }
}

/// A shape that is drawn many times.
struct Mesh {
    corners: Buffer,
    indices: Buffer,
    count: u32,
}

impl Mesh {
    fn new<T: Pod>(device: &Device, corners: &[T], indices: &[u16]) -> Self {
        let buffer = |contents, usage| {
            device.create_buffer_init(&BufferInitDescriptor { label: None, contents, usage })
        };
        Self {
            corners: buffer(cast_slice(corners), BufferUsages::VERTEX),
            indices: buffer(cast_slice(indices), BufferUsages::INDEX),
            count: u32::try_from(indices.len()).unwrap_or(u32::MAX),
        }
    }

    fn draw(&self, pass: &mut RenderPass<'_>, instances: &Instances, times: u32) {
        let Some(buffer) = &instances.buffer else { return };
        pass.set_vertex_buffer(0, self.corners.slice(..));
        pass.set_vertex_buffer(1, buffer.slice(..));
        pass.set_index_buffer(self.indices.slice(..), wgpu::IndexFormat::Uint16);
        pass.draw_indexed(0..self.count, 0, 0..times);
    }
}

/// What differs from one drawing of a mesh to the next.
struct Instances {
    buffer: Option<Buffer>,
    count: u32,
}

/// A cube from -1 to 1: position and normal, four corners a side.
fn cube(device: &Device) -> Mesh {
    let (mut corners, mut indices) = (Vec::<[f32; 6]>::new(), Vec::<u16>::new());
    for (axis, side) in [(0, 1.0), (0, -1.0), (1, 1.0), (1, -1.0), (2, 1.0), (2, -1.0_f32)] {
        let start = u16::try_from(corners.len()).unwrap_or(u16::MAX);
        for (u, v) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
            let mut corner = [0.0; 6];
            (corner[axis], corner[3 + axis]) = (side, side);
            // Mirrored on the far sides, so that all six wind the same way from outside.
            (corner[(axis + 1) % 3], corner[(axis + 2) % 3]) = (u * side, v);
            corners.push(corner);
        }
        indices.extend([0, 1, 2, 0, 2, 3].map(|corner| start + corner));
    }
    Mesh::new(device, &corners, &indices)
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

fn begin<'a>(
    encoder: &'a mut CommandEncoder,
    colour: Option<wgpu::RenderPassColorAttachment<'_>>,
    depth: &TextureView,
    far: f32,
    keep: StoreOp,
) -> RenderPass<'a> {
    let attachments = colour.map(|it| [Some(it)]);
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: None,
        color_attachments: attachments.as_ref().map_or(&[], |it| it.as_slice()),
        depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
            view: depth,
            depth_ops: Some(Operations { load: LoadOp::Clear(far), store: keep }),
            stencil_ops: None,
        }),
        ..wgpu::RenderPassDescriptor::default()
    })
}
