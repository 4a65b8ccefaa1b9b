//! Materials of a model, and the entries that hold their pictures.
//!
//! Used beside primitives. A picture beside the model is an entry already; one inside the model
//! becomes an entry of its own, once for each content.

use super::buffers::{self, Buffers};
use super::{Around, Wrong, is_full};
use crate::plan::Kind;
use dh_map::mesh::NAME_MAX;
use dh_map::{AlphaMode, Surface};
use gltf::{Document, Material};
use std::collections::BTreeMap;

/// The materials of a model by index, and the plain one behind them.
pub(super) fn read(
    path: &str,
    document: &Document,
    buffers: &Buffers,
    around: Around<'_>,
    wrong: &mut Vec<Wrong>,
) -> Vec<Surface> {
    let images = images(path, document, buffers, around, wrong);
    let image =
        |texture: gltf::Texture<'_>| images.get(texture.source().index()).cloned().flatten();
    let mut surfaces: Vec<Surface> =
        document.materials().map(|material| surface(&material, &image)).collect();
    surfaces.push(Surface::default());
    surfaces
}

fn surface(
    material: &Material<'_>,
    image: &dyn Fn(gltf::Texture<'_>) -> Option<String>,
) -> Surface {
    let unit = |number: f32| if number.is_finite() { number.clamp(0.0, 1.0) } else { 1.0 };
    let rough = material.pbr_metallic_roughness();
    let strength = material.emissive_strength().unwrap_or(1.0);
    let light = |light: f32| if light.is_finite() { light.clamp(0.0, 1000.0) } else { 0.0 };
    Surface {
        name: shortened(material.name().unwrap_or_default()),
        base: rough.base_color_factor().map(unit),
        metallic: unit(rough.metallic_factor()),
        roughness: unit(rough.roughness_factor()),
        emissive: material.emissive_factor().map(|factor| light(factor * strength)),
        alpha: match material.alpha_mode() {
            gltf::material::AlphaMode::Opaque => AlphaMode::Opaque,
            gltf::material::AlphaMode::Mask => AlphaMode::Mask,
            gltf::material::AlphaMode::Blend => AlphaMode::Blend,
        },
        cutoff: unit(material.alpha_cutoff().unwrap_or(0.5)),
        double_sided: material.double_sided(),
        base_image: rough.base_color_texture().and_then(|info| image(info.texture())),
        normal_image: material.normal_texture().and_then(|info| image(info.texture())),
        rough_image: rough.metallic_roughness_texture().and_then(|info| image(info.texture())),
        occlusion_image: material.occlusion_texture().and_then(|info| image(info.texture())),
        emissive_image: material.emissive_texture().and_then(|info| image(info.texture())),
    }
}

/// The entry of each picture; none where it could not be had, which was told.
fn images(
    path: &str,
    document: &Document,
    buffers: &Buffers,
    around: Around<'_>,
    wrong: &mut Vec<Wrong>,
) -> Vec<Option<String>> {
    let mut entries = Vec::new();
    let views: Vec<_> = document.views().collect();
    // A view that many images name is looked at once.
    let mut embedded: BTreeMap<usize, String> = BTreeMap::new();
    for (index, image) in document.as_json().images.iter().enumerate() {
        if is_full(wrong) {
            break;
        }
        let pointer = format!("images[{index}]");
        let entry = match (&image.uri, image.buffer_view.map(|view| view.value())) {
            (Some(uri), _) => beside(path, uri, &format!("{pointer}.uri"), around),
            (None, Some(view)) => match (embedded.get(&view), views.get(view)) {
                (Some(entry), _) => Ok(entry.clone()),
                (None, None) => Err(Wrong::new(&pointer, "names no buffer view")),
                (None, Some(bytes)) => {
                    let entry = buffers.view(bytes);
                    let entry = entry.and_then(|bytes| embed(bytes, &pointer, around));
                    entry.inspect(|entry| drop(embedded.insert(view, entry.clone())))
                }
            },
            (None, None) => Err(Wrong::new(&pointer, "has neither a URI nor a buffer view")),
        };
        entries.push(entry.map_err(|fault| wrong.push(fault)).ok());
    }
    entries
}

fn beside(path: &str, uri: &str, pointer: &str, around: Around<'_>) -> Result<String, Wrong> {
    if uri.starts_with("data:") {
        return embed(&buffers::data(uri, pointer)?, pointer, around);
    }
    let file = buffers::beside(path, uri, pointer, Kind::Image, around)?;
    let entry = around.images.entry(&file).map(str::to_owned);
    entry.ok_or_else(|| {
        Wrong::new(pointer, format!("\"{file}\" is no PNG or JPEG")).with("save it as one of them")
    })
}

fn embed(bytes: &[u8], pointer: &str, around: Around<'_>) -> Result<String, Wrong> {
    let entry = around.images.embed(bytes, around.spool);
    entry.map_err(|fault| Wrong::new(pointer, fault).with("use a whole PNG or JPEG of a sane size"))
}

/// A name within the limit of a mesh, cut between characters.
pub(super) fn shortened(name: &str) -> String {
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    let cut = name.floor_char_boundary(NAME_MAX);
    name[..cut].chars().map(plain).collect()
}
