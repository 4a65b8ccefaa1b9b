//! Reads the bytes of a mesh; the layout is told in `mesh_write`.
//!
//! Used by `Mesh::decode`. Counts are held against the bytes that are there before anything is
//! allocated.

use crate::mesh::{AlphaMode, MAGIC, Mesh, MeshError, PARTS_MAX, Part, Surface, VERTICES_MAX};
use crate::mesh_write::{COLORS, DOUBLE_SIDED, TANGENTS, UVS};

/// The fewest bytes that a part takes, and a material.
const PART_BYTES_MIN: usize = 14;
const SURFACE_BYTES_MIN: usize = 53;

pub(crate) fn decode(bytes: &[u8]) -> Result<Mesh, MeshError> {
    let mut bytes = Bytes(bytes);
    if bytes.take(MAGIC.len()).map_err(|_| MeshError::Magic)? != MAGIC {
        return Err(MeshError::Magic);
    }
    let vertices = bytes.count(VERTICES_MAX, "more than 12,000,000 vertices")?;
    let indices = bytes.count(VERTICES_MAX, "more than 4,000,000 triangles")?;
    let parts = bytes.count(PARTS_MAX, "more than 65,536 parts")?;
    let materials = bytes.count(PARTS_MAX, "more than 65,536 materials")?;
    let arrays = bytes.u32()?;
    if arrays & !(UVS | COLORS | TANGENTS) != 0 {
        return Err(MeshError::Rule("arrays that this version does not know"));
    }
    let counted = |bit: u32| if arrays & bit == 0 { 0 } else { vertices };
    let positions = bytes.floats::<3>(vertices)?;
    let normals = bytes.floats::<3>(vertices)?;
    let uvs = bytes.floats::<2>(counted(UVS))?;
    let colors = bytes.take(counted(COLORS) * 4)?.as_chunks().0.to_vec();
    let tangents = bytes.floats::<4>(counted(TANGENTS))?;
    let raw = bytes.take(indices * 4)?.as_chunks().0;
    let indices = raw.iter().map(|raw| u32::from_le_bytes(*raw)).collect();
    bytes.pays_for(parts, PART_BYTES_MIN)?;
    let parts = (0..parts).map(|_| bytes.part()).collect::<Result<_, _>>()?;
    bytes.pays_for(materials, SURFACE_BYTES_MIN)?;
    let materials = (0..materials).map(|_| bytes.surface()).collect::<Result<_, _>>()?;
    if !bytes.0.is_empty() {
        return Err(MeshError::Trailing);
    }
    Ok(Mesh { positions, normals, uvs, colors, tangents, indices, parts, materials })
}

struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], MeshError> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(MeshError::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    fn pays_for(&self, count: usize, least: usize) -> Result<(), MeshError> {
        if count * least <= self.0.len() { Ok(()) } else { Err(MeshError::Truncated) }
    }

    fn u32(&mut self) -> Result<u32, MeshError> {
        let raw = self.take(4)?;
        Ok(raw.iter().rev().fold(0, |number, byte| (number << 8) | u32::from(*byte)))
    }

    fn count(&mut self, most: usize, rule: &'static str) -> Result<usize, MeshError> {
        let count = usize::try_from(self.u32()?).map_err(|_| MeshError::Rule(rule))?;
        if count <= most { Ok(count) } else { Err(MeshError::Rule(rule)) }
    }

    fn floats<const N: usize>(&mut self, count: usize) -> Result<Vec<[f32; N]>, MeshError> {
        let raw = self.take(count * N * 4)?.as_chunks::<4>().0;
        let number = |raw: &[u8; 4]| f32::from_le_bytes(*raw);
        let group = |raw: &[[u8; 4]; N]| raw.each_ref().map(number);
        Ok(raw.as_chunks::<N>().0.iter().map(group).collect())
    }

    fn array<const N: usize>(&mut self) -> Result<[f32; N], MeshError> {
        self.floats::<N>(1).map(|groups| groups[0])
    }

    fn text(&mut self) -> Result<String, MeshError> {
        let raw = self.take(2)?;
        let length = usize::from(raw[0]) | (usize::from(raw[1]) << 8);
        let text = str::from_utf8(self.take(length)?);
        text.map(str::to_owned).map_err(|_| MeshError::Rule("a text that is not UTF-8"))
    }

    fn part(&mut self) -> Result<Part, MeshError> {
        let name = self.text()?;
        Ok(Part { name, first: self.u32()?, count: self.u32()?, material: self.u32()? })
    }

    fn surface(&mut self) -> Result<Surface, MeshError> {
        let name = self.text()?;
        let base = self.array()?;
        let [metallic, roughness, cutoff] = self.array()?;
        let emissive = self.array()?;
        let flags = self.take(1)?[0];
        let alpha = match flags & !DOUBLE_SIDED {
            0 => AlphaMode::Opaque,
            1 => AlphaMode::Mask,
            2 => AlphaMode::Blend,
            _ => return Err(MeshError::Rule("material flags that this version does not know")),
        };
        let mut image = || self.text().map(|path| Some(path).filter(|path| !path.is_empty()));
        Ok(Surface {
            name,
            base,
            metallic,
            roughness,
            emissive,
            alpha,
            cutoff,
            double_sided: flags & DOUBLE_SIDED != 0,
            base_image: image()?,
            normal_image: image()?,
            rough_image: image()?,
            occlusion_image: image()?,
            emissive_image: image()?,
        })
    }
}
