//! Limits: the bounds that somebody may run into, by name, and how often that happened.
//!
//! Declared by whoever keeps to them, read by the inspector. Lanes of ports count for themselves
//! and are shown beside these. A limit that is hit is told in the log, at most once in a while.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dh_machine::Micros;

use crate::clock::Clock;

/// How often one limit is told in the log.
const TOLD_EVERY: Micros = Micros::from_secs(10);

/// The limits of one runtime, or of one part of it.
#[derive(Debug)]
pub struct Limits {
    clock: Clock,
    named: Mutex<BTreeMap<&'static str, Arc<Cell>>>,
}

/// One limit. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Limit {
    clock: Clock,
    cell: Arc<Cell>,
}

/// A place that is held below a limit; free again when this is dropped.
#[derive(Debug)]
pub struct Holding(Arc<Cell>);

#[derive(Debug)]
struct Cell {
    name: &'static str,
    unit: &'static str,
    max: AtomicU64,
    used: AtomicU64,
    /// The most that was ever held at once; zero where nothing is held.
    peak: AtomicU64,
    hits: AtomicU64,
    /// When it was last told, plus one; zero for never.
    told: AtomicU64,
}

/// One limit at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) max: u64,
    /// What is held now and the most that ever was, where something is held.
    pub(crate) held: Option<(u64, u64)>,
    pub(crate) hits: u64,
}

impl Limits {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { clock, named: Mutex::default() }
    }

    /// The limit of this name, which is `max` of `unit` from now on. Names are few and fixed: what
    /// is counted for a peer or an address has the name of its kind.
    pub fn named(&self, name: &'static str, unit: &'static str, max: u64) -> Limit {
        let mut named = self.lock();
        let cell = named.entry(name).or_insert_with(|| Arc::new(Cell::new(name, unit)));
        cell.max.store(max, Relaxed);
        Limit { clock: self.clock, cell: Arc::clone(cell) }
    }

    /// All of them, by name.
    pub(crate) fn all(&self) -> Vec<Standing> {
        self.lock().values().map(|cell| cell.standing()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<&'static str, Arc<Cell>>> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Limit {
    /// Somebody has run into it.
    pub fn hit(&self) {
        let hits = self.cell.hits.fetch_add(1, Relaxed) + 1;
        let now = self.clock.now();
        let told = self.cell.told.load(Relaxed);
        let quiet = told > 0 && now.since(Micros(told - 1)) < TOLD_EVERY;
        let next = now.0.saturating_add(1);
        if !quiet && self.cell.told.compare_exchange(told, next, Relaxed, Relaxed).is_ok() {
            tracing::warn!("{self} was hit, {hits} times so far");
        }
    }

    /// Hold one place below it.
    #[must_use]
    pub fn hold(&self) -> Holding {
        let used = self.cell.used.fetch_add(1, Relaxed) + 1;
        self.cell.peak.fetch_max(used, Relaxed);
        Holding(Arc::clone(&self.cell))
    }
}

impl Cell {
    fn new(name: &'static str, unit: &'static str) -> Self {
        let zero = || AtomicU64::new(0);
        let (max, used, peak, hits, told) = (zero(), zero(), zero(), zero(), zero());
        Self { name, unit, max, used, peak, hits, told }
    }

    fn standing(&self) -> Standing {
        let peak = self.peak.load(Relaxed);
        Standing {
            name: self.name,
            unit: self.unit,
            max: self.max.load(Relaxed),
            held: (peak > 0).then(|| (self.used.load(Relaxed), peak)),
            hits: self.hits.load(Relaxed),
        }
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        self.0.used.fetch_sub(1, Relaxed);
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cell { name, unit, max, .. } = &*self.cell;
        write!(f, "the limit {name} of {} {unit}", max.load(Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_says_what_is_held_below_it_the_most_that_ever_was_and_how_often_it_was_hit() {
        let limits = Limits::new(Clock::real());
        let seats = limits.named("a.seats", "seats", 2);
        let rate = limits.named("a.rate", "a second", 9);
        let (one, two) = (seats.hold(), seats.hold());
        drop(one);
        seats.hit();
        (0..3).for_each(|_| rate.hit());
        let told = |it: &Standing| (it.name, it.unit, it.max, it.held, it.hits);
        let rows: Vec<_> = limits.all().iter().map(told).collect();
        assert_eq!(
            rows,
            [("a.rate", "a second", 9, None, 3), ("a.seats", "seats", 2, Some((1, 2)), 1)]
        );
        drop(two);
        limits.named("a.seats", "seats", 5);
        assert_eq!(limits.all()[1].held, Some((0, 2)));
        assert_eq!(limits.all()[1].max, 5, "the same limit with another bound");
        assert_eq!(seats.to_string(), "the limit a.seats of 5 seats");
    }
}
