//! A model as it lies in a pallet: one `.dh-mesh` entry.
//!
//! Made by the compiler from glTF; read by servers for collision and by clients for pictures. What
//! was decoded holds every rule of `Mesh::check`, so that its users index without asking.

use crate::mesh_read;
use crate::mesh_write;
use crate::reference::check_path;
use std::fmt;

/// The first eight bytes: the format and its version.
pub const MAGIC: [u8; 8] = *b"DHMESH01";
/// A mesh may have so many triangles.
pub const TRIANGLES_MAX: usize = 4_000_000;
/// A mesh may have so many vertices.
pub const VERTICES_MAX: usize = 3 * TRIANGLES_MAX;
/// A mesh may have so many parts, and as many materials.
pub const PARTS_MAX: usize = 65_536;
/// A vertex lies within so many metres of the middle.
pub const REACH_MAX: f32 = 1_000_000.0;
/// A name may have so many bytes.
pub const NAME_MAX: usize = 256;

/// Triangles, what they look like, and the nodes they came from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mesh {
    /// One place a vertex, in metres.
    pub positions: Vec<[f32; 3]>,
    /// One unit direction a vertex.
    pub normals: Vec<[f32; 3]>,
    /// One place on the images a vertex, or none at all.
    pub uvs: Vec<[f32; 2]>,
    /// One linear colour with alpha a vertex, or none at all.
    pub colors: Vec<[u8; 4]>,
    /// One direction and handedness a vertex, or none at all.
    pub tangents: Vec<[f32; 4]>,
    /// Three vertices a triangle, counter-clockwise from outside.
    pub indices: Vec<u32>,
    /// Runs of triangles, in order, without gaps.
    pub parts: Vec<Part>,
    /// Surfaces that parts name by place.
    pub materials: Vec<Surface>,
}

/// A run of triangles of one node with one material.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Part {
    /// The source node's name.
    pub name: String,
    /// Its first index; divisible by 3.
    pub first: u32,
    /// How many indices; divisible by 3.
    pub count: u32,
    /// Place of its material.
    pub material: u32,
}

/// What a surface looks like. Factors are linear, images as glTF means them.
#[derive(Debug, Clone, PartialEq)]
pub struct Surface {
    /// Its name; may be empty.
    pub name: String,
    /// Colour and alpha, 0 to 1.
    pub base: [f32; 4],
    /// 0 is not metal, 1 is.
    pub metallic: f32,
    /// 0 is a mirror, 1 is chalk.
    pub roughness: f32,
    /// Its own light.
    pub emissive: [f32; 3],
    /// What alpha means.
    pub alpha: AlphaMode,
    /// Below this alpha nothing is seen, where alpha is a mask.
    pub cutoff: f32,
    /// Whether its back is seen.
    pub double_sided: bool,
    /// Path of the colour image.
    pub base_image: Option<String>,
    /// Path of the normal image.
    pub normal_image: Option<String>,
    /// Path of the image of roughness (green) and metal (blue).
    pub rough_image: Option<String>,
    /// Path of the occlusion image.
    pub occlusion_image: Option<String>,
    /// Path of the image of its own light.
    pub emissive_image: Option<String>,
}

impl Default for Surface {
    fn default() -> Self {
        Self {
            name: String::new(),
            base: [1.0; 4],
            metallic: 1.0,
            roughness: 1.0,
            emissive: [0.0; 3],
            alpha: AlphaMode::Opaque,
            cutoff: 0.5,
            double_sided: false,
            base_image: None,
            normal_image: None,
            rough_image: None,
            occlusion_image: None,
            emissive_image: None,
        }
    }
}

impl Surface {
    /// Its images, in the order in which they are stored.
    pub fn images(&self) -> [&Option<String>; 5] {
        let Self { base_image, normal_image, rough_image, occlusion_image, emissive_image, .. } =
            self;
        [base_image, normal_image, rough_image, occlusion_image, emissive_image]
    }
}

/// What alpha means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlphaMode {
    /// Nothing.
    Opaque,
    /// Seen or not seen.
    Mask,
    /// Mixed with what lies behind.
    Blend,
}

/// Why bytes are no mesh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MeshError {
    /// Another format, or another version of this one.
    Magic,
    /// The bytes end before the mesh does.
    Truncated,
    /// The mesh ends before the bytes do.
    Trailing,
    /// A rule is broken; says which.
    Rule(&'static str),
}

impl fmt::Display for MeshError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic => f.write_str("no dh-mesh of this version"),
            Self::Truncated => f.write_str("the mesh is cut short"),
            Self::Trailing => f.write_str("bytes behind the mesh"),
            Self::Rule(rule) => f.write_str(rule),
        }
    }
}

