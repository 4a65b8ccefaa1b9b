//! An entity as a snapshot tells it: its number, its kind, and what it looks like this tick.
//!
//! Used by the snapshot's sender and reader. Never: an object record, which comes with the objects.

use core::fmt;

use dh_wire::{Few8, Slot, Value, Walk, WireError, message};

use crate::limit::CHANNELS_MAX;

/// The number of an entity: 24 bits of slot, 8 bits of generation. Slots start at 1; the number 0
/// names no entity. Shown as `slot:generation`.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntityId(pub u32);

impl EntityId {
    /// No entity.
    pub const NONE: Self = Self(0);
    /// The highest slot.
    pub const SLOT_MAX: u32 = 0x00ff_ffff;

    /// The entity in `slot` (1 to [`Self::SLOT_MAX`]) at its `generation`-th use.
    pub const fn new(slot: u32, generation: u8) -> Self {
        Self((slot & Self::SLOT_MAX) | ((generation as u32) << 24))
    }

    /// The slot, 0 for no entity.
    pub const fn slot(self) -> u32 {
        self.0 & Self::SLOT_MAX
    }

    /// How often the slot has been reused, modulo 256.
    pub const fn generation(self) -> u8 {
        self.0.to_le_bytes()[3]
    }

    /// Whether this names no entity.
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }
}

impl Value for EntityId {
    const BYTES_MIN: usize = 4;

    #[inline]
    fn walk<W: Walk + ?Sized>(
        &mut self,
        name: &'static str,
        walk: &mut W,
    ) -> Result<(), WireError> {
        walk.leaf(name, Slot::U32(&mut self.0))
    }
}

impl fmt::Display for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.slot(), self.generation())
    }
}

impl fmt::Debug for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EntityId({self})")
    }
}

impl From<u32> for EntityId {
    fn from(raw: u32) -> Self {
        Self(raw)
    }
}

impl From<EntityId> for u32 {
    fn from(id: EntityId) -> Self {
        id.0
    }
}

message!(
    #[open(u8)]
    /// What an entity is. Only ever appended to; a kind nobody knows is kept and skipped.
    pub enum NetKind {
        /// The body of a player.
        PlayerPawn = 1,
        /// A movable thing.
        Prop = 2,
        /// Something to press.
        Button = 3,
        /// Something that moves along a path.
        Door = 4,
        /// A light.
        Light = 5,
        /// Something to stand on.
        PressurePlate = 6,
    }
);

message!(
    #[flags(u8)]
    /// Bits of an entity record.
    pub enum RecordFlags {
        /// Flips at each placement: interpolation snaps between two records that differ in it.
        PLACEMENT = 0,
        /// The pawn crouches.
        CROUCHING = 1,
    }
);

message!(
    /// What a kind tells beside its pose: up to four channels and eight bits.
    #[derive(Copy)]
    pub struct KindPayload {
        /// Values that interpolation blends; what each means is the kind's own.
        pub channels: Few8<f32, CHANNELS_MAX>,
        /// Values that interpolation takes from the newest record.
        pub bits: u8,
    }
);

message!(
    /// An entity's whole state in one snapshot.
    #[derive(Copy)]
    pub struct EntityState {
        /// What it is.
        pub kind: NetKind,
        /// Where its feet or origin are, in metres.
        pub position: [f32; 3],
        /// Heading, in radians, -pi to pi.
        pub yaw: f32,
        /// Elevation of the view, in radians.
        pub pitch: f32,
        /// The eye above the feet, in metres; 0 where there is none.
        pub eye_height: f32,
        /// Bits about the record.
        pub flags: RecordFlags,
        /// Orientation as a unit quaternion x, y, z, w, where the kind can turn freely.
        pub rotation: Option<[f32; 4]>,
        /// Scale along its axes, where one was set.
        pub scale: Option<[f32; 3]>,
        /// What the kind tells beside that.
        pub payload: KindPayload,
    }
);

message!(
    #[union(u8)]
    /// How an entity is told.
    #[derive(Copy)]
    pub enum Form {
        /// By its whole state.
        Entity(EntityState) = 0,
    }
);

message!(
    /// One entity of a snapshot.
    #[derive(Copy)]
    pub struct EntityRecord {
        /// Which entity.
        pub id: EntityId,
        /// How it stands.
        pub form: Form,
    }
);

impl EntityRecord {
    /// The record that tells `id` by its whole state.
    pub fn entity(id: EntityId, state: EntityState) -> Self {
        Self { id, form: Form::Entity(state) }
    }
}
