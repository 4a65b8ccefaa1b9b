//! Dice: random numbers for tests, the same in every run.

use dh_messages::{Buttons, PlayerInput};
use glam::Vec3;

/// The generator `SplitMix64` by Steele, Lea and Flood.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Whether one in `of` came up.
    pub(crate) fn one_in(&mut self, of: u64) -> bool {
        self.next().is_multiple_of(of)
    }

    #[expect(clippy::cast_precision_loss, reason = "24 bits fit")]
    pub(crate) fn between(&mut self, low: f32, high: f32) -> f32 {
        let share = (self.next() >> 40) as f32 / (1 << 24) as f32;
        low + (high - low) * share
    }

    pub(crate) fn within(&mut self, half: f32) -> Vec3 {
        Vec3::new(self.between(-half, half), self.between(-half, half), self.between(-half, half))
    }

    /// The input after `last`: players hold what they do for a while.
    pub(crate) fn input(&mut self, last: &PlayerInput) -> PlayerInput {
        let mut input = PlayerInput { sequence: last.sequence + 1, ..*last };
        if self.one_in(12) {
            let [x, y, z, ..] = self.next().to_le_bytes();
            [input.move_x, input.move_y, input.move_z] = [x, y, z].map(u8::cast_signed);
        }
        if self.one_in(8) {
            let bits = u16::from(self.next().to_le_bytes()[0]) & Buttons::ALL.bits();
            input.buttons = Buttons::of_bits(bits).unwrap();
        }
        input.yaw += self.between(-0.3, 0.3);
        input.pitch = (input.pitch + self.between(-0.2, 0.2)).clamp(-1.6, 1.6);
        input
    }
}
