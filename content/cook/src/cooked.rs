//! `Cooked`: triangles that stop movement, to be searched. Shared behind an `Arc`; never changes.

use dh_machine::Digest;
use glam::Vec3;

use crate::tree::{Bounds, Tree};

/// Triangles that stop movement, numbered from 0 so that neighbours have near numbers.
#[derive(Clone, Debug)]
pub struct Cooked {
    pub(crate) vertices: Vec<Vec3>,
    pub(crate) triangles: Vec<[u32; 3]>,
    /// By triangle.
    pub(crate) objects: Vec<u32>,
    pub(crate) dropped: u32,
    tree: Tree,
    digest: u64,
}

impl Cooked {
    /// The set with its tree and digest; everything else has been checked.
    pub(crate) fn of(
        vertices: Vec<Vec3>,
        triangles: Vec<[u32; 3]>,
        objects: Vec<u32>,
        dropped: u32,
    ) -> Self {
        let corners = |number: usize| triangles[number].map(|corner| vertices[corner as usize]);
        let tree = Tree::over(triangles.len(), corners);
        let mut digest = Digest::new();
        digest.word(u64::from(dropped));
        vertices.iter().flat_map(Vec3::to_array).for_each(|part| digest.float(part));
        triangles.iter().flatten().for_each(|corner| digest.word(u64::from(*corner)));
        objects.iter().for_each(|object| digest.word(u64::from(*object)));
        let digest = digest.value();
        Self { vertices, triangles, objects, dropped, tree, digest }
    }

    /// The corners of all triangles, metres, each place once.
    #[must_use]
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// The corners of each triangle, as places in [`Cooked::vertices`].
    #[must_use]
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The corners of one triangle, metres.
    ///
    /// # Panics
    /// For a number that no triangle has.
    #[must_use]
    pub fn corners(&self, number: u32) -> [Vec3; 3] {
        self.triangles[number as usize].map(|corner| self.vertices[corner as usize])
    }

    /// The map object that one triangle belongs to.
    ///
    /// # Panics
    /// For a number that no triangle has.
    #[must_use]
    pub fn object(&self, number: u32) -> u32 {
        self.objects[number as usize]
    }

    /// Triangles that were left out because they span no plane.
    #[must_use]
    pub const fn dropped(&self) -> u32 {
        self.dropped
    }

    /// The two corners of the upright box around everything, metres; none around nothing.
    #[must_use]
    pub fn bounds(&self) -> Option<[Vec3; 2]> {
        self.tree.bounds()
    }

    /// A hash of everything; two sets that differ have different ones, short of an accident.
    #[must_use]
    pub const fn digest(&self) -> u64 {
        self.digest
    }

    /// Hands over the number of each triangle whose upright box meets the space between two
    /// corners, metres, ascending.
    pub fn near(&self, low: Vec3, high: Vec3, mut found: impl FnMut(u32)) {
        self.tree.near(low, high, |number| {
            let corners = self.triangles[number].map(|corner| self.vertices[corner as usize]);
            if Bounds::of(corners).meets(low, high) {
                found(number32(number));
            }
        });
    }
}

/// A number of something of which there are fewer than [`crate::TRIANGLES_MAX`] thrice over.
#[expect(clippy::cast_possible_truncation, reason = "12 M at most")]
pub(crate) const fn number32(number: usize) -> u32 {
    number as u32
}
