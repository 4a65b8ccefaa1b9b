//! A box near a mover, laid out for sweeping.

use glam::{Mat3, Vec3};

use super::distance::{Distance, to_point, to_segment};
use super::solid::surface_of;
use super::solid_casts::{ALONG, STEPS_MAX, TOUCH};
use super::{BodyId, Capsule, Hit, Overlap, Solid};

/// A candidate.
#[derive(Debug)]
pub(super) struct NearBox {
    pub(super) id: BodyId,
    pub(super) centre: Vec3,
    half: Vec3,
    axes: Mat3,
    /// The world's up along the box's own axes.
    up: Vec3,
    /// Which of the box's axes is vertical, if one is.
    upright: Option<usize>,
}

impl NearBox {
    pub(super) fn of(solid: &Solid) -> Self {
        let axes = solid.axes();
        let up = Vec3::new(axes.x_axis.y, axes.y_axis.y, axes.z_axis.y);
        // A cosine this near to 1 is less than 0.02 degrees off.
        let upright = (0..3).find(|axis| up[*axis].abs() > 1.0 - 5e-8);
        Self { id: solid.id, centre: solid.centre, half: solid.half, axes, up, upright }
    }

    /// How far it reaches into the capsule; 0 or less where it does not.
    pub(super) fn overlap(&self, capsule: &Capsule) -> Overlap {
        let local = self.axes.transpose() * (capsule.centre - self.centre);
        let found = self.distance(local, capsule.straight);
        let depth = capsule.radius - found.far;
        Overlap { normal: self.axes * found.normal, depth, body: self.id }
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
    pub(super) fn sweep(
        &self,
        capsule: &Capsule,
        motion: Vec3,
        far: f32,
        until: f32,
    ) -> Option<Hit> {
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
