//! Surfaces: what boxes and meshes are made of, as materials of a view.

use std::sync::Arc;

use dh_map::{AlphaMode, Color, Surface};
use dh_view::{Colour, Image, Material};

use super::Pictures;

/// A mixed surface is seen where it is at least so opaque.
const MIXED_CUTOFF: f32 = 0.5;
/// How rough a surface is, beside its factor, where an image says it that is not drawn.
const ROUGH_IMAGE_MEAN: f32 = 0.65;

/// The colour of a file as one of a view.
pub(super) fn colour(color: Color) -> Colour {
    let [red, green, blue] = color.0;
    Colour(u32::from_be_bytes([0, red, green, blue]))
}

/// The material of boxes. It is white: each box is tinted with its own colour.
pub(super) fn brush(material: &dh_map::Material, pictures: &Pictures) -> Material {
    let image = material.texture.as_ref().and_then(|name| pictures.get(name.as_str()));
    Material {
        image: image.cloned(),
        metallic: material.metallic,
        roughness: material.roughness,
        emissive: colour(material.emissive).linear().map(|light| light * material.glow),
        tiling: material.tile,
        ..Material::default()
    }
}

/// The material of a part of a mesh. Only the colour image is drawn. Where another image would
/// have the say, its factor is not taken at its word: it would make everything metal, or a lamp.
pub(super) fn surface(surface: &Surface, find: impl Fn(&str) -> Option<Arc<Image>>) -> Material {
    let by_image = surface.rough_image.is_some();
    Material {
        base: surface.base,
        image: surface.base_image.as_deref().and_then(find),
        metallic: if by_image { 0.0 } else { surface.metallic },
        roughness: surface.roughness * if by_image { ROUGH_IMAGE_MEAN } else { 1.0 },
        emissive: if surface.emissive_image.is_some() { [0.0; 3] } else { surface.emissive },
        alpha_cutoff: match surface.alpha {
            AlphaMode::Opaque => 0.0,
            AlphaMode::Mask => surface.cutoff,
            AlphaMode::Blend => MIXED_CUTOFF,
        },
        double_sided: surface.double_sided,
        ..Material::default()
    }
}
