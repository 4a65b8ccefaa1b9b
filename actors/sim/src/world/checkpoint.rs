//! Checkpoint: a whole world as one tick left it. The tick actor keeps the newest; a world that is
//! restored from it goes on bit for bit as the first one did.

use std::sync::Arc;

use dh_machine::Tick;
use dh_messages::WorldSettings;

use super::entity::Entity;
use super::placer::PawnPlacer;
use super::slots::Slots;
use crate::physics::Solids;

/// A whole world as one tick left it. The map that stood then is shared, not copied.
#[derive(Debug)]
pub struct Checkpoint(pub(super) Live);

/// Everything of a world that a tick or a switch of the map may change.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) tick: Tick,
    pub(super) generation: u32,
    pub(super) settings: WorldSettings,
    pub(super) solids: Arc<Solids>,
    pub(super) slots: Slots,
    pub(super) placer: PawnPlacer,
    /// By slot; slot 0 stays empty.
    pub(super) entities: Vec<Option<Entity>>,
    /// The slots that hold pawns, ascending.
    pub(super) pawns: Vec<u32>,
}

impl Checkpoint {
    /// The tick it was taken after.
    #[must_use]
    pub const fn tick(&self) -> Tick {
        self.0.tick
    }

    /// The settings of the world then.
    #[must_use]
    pub const fn settings(&self) -> WorldSettings {
        self.0.settings
    }

    /// Bytes it takes, the map aside.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.0.entities.capacity() * size_of::<Option<Entity>>() + size_of::<Live>()
    }
}

impl Clone for Live {
    fn clone(&self) -> Self {
        Self {
            tick: self.tick,
            generation: self.generation,
            settings: self.settings,
            solids: Arc::clone(&self.solids),
            slots: self.slots.clone(),
            placer: self.placer.clone(),
            entities: self.entities.clone(),
            pawns: self.pawns.clone(),
        }
    }

    /// Into the space at hand: checkpoints are taken every tick.
    fn clone_from(&mut self, other: &Self) {
        self.tick = other.tick;
        self.generation = other.generation;
        self.settings = other.settings;
        self.solids.clone_from(&other.solids);
        self.slots.clone_from(&other.slots);
        self.placer.clone_from(&other.placer);
        self.entities.clone_from(&other.entities);
        self.pawns.clone_from(&other.pawns);
    }
}
