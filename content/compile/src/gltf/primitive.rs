//! The triangles of a model, all nodes' together, in the model's own space.
//!
//! Used last. What cannot be a triangle is dropped and counted; what breaks a rule is told.

use super::accessor::{floats, integers};
use super::buffers::Buffers;
use super::scene::Visit;
use super::{Wrong, is_full, plural};
use dh_map::mesh::{REACH_MAX, TRIANGLES_MAX, VERTICES_MAX};
use dh_map::{Mesh, Part, Surface};
use glam::{Mat3, Mat4, Vec3, Vec4};
use gltf::mesh::Mode;
use gltf::{Primitive, Semantic};

/// One primitive as it stands in its file.
struct Raw {
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    uvs: Vec<[f32; 2]>,
    colors: Vec<[u8; 4]>,
    tangents: Vec<[f32; 4]>,
    indices: Vec<u32>,
}

/// Puts the meshes of all visits together.
pub(super) fn assemble(
    visits: &[Visit<'_>],
    buffers: &Buffers,
    materials: Vec<Surface>,
    wrong: &mut Vec<Wrong>,
    notes: &mut Vec<String>,
) -> Mesh {
    let mut mesh = Mesh { materials, ..Mesh::default() };
    if !wrong.is_empty() || too_many(visits, wrong) {
        return mesh;
    }
    let mut counted = Counted::default();
    for visit in visits {
        for primitive in visit.mesh.primitives() {
            if is_full(wrong) {
                return mesh;
            }
            let pointer =
                format!("meshes[{}].primitives[{}]", visit.mesh.index(), primitive.index());
            if !is_triangles(&primitive) {
                counted.lines += 1;
                continue;
            }
            match read(&primitive, buffers, &pointer) {
                Ok(raw) => {
                    let material = primitive.material().index();
                    counted.add(&mut mesh, raw, visit, material, &pointer, wrong);
                }
                Err(fault) => wrong.push(fault),
            }
        }
    }
    finish(&mut mesh, &counted, wrong, notes);
    mesh
}

#[derive(Default)]
struct Counted {
    degenerate: usize,
    lines: usize,
    /// Whether some part had none.
    bare_tangents: bool,
}

impl Counted {
    fn add(
        &mut self,
        mesh: &mut Mesh,
        raw: Raw,
        visit: &Visit<'_>,
        material: Option<usize>,
        pointer: &str,
        wrong: &mut Vec<Wrong>,
    ) {
        let moved = moved(raw, visit.placed);
        let far = |place: &[f32; 3]| !place.iter().all(|axis| axis.abs() <= REACH_MAX);
        if let Some(bad) = moved.positions.iter().position(far) {
            let text = format!("position {bad} is not finite, or a million metres away");
            wrong.push(Wrong::new(pointer, text).with("export it again"));
            return;
        }
        let first = mesh.indices.len();
        let before = mesh.positions.len();
        let offset = u32::try_from(before).unwrap_or(u32::MAX);
        for triangle in moved.indices.as_chunks::<3>().0 {
            let corners = triangle.map(|index| place(&moved.positions, index));
            let [a, b, c] = corners;
            if (b - a).cross(c - a) == Vec3::ZERO {
                self.degenerate += 1;
            } else {
                mesh.indices.extend(triangle.map(|index| index + offset));
            }
        }
        let count = mesh.indices.len() - first;
        if count == 0 {
            return;
        }
        self.bare_tangents |= moved.tangents.is_empty();
        mesh.positions.extend(moved.positions);
        mesh.normals.extend(moved.normals);
        filled(&mut mesh.uvs, moved.uvs, before, mesh.positions.len(), [0.0; 2]);
        filled(&mut mesh.colors, moved.colors, before, mesh.positions.len(), [255; 4]);
        filled(&mut mesh.tangents, moved.tangents, before, mesh.positions.len(), [0.0; 4]);
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let material = number(material.unwrap_or(mesh.materials.len() - 1));
        let name = visit.name.clone();
        mesh.parts.push(Part { name, first: number(first), count: number(count), material });
    }
}

/// Appends an optional array; where only one side has it, the other is filled.
fn filled<T: Copy>(all: &mut Vec<T>, more: Vec<T>, before: usize, after: usize, plain: T) {
    if more.is_empty() && all.is_empty() {
        return;
    }
    all.resize(before, plain);
    all.extend(more);
    all.resize(after, plain);
}

fn finish(mesh: &mut Mesh, counted: &Counted, wrong: &mut Vec<Wrong>, notes: &mut Vec<String>) {
    if counted.bare_tangents {
        mesh.tangents = Vec::new();
    }
    drop_unused(mesh);
    if counted.degenerate > 0 {
        notes.push(plural(counted.degenerate, "degenerate triangle") + " dropped");
    }
    if counted.lines > 0 {
        notes.push(plural(counted.lines, "part") + " of points or lines left out");
    }
    if !wrong.is_empty() {
        return;
    }
    if mesh.indices.is_empty() {
        let text = "a mesh without triangles";
        wrong.push(Wrong::new("", text).with("export it with faces, as triangles"));
    } else if let Err(error) = mesh.check() {
        wrong.push(Wrong::new("", error.to_string()).with("export it again"));
    }
}

/// Materials that no part names are left out, the plain one above all.
fn drop_unused(mesh: &mut Mesh) {
    let mut kept = Vec::new();
    let mut places: Vec<Option<u32>> = vec![None; mesh.materials.len()];
    for part in &mut mesh.parts {
        let at = usize::try_from(part.material).unwrap_or(usize::MAX);
        let place = places[at].get_or_insert_with(|| {
            kept.push(mesh.materials[at].clone());
            u32::try_from(kept.len() - 1).unwrap_or(u32::MAX)
        });
        part.material = *place;
    }
    mesh.materials = kept;
}

/// Whether the visits have more triangles than a mesh may, by their counts alone.
fn too_many(visits: &[Visit<'_>], wrong: &mut Vec<Wrong>) -> bool {
    let primitives =
        || visits.iter().flat_map(|visit| visit.mesh.primitives()).filter(is_triangles);
    let places = |primitive: Primitive<'_>| {
        primitive.get(&Semantic::Positions).map_or(0, |accessor| accessor.count())
    };
    let vertices = primitives().map(places).fold(0, usize::saturating_add);
    let corners = |primitive: Primitive<'_>| {
        let mode = primitive.mode();
        let count = primitive.indices().map(|accessor| accessor.count());
        let count = count.unwrap_or_else(|| places(primitive));
        if mode == Mode::Triangles { count / 3 } else { count }
    };
    let triangles = primitives().map(corners).fold(0, usize::saturating_add);
    let many = triangles > TRIANGLES_MAX || vertices > VERTICES_MAX;
    if vertices > VERTICES_MAX {
        let text = format!("{vertices} vertices, {VERTICES_MAX} are allowed");
        wrong.push(Wrong::new("", text).with("split it or make it coarser"));
    } else if many {
        let text = format!("{triangles} triangles, {TRIANGLES_MAX} are allowed");
        wrong.push(Wrong::new("", text).with("split it or make it coarser"));
    }
    many
}

