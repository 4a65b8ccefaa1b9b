//! Solid: one box that stops movement. Made by the gray box and by maps; read by the casts.

use dh_messages::EntityId;
use dh_view::BoxView;
use glam::{Mat3, Quat, Vec3};

/// Which body a cast met. Entities keep their own id; solids of the map have the top bit of the
/// slot set, which no entity has, so the two never meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(pub u32);

impl BodyId {
    /// No body.
    pub const NONE: Self = Self(0);
    /// The lowest id of a solid of the map. Entity slots end below it.
    pub const MAP: u32 = 0x0080_0000;
    /// Solids a map may have.
    pub const MAP_MAX: usize = 0x0080_0000;

    /// The solid, or the object, of the map with this number.
    ///
    /// # Panics
    /// At [`BodyId::MAP_MAX`] or more: what made the map did not keep to the limit.
    #[must_use]
    pub fn of_map(number: usize) -> Self {
        let number = u32::try_from(number).expect("a map has fewer solids than u32 counts");
        assert!(number < Self::MAP, "a map holds at most {} solids", Self::MAP_MAX);
        Self(Self::MAP | number)
    }

    /// The entity behind the body; none for solids of the map.
    #[must_use]
    pub const fn entity(self) -> EntityId {
        if self.0 & Self::MAP == 0 { EntityId(self.0) } else { EntityId::NONE }
    }
}

/// One box that stops movement, at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solid {
    /// Who it is; unique among the solids of a world.
    pub id: BodyId,
    /// Its middle, metres.
    pub centre: Vec3,
    /// Half its size along its own axes, metres, above 0.
    pub half: Vec3,
    /// Its turn, a unit quaternion. Make it with `libm`'s sine and cosine, as [`Solid::turned`].
    pub rotation: Quat,
    /// How fast its middle moves, m/s; zero for what stands.
    pub velocity: Vec3,
    /// How fast it turns about its middle, rad/s.
    pub spin: Vec3,
}

impl Solid {
    /// A box that stands still, along the axes.
    #[must_use]
    pub const fn fixed(id: BodyId, centre: Vec3, half: Vec3) -> Self {
        let rotation = Quat::IDENTITY;
        Self { id, centre, half, rotation, velocity: Vec3::ZERO, spin: Vec3::ZERO }
    }

    /// The solid of a box that is drawn.
    #[must_use]
    pub const fn of_view(id: BodyId, drawn: &BoxView) -> Self {
        let mut solid = Self::fixed(id, drawn.centre, drawn.half);
        solid.rotation = drawn.rotation;
        solid
    }

    /// A turn by `angle` radians about a unit axis; the same bits on every machine.
    #[must_use]
    pub fn turned(axis: Vec3, angle: f32) -> Quat {
        let (sine, cosine) = (libm::sinf(angle * 0.5), libm::cosf(angle * 0.5));
        Quat::from_xyzw(axis.x * sine, axis.y * sine, axis.z * sine, cosine)
    }

    /// The box's own axes in the world, as columns.
    #[must_use]
    pub fn axes(&self) -> Mat3 {
        Mat3::from_quat(self.rotation)
    }

    /// Half the size of the upright box around it, metres.
    #[must_use]
    pub fn half_size(&self) -> Vec3 {
        let axes = self.axes();
        axes.x_axis.abs() * self.half.x
            + axes.y_axis.abs() * self.half.y
            + axes.z_axis.abs() * self.half.z
    }

    /// How fast the point of it that is now at `point` moves, m/s.
    #[must_use]
    pub fn point_velocity(&self, point: Vec3) -> Vec3 {
        self.velocity + self.spin.cross(point - self.centre)
    }

    /// No point of it moves faster than this, m/s.
    #[must_use]
    pub fn fastest(&self) -> f32 {
        length(self.velocity) + length(self.spin) * length(self.half)
    }

    /// The normal of the most upward face among those that hold `point`, a point of the surface.
    #[must_use]
    pub fn surface_at(&self, point: Vec3) -> Vec3 {
        let axes = self.axes();
        let local = axes.transpose() * (point - self.centre);
        surface_of(&axes, self.half, local)
    }
}

/// How far inside a face's plane a point may lie and still count as on that face, metres.
pub(super) const ON_FACE: f32 = 1e-3;

/// [`Solid::surface_at`] with the parts at hand: `local` is the point along the box's own axes.
/// Falls back to the face that the point is nearest to.
pub(super) fn surface_of(axes: &Mat3, half: Vec3, local: Vec3) -> Vec3 {
    let mut best = None;
    let mut nearest = (f32::MIN, Vec3::Y);
    for axis in 0..3 {
        let out = local[axis].abs() - half[axis];
        let normal = if local[axis] < 0.0 { -axes.col(axis) } else { axes.col(axis) };
        if out > nearest.0 {
            nearest = (out, normal);
        }
        if out >= -ON_FACE && best.is_none_or(|best: Vec3| normal.y > best.y) {
            best = Some(normal);
        }
    }
    best.unwrap_or(nearest.1)
}

/// The length of a vector, with the square root every machine rounds alike.
pub(crate) fn length(v: Vec3) -> f32 {
    (v.x * v.x + v.y * v.y + v.z * v.z).sqrt()
}
