//! `ReplicaStore`: the last snapshots of everybody else, and what stands at any moment between
//! them.
//!
//! Owned by the presenter, one a session. Being listed in the newest snapshot is the whole life of
//! a replica: nothing creates or destroys one.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use dh_machine::Tick;

use crate::Replica;

/// A ring of snapshots, ordered by tick.
#[derive(Clone, Debug)]
pub struct ReplicaStore {
    /// Oldest first, each tick once.
    ring: VecDeque<Listing>,
    places: usize,
    kinds: KindSet,
    skipped: u64,
    /// The rows of the listing dropped last, kept for the next one.
    spare: Vec<Replica>,
}

/// One snapshot's replicas, by id.
#[derive(Clone, Debug)]
struct Listing {
    tick: Tick,
    replicas: Vec<Replica>,
}

/// What a snapshot changed about who is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turnover {
    /// Ids listed now and not before, ascending.
    pub appeared: Vec<u32>,
    /// Ids listed before and not now, ascending: their visuals are torn down.
    pub left: Vec<u32>,
}

/// The kinds somebody can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindSet([u64; 4]);

impl KindSet {
    /// No kind.
    pub const EMPTY: Self = Self([0; 4]);

    /// The same set and `kind`.
    #[must_use]
    pub const fn with(mut self, kind: u8) -> Self {
        self.0[(kind / 64) as usize] |= 1 << (kind % 64);
        self
    }

    /// Whether `kind` is in it.
    #[must_use]
    pub const fn has(self, kind: u8) -> bool {
        self.0[(kind / 64) as usize] & (1 << (kind % 64)) != 0
    }
}

impl ReplicaStore {
    /// An empty store of `buffer_ticks` places that keeps replicas of `kinds`.
    #[must_use]
    pub fn new(buffer_ticks: u16, kinds: KindSet) -> Self {
        let places = usize::from(buffer_ticks).max(2);
        Self { ring: VecDeque::new(), places, kinds, skipped: 0, spare: Vec::new() }
    }

    /// Takes the snapshot of `tick`. A newer one decides who is there; an older one that the ring
    /// still has a place for only fills a gap, and one that is too old, or is there already,
    /// changes nothing.
    pub fn apply(&mut self, tick: Tick, replicas: impl IntoIterator<Item = Replica>) -> Turnover {
        let place = self.ring.partition_point(|listing| listing.tick < tick);
        let known = self.ring.get(place).is_some_and(|listing| listing.tick == tick);
        let full = self.ring.len() >= self.places;
        if known || (full && place == 0) {
            return Turnover::default();
        }
        let newest = place == self.ring.len();
        let mut rows = core::mem::take(&mut self.spare);
        rows.clear();
        for replica in replicas {
            if self.kinds.has(replica.kind) {
                rows.push(replica);
            } else {
                self.skipped += 1;
            }
        }
        rows.sort_by_key(|replica| replica.id);
        rows.dedup_by_key(|replica| replica.id);
        let turnover = if newest { turnover(self.listed(), &rows) } else { Turnover::default() };
        self.ring.insert(place, Listing { tick, replicas: rows });
        if full && let Some(oldest) = self.ring.pop_front() {
            self.spare = oldest.replicas;
        }
        turnover
    }

    /// Everybody listed in the newest snapshot, as they are at `moment`, a time in ticks: between
    /// the two snapshots around it, or held at the newest when it lies past that.
    pub fn sample(&self, moment: f64) -> impl Iterator<Item = Replica> {
        let next = self.ring.partition_point(|listing| f64::from(listing.tick.0) <= moment);
        let before = next.checked_sub(1).and_then(|it| self.ring.get(it));
        let after = self.ring.get(next);
        let share = before.zip(after).map_or(0.0, |(a, b)| share(moment, a.tick, b.tick));
        self.listed().iter().map(move |replica| {
            let id = replica.id;
            let before = before.and_then(|listing| listing.find(id));
            match (before, after.and_then(|listing| listing.find(id))) {
                (Some(before), Some(after)) => before.blend(after, share),
                (Some(only), None) | (None, Some(only)) => *only,
                // It was first listed later than that.
                (None, None) => *self.first_since(next, id).unwrap_or(replica),
            }
        })
    }

    /// Everybody the newest snapshot lists, by id.
    #[must_use]
    pub fn listed(&self) -> &[Replica] {
        self.ring.back().map_or(&[], |newest| &newest.replicas)
    }

    /// The tick of the newest snapshot.
    #[must_use]
    pub fn newest(&self) -> Option<Tick> {
        self.ring.back().map(|newest| newest.tick)
    }

    /// Records passed over because nobody can show their kind.
    #[must_use]
    pub const fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Forgets everybody, as when the map or the session changes; those who were there.
    pub fn clear(&mut self) -> Turnover {
        let left = turnover(self.listed(), &[]);
        self.ring.clear();
        left
    }

    fn first_since(&self, place: usize, id: u32) -> Option<&Replica> {
        self.ring.iter().skip(place).find_map(|listing| listing.find(id))
    }
}

impl Listing {
    fn find(&self, id: u32) -> Option<&Replica> {
        let place = self.replicas.binary_search_by_key(&id, |replica| replica.id).ok()?;
        self.replicas.get(place)
    }
}

/// Where `moment` lies from `a` to `b`, 0 up to 1.
#[expect(clippy::cast_possible_truncation, reason = "a share between 0 and 1")]
fn share(moment: f64, a: Tick, b: Tick) -> f32 {
    let (a, b) = (f64::from(a.0), f64::from(b.0));
    ((moment - a) / (b - a)) as f32
}

/// Both lists are sorted by id.
fn turnover(before: &[Replica], now: &[Replica]) -> Turnover {
    let missing = |from: &[Replica], rows: &[Replica]| {
        let lists = |id: u32| from.binary_search_by_key(&id, |replica| replica.id).is_ok();
        rows.iter().map(|replica| replica.id).filter(|id| !lists(*id)).collect()
    };
    Turnover { appeared: missing(before, now), left: missing(now, before) }
}

#[cfg(test)]
mod tests;
