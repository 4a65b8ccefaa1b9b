//! Passes: the order in which a list becomes a picture.

use dh_view::View;
use egui_wgpu::{Renderer as TextRenderer, ScreenDescriptor};
use wgpu::{CommandEncoder, LoadOp, Operations, RenderPass, StoreOp, TextureView};

use super::Gpu;
use super::globals::Globals;
use super::pipelines::Pipelines;
use super::residency::Residency;
use super::shapes::Instances;
use super::targets::Targets;
use crate::scene::DrawList;
use crate::scene::book::Book;
use crate::scene::models::Models;
use crate::text::Lettering;

/// Bytes that are on their way to the device at a time.
const SEND_MAX: u64 = 64 << 20;

/// What is behind a line that stands for a world: a dark slate.
const WAITING: wgpu::Color = wgpu::Color { r: 0.085, g: 0.105, b: 0.125, a: 1.0 };

/// The places of everything that one picture draws.
struct Placed {
    boxes: Instances,
    players: Instances,
    models: Instances,
}

impl Gpu {
    /// Record how a list is drawn to `targets`, but for its text.
    pub(super) fn paint(
        &mut self,
        targets: &Targets,
        view: &View,
        list: &DrawList,
    ) -> CommandEncoder {
        let numbers = Globals::new(list, view);
        self.queue.write_buffer(&self.globals, 0, bytemuck::bytes_of(&numbers));
        let placed = Placed {
            boxes: Instances::new(&self.device, &list.boxes.instances),
            players: Instances::new(&self.device, &list.players),
            models: Instances::new(&self.device, &list.models.instances),
        };
        let mut encoder =
            self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        if list.notice.is_none() {
            self.draw_depths(&mut encoder, &numbers, list, &placed);
        }
        self.draw_picture(&mut encoder, targets, list, &placed);
        encoder
    }

    /// Send what the scene still lacks, about `budget` bytes.
    pub(crate) fn send(&mut self, view: &View, book: &Book, budget: u64) {
        self.residency.turn_to(&view.scene, book);
        let mut left = budget;
        while left > 0 && self.residency.waiting() > 0 {
            let part = left.min(SEND_MAX);
            self.residency.advance(&self.device, &self.queue, part);
            left -= part;
            if left > 0 {
                // What was handed over is kept twice until the device has taken it.
                self.queue.submit([]);
                // A device that is gone tells at the next picture.
                drop(self.device.poll(wgpu::PollType::wait_indefinitely()));
            }
        }
    }

    fn draw_depths(
        &mut self,
        encoder: &mut CommandEncoder,
        numbers: &Globals,
        list: &DrawList,
        placed: &Placed,
    ) {
        let Self { sun, top, pipelines, residency, cube, capsule, queue, .. } = self;
        let revision = residency.revision();
        for (map, matrix) in [(sun, &numbers.sun_from_world), (top, &numbers.top_from_world)] {
            let bound = map.bound.clone();
            if let Some(target) = map.aim(queue, revision, matrix) {
                let mut pass = begin(encoder, None, target, LoadOp::Clear(1.0), StoreOp::Store);
                pass.set_bind_group(0, &bound, &[]);
                pass.set_pipeline(&pipelines.box_depth);
                cube.draw(&mut pass, &placed.boxes, list.boxes.cast.clone());
                draw_model_depths(&mut pass, pipelines, residency, &list.models, &placed.models);
            }
            if let Some(target) = map.cover(encoder, placed.players.count > 0) {
                let mut pass = begin(encoder, None, target, LoadOp::Load, StoreOp::Store);
                pass.set_bind_group(0, &bound, &[]);
                pass.set_pipeline(&pipelines.player_depth);
                capsule.draw(&mut pass, &placed.players, 0..placed.players.count);
            }
        }
    }

    fn draw_picture(
        &self,
        encoder: &mut CommandEncoder,
        targets: &Targets,
        list: &DrawList,
        placed: &Placed,
    ) {
        let (view, resolve_target) = match &targets.smooth {
            Some(smooth) => (smooth, Some(&targets.picture)),
            None => (&targets.picture, None),
        };
        let colour = wgpu::RenderPassColorAttachment {
            view,
            depth_slice: None,
            resolve_target,
            ops: Operations { load: LoadOp::Clear(WAITING), store: StoreOp::Store },
        };
        let far = LoadOp::Clear(0.0);
        let mut pass = begin(encoder, Some(colour), &targets.depth, far, StoreOp::Discard);
        if list.notice.is_some() {
            return;
        }
        pass.set_bind_group(0, &self.lit, &[]);
        pass.set_pipeline(&self.pipelines.players);
        self.capsule.draw(&mut pass, &placed.players, 0..list.players_seen);
        for (material, range) in &list.boxes.runs {
            match material.and_then(|material| self.residency.boxes(material)) {
                Some(surface) => {
                    pass.set_pipeline(&self.pipelines.brushes);
                    pass.set_bind_group(1, surface, &[]);
                }
                None => pass.set_pipeline(&self.pipelines.boxes),
            }
            self.cube.draw(&mut pass, &placed.boxes, range.clone());
        }
        self.draw_models(&mut pass, &list.models, &placed.models);
        pass.set_pipeline(&self.pipelines.sky);
        pass.draw(0..3, 0..1);
    }

