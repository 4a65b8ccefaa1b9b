//! The world itself: its doors, and the order of a tick.

use std::mem;
use std::sync::Arc;

use dh_machine::planted::{self, Bug};
use dh_machine::{Digest, Tick, TickRate};
use dh_messages::{EntityId, PawnFlags, PlayerInput, WorldSettings};

use super::checkpoint::{Checkpoint, Live};
use super::entity::Entity;
use super::placer::{PawnPlacer, Placement};
use super::slots::{Slots, WorldFull};
use super::{FreezeReason, Pawn, Prop, fit_settings};
use crate::frame::{Answer, Frame, Owner, Publisher};
use crate::graybox::{GrayBox, SpawnPoint};
use crate::mover::{MoverSettings, step};
use crate::physics::{Near, SolidCasts, Solids};

/// A pawn below this is out of the world and respawns, metres.
const FALL_LIMIT: f32 = -50.0;

/// The entities of one running world.
#[derive(Debug)]
pub struct World {
    live: Live,
    rate: TickRate,
    publisher: Publisher,
    /// Space that each tick uses again.
    inputs: Vec<Option<PlayerInput>>,
    near: Near,
}

impl World {
    /// An empty world before its first tick.
    ///
    /// # Panics
    /// Without any spawn point: what made the map is broken.
    #[must_use]
    pub fn new(rate: TickRate, solids: Arc<Solids>, spawns: Arc<[SpawnPoint]>) -> Self {
        let live = Live {
            tick: Tick(0),
            generation: 1,
            settings: WorldSettings::default(),
            solids,
            slots: Slots::new(rate),
            placer: PawnPlacer::new(spawns),
            entities: vec![None],
            pawns: Vec::new(),
        };
        let publisher = Publisher::default();
        Self { live, rate, publisher, inputs: Vec::new(), near: Near::default() }
    }

    /// The world without content.
    #[must_use]
    pub fn gray_box(rate: TickRate) -> Self {
        let gray_box = GrayBox::new();
        Self::new(rate, gray_box.solids(), gray_box.spawns())
    }

    /// One fixed step, in this order:
    ///
    /// 1. the tick's number;
    /// 2. preparing: `prepare` is asked once for each pawn, by ascending slot, for the one input of
    ///    this tick; a pawn without one is not stepped;
    /// 3. movement: each pawn by its input, by ascending slot;
    /// 4. pawns that fell out of the world respawn.
    ///
    /// What changed is then due for [`World::publish`].
    pub fn step(&mut self, mut prepare: impl FnMut(EntityId) -> Option<PlayerInput>) -> Tick {
        self.live.tick = self.live.tick.next();
        let mut inputs = mem::take(&mut self.inputs);
        inputs.clear();
        inputs.extend(self.pawns().map(|pawn| prepare(pawn.id())));
        self.move_pawns(&inputs);
        self.inputs = inputs;
        self.catch_fallen();
        self.live.tick
    }

    /// The frame of the tick that was completed. `answer` tells what became of a pawn's inputs.
    pub fn publish(&mut self, mut answer: impl FnMut(EntityId) -> Answer) -> Arc<Frame> {
        let live = &self.live;
        let owners = live.pawns.iter().filter_map(|slot| live.pawn_in(*slot)).map(|pawn| Owner {
            pawn: pawn.id(),
            slot: pawn.slot(),
            epoch: pawn.epoch(),
            state: *pawn.state(),
            answer: answer(pawn.id()),
        });
        let record_of = |slot| live.entity_in(slot).map(|entity| entity.to_record());
        self.publisher.publish((live.tick, live.generation, live.settings), owners, record_of)
    }

    /// A pawn for the player in roster slot `slot`, at the next spawn point.
    ///
    /// # Errors
    /// [`WorldFull`] when every entity slot is in use or rests.
    pub fn spawn_pawn(&mut self, slot: u8) -> Result<EntityId, WorldFull> {
        let id = self.live.slots.take(self.live.tick)?;
        let pawn = self.live.placer.spawn(id, slot);
        let at = self.live.pawns.partition_point(|other| *other < id.slot());
        self.live.pawns.insert(at, id.slot());
        self.put(Entity::Pawn(pawn));
        Ok(id)
    }

