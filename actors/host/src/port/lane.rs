//! Lane: one bounded queue of a port, where each kind's oldest and each key's place are at hand.
//!
//! Owned by: the port, under its lock. Never: counts, wakes, reads a clock. The nodes lie in one
//! slab that grows to the bound and is then reused, so a warm lane allocates nothing.

use dh_machine::Micros;
use dh_machine::planted::{self, Bug};

use super::stats::LaneStats;
use crate::registry::ActorId;

/// A message that waits, and what is needed to judge it when its turn comes.
#[derive(Debug)]
pub(crate) struct Held<M> {
    pub(crate) msg: M,
    /// Index into the message's kinds.
    pub(crate) kind: usize,
    /// The key it may be replaced by, for a coalescing kind.
    pub(crate) key: Option<u64>,
    /// When it was offered.
    pub(crate) at: Micros,
    /// By whom.
    pub(crate) from: ActorId,
    /// It expires if its turn comes later than this.
    pub(crate) deadline: Micros,
}

/// A queue of at most `max` messages.
#[derive(Debug)]
pub(crate) struct Queue<M> {
    nodes: Vec<Node<M>>,
    free: Option<usize>,
    head: Option<usize>,
    tail: Option<usize>,
    len: usize,
    max: usize,
    peak: usize,
    hits: u64,
    kinds: Box<[Chain]>,
    /// Sorted by kind and key: where each coalescing message waits.
    places: Vec<(usize, u64, usize)>,
}

