//! `SolidCasts`: our own sweeps of an upright capsule among boxes and triangles.
//!
//! Used by the mover at both ends. Candidates are gathered once a step, boxes by ascending id, then
//! triangles by ascending number; after that nothing but arithmetic happens.

use glam::Vec3;

use super::near_box::NearBox;
use super::near_triangles::NearTriangles;
use super::solid::length;
use super::{BodyId, Capsule, Casts, Hit, Overlap, Solids};

/// Casts among [`Solids`].
#[derive(Debug)]
pub struct SolidCasts<'a> {
    solids: &'a Solids,
    near: Near,
}

/// What a step gathered. Hand it from one [`SolidCasts`] to the next and it stops allocating.
#[derive(Debug, Default)]
pub struct Near {
    boxes: Vec<NearBox>,
    triangles: NearTriangles,
    numbers: Vec<u32>,
}

impl<'a> SolidCasts<'a> {
    /// Casts among `solids`.
    #[must_use]
    pub fn new(solids: &'a Solids) -> Self {
        Self::reusing(solids, Near::default())
    }

    /// Casts among `solids` with the space of an earlier one.
    #[must_use]
    pub const fn reusing(solids: &'a Solids, near: Near) -> Self {
        Self { solids, near }
    }

    /// The space, for the next one.
    #[must_use]
    pub fn into_near(self) -> Near {
        self.near
    }
}

impl Casts for SolidCasts<'_> {
    fn gather(&mut self, low: Vec3, high: Vec3) {
        let Near { boxes, triangles, numbers } = &mut self.near;
        boxes.clear();
        self.solids.near((low, high), numbers, |solid| boxes.push(NearBox::of(solid)));
        triangles.gather(self.solids.triangles(), low, high);
    }

    fn fastest(&self) -> f32 {
        self.solids.fastest()
    }

    fn sweep(&self, capsule: &Capsule, motion: Vec3, skip: BodyId) -> Option<Hit> {
        let far = length(motion);
        if far <= 0.0 {
            return None;
        }
        let mut first: Option<Hit> = None;
        for near in self.near.boxes.iter().filter(|near| near.id != skip) {
            let until = first.map_or(1.0, |hit| hit.time);
            if let Some(hit) = near.sweep(capsule, motion, far, until)
                && first.is_none_or(|first| hit.time < first.time)
            {
                first = Some(hit);
            }
        }
        self.near.triangles.sweep(capsule, motion, skip, first)
    }

    fn deepest(&self, capsule: &Capsule) -> Option<Overlap> {
        let boxes = self.near.boxes.iter().map(|near| near.overlap(capsule));
        let mut deepest: Option<Overlap> = None;
        for found in boxes.chain(self.near.triangles.overlaps(capsule)) {
            let deeper = |than: Overlap| {
                found.depth > than.depth || (found.depth >= than.depth && found.body < than.body)
            };
            if found.depth > 0.0 && deepest.is_none_or(deeper) {
                deepest = Some(found);
            }
        }
        deepest
    }

    fn point_velocity(&self, body: BodyId, point: Vec3) -> Vec3 {
        self.solids.get(body).map_or(Vec3::ZERO, |solid| solid.point_velocity(point))
    }

    /// Triangles stand still, so only boxes are carried.
    fn carry(&mut self, body: BodyId, by: Vec3) {
        for near in self.near.boxes.iter_mut().filter(|near| near.id == body) {
            near.centre += by;
        }
    }
}
