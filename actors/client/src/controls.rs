//! Controls: what the player wants right now, whoever holds them.

use dh_messages::{Buttons, PlayerInput};
use dh_view::Hands;

use crate::pilot::Pilot;

/// What a player wants during the next tick.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wish {
    /// To the right of the view, -127 to 127 for the whole way.
    pub move_x: i8,
    /// Straight up; only in flight.
    pub move_y: i8,
    /// Ahead of the view.
    pub move_z: i8,
    /// What is held down.
    pub buttons: Buttons,
    /// Heading, radians about +y.
    pub yaw: f32,
    /// Look up, radians.
    pub pitch: f32,
}

impl Wish {
    /// The wish as the input of this sequence number.
    #[must_use]
    pub fn input(self, sequence: u32) -> PlayerInput {
        let Self { move_x, move_y, move_z, buttons, yaw, pitch } = self;
        PlayerInput { sequence, move_x, move_y, move_z, buttons, yaw, pitch }
    }
}

impl From<Hands> for Wish {
    /// What a person at a window wants: two opposite keys are none.
    fn from(hands: Hands) -> Self {
        let axis = |more: bool, less: bool| 127 * (i8::from(more) - i8::from(less));
        let held = [
            (hands.jump, Buttons::JUMP),
            (hands.crouch, Buttons::CROUCH),
            (hands.sprint, Buttons::SPRINT),
        ];
        let held = held.into_iter().filter(|(held, _)| *held);
        Self {
            move_x: axis(hands.right, hands.left),
            move_y: 0,
            move_z: axis(hands.ahead, hands.back),
            buttons: held.fold(Buttons::NONE, |all, (_, button)| all | button),
            yaw: hands.yaw,
            pitch: hands.pitch,
        }
    }
}

/// Who holds the controls.
#[derive(Clone, Debug)]
pub enum Controls {
    /// A person or a script: the same wish until another comes.
    Held(Wish),
    /// A pilot: a new wish each tick.
    Flown(Box<Pilot>),
}

impl Controls {
    /// What is wanted during the next tick.
    pub fn next_wish(&mut self) -> Wish {
        match self {
            Self::Held(wish) => *wish,
            Self::Flown(pilot) => pilot.next_wish(),
        }
    }
}

impl Default for Controls {
    fn default() -> Self {
        Self::Held(Wish::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hands_become_a_wish_and_opposite_keys_cancel() {
        let hands = Hands { ahead: true, left: true, jump: true, sprint: true, ..Hands::default() };
        let wish = Wish::from(Hands { yaw: 1.0, pitch: -0.2, ..hands });
        let buttons = Buttons::JUMP | Buttons::SPRINT;
        let expected =
            Wish { move_x: -127, move_y: 0, move_z: 127, buttons, yaw: 1.0, pitch: -0.2 };
        assert_eq!(wish, expected);
        let both = Wish::from(Hands { back: true, right: true, ..hands });
        assert_eq!((both.move_x, both.move_z), (0, 0));
    }
}
