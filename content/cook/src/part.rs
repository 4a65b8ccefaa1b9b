//! Part: one mesh as it stands in the map. Handed in by whoever reads maps; nothing is copied.

use glam::Vec3;

use crate::cook::CookError;

/// Triangles of one cook at most, 4 M.
pub const TRIANGLES_MAX: usize = 1 << 22;
/// Object numbers end below this.
pub const OBJECTS_MAX: u32 = 1 << 23;
/// No corner lies further from the middle of the world along any axis, metres.
pub const REACH: f32 = 1_048_576.0;

/// One mesh as it stands in the map.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// The map object it belongs to, below [`OBJECTS_MAX`].
    pub object: u32,
    /// Corners, in the mesh's own space.
    pub positions: &'a [[f32; 3]],
    /// Three for each triangle. Both sides of a triangle stop movement, so their turn is free.
    pub indices: &'a [u32],
    /// The mesh's x, y and z axis in the world; any length, turn and mirroring.
    pub axes: [[f32; 3]; 3],
    /// The mesh's origin in the world, metres.
    pub origin: [f32; 3],
}

impl<'a> Part<'a> {
    /// A mesh whose positions are those in the world, metres.
    #[must_use]
    pub const fn in_world(object: u32, positions: &'a [[f32; 3]], indices: &'a [u32]) -> Self {
        let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        Self { object, positions, indices, axes, origin: [0.0; 3] }
    }

    /// Whether the indices make whole triangles of corners that exist.
    pub(crate) fn check(&self) -> Result<(), CookError> {
        let object = self.object;
        if object >= OBJECTS_MAX {
            return Err(CookError::ObjectNumber { object });
        }
        if !self.indices.len().is_multiple_of(3) {
            return Err(CookError::Ragged { object });
        }
        let known = |index: &u32| (*index as usize) < self.positions.len();
        match self.indices.iter().find(|index| !known(index)) {
            Some(index) => Err(CookError::NoSuchCorner { object, index: *index }),
            None => Ok(()),
        }
    }

    /// One corner in the world.
    pub(crate) fn corner(&self, position: [f32; 3]) -> Result<Vec3, CookError> {
        let [x, y, z] = self.axes.map(Vec3::from_array);
        let at = position;
        // Adding zero turns -0 into 0.
        let corner = x * at[0] + y * at[1] + z * at[2] + Vec3::from_array(self.origin) + Vec3::ZERO;
        let object = self.object;
        if !corner.is_finite() {
            return Err(CookError::NotFinite { object });
        }
        if is_sound(corner) { Ok(corner) } else { Err(CookError::TooFar { object }) }
    }
}

/// Whether a corner is one that a cook leaves: finite, within reach, without a negative zero.
pub(crate) fn is_sound(corner: Vec3) -> bool {
    let within = |part: f32| part.abs() <= REACH && part.to_bits() != (-0.0_f32).to_bits();
    corner.to_array().into_iter().all(within)
}