    fn draw_models(&self, pass: &mut RenderPass<'_>, models: &Models, placed: &Instances) {
        let Some(instances) = &placed.buffer else { return };
        pass.set_vertex_buffer(1, instances.slice(..));
        for batch in models.batches.iter().filter(|batch| batch.seen > 0) {
            let Some(resident) = self.residency.mesh(&batch.mesh) else { continue };
            pass.set_vertex_buffer(0, resident.corners.slice(..));
            pass.set_index_buffer(resident.indices.slice(..), wgpu::IndexFormat::Uint32);
            for part in batch.mesh.parts.iter().filter(|part| part.count > 0) {
                let (surface, material) = resident.surface(&batch.mesh, part);
                let cutout = material.is_some_and(|it| it.alpha_cutoff > 0.0);
                let both = batch.mirrored || material.is_some_and(|it| it.double_sided);
                pass.set_pipeline(self.pipelines.meshes.get(cutout, both));
                pass.set_bind_group(1, surface, &[]);
                let end = part.first + part.count;
                pass.draw_indexed(part.first..end, 0, batch.first..batch.first + batch.seen);
            }
        }
    }

    /// Record how text is drawn over it. The glyphs that `text` has are those of the letterings it
    /// drew before.
    pub(super) fn draw_text(
        &self,
        text: &mut TextRenderer,
        encoder: &mut CommandEncoder,
        targets: &Targets,
        lettering: &Lettering,
    ) {
        let size = [targets.width, targets.height];
        let screen = ScreenDescriptor { size_in_pixels: size, pixels_per_point: 1.0 };
        for (id, glyphs) in &lettering.glyphs {
            text.update_texture(&self.device, &self.queue, *id, glyphs);
        }
        let jobs = &lettering.primitives;
        // Only paint callbacks leave commands of their own, and there are none.
        text.update_buffers(&self.device, &self.queue, encoder, jobs, &screen);
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
        text.render(&mut pass.forget_lifetime(), jobs, &screen);
    }
}

fn draw_model_depths(
    pass: &mut RenderPass<'_>,
    pipelines: &Pipelines,
    residency: &Residency,
    models: &Models,
    placed: &Instances,
) {
    let Some(instances) = &placed.buffer else { return };
    pass.set_vertex_buffer(1, instances.slice(..));
    for batch in models.batches.iter().filter(|batch| !batch.cast.is_empty()) {
        let Some(resident) = residency.mesh(&batch.mesh) else { continue };
        pass.set_vertex_buffer(0, resident.corners.slice(..));
        pass.set_index_buffer(resident.indices.slice(..), wgpu::IndexFormat::Uint32);
        for part in batch.mesh.parts.iter().filter(|part| part.count > 0) {
            let (surface, material) = resident.surface(&batch.mesh, part);
            if material.is_some_and(|it| it.alpha_cutoff > 0.0) {
                pass.set_pipeline(&pipelines.cutout_depth);
                pass.set_bind_group(1, surface, &[]);
            } else {
                pass.set_pipeline(&pipelines.mesh_depth);
            }
            let end = part.first + part.count;
            pass.draw_indexed(part.first..end, 0, batch.cast.clone());
        }
    }
}

fn begin<'a>(
    encoder: &'a mut CommandEncoder,
    colour: Option<wgpu::RenderPassColorAttachment<'_>>,
    depth: &TextureView,
    load: LoadOp<f32>,
    keep: StoreOp,
) -> RenderPass<'a> {
    let attachments = colour.map(|it| [Some(it)]);
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: None,
        color_attachments: attachments.as_ref().map_or(&[], |it| it.as_slice()),
        depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
            view: depth,
            depth_ops: Some(Operations { load, store: keep }),
            stencil_ops: None,
        }),
        ..wgpu::RenderPassDescriptor::default()
    })
}
