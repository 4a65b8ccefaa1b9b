//! Registry: every live actor of a runtime, and the table that is made of them.
//!
//! Read by the inspector, the console and scenarios; written when actors start and end. The shared
//! map has no order, so whatever leaves here is sorted first.

mod asks;
mod entry;
mod fault;
mod past;
mod report;
mod ticks;
mod waits;

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dashmap::DashMap;

pub use self::asks::ask_cycle;
pub use self::fault::Faults;
pub use self::report::{ActorReport, ActorState};
pub use self::ticks::TickRecord;
pub use self::waits::{Asked, Edge, Wait};

pub(crate) use self::entry::Entry;
pub(crate) use self::past::{Deeds, Past, Reading};
pub(crate) use self::report::Pulse;
pub(crate) use self::ticks::{TickSums, Ticks};
pub(crate) use self::waits::{Awaited, Waits};

use crate::actor::Exit;
use crate::port::{Glance, LaneStats};

/// The live actors of one runtime.
#[derive(Debug)]
pub struct Registry {
    live: DashMap<ActorId, Arc<Entry>>,
    next: AtomicU64,
    /// Actors that came or went so far.
    moves: AtomicU64,
    endings: Mutex<VecDeque<Exit>>,
    past: Mutex<Past>,
    faults: Faults,
}

/// One actor or scope of a runtime; those started later have larger numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActorId(pub(crate) u64);

impl ActorId {
    /// No actor has this number.
    pub(crate) const NOBODY: Self = Self(0);
}

impl Registry {
    /// Endings that are remembered.
    pub const ENDINGS_MAX: usize = 64;

    pub(crate) fn new() -> Self {
        Self {
            live: DashMap::new(),
            next: AtomicU64::new(1),
            moves: AtomicU64::new(0),
            endings: Mutex::new(VecDeque::new()),
            past: Mutex::default(),
            faults: Faults::default(),
        }
    }

    /// Every live actor, by path.
    #[must_use]
    pub fn reports(&self) -> Vec<ActorReport> {
        self.sorted().iter().map(|entry| entry.report()).collect()
    }

    /// Every live actor whose port does not balance, by path: none unless `host` itself is broken.
    /// Cheap enough to ask each tick.
    #[must_use]
    pub fn unbalanced(&self) -> Vec<ActorReport> {
        if self.live.iter().all(|entry| entry.face.is_balanced()) {
            return Vec::new();
        }
        self.reports().into_iter().filter(|report| !report.port.balanced()).collect()
    }

    /// One live actor by its path.
    #[must_use]
    pub fn report(&self, path: &str) -> Option<ActorReport> {
        Some(self.find(path)?.report())
    }

    /// The last 4,096 turns of the actor at `path` that served a deadline, oldest first: those from
    /// the `from`th ever on, and how many there were ever. None of an actor that is woken by data.
    #[must_use]
    pub fn ticks(&self, path: &str, from: u64) -> Option<(Vec<TickRecord>, u64)> {
        Some(self.find(path)?.ticks.as_ref()?.read(from))
    }

    /// Who waits for whom at this moment, by path.
    #[must_use]
    pub fn edges(&self) -> Vec<Edge> {
        self.edges_among(self.sorted_if(|entry| entry.waits.are_some()).iter().map(AsRef::as_ref))
    }

