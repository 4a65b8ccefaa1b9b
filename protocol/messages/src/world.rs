//! What every conversation says about the world in the same words: its map and its settings.
//!
//! Used inline by other messages. Never a message of its own.

use dh_wire::{Content, Hash128, Str16, message};

use crate::limit::BARCODE_BYTES_MAX;

message!(
    /// The map a server runs. An empty name is the built-in gray box.
    #[derive(Eq)]
    pub struct MapAdvert {
        /// The map's barcode, empty for the gray box.
        pub name: Str16<BARCODE_BYTES_MAX>,
        /// The pallet that holds it.
        pub pallet: Content,
        /// The hash over the pallet and all it depends on.
        pub closure_hash: Hash128,
        /// One number per map standing in a room.
        pub generation: u32,
    }
);

message!(
    #[preset]
    /// Settings of the world that both ends compute with.
    #[derive(Copy)]
    pub struct WorldSettings {
        /// Simulated seconds per real second, 0.05 to 10.
        pub time_scale: f32,
        /// Speed of flight, in metres a second.
        pub noclip_speed: f32,
    }
);

impl Default for WorldSettings {
    fn default() -> Self {
        Self { time_scale: 1.0, noclip_speed: 8.0 }
    }
}
