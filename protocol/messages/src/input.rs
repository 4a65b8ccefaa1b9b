//! What a client sends each tick: its newest inputs, and which snapshots it has applied.
//!
//! Used by predictor and session. Never: a position; a client tells what it wants, not where it is.

use dh_wire::{Few8, message};

use crate::limit::INPUTS_MAX;

message!(
    #[flags(u16)]
    /// Buttons held during one input.
    pub enum Buttons {
        /// Jump.
        JUMP = 0,
        /// Crouch.
        CROUCH = 1,
        /// Sprint.
        SPRINT = 2,
        /// Use what is in view.
        USE = 3,
        /// Fly faster.
        FAST = 4,
    }
);

message!(
    /// What a player wanted during one tick.
    #[derive(Copy)]
    pub struct PlayerInput {
        /// Counts inputs from 1; 0 is no input.
        pub sequence: u32,
        /// Strafe, right is positive, -127 to 127 for full left to full right.
        pub move_x: i8,
        /// Rise, up is positive.
        pub move_y: i8,
        /// Advance, forward is positive.
        pub move_z: i8,
        /// What was held.
        pub buttons: Buttons,
        /// Heading, in radians.
        pub yaw: f32,
        /// Elevation of the view, in radians.
        pub pitch: f32,
    }
);

message!(
    /// Which snapshots have been applied.
    #[derive(Copy, Eq)]
    pub struct SnapshotAck {
        /// The newest tick applied, 0 for none.
        pub tick: u32,
        /// Bit i: the snapshot of `tick - 1 - i` was applied.
        pub mask: u32,
    }
);

message!(
    /// Inputs of a client, and its acknowledgement.
    #[derive(Copy)]
    pub struct Input {
        /// Which snapshots have been applied.
        pub snapshot_ack: SnapshotAck,
        /// The newest input, then earlier ones that no snapshot has acknowledged.
        pub inputs: Few8<PlayerInput, INPUTS_MAX>,
    }
);
