//! Hands: what a person at a window does right now. Filled by the window, read by whoever turns it
//! into input; it knows no key and no tick.

/// The longest step of a look up or down, radians: as far as a camera goes.
const PITCH_MAX: f32 = 1.553_343;

/// What a person does right now.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hands {
    /// Walking ahead.
    pub ahead: bool,
    /// Walking back.
    pub back: bool,
    /// Stepping left.
    pub left: bool,
    /// Stepping right.
    pub right: bool,
    /// Jumping.
    pub jump: bool,
    /// Crouching.
    pub crouch: bool,
    /// Running.
    pub sprint: bool,
    /// Heading, radians, within a half turn to either side.
    pub yaw: f32,
    /// Look up, radians, within +-89 degrees.
    pub pitch: f32,
}

impl Hands {
    /// Turn the look: radians to the right and up.
    pub fn turn(&mut self, right: f32, up: f32) {
        use core::f32::consts::{PI, TAU};
        let yaw = self.yaw - right;
        self.yaw = yaw - TAU * libm::floorf((yaw + PI) / TAU);
        self.pitch = (self.pitch + up).clamp(-PITCH_MAX, PITCH_MAX);
    }

    /// Nothing is held any more; the look stays.
    #[must_use]
    pub fn released(self) -> Self {
        Self { yaw: self.yaw, pitch: self.pitch, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_wraps_around_and_stops_at_the_poles() {
        let mut hands = Hands::default();
        (0..100).for_each(|_| hands.turn(0.5, 0.1));
        assert!(hands.yaw.abs() <= core::f32::consts::PI && hands.pitch < 1.56);
        let before = hands.yaw;
        hands.turn(core::f32::consts::TAU, -9.0);
        assert!((hands.yaw - before).abs() < 1e-4 && hands.pitch > -1.56);
    }

    #[test]
    fn letting_go_keeps_the_look() {
        let held = Hands { ahead: true, jump: true, yaw: 1.0, pitch: -0.5, ..Hands::default() };
        let expected = Hands { yaw: 1.0, pitch: -0.5, ..Hands::default() };
        assert_eq!(held.released(), expected);
    }
}
