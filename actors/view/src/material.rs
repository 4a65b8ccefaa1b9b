//! Material: what a surface is made of, in the terms of glTF. Plain data; the renderer alone knows
//! how it is lit.

use alloc::{sync::Arc, vec::Vec};

/// What a surface is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// Red, green, blue and opacity as amounts of light, 0 to 1; the image is tinted with it.
    pub base: [f32; 4],
    /// The image on it; equal ones are shared.
    pub image: Option<Arc<Image>>,
    /// 0 for everything else, 1 for bare metal.
    pub metallic: f32,
    /// 0 for a mirror, 1 for chalk.
    pub roughness: f32,
    /// Light of its own, red, green, blue; 1 is a plain white.
    pub emissive: [f32; 3],
    /// What is less opaque than this is left out, 0 to 1; 0 is opaque everywhere.
    pub alpha_cutoff: f32,
    /// Whether it is seen from behind as well.
    pub double_sided: bool,
    /// Metres that one image covers on a box, above 0; meshes bring their own measure.
    pub tiling: f32,
}

impl Default for Material {
    /// White, matt and opaque.
    fn default() -> Self {
        Self {
            base: [1.0; 4],
            image: None,
            metallic: 0.0,
            roughness: 0.9,
            emissive: [0.0; 3],
            alpha_cutoff: 0.0,
            double_sided: false,
            tiling: 1.0,
        }
    }
}

/// A picture on a surface.
#[derive(Clone, PartialEq, Eq)]
pub struct Image {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// Red, green, blue (sRGB encoded) and opacity of each pixel, rows from the top.
    pub rgba: Vec<u8>,
}

impl core::fmt::Debug for Image {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Image({}x{})", self.width, self.height)
    }
}
