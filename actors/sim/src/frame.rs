//! Frame: the world as one tick left it, published once and never changed.
//!
//! Made by the [`World`](crate::World), shared by every session, which encode from it on their own
//! threads. What did not move is shared with the frame before; what is equal for all peers is
//! encoded once, by the first that asks.

mod encoded;
mod publisher;
mod spare;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use dh_machine::Tick;
use dh_messages::{EntityId, EntityRecord, OwnerDetail, WorldSettings};

use self::encoded::Encoded;
pub(crate) use self::publisher::Publisher;
use crate::mover::MoverState;

/// The world as one tick left it.
#[derive(Debug, Default)]
pub struct Frame {
    tick: Tick,
    generation: u32,
    settings: WorldSettings,
    chunks: Vec<Arc<Chunk>>,
    changed: Vec<EntityId>,
    owners: Vec<Owner>,
    count: usize,
    bytes: Encoded,
}

impl Frame {
    /// The tick that was completed.
    #[must_use]
    pub const fn tick(&self) -> Tick {
        self.tick
    }

    /// The generation of the map that stood then.
    #[must_use]
    pub const fn generation(&self) -> u32 {
        self.generation
    }

    /// The settings of the world during it.
    #[must_use]
    pub const fn settings(&self) -> WorldSettings {
        self.settings
    }

    /// How many entities there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether there is no entity.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Every entity, by ascending slot.
    pub fn records(&self) -> impl Iterator<Item = &EntityRecord> {
        self.chunks.iter().flat_map(|chunk| chunk.records())
    }

    /// The record of one entity; none once it is gone.
    #[must_use]
    pub fn record(&self, id: EntityId) -> Option<&EntityRecord> {
        let chunk = self.chunks.get(Chunk::holding(id.slot()))?;
        chunk.find(id.slot()).filter(|record| record.id == id)
    }

    /// The entities by 64 slots each; chunk `n` of two frames is the same `Arc` if nothing in it
    /// changed between them.
    #[must_use]
    pub fn chunks(&self) -> &[Arc<Chunk>] {
        &self.chunks
    }

    /// The entities that came, went or changed since the frame before, by ascending slot.
    #[must_use]
    pub fn changed(&self) -> &[EntityId] {
        &self.changed
    }

    /// Every pawn, by ascending slot.
    #[must_use]
    pub fn owners(&self) -> &[Owner] {
        &self.owners
    }

    /// What the player of `pawn` is told; none once it is gone.
    #[must_use]
    pub fn owner(&self, pawn: EntityId) -> Option<&Owner> {
        let at = self.owners.binary_search_by_key(&pawn.slot(), |owner| owner.pawn.slot()).ok()?;
        Some(&self.owners[at]).filter(|owner| owner.pawn == pawn)
    }

    /// All records as a snapshot carries them, encoded by the first who asks.
    #[must_use]
    pub fn records_bytes(&self) -> &[u8] {
        self.bytes.get(|out| {
            self.chunks.iter().for_each(|chunk| out.extend_from_slice(chunk.bytes()));
        })
    }
}

/// Two frames are equal when everybody would be told the same of both.
impl PartialEq for Frame {
    fn eq(&self, other: &Self) -> bool {
        (self.tick, self.generation, self.settings)
            == (other.tick, other.generation, other.settings)
            && self.owners == other.owners
            && self.records().eq(other.records())
    }
}

/// The entities of 64 neighbouring slots.
#[derive(Debug, Default)]
pub struct Chunk {
    records: Vec<EntityRecord>,
    bytes: Encoded,
}

impl Chunk {
    /// Slots in a chunk.
    pub const SLOTS: u32 = 64;

    /// The entities, by ascending slot.
    #[must_use]
    pub fn records(&self) -> &[EntityRecord] {
        &self.records
    }

    /// The records as a snapshot carries them, encoded by the first who asks; frames that share
    /// the chunk share the bytes.
    ///
    /// # Panics
    /// If a record holds a number that is not finite: the world let one in.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(|out| {
            for mut record in self.records.iter().copied() {
                dh_messages::encode(&mut record, out).expect("records hold finite numbers");
            }
        })
    }

    /// The number of the chunk that holds `slot`.
    fn holding(slot: u32) -> usize {
        usize::try_from(slot / Self::SLOTS).expect("a slot has 24 bits")
    }

    fn find(&self, slot: u32) -> Option<&EntityRecord> {
        let at = self.records.binary_search_by_key(&slot, |record| record.id.slot()).ok()?;
        Some(&self.records[at])
    }

    /// Puts, replaces or removes the record of `slot`; the id that was there.
    fn set(&mut self, slot: u32, record: Option<EntityRecord>) -> Option<EntityId> {
        let place = self.records.binary_search_by_key(&slot, |record| record.id.slot());
        let was = place.ok().map(|at| self.records[at].id);
        match (place, record) {
            (Ok(at), Some(record)) => self.records[at] = record,
            (Ok(at), None) => drop(self.records.remove(at)),
            (Err(at), Some(record)) => self.records.insert(at, record),
            (Err(_), None) => {}
        }
        was
    }

    /// Becomes a copy of `other` that nobody has encoded.
    fn copy_from(&mut self, other: &Self) {
        self.records.clone_from(&other.records);
        self.bytes.reset();
    }
}

/// One pawn as its player is told of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Owner {
    /// The pawn.
    pub pawn: EntityId,
    /// The roster slot of its player.
    pub slot: u8,
    /// How often it was placed after its first spawn, modulo 256.
    pub epoch: u8,
    /// Where it is and what it does.
    pub state: MoverState,
    /// What became of the player's inputs.
    pub answer: Answer,
}

impl Owner {
    /// What the player is told.
    #[must_use]
    pub fn detail(&self) -> OwnerDetail {
        self.state.to_owner_detail(self.pawn, self.answer.depth, self.epoch)
    }
}

/// What became of a player's inputs, from its input queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The newest input that was simulated, 0 for none.
    pub input_ack: u32,
    /// Inputs that wait, or the length of the starved run as a negative number.
    pub depth: i8,
}
