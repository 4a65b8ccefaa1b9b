//! The world as a client sees it in one tick, whole or in fragments.
//!
//! Used by session and predictor. The head is a shape of its own so that a sender can encode it per
//! peer and append the bytes of records that it encoded once.

use alloc::vec::Vec;

use dh_wire::{Count16, Counted, Rest, Section, message};

use crate::entity::{EntityId, EntityRecord};
use crate::limit::SNAPSHOT_RECORDS_MAX;
use crate::world::WorldSettings;

message!(
    #[flags(u16)]
    /// How a pawn moves.
    pub enum PawnFlags {
        /// It stands on something.
        GROUNDED = 0,
        /// It crouches.
        CROUCHING = 1,
        /// It sprints.
        SPRINTING = 2,
        /// It flies fast.
        FAST = 3,
        /// It passes through everything; the server's to set.
        NOCLIP = 4,
        /// It cannot move; the server's to set.
        FROZEN = 5,
        /// It waits for a respawn; the server's to set.
        DEAD = 6,
        /// Jump was held in the input before.
        JUMP_HELD = 7,
    }
);

message!(
    /// What only the owner of a pawn is told: all that its prediction starts from.
    #[derive(Copy)]
    pub struct OwnerDetail {
        /// The pawn, none before the spawn.
        pub pawn: EntityId,
        /// Inputs that wait on the server, or the length of the starved run as a negative number.
        pub depth: i8,
        /// Counts placements of the pawn, modulo 256.
        pub spawn_epoch: u8,
        /// Where the feet are, in metres.
        pub position: [f32; 3],
        /// In metres a second.
        pub velocity: [f32; 3],
        /// Height of the capsule, in metres.
        pub stance_height: f32,
        /// The eye above the feet, in metres.
        pub eye_height: f32,
        /// The entity it stands on, none for the map.
        pub ground: EntityId,
        /// The normal of the ground under it.
        pub ground_normal: [f32; 3],
        /// How it moves.
        pub flags: PawnFlags,
    }
);

message!(
    /// All of a snapshot but its records.
    #[derive(Copy)]
    pub struct SnapshotHead {
        /// The tick that was completed.
        pub tick: u32,
        /// The generation of the map.
        pub map_generation: u32,
        /// The rest table the records are stated against, 0 for none.
        pub rest_revision: u32,
        /// The newest input that was simulated.
        pub input_ack: u32,
        /// Settings of the world.
        pub world: WorldSettings,
        /// What only this peer is told.
        pub owner: Section<OwnerDetail>,
        /// How many records follow.
        pub record_count: Count16,
    }
);

message!(
    /// Every entity of the world in one tick; being listed is an entity's whole life on a client.
    pub struct Snapshot {
        /// All but the records.
        pub head: SnapshotHead,
        /// The entities.
        pub records: Counted<EntityRecord, SNAPSHOT_RECORDS_MAX>,
    }
);

impl Snapshot {
    /// A snapshot whose head counts its records. More than fit the count are refused on writing.
    pub fn new(head: SnapshotHead, records: Vec<EntityRecord>) -> Self {
        let record_count = Count16(u16::try_from(records.len()).unwrap_or(u16::MAX));
        Self { head: SnapshotHead { record_count, ..head }, records: Counted(records) }
    }
}

message!(
    /// One slice of a snapshot's datagram, that snapshot's id included.
    #[derive(Eq)]
    pub struct SnapshotFragment {
        /// The tick of the snapshot.
        pub tick: u32,
        /// Which slice, from 0.
        pub index: u8,
        /// How many slices there are.
        pub count: u8,
        /// The slice.
        pub slice: Rest,
    }
);
