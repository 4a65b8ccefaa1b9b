//! Casts: what the mover asks of the world. Two implementations exist: our own sweeps among boxes,
//! and rapier's, which the tests compare them with and the bench measures them against.

use glam::Vec3;

use super::BodyId;

/// What a mover asks of the solids around it. One mover step gathers once, then casts.
pub trait Casts {
    /// Look up everything that may touch the space between two corners, metres. The casts that
    /// follow see at least what lies in there, and forget what was carried.
    fn gather(&mut self, low: Vec3, high: Vec3);

    /// No point of any solid moves faster than this, m/s.
    fn fastest(&self) -> f32;

    /// The first solid that the capsule meets on its way along `motion`, metres; of several met at
    /// the same time the one with the lowest id. A solid that the motion leaves or runs along is
    /// not met, even when touched. `skip` is passed through; [`BodyId::NONE`] skips nothing.
    fn sweep(&self, capsule: &Capsule, motion: Vec3, skip: BodyId) -> Option<Hit>;

    /// The solid that reaches deepest into the capsule; of several equally deep the one with the
    /// lowest id.
    fn deepest(&self, capsule: &Capsule) -> Option<Overlap>;

    /// How fast the point of `body` that is now at `point` moves, m/s; zero for an unknown body.
    fn point_velocity(&self, body: BodyId, point: Vec3) -> Vec3;

    /// Treat `body` as moved by so many metres until the next gather.
    fn carry(&mut self, body: BodyId, by: Vec3);
}

/// An upright capsule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capsule {
    /// Its middle, metres.
    pub centre: Vec3,
    /// Half the length of its straight part, metres, 0 or more.
    pub straight: f32,
    /// Its radius, metres, above 0.
    pub radius: f32,
}

impl Capsule {
    /// The same capsule elsewhere.
    #[must_use]
    pub fn moved(self, by: Vec3) -> Self {
        Self { centre: self.centre + by, ..self }
    }

    /// Half the size of the upright box around it, metres.
    #[must_use]
    pub fn half_size(&self) -> Vec3 {
        Vec3::new(self.radius, self.straight + self.radius, self.radius)
    }
}

/// Where a sweep met a solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The part of the motion that was free, 0 to 1.
    pub time: f32,
    /// Away from the solid at the point of contact, a unit vector.
    pub normal: Vec3,
    /// The normal of the most upward of the solid's faces that meet at the point of contact: what
    /// one would stand on there. Equal to `normal` in the middle of a face.
    pub surface: Vec3,
    /// What was met.
    pub body: BodyId,
}

/// A solid that reaches into a capsule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overlap {
    /// The shortest way out, a unit vector.
    pub normal: Vec3,
    /// How far that is, metres, above 0.
    pub depth: f32,
    /// Which solid.
    pub body: BodyId,
}