#[derive(Debug)]
struct Node<M> {
    held: Option<Held<M>>,
    before: Option<usize>,
    after: Option<usize>,
    /// The next of the same kind. Only the oldest of a kind ever leaves, so one way is enough.
    after_in_kind: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Chain {
    head: Option<usize>,
    tail: Option<usize>,
}

impl<M> Queue<M> {
    pub(crate) fn new(max: usize, kinds: usize) -> Self {
        Self {
            nodes: Vec::new(),
            free: None,
            head: None,
            tail: None,
            len: 0,
            max,
            peak: 0,
            hits: 0,
            kinds: vec![Chain::default(); kinds].into_boxed_slice(),
            places: Vec::new(),
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) const fn max(&self) -> usize {
        self.max
    }

    /// The most that ever waited at once.
    pub(crate) const fn peak(&self) -> usize {
        self.peak
    }

    pub(crate) fn room(&self) -> usize {
        let max = if planted::is(Bug::LaneWithoutBound) { usize::MAX } else { self.max };
        max.saturating_sub(self.len)
    }

    pub(crate) const fn stats(&self) -> LaneStats {
        LaneStats { depth: self.len, peak: self.peak, max: self.max, hits: self.hits }
    }

    /// A message has found it full.
    pub(crate) const fn hit(&mut self) {
        self.hits += 1;
    }

    /// Change the bound, unless more wait now; the peak is that of this bound.
    pub(crate) const fn set_max(&mut self, max: usize) -> Result<(), usize> {
        if self.len > max {
            return Err(self.len);
        }
        (self.max, self.peak) = (max, self.len);
        Ok(())
    }

    /// Append; the caller has seen that there is room.
    pub(crate) fn push(&mut self, held: Held<M>) {
        let (kind, key) = (held.kind, held.key);
        let node = Node { held: Some(held), before: self.tail, after: None, after_in_kind: None };
        let at = self.place(node);
        match self.tail.replace(at) {
            Some(last) => self.nodes[last].after = Some(at),
            None => self.head = Some(at),
        }
        match self.kinds[kind].tail.replace(at) {
            Some(last) => self.nodes[last].after_in_kind = Some(at),
            None => self.kinds[kind].head = Some(at),
        }
        if let Some(key) = key
            && let Err(slot) = self.find(kind, key)
        {
            self.places.insert(slot, (kind, key, at));
        }
        self.len += 1;
        self.peak = self.peak.max(self.len);
    }

    /// Take the oldest of all.
    pub(crate) fn pop(&mut self) -> Option<Held<M>> {
        let at = self.head?;
        let kind = self.nodes[at].held.as_ref()?.kind;
        self.pop_kind(kind)
    }

    /// Take the oldest of one kind.
    pub(crate) fn pop_kind(&mut self, kind: usize) -> Option<Held<M>> {
        let at = self.kinds[kind].head?;
        let node = &mut self.nodes[at];
        let held = node.held.take();
        let (before, after, after_in_kind) = (node.before, node.after, node.after_in_kind);
        node.after = self.free.replace(at);
        self.kinds[kind].head = after_in_kind;
        if after_in_kind.is_none() {
            self.kinds[kind].tail = None;
        }
        match before {
            Some(before) => self.nodes[before].after = after,
            None => self.head = after,
        }
        match after {
            Some(after) => self.nodes[after].before = before,
            None => self.tail = before,
        }
        if let Some(key) = held.as_ref().and_then(|held| held.key)
            && let Ok(slot) = self.find(kind, key)
        {
            self.places.remove(slot);
        }
        self.len -= 1;
        held
    }

    /// Put `held` in the place of a waiting one of its kind and key; hands back the old one, or
    /// `held` itself where none waits.
    pub(crate) fn replace(&mut self, key: u64, held: Held<M>) -> Result<Held<M>, Held<M>> {
        match self.find(held.kind, key) {
            Ok(slot) => {
                let waiting = &mut self.nodes[self.places[slot].2].held;
                match waiting.take() {
                    Some(old) => {
                        *waiting = Some(held);
                        Ok(old)
                    }
                    None => Err(held),
                }
            }
            Err(_) => Err(held),
        }
    }

    fn find(&self, kind: usize, key: u64) -> Result<usize, usize> {
        self.places.binary_search_by_key(&(kind, key), |&(kind, key, _)| (kind, key))
    }

    fn place(&mut self, node: Node<M>) -> usize {
        match self.free {
            Some(at) => {
                self.free = self.nodes[at].after;
                self.nodes[at] = node;
                at
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() - 1
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    fn held(msg: u32, kind: usize, key: Option<u64>) -> Held<u32> {
        let (at, deadline) = (Micros(0), Micros(u64::MAX));
        Held { msg, kind, key, at, from: ActorId::NOBODY, deadline }
    }

    proptest! {
        /// D4
        #[test]
        fn a_lane_behaves_like_a_plain_list(
            steps in prop::collection::vec((0..5u8, 0..3usize, 0..4u64), 0..200),
        ) {
            let mut lane = Queue::new(8, 3);
            let mut plain: VecDeque<(u32, usize, Option<u64>)> = VecDeque::new();
            for (msg, (step, kind, key)) in (0u32..).zip(steps) {
                match step {
                    0 | 1 if lane.room() > 0 => {
                        let key = (kind == 2).then_some(key);
                        let taken =
                            key.is_some() && plain.iter().any(|&(_, k, at)| k == kind && at == key);
                        if !taken {
                            lane.push(held(msg, kind, key));
                            plain.push_back((msg, kind, key));
                        }
                    }
                    2 => {
                        let got = lane.pop().map(|held| held.msg);
                        prop_assert_eq!(got, plain.pop_front().map(|(msg, ..)| msg));
                    }
                    3 => {
                        let at = plain.iter().position(|&(_, k, _)| k == kind);
                        let want = at.and_then(|at| plain.remove(at)).map(|(msg, ..)| msg);
                        prop_assert_eq!(lane.pop_kind(kind).map(|held| held.msg), want);
                    }
                    _ => {
                        let waits = plain.iter_mut().find(|(_, k, at)| *k == 2 && *at == Some(key));
                        let got = lane.replace(key, held(msg, 2, Some(key)));
                        match waits {
                            Some(waits) => {
                                prop_assert_eq!(got.map(|held| held.msg).ok(), Some(waits.0));
                                waits.0 = msg;
                            }
                            None => prop_assert!(got.is_err()),
                        }
                    }
                }
                prop_assert_eq!(lane.len(), plain.len());
            }
            let rest: Vec<u32> = std::iter::from_fn(|| lane.pop()).map(|held| held.msg).collect();
            prop_assert_eq!(rest, plain.iter().map(|&(msg, ..)| msg).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_warm_lane_reuses_its_nodes() {
        let mut lane = Queue::new(4, 1);
        for msg in 0..1000 {
            lane.push(held(msg, 0, None));
            lane.push(held(msg, 0, None));
            assert!(lane.pop().is_some() && lane.pop().is_some());
        }
        assert_eq!((lane.nodes.len(), lane.peak()), (2, 2));
    }
}
