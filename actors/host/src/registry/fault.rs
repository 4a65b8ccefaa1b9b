//! Faults: panics and late deadlines that a scenario injects into an actor, by its path.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use dh_machine::Micros;

use super::entry::Entry;

/// The faults planned for a runtime, for actors that live and for those that come later.
#[derive(Debug, Default)]
pub struct Faults {
    plans: Mutex<Plans>,
}

#[derive(Debug, Default)]
struct Plans {
    by_path: BTreeMap<String, Plan>,
    live: BTreeMap<String, Weak<Entry>>,
    /// Panics that were left when their actor ended.
    missed: Vec<(String, u64)>,
}

#[derive(Clone, Debug, Default)]
struct Plan {
    /// Numbers of messages, the first being 1, counted over all restarts, and how often each is
    /// still to break a machine: where twice, its spare does too.
    panics: BTreeMap<u64, u32>,
    /// Kinds of messages the next of which is to break a machine, once.
    kinds: BTreeSet<&'static str>,
    delays: VecDeque<Micros>,
}

impl Plan {
    /// The messages that are still to break a machine.
    fn to_come(&self) -> impl Iterator<Item = u64> {
        self.panics.iter().filter(|(_, left)| 0 < **left).map(|(nth, _)| *nth)
    }
}

/// The faults of one actor. While there are none a message costs one relaxed load.
#[derive(Debug, Default)]
pub(crate) struct Armed {
    any: AtomicBool,
    plan: Mutex<Plan>,
}

impl Faults {
    /// Panic in the machine of the actor at `path` when it takes its `nth` message (from 1). Asked
    /// for twice, the spare of that message breaks the next machine as well.
    pub fn panic_at(&self, path: &str, nth: u64) {
        self.plan(path, |plan| {
            *plan.panics.entry(nth).or_default() += 1;
        });
    }

    /// Panic in the machine of the actor at `path` when it takes its next message of this kind.
    pub fn panic_at_kind(&self, path: &str, kind: &'static str) {
        self.plan(path, |plan| {
            plan.kinds.insert(kind);
        });
    }

    /// Give up a panic that has not struck.
    pub fn forgive(&self, path: &str, nth: u64) {
        self.plan(path, |plan| {
            plan.panics.remove(&nth);
        });
    }

    /// Give up a panic at a kind of message that has not struck.
    pub fn forgive_kind(&self, path: &str, kind: &'static str) {
        self.plan(path, |plan| {
            plan.kinds.remove(kind);
        });
    }

    /// The panics that were planned and have not come, by path; those of actors that have ended
    /// among them.
    #[must_use]
    pub fn left(&self) -> Vec<(String, u64)> {
        let plans = lock(&self.plans);
        let mut left = plans.missed.clone();
        let mut add = |path: &String, plan: &Plan| {
            left.extend(plan.to_come().map(|nth| (path.clone(), nth)));
        };
        plans.by_path.iter().for_each(|(path, plan)| add(path, plan));
        for (path, entry) in &plans.live {
            if let Some(entry) = entry.upgrade() {
                add(path, &lock(&entry.faults.plan));
            }
        }
        left.sort();
        left
    }

    /// Serve the next deadline of the actor at `path` this much later; several are taken in turn.
    /// Only actors placed on a thread have deadlines that can be delayed.
    pub fn delay_deadline(&self, path: &str, by: Micros) {
        self.plan(path, |plan| plan.delays.push_back(by));
    }

    fn plan(&self, path: &str, change: impl Fn(&mut Plan)) {
        let mut plans = lock(&self.plans);
        match plans.live.get(path).and_then(Weak::upgrade) {
            Some(entry) => {
                change(&mut lock(&entry.faults.plan));
                entry.faults.any.store(true, Ordering::Relaxed);
            }
            None => change(plans.by_path.entry(path.to_owned()).or_default()),
        }
    }

    pub(crate) fn arm(&self, entry: &Arc<Entry>) {
        let mut plans = lock(&self.plans);
        if let Some(plan) = plans.by_path.remove(&entry.path) {
            *lock(&entry.faults.plan) = plan;
            entry.faults.any.store(true, Ordering::Relaxed);
        }
        plans.live.insert(entry.path.clone(), Arc::downgrade(entry));
    }

    pub(crate) fn disarm(&self, entry: &Entry) {
        let mut plans = lock(&self.plans);
        plans.live.remove(&entry.path);
        let left = std::mem::take(&mut *lock(&entry.faults.plan));
        plans.missed.extend(left.to_come().map(|nth| (entry.path.clone(), nth)));
    }
}

impl Armed {
    /// Whether the `nth` message, which is of this kind, is to end in a panic.
    pub(crate) fn panics_at(&self, nth: u64, kind: impl FnOnce() -> &'static str) -> bool {
        if !self.any.load(Ordering::Relaxed) {
            return false;
        }
        let mut plan = lock(&self.plan);
        if plan.kinds.remove(kind()) {
            return true;
        }
        let Some(left) = plan.panics.get_mut(&nth).filter(|left| **left > 0) else { return false };
        *left -= 1;
        true
    }

    /// The `nth` message broke the machine and had no spare: it breaks no second one.
    pub(crate) fn forgive(&self, nth: u64) {
        if self.any.load(Ordering::Relaxed) {
            lock(&self.plan).panics.remove(&nth);
        }
    }

    /// When a deadline is served after all.
    pub(crate) fn delayed(&self, deadline: Micros) -> Micros {
        if !self.any.load(Ordering::Relaxed) {
            return deadline;
        }
        deadline + lock(&self.plan).delays.pop_front().unwrap_or_default()
    }
}

fn lock<T>(plan: &Mutex<T>) -> MutexGuard<'_, T> {
    plan.lock().unwrap_or_else(PoisonError::into_inner)
}