    /// An entity that others place. Refused with `None` if its pose holds what is no number.
    ///
    /// # Errors
    /// [`WorldFull`] when every entity slot is in use or rests.
    pub fn spawn_prop(&mut self, prop: Prop) -> Result<Option<EntityId>, WorldFull> {
        if !prop.is_finite() {
            return Ok(None);
        }
        let id = self.live.slots.take(self.live.tick)?;
        self.put(Entity::Prop(id, prop));
        Ok(Some(id))
    }

    /// Changes an entity that others place; whether there is one and the pose holds only numbers.
    pub fn set_prop(&mut self, id: EntityId, prop: Prop) -> bool {
        let known = matches!(self.live.entity(id), Some(Entity::Prop(..)));
        if known && prop.is_finite() {
            self.put(Entity::Prop(id, prop));
        }
        known && prop.is_finite()
    }

    /// Takes an entity out of the world; whether it was there.
    pub fn despawn(&mut self, id: EntityId) -> bool {
        if self.live.entity(id).is_none() || planted::is(Bug::LeaverStays) {
            return false;
        }
        self.live.entities[id.slot() as usize] = None;
        self.live.pawns.retain(|slot| *slot != id.slot());
        self.live.slots.rest(id, self.live.tick);
        self.publisher.touch(id.slot());
        true
    }

    /// Puts a pawn at the next spawn point; whether there is such a pawn.
    pub fn respawn(&mut self, id: EntityId) -> bool {
        self.change(id, |pawn, placer| placer.respawn(pawn))
    }

    /// Puts a pawn somewhere; whether there is such a pawn and such a place.
    pub fn teleport(&mut self, id: EntityId, to: Placement) -> bool {
        to.is_in_world() && self.change(id, |pawn, placer| placer.place(pawn, to))
    }

    /// Puts another map in the place of the one that stands, as one action between two ticks: props
    /// go, solids and spawn points change, and every pawn respawns, by ascending slot, from the
    /// first spawn point on. Ticks count on. The solids that stood are handed back, so that a large
    /// map can be let go of elsewhere.
    ///
    /// # Panics
    /// Without any spawn point: what made the map is broken.
    pub fn replace_map(&mut self, solids: Arc<Solids>, spawns: Arc<[SpawnPoint]>) -> Arc<Solids> {
        self.live.generation = self.live.generation.wrapping_add(1);
        self.live.placer = PawnPlacer::new(spawns);
        let former = mem::replace(&mut self.live.solids, solids);
        let all: Vec<Entity> = self.live.entities.iter().flatten().copied().collect();
        for entity in all {
            match entity {
                Entity::Prop(id, _) => self.despawn(id),
                Entity::Pawn(pawn) => self.respawn(pawn.id()),
            };
        }
        former
    }

    /// Turns noclip on or off from the next tick on; whether there is such a pawn.
    pub fn set_noclip(&mut self, id: EntityId, on: bool) -> bool {
        self.change(id, |pawn, _| pawn.set_noclip(on))
    }

    /// Lets a reason to be frozen stand or fall; the pawn is frozen from the next tick on while any
    /// reason stands. Whether there is such a pawn.
    pub fn set_frozen(&mut self, id: EntityId, reason: FreezeReason, on: bool) -> bool {
        self.change(id, |pawn, _| pawn.set_frozen(reason, on))
    }

    /// Changes the settings of the world, each brought into its range.
    pub fn set_settings(&mut self, settings: WorldSettings) {
        self.live.settings = fit_settings(settings);
    }

    /// The settings of the world.
    #[must_use]
    pub const fn settings(&self) -> WorldSettings {
        self.live.settings
    }

    /// Which map stands: 1 for the first, one more with each that took the place of another.
    #[must_use]
    pub const fn generation(&self) -> u32 {
        self.live.generation
    }

    /// The tick completed last, 0 before the first.
    #[must_use]
    pub const fn tick(&self) -> Tick {
        self.live.tick
    }

    /// Ticks a second.
    #[must_use]
    pub const fn rate(&self) -> TickRate {
        self.rate
    }