fn is_triangles(primitive: &Primitive<'_>) -> bool {
    matches!(primitive.mode(), Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan)
}

fn read(primitive: &Primitive<'_>, buffers: &Buffers, pointer: &str) -> Result<Raw, Wrong> {
    let positions = primitive.get(&Semantic::Positions);
    let positions = positions.ok_or_else(|| Wrong::new(pointer, "has no positions"))?;
    let positions = floats::<3>(&positions, buffers)?;
    let whole = |length: usize, what: &str| {
        let text = format!("{length} {what} for {} positions", positions.len());
        if length == positions.len() { Ok(()) } else { Err(Wrong::new(pointer, text)) }
    };
    let normals = optional::<3>(primitive, &Semantic::Normals, buffers)?;
    let uvs = optional::<2>(primitive, &Semantic::TexCoords(0), buffers)?;
    let tangents = optional::<4>(primitive, &Semantic::Tangents, buffers)?;
    let colors = colors(primitive, buffers)?;
    for (length, what) in [
        (normals.len(), "normals"),
        (uvs.len(), "uvs"),
        (tangents.len(), "tangents"),
        (colors.len(), "colours"),
    ] {
        if length > 0 {
            whole(length, what)?;
        }
    }
    let indices = match primitive.indices() {
        Some(accessor) => integers(&accessor, buffers)?,
        None => (0..u32::try_from(positions.len()).unwrap_or(u32::MAX)).collect(),
    };
    let count = u32::try_from(positions.len()).unwrap_or(u32::MAX);
    if let Some(bad) = indices.iter().find(|index| **index >= count) {
        let text = format!("index {bad} is out of range, there are {count} vertices");
        return Err(Wrong::new(format!("{pointer}.indices"), text).with("export it again"));
    }
    let indices = triangles(primitive.mode(), indices);
    let raw = Raw { positions, normals, uvs, colors, tangents, indices };
    Ok(if raw.normals.is_empty() { flat(&raw) } else { raw })
}

fn optional<const N: usize>(
    primitive: &Primitive<'_>,
    semantic: &Semantic,
    buffers: &Buffers,
) -> Result<Vec<[f32; N]>, Wrong> {
    let accessor = primitive.get(semantic);
    accessor.map_or(Ok(Vec::new()), |accessor| floats::<N>(&accessor, buffers))
}

