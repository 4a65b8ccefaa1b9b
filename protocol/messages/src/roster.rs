//! Who plays: told whole after a spawn, then by differences.
//!
//! Used by roster and presenter. Never: identities or addresses.

use dh_wire::{List8, Str8, message};

use crate::entity::EntityId;
use crate::limit::NAME_BYTES_MAX;

message!(
    /// One player as everybody sees it.
    #[derive(Eq)]
    pub struct PlayerEntry {
        /// The number in the roster.
        pub slot: u8,
        /// The player's pawn.
        pub pawn: EntityId,
        /// The name to show.
        pub name: Str8<NAME_BYTES_MAX>,
        /// The player's colour, `0xRRGGBB`.
        pub colour: u32,
    }
);

message!(
    /// Players that are new or changed, and numbers that are free again.
    #[derive(Eq)]
    pub struct PlayerList {
        /// New or changed players.
        pub upserts: List8<PlayerEntry>,
        /// Numbers whose player is gone.
        pub removed: List8<u8>,
    }
);
