//! The bytes of a mesh, as `mesh_read` reads them.
//!
//! Layout, little endian: magic; counts of vertices, indices, parts and materials (u32 each); which
//! optional arrays follow (u32: uvs 1, colours 2, tangents 4); positions, normals, uvs, colours,
//! tangents, indices, each back to back; then parts and materials. A text is its length as u16 and
//! its UTF-8.

use crate::mesh::{AlphaMode, MAGIC, Mesh, Surface};

/// Bits of the optional arrays.
pub(crate) const UVS: u32 = 1;
pub(crate) const COLORS: u32 = 2;
pub(crate) const TANGENTS: u32 = 4;
/// Bits of a material's flags, above its alpha mode.
pub(crate) const DOUBLE_SIDED: u8 = 4;

pub(crate) fn encode(mesh: &Mesh) -> Vec<u8> {
    let vertex = 24 + 8 + 4 + 16;
    let mut out = Vec::with_capacity(mesh.positions.len() * vertex + mesh.indices.len() * 4 + 256);
    out.extend(MAGIC);
    let counts = [mesh.positions.len(), mesh.indices.len(), mesh.parts.len(), mesh.materials.len()];
    counts.iter().for_each(|count| put_u32(&mut out, u32::try_from(*count).unwrap_or(u32::MAX)));
    let bit = |present: bool, bit: u32| if present { bit } else { 0 };
    let arrays = bit(!mesh.uvs.is_empty(), UVS)
        | bit(!mesh.colors.is_empty(), COLORS)
        | bit(!mesh.tangents.is_empty(), TANGENTS);
    put_u32(&mut out, arrays);
    put_floats(&mut out, mesh.positions.as_flattened());
    put_floats(&mut out, mesh.normals.as_flattened());
    put_floats(&mut out, mesh.uvs.as_flattened());
    out.extend(mesh.colors.as_flattened());
    put_floats(&mut out, mesh.tangents.as_flattened());
    mesh.indices.iter().for_each(|index| put_u32(&mut out, *index));
    for part in &mesh.parts {
        put_text(&mut out, &part.name);
        [part.first, part.count, part.material].iter().for_each(|each| put_u32(&mut out, *each));
    }
    mesh.materials.iter().for_each(|surface| put_surface(&mut out, surface));
    out
}

fn put_surface(out: &mut Vec<u8>, surface: &Surface) {
    put_text(out, &surface.name);
    put_floats(out, &surface.base);
    put_floats(out, &[surface.metallic, surface.roughness, surface.cutoff]);
    put_floats(out, &surface.emissive);
    let alpha = match surface.alpha {
        AlphaMode::Opaque => 0,
        AlphaMode::Mask => 1,
        AlphaMode::Blend => 2,
    };
    out.push(alpha | if surface.double_sided { DOUBLE_SIDED } else { 0 });
    // An absent image is an empty path, which no present one is.
    surface.images().iter().for_each(|image| put_text(out, image.as_deref().unwrap_or_default()));
}

fn put_u32(out: &mut Vec<u8>, number: u32) {
    out.extend(number.to_le_bytes());
}

fn put_floats(out: &mut Vec<u8>, numbers: &[f32]) {
    numbers.iter().for_each(|number| out.extend(number.to_le_bytes()));
}

/// Lengths above the limits make a text that the reader refuses by its rules.
fn put_text(out: &mut Vec<u8>, text: &str) {
    let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
    out.extend(length.to_le_bytes());
    out.extend(&text.as_bytes()[..usize::from(length)]);
}
