//! `PendingInputs`: the inputs a client has predicted and the server has not answered.
//!
//! Used by the predictor, which packs packets from it, compares answers with it and replays it. It
//! simulates nothing.

use alloc::collections::VecDeque;

use dh_messages::PlayerInput;

/// Un-acknowledged inputs, each with the state predicted after it, oldest first.
#[derive(Clone, Debug)]
pub struct PendingInputs<S> {
    ring: VecDeque<Pending<S>>,
    overflows: u64,
}

/// One input and what it was predicted to lead to.
#[derive(Clone, Debug, PartialEq)]
pub struct Pending<S> {
    /// The input as it was sent.
    pub input: PlayerInput,
    /// The state after it.
    pub predicted: S,
}

impl<S> PendingInputs<S> {
    /// Inputs the ring holds.
    pub const MAX: usize = 128;

    /// An empty ring; its places are allocated here and never again.
    #[must_use]
    pub fn new() -> Self {
        Self { ring: VecDeque::with_capacity(Self::MAX), overflows: 0 }
    }

    /// Adds the newest input and what it led to; whether the oldest had to be dropped for it, after
    /// which no correction can be eased.
    pub fn push(&mut self, input: PlayerInput, predicted: S) -> bool {
        let overflowed = self.ring.len() == Self::MAX;
        if overflowed {
            self.ring.pop_front();
            self.overflows += 1;
        }
        self.ring.push_back(Pending { input, predicted });
        overflowed
    }

    /// Drops everything up to `sequence`, used or passed over; what was predicted for exactly that
    /// input, if it was still pending.
    pub fn acknowledge(&mut self, sequence: u32) -> Option<S> {
        let mut answered = None;
        while self.ring.front().is_some_and(|oldest| oldest.input.sequence <= sequence) {
            answered = self.ring.pop_front();
        }
        answered.filter(|it| it.input.sequence == sequence).map(|it| it.predicted)
    }

    /// Runs every pending input again, oldest first; `step` replaces its predicted state.
    pub fn replay(&mut self, mut step: impl FnMut(&PlayerInput, &mut S)) {
        for Pending { input, predicted } in &mut self.ring {
            step(input, predicted);
        }
    }

    /// All pending inputs, newest first: a packet carries the first few.
    pub fn newest_first(&self) -> impl Iterator<Item = &PlayerInput> {
        self.ring.iter().rev().map(|pending| &pending.input)
    }

    /// The newest input and its predicted state.
    #[must_use]
    pub fn newest(&self) -> Option<&Pending<S>> {
        self.ring.back()
    }

    /// Inputs without an answer: the backlog that the tick clock holds by.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Whether every input was answered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// How often an input was dropped unanswered.
    #[must_use]
    pub const fn overflows(&self) -> u64 {
        self.overflows
    }

    /// Forgets them all, as when the pawn was placed anew or the session ended.
    pub fn clear(&mut self) {
        self.ring.clear();
    }
}

impl<S> Default for PendingInputs<S> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
