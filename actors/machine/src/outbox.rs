//! Outbox: what one call of a machine may ask for, in order and bounded.

use alloc::collections::vec_deque::{Drain, VecDeque};

/// Effects of one call, in the order they were asked for.
///
/// The bound is an invariant of the machine, not a limit a peer can reach: a machine that asks for
/// more than its bound in one call is broken, and the push panics inside the actor's barrier.
#[derive(Debug)]
pub struct Outbox<E> {
    effects: VecDeque<E>,
    bound: usize,
}

impl<E> Outbox<E> {
    /// Effects one call may ask for unless the actor's spec says otherwise.
    pub const BOUND: usize = 1024;

    /// An empty outbox that holds at most `bound` effects.
    #[must_use]
    pub fn new(bound: usize) -> Self {
        Self { effects: VecDeque::new(), bound }
    }

    /// Ask for one more effect.
    ///
    /// # Panics
    /// When the bound is passed: the machine broke its own contract.
    pub fn push(&mut self, effect: E) {
        assert!(self.effects.len() < self.bound, "outbox over its bound of {} effects", self.bound);
        self.effects.push_back(effect);
    }

    /// Take the oldest effect.
    pub fn pop(&mut self) -> Option<E> {
        self.effects.pop_front()
    }

    /// Take all effects, oldest first.
    pub fn drain(&mut self) -> Drain<'_, E> {
        self.effects.drain(..)
    }

    /// How many effects wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.effects.len()
    }

    /// Whether nothing was asked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.effects.is_empty()
    }

    /// Forget everything, as after a panic.
    pub fn clear(&mut self) {
        self.effects.clear();
    }
}

impl<E> Default for Outbox<E> {
    fn default() -> Self {
        Self::new(Self::BOUND)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effects_leave_in_the_order_they_were_asked_for() {
        let mut out = Outbox::new(3);
        (1..=3).for_each(|n| out.push(n));
        assert_eq!(out.drain().collect::<alloc::vec::Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    #[should_panic(expected = "outbox over its bound of 2 effects")]
    fn a_machine_that_asks_for_more_than_its_bound_is_broken() {
        let mut out = Outbox::new(2);
        (1..=3).for_each(|n| out.push(n));
    }
}
