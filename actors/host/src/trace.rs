//! Trace: running hashes of everything that happened in a world, so that two runs can be compared.
//!
//! Events come from actors, world hashes from the tick; packets have a trace of their own in the
//! simulated network. In the real runtime it is switched off and costs one branch.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dh_machine::{Digest, Micros, Tick};
use xxhash_rust::xxh3::xxh3_64;

use crate::clock::Clock;

/// The hashes of one runtime.
#[derive(Debug)]
pub struct Trace {
    clock: Clock,
    state: Option<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    hashes: Hashes,
    events: Digest,
    worlds: Digest,
    lines: VecDeque<String>,
    lines_max: usize,
}

/// Hashes and counts at one moment; equal in two runs of the same seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hashes {
    /// Times and texts of all events.
    pub events: u64,
    /// How many events.
    pub event_count: u64,
    /// The world after each tick.
    pub worlds: u64,
    /// How many worlds were noted.
    pub world_count: u64,
}

impl Trace {
    /// A trace that folds what it is told, and keeps the last `lines_max` events as text.
    pub(crate) fn on(clock: Clock, lines_max: usize) -> Self {
        let state = State {
            hashes: Hashes::default(),
            events: Digest::new(),
            worlds: Digest::new(),
            lines: VecDeque::new(),
            lines_max,
        };
        Self { clock, state: Some(Mutex::new(state)) }
    }

    /// A trace that folds nothing.
    pub(crate) fn off(clock: Clock) -> Self {
        Self { clock, state: None }
    }

    /// Whether anything is folded, so that callers can skip making texts.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.state.is_some()
    }

    /// Something happened now.
    pub fn event(&self, text: &str) {
        self.note(text, true);
    }

    /// Something happened now that happens every tick: it counts, and no line is kept of it.
    pub fn routine(&self, text: &str) {
        self.note(text, false);
    }

    fn note(&self, text: &str, is_kept: bool) {
        let now = self.clock.now();
        let Some(mut state) = self.lock() else { return };
        state.events.word(now.0);
        state.events.word(xxh3_64(text.as_bytes()));
        state.hashes.event_count += 1;
        if is_kept && state.lines_max > 0 {
            if state.lines.len() == state.lines_max {
                state.lines.pop_front();
            }
            let Micros(us) = now;
            state.lines.push_back(format!("{}.{:06} {text}", us / 1_000_000, us % 1_000_000));
        }
    }

    /// The world of `name` after `tick`.
    pub fn world(&self, name: &str, tick: Tick, digest: Digest) {
        let Some(mut state) = self.lock() else { return };
        state.worlds.word(xxh3_64(name.as_bytes()));
        state.worlds.word(u64::from(tick.0));
        state.worlds.word(digest.value());
        state.hashes.world_count += 1;
    }

    /// The hashes so far; all zero where the trace is off.
    #[must_use]
    pub fn hashes(&self) -> Hashes {
        self.lock().map_or_else(Hashes::default, |state| Hashes {
            events: state.events.value(),
            worlds: state.worlds.value(),
            ..state.hashes
        })
    }

    /// The last events as text, oldest first.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.lock().map(|state| state.lines.iter().cloned().collect()).unwrap_or_default()
    }

    fn lock(&self) -> Option<MutexGuard<'_, State>> {
        Some(self.state.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(told: impl FnOnce(&Trace)) -> Hashes {
        let trace = Trace::on(Clock::real(), 2);
        told(&trace);
        trace.hashes()
    }

    #[test]
    fn one_event_and_one_world_more_or_other_are_told_apart() {
        let events =
            |texts: &[&str]| hashes(|trace| texts.iter().for_each(|text| trace.event(text)));
        assert_ne!(events(&["a"]).events, events(&["b"]).events);
        assert_ne!(events(&["a"]).events, events(&["a", "a"]).events);
        let world = |state: u64| {
            let mut digest = Digest::new();
            digest.word(state);
            hashes(|trace| trace.world("server", Tick(1), digest))
        };
        assert_eq!(world(1), world(1));
        assert_ne!(world(1), world(2));
    }

    #[test]
    fn only_the_last_lines_are_kept_and_nothing_where_it_is_off() {
        let trace = Trace::on(Clock::real(), 2);
        ["a", "b", "c"].iter().for_each(|text| trace.event(text));
        let lines = trace.lines();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].ends_with(" b") && lines[1].ends_with(" c"), "{lines:?}");
        let off = Trace::off(Clock::real());
        off.event("a");
        assert_eq!(off.hashes(), Hashes::default());
    }
}
