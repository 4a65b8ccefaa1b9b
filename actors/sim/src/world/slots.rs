//! Slots: which entity slots are free. A slot rests after use, so that a client that missed an
//! entity's end does not take the next one for it.

use std::collections::VecDeque;
use std::fmt;

use dh_machine::{Damage, Tick, TickRate, Words, halves};
use dh_messages::EntityId;

use crate::physics::BodyId;

/// Slots run from 1 to one below this; from here on ids name solids of the map.
const SLOTS_END: u32 = BodyId::MAP;
/// Seconds a slot rests before it is used again.
const REST_SECONDS: u32 = 2;

/// Free and used slots of one world.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    /// Slots from 1 to one below this have been used.
    end: u32,
    /// Slots to use again, the one that rests longest first: slot, its next generation, since when.
    resting: VecDeque<(u32, u8, Tick)>,
    rest_ticks: u32,
}

/// Every entity slot is in use or rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorldFull;

impl Slots {
    pub(super) fn new(rate: TickRate) -> Self {
        let rest_ticks = REST_SECONDS * u32::from(rate.hz());
        Self { end: 1, resting: VecDeque::new(), rest_ticks }
    }

    /// Appends everything that decides the next ids.
    pub(super) fn to_words(&self, out: &mut Vec<u64>) {
        out.push(u64::from(self.end));
        out.push(self.resting.len() as u64);
        out.extend(self.words().skip(1));
    }

    /// The slots of these words.
    pub(super) fn of_words(words: &mut Words<'_>, rate: TickRate) -> Result<Self, Damage> {
        let end = words.read("the end of the slots", |word| {
            u32::try_from(word).ok().filter(|end| (1..=SLOTS_END).contains(end))
        })?;
        let mut slots = Self { end, ..Self::new(rate) };
        for _ in 0..words.count("slots that rest", 1)? {
            let resting = words.read("a slot that rests", |word| {
                let (id, since) = halves(word);
                let id = EntityId(id);
                let used = (1..end).contains(&id.slot());
                used.then_some((id.slot(), id.generation(), Tick(since)))
            })?;
            slots.resting.push_back(resting);
        }
        Ok(slots)
    }

    /// Slots that are in use while the rest of those ever used rest.
    pub(super) fn in_use(&self) -> usize {
        (self.end as usize - 1).saturating_sub(self.resting.len())
    }

    /// How many rest.
    pub(super) fn resting(&self) -> usize {
        self.resting.len()
    }

    /// A slot that has rested, or else one never used.
    pub(super) fn take(&mut self, now: Tick) -> Result<EntityId, WorldFull> {
        if let Some((slot, generation, since)) = self.resting.front().copied()
            && now.0.wrapping_sub(since.0) >= self.rest_ticks
        {
            self.resting.pop_front();
            return Ok(EntityId::new(slot, generation));
        }
        if self.end >= SLOTS_END {
            return Err(WorldFull);
        }
        self.end += 1;
        Ok(EntityId::new(self.end - 1, 0))
    }

    /// The entity is gone; its slot rests from now on.
    pub(super) fn rest(&mut self, id: EntityId, now: Tick) {
        self.resting.push_back((id.slot(), id.generation().wrapping_add(1), now));
    }

    /// A number that differs whenever the next ids would.
    pub(super) fn words(&self) -> impl Iterator<Item = u64> {
        let resting = self.resting.iter().map(|(slot, generation, since)| {
            u64::from(EntityId::new(*slot, *generation).0) << 32 | u64::from(since.0)
        });
        std::iter::once(u64::from(self.end)).chain(resting)
    }
}

impl fmt::Display for WorldFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the world is full: {} entities", SLOTS_END - 1)
    }
}

impl std::error::Error for WorldFull {}