    /// Whom these actors wait for.
    pub(crate) fn edges_among<'a>(&self, all: impl Iterator<Item = &'a Entry>) -> Vec<Edge> {
        let waiting = all.filter(|entry| entry.waits.are_some());
        let mut edges: Vec<Edge> = waiting.flat_map(|entry| self.edges_of(entry)).collect();
        edges.sort();
        edges
    }

    /// Actors that wait for each other in a ring, each ring from its first path on.
    #[must_use]
    pub fn cycles(&self) -> Vec<Vec<Edge>> {
        Self::cycles_among(&self.edges())
    }

    /// The rings among edges that come in order.
    pub(crate) fn cycles_among(edges: &[Edge]) -> Vec<Vec<Edge>> {
        waits::cycles_of(edges)
    }

    /// The strips of all that have one, by path.
    pub(crate) fn all_ticks(&self) -> Vec<(ActorId, String, Vec<TickRecord>)> {
        let entries = self.sorted_if(|entry| entry.ticks.is_some()).into_iter();
        let strip = |entry: Arc<Entry>| {
            let ticks = entry.ticks.as_ref()?.read(0).0;
            Some((entry.id, entry.path.clone(), ticks))
        };
        entries.filter_map(strip).collect()
    }

    fn edges_of(&self, entry: &Entry) -> Vec<Edge> {
        let open =
            entry.waits.all().into_iter().filter_map(|(wait, Awaited { to, message, since })| {
                let to = self.get(to)?.path.clone();
                Some(Edge { from: entry.path.clone(), to, message, wait, since })
            });
        open.collect()
    }

    /// How many actors live.
    #[must_use]
    pub fn len(&self) -> usize {
        self.live.len()
    }

    /// Whether none lives.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    /// The last actors that ended, oldest first.
    #[must_use]
    pub fn endings(&self) -> Vec<Exit> {
        self.endings.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Faults that scenarios inject by path.
    #[must_use]
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    pub(crate) fn next_id(&self) -> ActorId {
        ActorId(self.next.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) fn enter(&self, entry: Arc<Entry>) {
        self.faults.arm(&entry);
        let mut past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        past.started(entry.spec.kind);
        self.live.insert(entry.id, entry);
        self.moves.fetch_add(1, Ordering::Release);
    }

    pub(crate) fn leave(&self, entry: &Entry, exit: &Exit) {
        let mut past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        self.live.remove(&entry.id);
        past.ended(entry.spec.kind, entry.last_reading());
        self.moves.fetch_add(1, Ordering::Release);
        drop(past);
        self.faults.disarm(entry);
        let mut endings = self.endings.lock().unwrap_or_else(PoisonError::into_inner);
        if endings.len() == Self::ENDINGS_MAX {
            endings.pop_front();
        }
        endings.push_back(exit.clone());
    }

    /// Every actor there ever was, once: what those that have ended did, and those that live, by
    /// path.
    pub(crate) fn all(&self) -> (Past, Vec<Arc<Entry>>) {
        let past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        (past.clone(), self.sorted())
    }

    /// The lanes of every kind of actor, those of actors that have ended included: control, data.
    pub(crate) fn lanes(&self) -> BTreeMap<&'static str, (LaneStats, LaneStats)> {
        let past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        let of_past = past.kinds.iter().map(|(kind, deeds)| (*kind, (deeds.control, deeds.data)));
        let mut lanes: BTreeMap<_, _> = of_past.collect();
        for entry in &self.live {
            let Glance { control, data, .. } = entry.face.glance();
            let kind = lanes.entry(entry.spec.kind).or_default();
            *kind = (kind.0.beside(&control), kind.1.beside(&data));
        }
        lanes
    }

    /// What all actors of a kind have done, those that have ended included.
    pub(crate) fn deeds_of(&self, kind: &str) -> Deeds {
        let past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        let mut deeds = past.kinds.get(kind).cloned().unwrap_or_default();
        let live = self.live.iter().filter(|entry| entry.spec.kind == kind);
        live.for_each(|entry| deeds.add(&entry.reading()));
        deeds
    }

    /// A number that changes when an actor comes or goes.
    pub(crate) fn moves(&self) -> u64 {
        self.moves.load(Ordering::Acquire)
    }

    pub(crate) fn get(&self, id: ActorId) -> Option<Arc<Entry>> {
        self.live.get(&id).map(|entry| Arc::clone(&entry))
    }

    pub(crate) fn find(&self, path: &str) -> Option<Arc<Entry>> {
        self.sorted().into_iter().find(|entry| entry.path == path)
    }

    pub(crate) fn sorted(&self) -> Vec<Arc<Entry>> {
        self.sorted_if(|_| true)
    }

    pub(crate) fn sorted_if(&self, wanted: impl Fn(&Entry) -> bool) -> Vec<Arc<Entry>> {
        let live = self.live.iter();
        let mut entries: Vec<_> =
            live.filter(|entry| wanted(entry)).map(|entry| Arc::clone(&entry)).collect();
        entries.sort_by(|a, b| (&a.path, a.id).cmp(&(&b.path, b.id)));
        entries
    }
}
