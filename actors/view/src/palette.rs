//! The colours of the gray box and its sky. Used by whoever fills a view; the renderer draws what
//! it is given and names none of these.

use glam::Vec3;

use crate::{Colour, Sky, Sun};

/// Floors: pale concrete.
pub const FLOOR: Colour = Colour(0x009b_a1a8);
/// Walls and pillars.
pub const WALL: Colour = Colour(0x00b8_b2a6);
/// Ramps and steps, which one can walk up.
pub const RAMP: Colour = Colour(0x00d1_8b3a);
/// Raised platforms.
pub const PLATFORM: Colour = Colour(0x005f_7d90);
/// Crates and other things to jump on.
pub const CRATE: Colour = Colour(0x00b8_5a38);

/// Colours of players who named none, told apart also by those who see few colours.
pub const PLAYERS: [Colour; 8] = [
    Colour(0x00e6_5a46),
    Colour(0x003f_8fd8),
    Colour(0x00f2_b63c),
    Colour(0x0046_a86b),
    Colour(0x00b0_6fd0),
    Colour(0x002f_b8b8),
    Colour(0x00ef_84ad),
    Colour(0x00f0_ede4),
];

/// A warm afternoon sun, from straight up; a view turns it.
pub const SUN: Sun =
    Sun { toward: Vec3::Y, colour: Colour(0x00ff_e3bd), strength: 2.3, shadows: true };

/// A clear day with haze over the horizon.
pub const SKY: Sky = Sky {
    zenith: Colour(0x002c_66b0),
    horizon: Colour(0x00b9_d2e6),
    ground: Colour(0x008a_979e),
    strength: 1.0,
    haze: 220.0,
};

/// The colour of the player in this slot when none was chosen.
#[must_use]
pub const fn player(slot: u8) -> Colour {
    PLAYERS[(slot & 7) as usize]
}
