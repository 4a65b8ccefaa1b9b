//! Shapes: what is drawn many times, and the places where it is.

use bytemuck::{Pod, cast_slice};
use wgpu::util::{BufferInitDescriptor, DeviceExt};
use wgpu::{Buffer, BufferUsages, Device, RenderPass};

/// A shape that is drawn many times.
pub(super) struct Shape {
    corners: Buffer,
    indices: Buffer,
    count: u32,
}

impl Shape {
    pub(super) fn new<T: Pod>(device: &Device, corners: &[T], indices: &[u16]) -> Self {
        let buffer = |contents, usage| {
            device.create_buffer_init(&BufferInitDescriptor { label: None, contents, usage })
        };
        Self {
            corners: buffer(cast_slice(corners), BufferUsages::VERTEX),
            indices: buffer(cast_slice(indices), BufferUsages::INDEX),
            count: u32::try_from(indices.len()).unwrap_or(u32::MAX),
        }
    }

    /// A cube from -1 to 1: position and normal, four corners a side.
    pub(super) fn cube(device: &Device) -> Self {
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
        Self::new(device, &corners, &indices)
    }

    pub(super) fn draw(
        &self,
        pass: &mut RenderPass<'_>,
        instances: &Instances,
        range: std::ops::Range<u32>,
    ) {
        let Some(buffer) = &instances.buffer else { return };
        pass.set_vertex_buffer(0, self.corners.slice(..));
        pass.set_vertex_buffer(1, buffer.slice(..));
        pass.set_index_buffer(self.indices.slice(..), wgpu::IndexFormat::Uint16);
        pass.draw_indexed(0..self.count, 0, range);
    }
}

/// What differs from one drawing of a shape to the next.
pub(super) struct Instances {
    pub(super) buffer: Option<Buffer>,
    pub(super) count: u32,
}

impl Instances {
    pub(super) fn new<T: Pod>(device: &Device, items: &[T]) -> Self {
        let buffer = (!items.is_empty()).then(|| {
            device.create_buffer_init(&BufferInitDescriptor {
                label: Some("instances"),
                contents: cast_slice(items),
                usage: BufferUsages::VERTEX,
            })
        });
        Self { buffer, count: u32::try_from(items.len()).unwrap_or(u32::MAX) }
    }
}
