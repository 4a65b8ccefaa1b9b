//! Depth maps: what stands nearest to a light. What stands still is drawn once and kept; those who
//! move are drawn over a copy of it.

use glam::Mat4;
use wgpu::{
    BindGroup, Buffer, BufferUsages, CommandEncoder, Device, Extent3d, Queue, Texture,
    TextureUsages, TextureView,
};

use super::DEPTH_FORMAT;
use super::pipelines::{MAP_BINDING, Pipelines};
use super::targets::texture;

/// What a depth map shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// What stands still.
    Still,
    /// That, and over a copy of it those who move.
    Copied,
    /// Both, drawn each time: GL does not copy depth.
    Whole,
}

/// A depth map with the matrix it is drawn through.
pub(super) struct DepthMap {
    /// What is read by whatever is lit.
    pub(super) view: TextureView,
    map: Texture,
    shown: Shown,
    still: Option<(Texture, TextureView)>,
    matrix: Buffer,
    pub(super) bound: BindGroup,
    /// What the still part shows: which state of the scene, seen how.
    shows: Option<(u64, Mat4)>,
    /// Whether anybody was drawn over it.
    covered: bool,
}

impl DepthMap {
    /// A map of this many texels along a side.
    pub(super) fn new(device: &Device, pipelines: &Pipelines, side: u16, shown: Shown) -> Self {
        let side = u32::from(side);
        let size = Extent3d { width: side, height: side, depth_or_array_layers: 1 };
        let attached = TextureUsages::RENDER_ATTACHMENT;
        let view = |texture: &Texture| texture.create_view(&wgpu::TextureViewDescriptor::default());
        let read = attached | TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_DST;
        let map = texture(device, size, DEPTH_FORMAT, 1, read);
        let still = (shown == Shown::Copied).then(|| {
            let still = texture(device, size, DEPTH_FORMAT, 1, attached | TextureUsages::COPY_SRC);
            let seen = view(&still);
            (still, seen)
        });
        let matrix = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("map from world"),
            size: size_of::<Mat4>() as u64,
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
        Self { view: view(&map), map, shown, still, matrix, bound, shows: None, covered: false }
    }

    /// Look at this state of the scene this way; where the still part is drawn anew, if it is.
    pub(super) fn aim(
        &mut self,
        queue: &Queue,
        revision: u64,
        map_from_world: &Mat4,
    ) -> Option<&TextureView> {
        let wanted = Some((revision, *map_from_world));
        if self.shows == wanted && self.shown != Shown::Whole {
            return None;
        }
        self.shows = wanted;
        self.covered = true;
        queue.write_buffer(&self.matrix, 0, bytemuck::bytes_of(map_from_world));
        Some(self.still.as_ref().map_or(&self.view, |(_, view)| view))
    }

    /// Where those who move are drawn, over what stands still; nothing where nobody moves.
    pub(super) fn cover(
        &mut self,
        encoder: &mut CommandEncoder,
        anybody: bool,
    ) -> Option<&TextureView> {
        let Some((still, _)) = &self.still else {
            return (anybody && self.shown == Shown::Whole).then_some(&self.view);
        };
        if self.covered || anybody {
            encoder.copy_texture_to_texture(
                still.as_image_copy(),
                self.map.as_image_copy(),
                still.size(),
            );
        }
        self.covered = anybody;
        anybody.then_some(&self.view)
    }
}
