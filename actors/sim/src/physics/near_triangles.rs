//! The triangles near a mover, laid out for sweeping.
//!
//! Each is a wall without thickness that stops from both sides. Together they form surfaces, and
//! what walks over a surface must not catch on the sides along which its triangles meet. A contact
//! at a side counts if no neighbour is nearer; else the face is met, or nothing.

use dh_cook::Cooked;
use glam::Vec3;

use super::solid::length;
use super::sweep::{ALONG, Gap, Motion, TOUCH, sweep};
use super::triangle::{Reach, Triangle};
use super::{BodyId, Capsule, Hit, Overlap};

// Every triangle of a cook has a body.
const _: () = assert!(dh_cook::OBJECTS_MAX as usize <= BodyId::MAP_MAX);

/// A side met in the direction of the face, to within this much of the cosine, is met as the face.
const SQUARELY: f32 = 1e-5;
/// The cosine to the face up to which a contact that a neighbour hides still is with the face: the
/// next of two that barely bend toward the mover. A face hidden behind the neighbour is not met.
const NEARLY_FACE: f32 = 0.99;
/// A neighbour is nearer if it leads toward the mover by more than this part of the way: a slope of
/// a thousandth.
const NEARER: f32 = 1e-3;

/// Candidates, by ascending number.
#[derive(Debug, Default)]
pub(super) struct NearTriangles {
    all: Vec<NearTriangle>,
}

#[derive(Debug)]
struct NearTriangle {
    id: BodyId,
    low: Vec3,
    high: Vec3,
    shape: Triangle,
}

/// Where a sweep met a triangle.
#[derive(Clone, Copy, Debug)]
struct Met {
    time: f32,
    normal: Vec3,
    /// The point of the triangle, from the middle of the capsule at that time.
    point: Vec3,
    /// The place of the triangle among the candidates.
    number: usize,
}

impl NearTriangles {
    pub(super) fn gather(&mut self, cooked: Option<&Cooked>, low: Vec3, high: Vec3) {
        self.all.clear();
        let Some(cooked) = cooked else { return };
        cooked.near(low, high, |number| {
            let id = BodyId::of_map(cooked.object(number) as usize);
            self.all.push(NearTriangle::of(id, cooked.corners(number)));
        });
    }

    /// The first triangle met, unless what was met `before` comes first.
    pub(super) fn sweep(
        &self,
        capsule: &Capsule,
        motion: Vec3,
        skip: BodyId,
        before: Option<Hit>,
    ) -> Option<Hit> {
        let far = length(motion);
        let (half, to) = (capsule.half_size() + Vec3::splat(TOUCH), capsule.centre + motion);
        let low = capsule.centre.min(to) - half;
        let high = capsule.centre.max(to) + half;
        let mut first: Option<Met> = None;
        for (number, near) in self.all.iter().enumerate() {
            if near.id == skip || !near.meets(low, high) {
                continue;
            }
            let (time, id) = match (first, before) {
                (Some(met), _) => (met.time, self.all[met.number].id),
                (None, Some(hit)) => (hit.time, hit.body),
                (None, None) => (1.0, BodyId(u32::MAX)),
            };
            let Some((at, reach)) = near.sweep(capsule, motion, far, time) else { continue };
            if at < time || near.id < id {
                let settled = self.settle(number, capsule.moved(motion * at).centre, &reach);
                let meets = settled.filter(|normal| -motion.dot(*normal) > ALONG * far);
                let met = |normal| Met { time: at, normal, point: reach.point, number };
                first = meets.map(met).or(first);
            }
        }
        first.map(|met| self.hit(&met, capsule.moved(motion * met.time).centre)).or(before)
    }

    /// How far each reaches into the capsule; 0 or less where it does not.
    pub(super) fn overlaps(&self, capsule: &Capsule) -> impl Iterator<Item = Overlap> {
        self.all.iter().map(|near| {
            let reach = near.shape.reach(capsule.centre, capsule.straight);
            let depth = capsule.radius - reach.far;
            Overlap { normal: reach.normal, depth, body: near.id }
        })
    }

    /// The normal of a contact; none if it is a neighbour's, whose own is what counts.
    fn settle(&self, number: usize, centre: Vec3, reach: &Reach) -> Option<Vec3> {
        if !reach.rim {
            return Some(reach.normal);
        }
        let face = self.all[number].shape.facing(reach.normal);
        let like = reach.normal.dot(face);
        if like <= 1.0 - SQUARELY && !self.is_neighbours(number, centre, reach) {
            return Some(reach.normal);
        }
        (like > NEARLY_FACE).then_some(face)
    }

    /// Whether a neighbour that shares the point of contact is nearer to the capsule than it.
    fn is_neighbours(&self, number: usize, centre: Vec3, reach: &Reach) -> bool {
        let leads = |corner: Vec3| {
            let (way, toward) = (corner - reach.point, (corner - reach.point).dot(reach.normal));
            toward > 0.0 && toward * toward > NEARER * NEARER * way.dot(way)
        };
        let nearer = |near: &NearTriangle| {
            near.shape.holds(centre, reach.point) && near.shape.from(centre).into_iter().any(leads)
        };
        self.all.iter().enumerate().any(|(other, near)| other != number && nearer(near))
    }

    /// The hit with the surface one would stand on there.
    fn hit(&self, met: &Met, centre: Vec3) -> Hit {
        let near = &self.all[met.number];
        let mut surface = near.shape.facing(met.normal);
        if near.shape.is_at_rim(centre, met.point) {
            for other in self.all.iter().filter(|other| other.shape.holds(centre, met.point)) {
                let facing = other.shape.facing(met.normal);
                surface = if facing.y > surface.y { facing } else { surface };
            }
        }
        Hit { time: met.time, normal: met.normal, surface, body: near.id }
    }
}

impl NearTriangle {
    fn of(id: BodyId, corners: [Vec3; 3]) -> Self {
        let [a, b, c] = corners;
        Self { id, low: a.min(b).min(c), high: a.max(b).max(c), shape: Triangle::of(corners) }
    }

    fn meets(&self, low: Vec3, high: Vec3) -> bool {
        self.high.cmpge(low).all() && self.low.cmple(high).all()
    }

    /// When the motion meets it, and how it lies then.
    fn sweep(&self, capsule: &Capsule, along: Vec3, far: f32, until: f32) -> Option<(f32, Reach)> {
        let start = self.shape.reach(capsule.centre, capsule.straight);
        let motion = Motion { radius: capsule.radius, along, far, until };
        sweep(start, motion, |time| {
            self.shape.reach(capsule.centre + along * time, capsule.straight)
        })
    }
}

impl Gap for Reach {
    fn far(self) -> f32 {
        self.far
    }

    fn normal(self) -> Vec3 {
        self.normal
    }
}
