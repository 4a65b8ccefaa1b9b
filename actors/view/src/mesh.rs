//! Mesh: triangles with what they are made of. Filled from content by whoever loads a map; the
//! renderer checks the counts before it draws and leaves out a mesh that does not add up.

use alloc::vec::Vec;

use glam::{Affine3A, Vec3};

use crate::Material;

/// Triangles, each counterclockwise from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Where the corners are, metres.
    pub positions: Vec<[f32; 3]>,
    /// Outward unit vectors, one a corner; or none, and each triangle is flat.
    pub normals: Vec<[f32; 3]>,
    /// Where on the image each corner lies, 0 to 1 from the upper left; or none.
    pub uvs: Vec<[f32; 2]>,
    /// What the material is tinted with at each corner, amounts of light; or none.
    pub colours: Vec<[u8; 4]>,
    /// Corners by their index, three a triangle.
    pub indices: Vec<u32>,
    /// Runs of triangles of one material.
    pub parts: Vec<Part>,
    /// What the parts are made of.
    pub materials: Vec<Material>,
    /// Around all corners.
    pub bounds: Bounds,
}

/// A run of triangles of one material.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The first of its indices.
    pub first: u32,
    /// How many indices, three a triangle.
    pub count: u32,
    /// What it is made of, by its index in the mesh; one that is not there is plain.
    pub material: u32,
}

/// The smallest upright box around something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The corner with the smallest coordinates, metres.
    pub min: Vec3,
    /// The corner with the largest.
    pub max: Vec3,
}

impl Bounds {
    /// Around these points; around nothing it is a point at the origin.
    #[must_use]
    pub fn around(points: impl IntoIterator<Item = Vec3>) -> Self {
        let mut points = points.into_iter();
        let Some(first) = points.next() else { return Self::default() };
        let one = Self { min: first, max: first };
        points.fold(one, |so_far, point| Self {
            min: so_far.min.min(point),
            max: so_far.max.max(point),
        })
    }

    /// Its middle.
    #[must_use]
    pub fn centre(&self) -> Vec3 {
        (self.min + self.max) * 0.5
    }

    /// Half its size.
    #[must_use]
    pub fn half(&self) -> Vec3 {
        (self.max - self.min) * 0.5
    }

    /// Around the same thing after it was moved.
    #[must_use]
    pub fn placed(&self, transform: &Affine3A) -> Self {
        let (centre, half) = (transform.transform_point3(self.centre()), self.half());
        let turn = transform.matrix3;
        let reach = Vec3::from(turn.x_axis.abs() * half.x)
            + Vec3::from(turn.y_axis.abs() * half.y)
            + Vec3::from(turn.z_axis.abs() * half.z);
        Self { min: centre - reach, max: centre + reach }
    }
}

impl Default for Bounds {
    fn default() -> Self {
        Self { min: Vec3::ZERO, max: Vec3::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;

    #[test]
    fn bounds_reach_to_every_point_and_no_further() {
        let points = [Vec3::new(1.0, -2.0, 3.0), Vec3::new(-1.0, 4.0, 0.0), Vec3::ZERO];
        let bounds = Bounds::around(points);
        assert_eq!(
            bounds,
            Bounds { min: Vec3::new(-1.0, -2.0, 0.0), max: Vec3::new(1.0, 4.0, 3.0) }
        );
        assert_eq!(Bounds::around([]), Bounds::default());
    }

    #[test]
    fn bounds_of_a_turned_and_stretched_thing_hold_its_corners() {
        let bounds = Bounds { min: Vec3::new(-1.0, 0.0, -3.0), max: Vec3::new(2.0, 1.0, 0.5) };
        let turn = Quat::from_rotation_y(0.8) * Quat::from_rotation_x(-0.4);
        let place = Vec3::new(5.0, -1.0, 2.0);
        let moved =
            Affine3A::from_scale_rotation_translation(Vec3::new(2.0, -1.0, 0.5), turn, place);
        let around = bounds.placed(&moved);
        for corner in 0..8_u8 {
            let pick = |bit: u8, min, max| if corner & bit == 0 { min } else { max };
            let (min, max) = (bounds.min, bounds.max);
            let at = Vec3::new(pick(1, min.x, max.x), pick(2, min.y, max.y), pick(4, min.z, max.z));
            let at = moved.transform_point3(at);
            assert!(at.cmpge(around.min - 1e-4).all() && at.cmple(around.max + 1e-4).all());
        }
    }
}
