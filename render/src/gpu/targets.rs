//! Targets: what a picture of one size is drawn into, and how its bytes come back.

use wgpu::{Buffer, Device, Extent3d, Texture, TextureFormat, TextureUsages, TextureView};

use super::DEPTH_FORMAT;

/// Rows of a copy start at multiples of this many bytes.
const ROW_ALIGN: u32 = wgpu::COPY_BYTES_PER_ROW_ALIGNMENT;

/// Textures of one picture size.
#[derive(Debug)]
pub(super) struct Targets {
    pub(super) width: u32,
    pub(super) height: u32,
    /// Several samples a pixel; `None` where the adapter has but one.
    pub(super) smooth: Option<TextureView>,
    pub(super) depth: TextureView,
    /// The finished picture.
    pub(super) picture: TextureView,
    texture: Texture,
    back: Option<Buffer>,
}

impl Targets {
    pub(super) fn new(
        device: &Device,
        width: u32,
        height: u32,
        format: TextureFormat,
        samples: u32,
    ) -> Self {
        let size = Extent3d { width, height, depth_or_array_layers: 1 };
        let make = |format, samples, usage| texture(device, size, format, samples, usage);
        let attached = TextureUsages::RENDER_ATTACHMENT;
        let read = TextureUsages::COPY_SRC | TextureUsages::TEXTURE_BINDING;
        let finished = make(format, 1, attached | read);
        let view = |texture: &Texture| texture.create_view(&wgpu::TextureViewDescriptor::default());
        Self {
            width,
            height,
            smooth: (samples > 1).then(|| view(&make(format, samples, attached))),
            depth: view(&make(DEPTH_FORMAT, samples, attached)),
            picture: view(&finished),
            texture: finished,
            back: None,
        }
    }

    /// Copy the finished picture to where it can be read.
    pub(super) fn fetch(&mut self, device: &Device, encoder: &mut wgpu::CommandEncoder) {
        let back = self.back.get_or_insert_with(|| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("picture bytes"),
                size: u64::from(row_bytes(self.width)) * u64::from(self.height),
                usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
                mapped_at_creation: false,
            })
        });
        encoder.copy_texture_to_buffer(
            self.texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: back,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(row_bytes(self.width)),
                    rows_per_image: None,
                },
            },
            self.texture.size(),
        );
    }

    /// Wait for the device and take the bytes.
    pub(super) fn bytes(&self, device: &Device) -> Result<Vec<u8>, String> {
        let Some(back) = &self.back else { return Err(String::from("nothing was fetched")) };
        let slice = back.slice(..);
        // What fails here fails again below, where it can be told.
        slice.map_async(wgpu::MapMode::Read, |_| {});
        device.poll(wgpu::PollType::wait_indefinitely()).map_err(|error| error.to_string())?;
        let mapped = slice.get_mapped_range().map_err(|error| error.to_string())?;
        let (row, kept) = (row_bytes(self.width) as usize, self.width as usize * 4);
        let mut rgba = Vec::with_capacity(kept * self.height as usize);
        for line in mapped.chunks_exact(row) {
            rgba.extend_from_slice(&line[..kept]);
        }
        drop(mapped);
        back.unmap();
        Ok(rgba)
    }
}

/// A texture of one layer.
pub(super) fn texture(
    device: &Device,
    size: Extent3d,
    format: TextureFormat,
    samples: u32,
    usage: TextureUsages,
) -> Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size,
        mip_level_count: 1,
        sample_count: samples,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage,
        view_formats: &[],
    })
}

const fn row_bytes(width: u32) -> u32 {
    (width * 4).div_ceil(ROW_ALIGN) * ROW_ALIGN
}