impl std::error::Error for MeshError {}

impl Mesh {
    /// How many triangles.
    pub fn triangles(&self) -> usize {
        self.indices.len() / 3
    }

    /// The stored bytes.
    pub fn encode(&self) -> Vec<u8> {
        mesh_write::encode(self)
    }

    /// Reads stored bytes. No count allocates more than the bytes themselves pay for.
    pub fn decode(bytes: &[u8]) -> Result<Self, MeshError> {
        let mesh = mesh_read::decode(bytes)?;
        mesh.check()?;
        Ok(mesh)
    }

    /// The least and the greatest corner; both zero for no vertices.
    pub fn bounds(&self) -> ([f32; 3], [f32; 3]) {
        let Some(first) = self.positions.first() else { return ([0.0; 3], [0.0; 3]) };
        self.positions.iter().fold((*first, *first), |(low, high), place| {
            let each = |axis: usize| (low[axis].min(place[axis]), high[axis].max(place[axis]));
            let [x, y, z] = [each(0), each(1), each(2)];
            ([x.0, y.0, z.0], [x.1, y.1, z.1])
        })
    }

    /// Every rule of a mesh.
    pub fn check(&self) -> Result<(), MeshError> {
        let rule = |holds: bool, text: &'static str| {
            if holds { Ok(()) } else { Err(MeshError::Rule(text)) }
        };
        let vertices = self.positions.len();
        let whole = |length: usize| length == 0 || length == vertices;
        rule(!self.indices.is_empty(), "a mesh without triangles")?;
        rule(self.indices.len().is_multiple_of(3), "indices that make no whole triangles")?;
        rule(self.triangles() <= TRIANGLES_MAX, "more than 4,000,000 triangles")?;
        rule(vertices <= VERTICES_MAX, "more than 12,000,000 vertices")?;
        rule(self.normals.len() == vertices, "normals that do not match the vertices")?;
        rule(whole(self.uvs.len()), "uvs that do not match the vertices")?;
        rule(whole(self.colors.len()), "colours that do not match the vertices")?;
        rule(whole(self.tangents.len()), "tangents that do not match the vertices")?;
        let near = |number: &f32| number.abs() <= REACH_MAX;
        rule(self.positions.as_flattened().iter().all(near), "a position that is not finite")?;
        rule(self.normals.as_flattened().iter().all(near), "a normal that is not finite")?;
        rule(self.uvs.as_flattened().iter().all(near), "a uv that is not finite")?;
        rule(self.tangents.as_flattened().iter().all(near), "a tangent that is not finite")?;
        let inside = |index: &u32| usize::try_from(*index).is_ok_and(|index| index < vertices);
        rule(self.indices.iter().all(inside), "an index out of range")?;
        rule(self.parts.len() <= PARTS_MAX, "more than 65,536 parts")?;
        rule(self.materials.len() <= PARTS_MAX, "more than 65,536 materials")?;
        self.check_parts()?;
        self.materials.iter().try_for_each(check_surface)
    }

    fn check_parts(&self) -> Result<(), MeshError> {
        let mut next = 0_u64;
        for part in &self.parts {
            let whole = part.count > 0 && part.count.is_multiple_of(3);
            if u64::from(part.first) != next || !whole {
                return Err(MeshError::Rule("parts that do not follow one another"));
            }
            if usize::try_from(part.material).map_or(true, |at| at >= self.materials.len()) {
                return Err(MeshError::Rule("a part whose material does not exist"));
            }
            if part.name.len() > NAME_MAX {
                return Err(MeshError::Rule("a name over 256 bytes"));
            }
            next += u64::from(part.count);
        }
        let all = u64::try_from(self.indices.len()).unwrap_or(u64::MAX);
        if next == all { Ok(()) } else { Err(MeshError::Rule("triangles that no part holds")) }
    }
}

fn check_surface(surface: &Surface) -> Result<(), MeshError> {
    let unit = |number: &f32| (0.0..=1.0).contains(number);
    let factors = [surface.metallic, surface.roughness, surface.cutoff];
    if !surface.base.iter().chain(&factors).all(unit) {
        return Err(MeshError::Rule("a material factor out of 0 to 1"));
    }
    if !surface.emissive.iter().all(|light| (0.0..=1000.0).contains(light)) {
        return Err(MeshError::Rule("an emissive factor out of 0 to 1000"));
    }
    if surface.name.len() > NAME_MAX {
        return Err(MeshError::Rule("a name over 256 bytes"));
    }
    let mut images = surface.images().into_iter().flatten();
    if images.any(|path| check_path(path).is_err()) {
        return Err(MeshError::Rule("an image path that leaves the pallet"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
