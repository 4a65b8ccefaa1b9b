//! `MoverSettings`: the numbers of the mover. Equal at both ends, so only the tick rate and the
//! world's noclip speed vary; both arrive from the server.

use dh_machine::TickRate;

/// The numbers of the mover; metres, seconds, and parts of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MoverSettings {
    /// Seconds of one step.
    pub dt: f32,
    /// Speed of noclip flight, m/s, from `world.noclipSpeed`.
    pub noclip_speed: f32,
}

impl MoverSettings {
    /// The radius of every pawn, m.
    pub const RADIUS: f32 = 0.35;
    /// Height from feet to crown when standing, m.
    pub const STANDING: f32 = 1.80;
    /// Height from feet to crown when crouched, m.
    pub const CROUCHED: f32 = 1.10;
    /// The eye is this far below the crown, m.
    pub const EYE_BELOW: f32 = 0.16;
    /// The gap kept to every solid, m.
    pub const SKIN: f32 = 0.01;
    /// How fast the height changes, m/s.
    pub const STANCE_SPEED: f32 = 6.0;
    /// How far below the feet ground is looked for in the air, m.
    pub const GROUND_REACH: f32 = 0.05;
    /// How high a step is climbed, and how far below the feet ground is kept hold of, m.
    pub const STEP: f32 = 0.45;
    /// A surface is ground if its normal points up at least this much.
    pub const GROUND_UP: f32 = 0.7;
    /// Speed without a button, m/s.
    pub const WALK: f32 = 4.5;
    /// Speed with sprint, m/s.
    pub const SPRINT: f32 = 7.0;
    /// Speed when crouched, m/s.
    pub const CROUCH: f32 = 2.2;
    /// Acceleration on the ground and in the air, 1/s of the wish speed.
    pub const ACCELERATION: f32 = 10.0;
    /// In the air only this much of the wish speed can be gained along the wish, m/s.
    pub const AIR_GAIN: f32 = 0.8;
    /// Friction, 1/s.
    pub const FRICTION: f32 = 6.0;
    /// Friction is at least that of this speed, m/s.
    pub const STOP: f32 = 1.5;
    /// Fall, m/s2.
    pub const GRAVITY: f32 = 20.0;
    /// Speed upward at the start of a jump, m/s.
    pub const JUMP: f32 = 6.3;
    /// Noclip with the fast button is this many times as fast.
    pub const FAST: f32 = 4.0;
    /// A slide turns at most this many times.
    pub const PLANES_MAX: usize = 4;
    /// Overlaps are resolved in at most this many passes.
    pub const PUSHES_MAX: usize = 4;
    /// One pass moves at most this far, m.
    pub const PUSH_MAX: f32 = 0.1;
    /// No pawn gets further from the middle of the world along any axis, m. Noclip flight could
    /// otherwise leave the range where f32 still counts millimetres.
    pub const WORLD_HALF: f32 = 16_384.0;

    /// Settings for one tick at `rate`, with noclip flight of `noclip_speed` m/s.
    #[must_use]
    pub fn new(rate: TickRate, noclip_speed: f32) -> Self {
        Self { dt: rate.seconds_per_tick(), noclip_speed }
    }
}