fn colors(primitive: &Primitive<'_>, buffers: &Buffers) -> Result<Vec<[u8; 4]>, Wrong> {
    let Some(accessor) = primitive.get(&Semantic::Colors(0)) else { return Ok(Vec::new()) };
    let byte = |number: f32| {
        let scaled = (number.clamp(0.0, 1.0) * 255.0).round();
        #[expect(clippy::cast_possible_truncation, reason = "0 to 255, NaN becomes 0")]
        #[expect(clippy::cast_sign_loss, reason = "0 to 255, NaN becomes 0")]
        let byte = scaled as u8;
        byte
    };
    if accessor.dimensions().multiplicity() == 3 {
        let colors = floats::<3>(&accessor, buffers)?;
        return Ok(colors.into_iter().map(|[r, g, b]| [r, g, b, 1.0].map(byte)).collect());
    }
    Ok(floats::<4>(&accessor, buffers)?.into_iter().map(|color| color.map(byte)).collect())
}

/// Strips and fans as plain triangles; corners that make no whole one are left out.
fn triangles(mode: Mode, mut indices: Vec<u32>) -> Vec<u32> {
    match mode {
        Mode::TriangleStrip => {
            let each = indices.windows(3).enumerate();
            each.flat_map(
                |(at, w)| if at % 2 == 0 { [w[0], w[1], w[2]] } else { [w[1], w[0], w[2]] },
            )
            .collect()
        }
        Mode::TriangleFan => {
            let first = indices.first().copied().unwrap_or_default();
            let each = indices.get(1..).unwrap_or_default().windows(2);
            each.flat_map(|pair| [first, pair[0], pair[1]]).collect()
        }
        _ => {
            indices.truncate(indices.len() / 3 * 3);
            indices
        }
    }
}

/// A primitive without normals has flat faces: each triangle gets corners of its own.
fn flat(raw: &Raw) -> Raw {
    let each = |index: &u32| usize::try_from(*index).unwrap_or(usize::MAX);
    fn taken<T: Copy>(all: &[T], places: &[usize]) -> Vec<T> {
        if all.is_empty() { Vec::new() } else { places.iter().map(|at| all[*at]).collect() }
    }
    let places: Vec<usize> = raw.indices.iter().map(each).collect();
    let normals = raw.indices.as_chunks::<3>().0.iter().flat_map(|triangle| {
        let [a, b, c] = triangle.map(|index| place(&raw.positions, index));
        [(b - a).cross(c - a).normalize_or(Vec3::Y).to_array(); 3]
    });
    Raw {
        positions: taken(&raw.positions, &places),
        normals: normals.collect(),
        uvs: taken(&raw.uvs, &places),
        colors: taken(&raw.colors, &places),
        // Tangents mean nothing without the normals they belong to.
        tangents: Vec::new(),
        indices: (0..u32::try_from(places.len()).unwrap_or(u32::MAX)).collect(),
    }
}

/// A primitive where its node puts it; a mirroring node turns its triangles over.
fn moved(mut raw: Raw, placed: Mat4) -> Raw {
    let turned = Mat3::from_mat4(placed);
    let mirrored = turned.determinant() < 0.0;
    // Normals go with the cofactors, which exist for every matrix.
    let cofactors = Mat3::from_cols(
        turned.y_axis.cross(turned.z_axis),
        turned.z_axis.cross(turned.x_axis),
        turned.x_axis.cross(turned.y_axis),
    );
    let sign = if mirrored { -1.0 } else { 1.0 };
    for position in &mut raw.positions {
        *position = placed.transform_point3(Vec3::from_array(*position)).to_array();
    }
    for normal in &mut raw.normals {
        let moved = cofactors * Vec3::from_array(*normal) * sign;
        *normal = moved.normalize_or(Vec3::Y).to_array();
    }
    for tangent in &mut raw.tangents {
        let [x, y, z, w] = *tangent;
        let moved = (turned * Vec3::new(x, y, z)).normalize_or(Vec3::X);
        *tangent = Vec4::from((moved, if w < 0.0 { -sign } else { sign })).to_array();
    }
    for uv in raw.uvs.as_flattened_mut() {
        *uv = if uv.abs() <= REACH_MAX { *uv } else { 0.0 };
    }
    if mirrored {
        raw.indices.as_chunks_mut::<3>().0.iter_mut().for_each(|triangle| triangle.swap(1, 2));
    }
    raw
}

fn place(positions: &[[f32; 3]], index: u32) -> Vec3 {
    let place = usize::try_from(index).ok().and_then(|index| positions.get(index));
    place.map_or(Vec3::NAN, |place| Vec3::from_array(*place))
}