    /// What stops movement.
    #[must_use]
    pub fn solids(&self) -> Arc<Solids> {
        Arc::clone(&self.live.solids)
    }

    /// One pawn.
    #[must_use]
    pub fn pawn(&self, id: EntityId) -> Option<&Pawn> {
        match self.live.entity(id)? {
            Entity::Pawn(pawn) => Some(pawn),
            Entity::Prop(..) => None,
        }
    }

    /// Every pawn, by ascending slot.
    pub fn pawns(&self) -> impl Iterator<Item = &Pawn> {
        self.live.pawns.iter().filter_map(|slot| self.live.pawn_in(*slot))
    }

    /// The world as it stands, to go back to.
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint(self.live.clone())
    }

    /// The same into the space of an earlier checkpoint.
    pub fn checkpoint_into(&self, checkpoint: &mut Checkpoint) {
        checkpoint.0.clone_from(&self.live);
    }

    /// Goes back: from here on the world does what it did from there.
    pub fn restore(&mut self, checkpoint: &Checkpoint) {
        let before = self.live.entities.len();
        self.live.clone_from(&checkpoint.0);
        let slots = before.max(self.live.entities.len());
        (0..).take(slots).for_each(|slot| self.publisher.touch(slot));
    }

    /// Fold the whole world into `digest`.
    pub fn digest(&self, digest: &mut Digest) {
        let live = &self.live;
        digest.word(u64::from(live.tick.0));
        digest.float(live.settings.time_scale);
        digest.float(live.settings.noclip_speed);
        digest.word(live.solids.digest());
        live.slots.words().for_each(|word| digest.word(word));
        digest.word(live.placer.word());
        live.entities.iter().flatten().for_each(|entity| entity.digest(digest));
    }

    fn move_pawns(&mut self, inputs: &[Option<PlayerInput>]) {
        let settings = MoverSettings::new(self.rate, self.live.settings.noclip_speed);
        let mut casts = SolidCasts::reusing(&self.live.solids, mem::take(&mut self.near));
        for (slot, input) in self.live.pawns.iter().zip(inputs) {
            let entity = self.live.entities[*slot as usize].as_mut();
            let (Some(Entity::Pawn(pawn)), Some(input)) = (entity, input) else { continue };
            let next = step(pawn.state(), input, &settings, &mut casts);
            if !next.same_bits(pawn.state()) {
                pawn.moved(next);
                self.publisher.touch(*slot);
            }
        }
        self.near = casts.into_near();
    }

    fn catch_fallen(&mut self) {
        for at in 0..self.live.pawns.len() {
            let Some(pawn) = self.live.pawn_in(self.live.pawns[at]) else { continue };
            let flies = pawn.state().flags.contains(PawnFlags::NOCLIP);
            if pawn.state().feet.y < FALL_LIMIT && !flies {
                self.respawn(pawn.id());
            }
        }
    }

    /// Changes one pawn; whether there is one.
    fn change(&mut self, id: EntityId, how: impl FnOnce(&mut Pawn, &mut PawnPlacer)) -> bool {
        let Some(Entity::Pawn(mut pawn)) = self.live.entity(id).copied() else { return false };
        how(&mut pawn, &mut self.live.placer);
        self.put(Entity::Pawn(pawn));
        true
    }

    /// Puts an entity into its slot.
    fn put(&mut self, entity: Entity) {
        let slot = entity.id().slot();
        let at = slot as usize;
        if at >= self.live.entities.len() {
            self.live.entities.resize(at + 1, None);
        }
        self.live.entities[at] = Some(entity);
        self.publisher.touch(slot);
    }
}

impl Live {
    fn entity_in(&self, slot: u32) -> Option<&Entity> {
        self.entities.get(slot as usize)?.as_ref()
    }

    fn entity(&self, id: EntityId) -> Option<&Entity> {
        self.entity_in(id.slot()).filter(|entity| entity.id() == id)
    }

    fn pawn_in(&self, slot: u32) -> Option<&Pawn> {
        match self.entity_in(slot)? {
            Entity::Pawn(pawn) => Some(pawn),
            Entity::Prop(..) => None,
        }
    }
}
