//! Waits: whom an actor waits for, and the cycles that make some wait for ever.
//!
//! Noted by shells and actors, read by the watchdog and the inspector. An actor that waits for
//! nobody pays one relaxed load a turn.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dh_machine::Micros;

use super::{ActorId, Entry};

/// Who waits for whom.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// The path of the actor that waits.
    pub from: String,
    /// The path of the actor it waits for.
    pub to: String,
    /// The kind of the message.
    pub message: &'static str,
    /// What it waits for.
    pub wait: Wait,
    /// Since when, on the runtime's clock.
    pub since: Micros,
}

/// What an actor waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wait {
    /// A place for its message.
    Place,
    /// An answer to its message.
    Answer,
}

/// What one actor waits for.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Waits {
    count: AtomicUsize,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    /// Effects are tried in order, so there is one place an actor waits for: the oldest's.
    place: Option<Awaited>,
    answers: BTreeMap<u64, Awaited>,
    next: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Awaited {
    pub(crate) to: ActorId,
    pub(crate) message: &'static str,
    pub(crate) since: Micros,
}

/// A question that waits for its answer. Dropping it says that the answer has come, or is no longer
/// wanted.
#[derive(Debug)]
pub struct Asked {
    by: Arc<Entry>,
    number: u64,
}

impl Waits {
    /// It waits for a place from now on, unless it waits for one already.
    pub(crate) fn for_place(&self, awaited: Awaited) {
        self.change(|open| {
            open.place.get_or_insert(awaited);
        });
    }

    /// It waits for no place any more; what it waited for.
    pub(crate) fn place_found(&self) -> Option<Awaited> {
        if self.count.load(Ordering::Relaxed) == 0 {
            return None;
        }
        self.change(|open| open.place.take())
    }

    /// It still waits for what it waited for before it tried again: since then.
    pub(crate) fn still(&self, before: Option<Awaited>) {
        let Some(before) = before else { return };
        self.change(|open| {
            if let Some(place) = &mut open.place
                && (place.to, place.message) == (before.to, before.message)
            {
                place.since = before.since;
            }
        });
    }

    /// It waits for an answer from now on, until what this gives is dropped.
    pub(crate) fn for_answer(by: &Arc<Entry>, awaited: Awaited) -> Asked {
        let number = by.waits.change(|open| {
            open.next += 1;
            open.answers.insert(open.next, awaited);
            open.next
        });
        Asked { by: Arc::clone(by), number }
    }

    /// Whether it waits for anybody.
    pub(crate) fn are_some(&self) -> bool {
        self.count.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn all(&self) -> Vec<(Wait, Awaited)> {
        if !self.are_some() {
            return Vec::new();
        }
        let open = self.lock();
        let place = open.place.iter().map(|awaited| (Wait::Place, *awaited));
        place.chain(open.answers.values().map(|awaited| (Wait::Answer, *awaited))).collect()
    }

    fn change<T>(&self, how: impl FnOnce(&mut Open) -> T) -> T {
        let mut open = self.lock();
        let result = how(&mut open);
        let count = usize::from(open.place.is_some()) + open.answers.len();
        self.count.store(count, Ordering::Relaxed);
        result
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.by.waits.change(|open| open.answers.remove(&self.number));
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.wait {
            Wait::Place => "a place for",
            Wait::Answer => "an answer to",
        };
        write!(f, "{} waits at {} for {what} {}", self.from, self.to, self.message)
    }
}

/// The cycles among these edges, each told once and from its first path on. Edges come in order.
pub(super) fn cycles_of(edges: &[Edge]) -> Vec<Vec<Edge>> {
    let mut found = BTreeSet::new();
    let mut cleared = BTreeSet::new();
    for edge in edges {
        walk(&edge.from, edges, &mut Vec::new(), &mut cleared, &mut found);
    }
    found.into_iter().collect()
}

/// Follow everything that `at` waits for, along the way that led there.
fn walk<'a>(
    at: &'a str,
    edges: &'a [Edge],
    way: &mut Vec<&'a Edge>,
    cleared: &mut BTreeSet<&'a str>,
    found: &mut BTreeSet<Vec<Edge>>,
) {
    if let Some(start) = way.iter().position(|edge| edge.from == at) {
        let ring = &way[start..];
        let first = (0..ring.len()).min_by_key(|at| &ring[*at].from).unwrap_or_default();
        let turned = ring[first..].iter().chain(&ring[..first]);
        found.insert(turned.map(|edge| (*edge).clone()).collect());
        return;
    }
    if cleared.contains(at) {
        return;
    }
    let first = edges.partition_point(|edge| edge.from.as_str() < at);
    for edge in edges[first..].iter().take_while(|edge| edge.from == at) {
        way.push(edge);
        walk(&edge.to, edges, way, cleared, found);
        way.pop();
    }
    cleared.insert(at);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(from: &str, to: &str) -> Edge {
        let (from, to) = (from.to_owned(), to.to_owned());
        Edge { from, to, message: "Ask", wait: Wait::Answer, since: Micros(0) }
    }

    fn rings(edges: &[(&str, &str)]) -> Vec<String> {
        let mut edges: Vec<Edge> = edges.iter().map(|(from, to)| edge(from, to)).collect();
        edges.sort();
        let path = |ring: Vec<Edge>| ring.into_iter().map(|edge| edge.from).collect::<String>();
        cycles_of(&edges).into_iter().map(path).collect()
    }

    #[test]
    fn each_ring_of_waits_is_found_once_whatever_leads_into_it() {
        assert_eq!(rings(&[("a", "b"), ("b", "c"), ("c", "b"), ("d", "a")]), ["bc"]);
        assert_eq!(rings(&[("a", "a"), ("b", "c"), ("c", "b")]), ["a", "bc"]);
        assert_eq!(rings(&[("z", "y"), ("y", "x"), ("x", "z")]), ["xzy"]);
    }

    #[test]
    fn waits_that_end_at_somebody_who_does_not_wait_are_no_ring() {
        assert!(rings(&[("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]).is_empty());
    }
}
