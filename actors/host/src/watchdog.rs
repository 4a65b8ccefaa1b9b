//! Watchdog: finds actors that are busy with one message for too long, and actors that wait for
//! each other in a ring.
//!
//! Used by the runtime: the real one looks a few times a second from a thread of its own; in
//! simulation nothing can be busy, and a look is taken only after somebody has begun to wait.

mod thread;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use dh_machine::Micros;

pub(crate) use self::thread::{Ask, start};

use crate::metrics::Metrics;
use crate::registry::{ActorId, ActorState, Edge, Entry, Registry};

/// How long an actor may be busy with one message before it is told.
pub(crate) const BUSY_MAX: Micros = Micros::from_millis(250);
/// How long an actor that lives by deadlines may be before the flight recorder is written.
pub(crate) const STUCK_MAX: Micros = Micros::from_secs(5);
/// How long each wait of a ring must have lasted: rings of a moment undo themselves.
pub(crate) const CYCLE_AGE: Micros = Micros::from_millis(500);
/// How often the real runtime is looked at.
pub(crate) const LOOK_EVERY: Micros = Micros::from_millis(250);

/// What the watchdog has told of, so that it tells each thing once.
#[derive(Debug, Default)]
pub(crate) struct Watchdog {
    /// Actors that were told as busy: with what since when, and how far it has come.
    busy: BTreeMap<ActorId, (Micros, Stage)>,
    cycles: BTreeSet<Vec<(String, &'static str)>>,
    told: VecDeque<Alarm>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Busy,
    Stuck,
}

/// Something the watchdog has seen, told once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alarm {
    /// When, on the runtime's clock.
    pub at: Micros,
    /// What it is, in one line.
    pub line: String,
    /// Whether it is worth writing the flight recorder.
    pub(crate) stuck: bool,
}

impl Watchdog {
    /// Alarms that are remembered.
    pub(crate) const ALARMS_MAX: usize = 64;

    /// The last alarms, oldest first.
    pub(crate) fn alarms(&self) -> Vec<Alarm> {
        self.told.iter().cloned().collect()
    }

    /// Look for rings of waits; when to look again, if a wait is too young to be judged.
    pub(crate) fn look_for_cycles(&mut self, registry: &Registry, now: Micros) -> Option<Micros> {
        let edges = registry.edges();
        let old = |edge: &Edge| now.since(edge.since) >= CYCLE_AGE;
        let again = edges.iter().filter(|edge| !old(edge)).map(|edge| edge.since + CYCLE_AGE).max();
        let cycles: Vec<Vec<Edge>> = Registry::cycles_among(&edges);
        let standing = cycles.iter().filter(|cycle| cycle.iter().all(old));
        let mut named = BTreeSet::new();
        for cycle in standing {
            let name: Vec<_> = cycle.iter().map(|edge| (edge.from.clone(), edge.message)).collect();
            if !self.cycles.contains(&name) {
                let ring: Vec<String> = cycle.iter().map(ToString::to_string).collect();
                self.tell(now, format!("actors wait in a ring: {}", ring.join("; ")), false);
            }
            named.insert(name);
        }
        self.cycles = named;
        again
    }

    /// Look for actors that have been busy with one message for too long.
    pub(crate) fn look_for_busy(&mut self, registry: &Registry, now: Micros) {
        let mut busy = BTreeMap::new();
        for entry in registry.sorted_if(|entry| entry.is_busy_at(now)) {
            let Some((_, since)) = entry.metrics.current() else { continue };
            let before = self.busy.get(&entry.id).filter(|(at, _)| *at == since).map(|it| it.1);
            let stuck = entry.ticks.is_some() && now.since(since) >= STUCK_MAX;
            let stage = if stuck { Stage::Stuck } else { Stage::Busy };
            if before != Some(stage) {
                self.tell_busy(&entry, now, stuck);
            }
            busy.insert(entry.id, (since, stage));
        }
        self.busy = busy;
    }

    fn tell_busy(&mut self, entry: &Entry, now: Micros, stuck: bool) {
        let report = entry.report();
        let ActorState::Running { message, since } = report.state else { return };
        let millis = now.since(since).0 / 1_000;
        let (path, place) = (&report.path, report.place);
        let line = format!("{path} is busy for {millis} ms with one {message} on thread {place}");
        self.tell(now, line, stuck);
    }

    fn tell(&mut self, at: Micros, line: String, stuck: bool) {
        tracing::warn!("{line}");
        if self.told.len() == Self::ALARMS_MAX {
            self.told.pop_front();
        }
        self.told.push_back(Alarm { at, line, stuck });
    }
}

impl Entry {
    fn is_busy_at(&self, now: Micros) -> bool {
        let current: Option<(usize, Micros)> = Metrics::current(&self.metrics);
        current.is_some_and(|(_, since)| now.since(since) >= BUSY_MAX)
    }
}

#[cfg(test)]
mod tests;
