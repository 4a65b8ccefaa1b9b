//! Surfaces: materials and their textures as the shaders bind them.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use dh_view::{Image, Material};
use wgpu::util::{BufferInitDescriptor, DeviceExt};
use wgpu::{
    AddressMode, BindGroup, BindGroupLayout, BufferUsages, Device, Extent3d, FilterMode,
    MipmapFilterMode, Queue, Sampler, TextureFormat, TextureUsages, TextureView,
};

use super::images::{Level, chain, fit};
use crate::scene::book::name;

/// The longest side of a texture, pixels; and where a processor does the drawing.
const SIDE_MAX: u32 = 2048;
const SIDE_MAX_SOFTWARE: u32 = 512;
/// Bytes of textures that a scene may have on the device; and where a processor does the drawing.
const BYTES_MAX: u64 = 1 << 30;
const BYTES_MAX_SOFTWARE: u64 = 256 << 20;

/// `struct Material` of surface.wgsl.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct MaterialNumbers {
    base: [f32; 4],
    /// The fourth is the alpha cutoff.
    emissive: [f32; 4],
    /// Metallic, roughness, 1 / tiling, nothing.
    finish: [f32; 4],
}

/// An image on the device.
#[derive(Debug)]
pub(super) struct Texture {
    view: TextureView,
    /// How many bytes were sent for it.
    pub(super) bytes: u64,
}

/// Makes surfaces.
#[derive(Debug)]
pub(super) struct Surfaces {
    layout: BindGroupLayout,
    sampler: Sampler,
    white: TextureView,
    side_max: u32,
    bytes_max: u64,
    /// The longest side that a texture of this scene has, pixels.
    side: u32,
}

impl Surfaces {
    pub(super) fn new(
        device: &Device,
        queue: &Queue,
        layout: &BindGroupLayout,
        software: bool,
    ) -> Self {
        let white = Level { width: 1, height: 1, rgba: vec![255; 4] };
        let cap = if software { SIDE_MAX_SOFTWARE } else { SIDE_MAX };
        let sampler = device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("image"),
            address_mode_u: AddressMode::Repeat,
            address_mode_v: AddressMode::Repeat,
            mag_filter: FilterMode::Linear,
            min_filter: FilterMode::Linear,
            mipmap_filter: MipmapFilterMode::Linear,
            // A processor takes every sample one after the other.
            anisotropy_clamp: if software { 1 } else { 8 },
            ..wgpu::SamplerDescriptor::default()
        });
        let side_max = cap.min(device.limits().max_texture_dimension_2d);
        Self {
            layout: layout.clone(),
            sampler,
            white: send(device, queue, &[white]),
            side_max,
            bytes_max: if software { BYTES_MAX_SOFTWARE } else { BYTES_MAX },
            side: side_max,
        }
    }

    /// Get ready for the images of a scene: how many of them, from the first, may be sent, and
    /// whether all that was sent before is of another size now.
    pub(super) fn make_room(&mut self, images: &[&Image]) -> (usize, bool) {
        let (side, count) = fit(images, self.side_max, self.bytes_max);
        if side < self.side_max {
            tracing::warn!(
                "the pictures of this map are made no larger than {side} pixels, and {} of {} are \
                 left out: they may have {} MiB",
                images.len() - count,
                images.len(),
                self.bytes_max >> 20
            );
        }
        (count, std::mem::replace(&mut self.side, side) != side)
    }

    /// Send an image; nothing where its bytes are not those of its size.
    pub(super) fn texture(&self, device: &Device, queue: &Queue, image: &Image) -> Option<Texture> {
        let Some(levels) = chain(image, self.side) else {
            tracing::warn!(
                "an image of {}x{} is left out: its size lies",
                image.width,
                image.height
            );
            return None;
        };
        let bytes = levels.iter().map(|level| level.rgba.len() as u64).sum();
        Some(Texture { view: send(device, queue, &levels), bytes })
    }

    /// A material with its image, or with a white one where there is none.
    pub(super) fn bind(
        &self,
        device: &Device,
        material: &Material,
        images: &BTreeMap<usize, Option<Texture>>,
    ) -> BindGroup {
        let [red, green, blue] = material.emissive;
        let numbers = MaterialNumbers {
            base: material.base,
            emissive: [red, green, blue, material.alpha_cutoff],
            finish: [material.metallic, material.roughness, 1.0 / material.tiling.max(1e-3), 0.0],
        };
        let buffer = device.create_buffer_init(&BufferInitDescriptor {
            label: Some("material"),
            contents: bytemuck::bytes_of(&numbers),
            usage: BufferUsages::UNIFORM,
        });
        let image = material.image.as_ref().and_then(|image: &Arc<Image>| {
            images.get(&name(image)).and_then(Option::as_ref).map(|texture| &texture.view)
        });
        let entry = |binding, resource| wgpu::BindGroupEntry { binding, resource };
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("material"),
            layout: &self.layout,
            entries: &[
                entry(0, buffer.as_entire_binding()),
                entry(1, wgpu::BindingResource::TextureView(image.unwrap_or(&self.white))),
                entry(2, wgpu::BindingResource::Sampler(&self.sampler)),
            ],
        })
    }
}

fn send(device: &Device, queue: &Queue, levels: &[Level]) -> TextureView {
    let size = |level: &Level| Extent3d {
        width: level.width,
        height: level.height,
        depth_or_array_layers: 1,
    };
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some("image"),
        size: size(&levels[0]),
        mip_level_count: u32::try_from(levels.len()).unwrap_or(1),
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: TextureFormat::Rgba8UnormSrgb,
        usage: TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_DST,
        view_formats: &[],
    });
    for (mip_level, level) in (0..).zip(levels) {
        let place = wgpu::TexelCopyTextureInfo { mip_level, ..texture.as_image_copy() };
        let layout = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(level.width * 4),
            rows_per_image: None,
        };
        queue.write_texture(place, &level.rgba, layout, size(level));
    }
    texture.create_view(&wgpu::TextureViewDescriptor::default())
}
