//! Pilot: who holds the controls of a player without a person. Pure: one seed, one course.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::Wish;
use dh_messages::Buttons;

/// Ticks between two changes of mind, least and most.
const RESOLVE_TICKS: (u32, u32) = (20, 110);
/// The fastest a pilot turns, radians a tick.
const TURN_MAX: f32 = 0.12;

/// A way of holding the controls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Hands off.
    Idle,
    /// Walks, turns, sometimes sprints or crouches.
    Walker,
    /// As a walker, and jumps.
    Jumper,
}

/// A pilot: one wish a tick.
#[derive(Clone, Debug)]
pub struct Pilot {
    manner: Manner,
    rng: ChaCha8Rng,
    wish: Wish,
    turn: f32,
    resolved_for: u32,
}

impl Pilot {
    /// A pilot of this manner whose every choice follows from `seed`.
    #[must_use]
    pub fn new(manner: Manner, seed: u64) -> Self {
        let rng = ChaCha8Rng::seed_from_u64(seed);
        Self { manner, rng, wish: Wish::default(), turn: 0.0, resolved_for: 0 }
    }

    /// What the pilot wishes this tick.
    pub fn next_wish(&mut self) -> Wish {
        if self.manner == Manner::Idle {
            return Wish::default();
        }
        if self.resolved_for == 0 {
            self.resolve();
        }
        self.resolved_for -= 1;
        self.wish.yaw = wrap(self.wish.yaw + self.turn);
        let mut wish = self.wish;
        if self.manner == Manner::Jumper && self.below(40) == 0 {
            wish.buttons = wish.buttons | Buttons::JUMP;
        }
        wish
    }

    fn resolve(&mut self) {
        let (least, most) = RESOLVE_TICKS;
        self.resolved_for = least + self.below(most - least);
        self.wish.move_z = if self.below(8) == 0 { 0 } else { 127 };
        self.wish.move_x = [0, 0, 0, 90, -90][self.below(5) as usize];
        self.wish.pitch = self.unit() * 0.5 - 0.25;
        self.turn = if self.below(3) == 0 { 0.0 } else { (self.unit() * 2.0 - 1.0) * TURN_MAX };
        self.wish.buttons = match self.below(6) {
            0 => Buttons::CROUCH,
            1 | 2 => Buttons::SPRINT,
            _ => Buttons::NONE,
        };
    }

    fn below(&mut self, bound: u32) -> u32 {
        self.rng.next_u32() % bound
    }

    /// A number in 0..1 of 16 bits, exact in f32.
    fn unit(&mut self) -> f32 {
        f32::from((self.rng.next_u32() >> 16) as u16) / 65_536.0
    }
}

/// Into -pi..pi.
fn wrap(yaw: f32) -> f32 {
    use core::f32::consts::{PI, TAU};
    if PI < yaw {
        yaw - TAU
    } else if yaw < -PI {
        yaw + TAU
    } else {
        yaw
    }
}
