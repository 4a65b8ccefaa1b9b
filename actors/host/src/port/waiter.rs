//! Waiter: who is told when a full lane has a place again.

use std::collections::VecDeque;
use std::sync::Weak;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;

/// A sender that holds a message back until there is a place.
#[derive(Debug)]
pub(crate) struct Waiter {
    /// One sender waits at most once in a lane.
    pub(crate) id: WaiterId,
    pub(crate) who: Who,
}

#[derive(Debug)]
pub(crate) enum Who {
    /// An actor: its shell tries the effect again.
    Shell(Weak<dyn Sender>),
    /// A task of the network or of a scenario.
    Task(Waker),
}

/// The side of a port that its own shell hears wakes on.
pub(crate) trait Sender: Send + Sync + std::fmt::Debug {
    /// A place became free somewhere this sender waits.
    fn place_free(&self);
}

impl Waiter {
    pub(crate) fn wake(self) {
        match self.who {
            Who::Shell(shell) => {
                if let Some(shell) = shell.upgrade() {
                    shell.place_free();
                }
            }
            Who::Task(waker) => waker.wake(),
        }
    }
}

/// Tells senders apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaiterId(u64);

impl WaiterId {
    pub(crate) fn new() -> Self {
        // Only ever compared for equality, so a count shared by all worlds cannot change a replay.
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The senders that wait for one lane, longest first.
#[derive(Debug, Default)]
pub(crate) struct Waiters(VecDeque<Waiter>);

impl Waiters {
    /// Join the line, or renew the place in it.
    pub(crate) fn join(&mut self, waiter: Waiter) {
        match self.0.iter_mut().find(|waiting| waiting.id == waiter.id) {
            Some(waiting) => *waiting = waiter,
            None => self.0.push_back(waiter),
        }
    }

    /// Those to wake once `room` places are free. With the lane empty all are woken, so that one
    /// that died or changed its mind can never keep the others asleep.
    pub(crate) fn leave(&mut self, room: usize, empty: bool) -> VecDeque<Waiter> {
        if empty || room >= self.0.len() {
            return std::mem::take(&mut self.0);
        }
        self.0.drain(..room).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
