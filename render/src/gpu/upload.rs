//! Upload: a mesh on its way to the device, a run of corners at a time.

use std::sync::Arc;

use bytemuck::{Pod, Zeroable, cast_slice};
use dh_view::Mesh;
use glam::Vec3;
use wgpu::{Buffer, BufferUsages, Device, Queue};

use crate::scene::book::CORNER_BYTES;

/// One corner as the GPU reads it; [`CORNER_BYTES`] long.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(super) struct MeshCorner {
    pub(super) position: [f32; 3],
    /// Thousandths of 32767; all zero where the triangle is flat.
    pub(super) normal: [i16; 4],
    pub(super) uv: [f32; 2],
    pub(super) colour: [u8; 4],
}

const _: () = assert!(size_of::<MeshCorner>() as u64 == CORNER_BYTES);

/// A mesh on its way.
#[derive(Debug)]
pub(super) struct MeshUpload {
    pub(super) mesh: Arc<Mesh>,
    buffers: Option<(Buffer, Buffer)>,
    corners_sent: usize,
    indices_sent: usize,
}

impl MeshUpload {
    pub(super) const fn new(mesh: Arc<Mesh>) -> Self {
        Self { mesh, buffers: None, corners_sent: 0, indices_sent: 0 }
    }

    /// Send about so many bytes; how many it were, and both buffers once all is there.
    pub(super) fn advance(
        &mut self,
        device: &Device,
        queue: &Queue,
        budget: u64,
    ) -> (u64, Option<(Buffer, Buffer)>) {
        let mesh = &self.mesh;
        let (corner_count, index_count) = (mesh.positions.len(), mesh.indices.len());
        let (corners, indices) = self.buffers.get_or_insert_with(|| {
            let buffer = |bytes: u64, usage| {
                device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some("mesh"),
                    size: bytes,
                    usage: usage | BufferUsages::COPY_DST,
                    mapped_at_creation: false,
                })
            };
            (
                buffer(corner_count as u64 * CORNER_BYTES, BufferUsages::VERTEX),
                buffer(index_count as u64 * 4, BufferUsages::INDEX),
            )
        });
        let run =
            |budget: u64, bytes: u64| usize::try_from(budget / bytes).map_or(1, |it| it.max(1));
        let first = self.corners_sent;
        let last = (first.saturating_add(run(budget, CORNER_BYTES))).min(corner_count);
        let sent: Vec<MeshCorner> = (first..last).map(|at| corner(mesh, at)).collect();
        queue.write_buffer(corners, first as u64 * CORNER_BYTES, cast_slice(&sent));
        self.corners_sent = last;
        let mut bytes = (last - first) as u64 * CORNER_BYTES;
        if last == corner_count && bytes < budget {
            let first = self.indices_sent;
            let last = first.saturating_add(run(budget - bytes, 4)).min(index_count);
            queue.write_buffer(indices, first as u64 * 4, cast_slice(&mesh.indices[first..last]));
            self.indices_sent = last;
            bytes += (last - first) as u64 * 4;
        }
        let done = self.corners_sent == corner_count && self.indices_sent == index_count;
        (bytes, done.then(|| self.buffers.take()).flatten())
    }
}

fn corner(mesh: &Mesh, at: usize) -> MeshCorner {
    let normal = mesh.normals.get(at).map_or(Vec3::ZERO, |normal| {
        let normal = Vec3::from_array(*normal);
        if normal.is_finite() { normal.normalize_or_zero() } else { Vec3::ZERO }
    });
    let [x, y, z] = normal.to_array().map(whole);
    let uv = mesh.uvs.get(at).copied().unwrap_or_default();
    MeshCorner {
        position: mesh.positions[at],
        normal: [x, y, z, 0],
        uv: uv.map(|it| if it.is_finite() { it } else { 0.0 }),
        colour: mesh.colours.get(at).copied().unwrap_or([255; 4]),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "within -32767 to 32767")]
fn whole(part: f32) -> i16 {
    (part.clamp(-1.0, 1.0) * f32::from(i16::MAX)).round() as i16
}
