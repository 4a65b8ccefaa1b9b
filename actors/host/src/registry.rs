//! Registry: every live actor of a runtime, and the table that is made of them.
//!
//! Read by the inspector, the console and scenarios; written when actors start and end. The shared
//! map has no order, so whatever leaves here is sorted first.

mod asks;
mod entry;
mod fault;
mod report;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dashmap::DashMap;

pub use self::asks::ask_cycle;
pub use self::fault::Faults;
pub use self::report::{ActorReport, ActorState};

pub(crate) use self::entry::Entry;

use crate::actor::Exit;
use crate::clock::Clock;

/// The live actors of one runtime.
#[derive(Debug)]
pub struct Registry {
    clock: Clock,
    live: DashMap<ActorId, Arc<Entry>>,
    next: AtomicU64,
    endings: Mutex<VecDeque<Exit>>,
    faults: Faults,
}

/// One actor or scope of a runtime; those started later have larger numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActorId(pub(crate) u64);

impl Registry {
    /// Endings that are remembered.
    pub const ENDINGS_MAX: usize = 64;

    pub(crate) fn new(clock: Clock) -> Self {
        Self {
            clock,
            live: DashMap::new(),
            next: AtomicU64::new(1),
            endings: Mutex::new(VecDeque::new()),
            faults: Faults::default(),
        }
    }

    /// Every live actor, by path.
    #[must_use]
    pub fn reports(&self) -> Vec<ActorReport> {
        let now = self.clock.now();
        self.sorted().iter().map(|entry| entry.report(now)).collect()
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
        Some(self.find(path)?.report(self.clock.now()))
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
        self.live.insert(entry.id, entry);
    }

    pub(crate) fn leave(&self, entry: &Entry, exit: &Exit) {
        self.live.remove(&entry.id);
        self.faults.disarm(entry);
        let mut endings = self.endings.lock().unwrap_or_else(PoisonError::into_inner);
        if endings.len() == Self::ENDINGS_MAX {
            endings.pop_front();
        }
        endings.push_back(exit.clone());
    }

    pub(crate) fn get(&self, id: ActorId) -> Option<Arc<Entry>> {
        self.live.get(&id).map(|entry| Arc::clone(&entry))
    }

    pub(crate) fn find(&self, path: &str) -> Option<Arc<Entry>> {
        self.sorted().into_iter().find(|entry| entry.path == path)
    }

    pub(crate) fn sorted(&self) -> Vec<Arc<Entry>> {
        let mut entries: Vec<_> = self.live.iter().map(|entry| Arc::clone(&entry)).collect();
        entries.sort_by(|a, b| (&a.path, a.id).cmp(&(&b.path, b.id)));
        entries
    }
}
