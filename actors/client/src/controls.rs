//! Controls: what the player wants right now, whoever holds them.

use dh_messages::{Buttons, PlayerInput};

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
