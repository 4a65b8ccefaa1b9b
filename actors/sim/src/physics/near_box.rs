//! A box near a mover, laid out for sweeping.

use glam::{Mat3, Vec3};

use super::distance::{Distance, to_point, to_segment};
use super::solid::surface_of;
use super::sweep::{Gap, Motion, TOUCH, sweep};
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

    /// Where the motion meets it first.
    pub(super) fn sweep(
        &self,
        capsule: &Capsule,
        motion: Vec3,
        far: f32,
        until: f32,
    ) -> Option<Hit> {
        let turn = self.axes.transpose();
        let (from, along) = (turn * (capsule.centre - self.centre), turn * motion);
        let start = self.distance(from, capsule.straight);
        if start.far - capsule.radius > far + TOUCH {
            return None;
        }
        let motion = Motion { radius: capsule.radius, along, far, until };
        let at = |time| self.distance(from + along * time, capsule.straight);
        let (time, found) = sweep(start, motion, at)?;
        Some(Hit {
            time,
            normal: self.axes * found.normal,
            surface: surface_of(&self.axes, self.half, found.nearest - found.normal * found.far),
            body: self.id,
        })
    }
}

impl Gap for Distance {
    fn far(self) -> f32 {
        self.far
    }

    fn normal(self) -> Vec3 {
        self.normal
    }
}
