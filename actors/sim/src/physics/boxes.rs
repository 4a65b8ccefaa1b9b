//! `BoxCasts`: our own sweeps of an upright capsule among boxes.
//!
//! Used by the mover at both ends. Candidates are gathered once a step, by ascending id; after
//! that nothing but arithmetic happens.

use glam::{Mat3, Vec3};

use super::distance::{Distance, to_point, to_segment};
use super::solid::{length, surface_of};
use super::{BodyId, Capsule, Casts, Hit, Overlap, Solid, Solids};

/// A gap this small counts as contact, metres.
const TOUCH: f32 = 1e-4;
/// A motion that closes a gap by less than this part of its length runs along the surface. The
/// distance is convex, so such a motion sinks in by no more than that part of its length.
const ALONG: f32 = 1e-4;
/// Steps of one sweep. At a face it takes two; at a rim the gap shrinks fourfold with each.
const STEPS_MAX: u32 = 24;

/// Casts among [`Solids`].
#[derive(Debug)]
pub struct BoxCasts<'a> {
    solids: &'a Solids,
    near: Near,
}

/// What a step gathered. Hand it from one [`BoxCasts`] to the next and it stops allocating.
#[derive(Debug, Default)]
pub struct Near {
    boxes: Vec<NearBox>,
    numbers: Vec<u32>,
}

/// A candidate, laid out for sweeping.
#[derive(Debug)]
struct NearBox {
    id: BodyId,
    centre: Vec3,
    half: Vec3,
    axes: Mat3,
    /// The world's up along the box's own axes.
    up: Vec3,
    /// Which of the box's axes is vertical, if one is.
    upright: Option<usize>,
}

impl<'a> BoxCasts<'a> {
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

impl Casts for BoxCasts<'_> {
    fn gather(&mut self, low: Vec3, high: Vec3) {
        let Near { boxes, numbers } = &mut self.near;
        boxes.clear();
        self.solids.near((low, high), numbers, |solid| boxes.push(NearBox::of(solid)));
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
        first
    }

    fn deepest(&self, capsule: &Capsule) -> Option<Overlap> {
        let mut deepest: Option<Overlap> = None;
        for near in &self.near.boxes {
            let local = near.axes.transpose() * (capsule.centre - near.centre);
            let found = near.distance(local, capsule.straight);
            let depth = capsule.radius - found.far;
            if depth > 0.0 && deepest.is_none_or(|deepest| depth > deepest.depth) {
                let normal = near.axes * found.normal;
                deepest = Some(Overlap { normal, depth, body: near.id });
            }
        }
        deepest
    }

    fn point_velocity(&self, body: BodyId, point: Vec3) -> Vec3 {
        self.solids.get(body).map_or(Vec3::ZERO, |solid| solid.point_velocity(point))
    }

    fn carry(&mut self, body: BodyId, by: Vec3) {
        for near in self.near.boxes.iter_mut().filter(|near| near.id == body) {
            near.centre += by;
        }
    }
}

impl NearBox {
    fn of(solid: &Solid) -> Self {
        let axes = solid.axes();
        let up = Vec3::new(axes.x_axis.y, axes.y_axis.y, axes.z_axis.y);
        // A cosine this near to 1 is less than 0.02 degrees off.
        let upright = (0..3).find(|axis| up[*axis].abs() > 1.0 - 5e-8);
        Self { id: solid.id, centre: solid.centre, half: solid.half, axes, up, upright }
    }

    /// From the box to the axis of a capsule whose middle is at `local`.
    fn distance(&self, local: Vec3, straight: f32) -> Distance {
        let Some(axis) = self.upright else {
            return to_segment(self.half, local, self.up, straight);
        };
        // An upright capsule among upright boxes is a ball among boxes that are taller by its
        // straight part.
        let mut half = self.half;
        half[axis] += straight;
        let mut found = to_point(half, local);
        let reach = straight.min((local[axis].abs() - self.half[axis]).max(0.0));
        found.nearest[axis] -= if local[axis] < 0.0 { -reach } else { reach };
        found
    }

    /// Newton's method on the distance, which is convex along the motion: from outside no step
    /// passes the contact, and where the distance does not fall there is none ahead.
    fn sweep(&self, capsule: &Capsule, motion: Vec3, far: f32, until: f32) -> Option<Hit> {
        let turn = self.axes.transpose();
        let (from, along) = (turn * (capsule.centre - self.centre), turn * motion);
        let mut time = 0.0;
        let mut found = self.distance(from, capsule.straight);
        if found.far - capsule.radius > far + TOUCH {
            return None;
        }
        for _ in 0..STEPS_MAX {
            let gap = found.far - capsule.radius;
            let closing = -along.dot(found.normal);
            if closing <= ALONG * far {
                return None;
            }
            if gap <= TOUCH {
                break;
            }
            time += gap / closing;
            if time > until {
                return None;
            }
            found = self.distance(from + along * time, capsule.straight);
        }
        Some(Hit {
            time,
            normal: self.axes * found.normal,
            surface: surface_of(&self.axes, self.half, found.nearest - found.normal * found.far),
            body: self.id,
        })
    }
}
