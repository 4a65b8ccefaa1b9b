//! `MoverState`: everything one step hands to the next. It travels as it is, so that a prediction
//! can be compared with the server's answer bit by bit.

use dh_machine::Digest;
use dh_messages::{EntityId, PawnFlags};
use glam::Vec3;

use super::MoverSettings;
use crate::physics::Capsule;

/// Everything one mover step hands to the next. Every number is finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MoverState {
    /// The lowest point of the body, metres. It rests a skin of 1 cm above the ground.
    pub feet: Vec3,
    /// Own velocity, m/s; that of the ground comes on top.
    pub velocity: Vec3,
    /// Radians about +y, -pi..pi.
    pub yaw: f32,
    /// Radians, within +-89 degrees.
    pub pitch: f32,
    /// From feet to crown, metres, 1.10..=1.80.
    pub stance_height: f32,
    /// From feet to eye, metres.
    pub eye_height: f32,
    /// The entity the feet stand on; none in the air and on what belongs to the map.
    pub ground: EntityId,
    /// The normal of the ground; zero in the air.
    pub ground_normal: Vec3,
    /// What the pawn is doing, and what the server imposes on it.
    pub flags: PawnFlags,
}

impl MoverState {
    /// A pawn that stands still in the air over `feet` and looks along `yaw`, level.
    #[must_use]
    pub fn standing(feet: Vec3, yaw: f32) -> Self {
        Self {
            feet,
            velocity: Vec3::ZERO,
            yaw,
            pitch: 0.0,
            stance_height: MoverSettings::STANDING,
            eye_height: MoverSettings::STANDING - MoverSettings::EYE_BELOW,
            ground: EntityId::NONE,
            ground_normal: Vec3::ZERO,
            flags: PawnFlags::NONE,
        }
    }

    /// The eye, metres.
    #[must_use]
    pub fn eye(&self) -> Vec3 {
        self.feet + Vec3::new(0.0, self.eye_height, 0.0)
    }

    /// The body with a gap of `skin` metres around it.
    #[must_use]
    pub fn capsule(&self, skin: f32) -> Capsule {
        let half = self.stance_height * 0.5;
        Capsule {
            centre: self.feet + Vec3::new(0.0, half, 0.0),
            straight: half - MoverSettings::RADIUS,
            radius: MoverSettings::RADIUS + skin,
        }
    }

    /// Whether every bit is equal; what prediction compares.
    #[must_use]
    pub fn same_bits(&self, other: &Self) -> bool {
        self.words() == other.words()
    }

    /// Fold every bit into `digest`.
    pub fn digest(&self, digest: &mut Digest) {
        self.words().into_iter().for_each(|word| digest.word(u64::from(word)));
    }

    /// Every bit of the state.
    pub(crate) fn words(&self) -> [u32; 15] {
        let ([x, y, z], [vx, vy, vz]) = (self.feet.to_array(), self.velocity.to_array());
        let [nx, ny, nz] = self.ground_normal.to_array();
        let heights = [self.stance_height, self.eye_height];
        let floats =
            [x, y, z, vx, vy, vz, nx, ny, nz, self.yaw, self.pitch, heights[0], heights[1]];
        let mut words = [0; 15];
        for (word, float) in words.iter_mut().zip(floats) {
            *word = float.to_bits();
        }
        (words[13], words[14]) = (self.ground.0, u32::from(self.flags.bits()));
        words
    }
}

/// What only the server changes; a step passes these through and no claim may hold them.
pub const SERVER_OWNED: PawnFlags = PawnFlags::NONE
    .with(PawnFlags::NOCLIP, true)
    .with(PawnFlags::FROZEN, true)
    .with(PawnFlags::DEAD, true);
