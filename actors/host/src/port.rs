//! Port: the bounded face of an actor. It owns the actor's queue.
//!
//! Used by everyone who tells an actor something. An offer never blocks, never panics and never
//! unwinds into its sender; what happens when the lane is full is the message's own policy.

mod core;
mod inlet;
mod lane;
mod stats;
mod waiter;
mod waiting;

use std::fmt;
use std::sync::Arc;

use dh_machine::{ActorMessage, Micros, Spec};

pub use self::inlet::{HeldBack, Inlet};
pub use self::stats::{Counts, LaneStats, PortStats};
pub use self::waiting::Sending;

pub(crate) use self::core::{Command, Core, Settled, Taken};
pub(crate) use self::lane::Held;
pub(crate) use self::stats::Glance;
pub(crate) use self::waiter::{Waiter, Who};

use crate::clock::Clock;

/// Where messages for one actor are offered. Cheap to clone; it does not keep the actor running.
pub struct Port<M> {
    pub(crate) core: Arc<Core<M>>,
}

/// A message that was not taken, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused<M> {
    /// The message, as it was.
    pub msg: M,
    /// Why it came back.
    pub why: Why,
}

/// Why a message came back to its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The lane is full.
    Full,
    /// The actor has ended.
    Closed,
    /// The lane is full and the message's policy is to wait for a place.
    MustWait,
}

impl<M: ActorMessage> Port<M> {
    pub(crate) fn new(spec: &Spec, clock: Clock) -> Self {
        Self { core: Arc::new(Core::new(spec, clock)) }
    }

    /// Hand over one message.
    ///
    /// # Errors
    /// The message comes back when its lane is full and its policy makes no room, or when the actor
    /// has ended.
    pub fn offer(&self, msg: M) -> Result<(), Refused<M>> {
        self.core.offer(msg, Micros(u64::MAX), || None)
    }

    /// Hand over one message that is worth nothing after `deadline`, on the runtime's clock.
    ///
    /// # Errors
    /// As [`Port::offer`].
    pub fn offer_until(&self, msg: M, deadline: Micros) -> Result<(), Refused<M>> {
        self.core.offer(msg, deadline, || None)
    }

    /// Hand over one message, waiting for a place if that is its policy. For tasks; an actor uses
    /// [`Context::offer`](crate::Context::offer) and `Performed::Wait`.
    pub fn send(&self, msg: M) -> Sending<M> {
        Sending::new(self.clone(), msg)
    }

    /// A face of this port that takes another type, for events of the network and the like.
    pub fn inlet<T: 'static>(&self, map: impl Fn(T) -> M + Send + Sync + 'static) -> Inlet<T> {
        Inlet::new(self.clone(), map)
    }

    /// The exact accounting at this moment.
    #[must_use]
    pub fn stats(&self) -> PortStats {
        self.core.stats()
    }

    /// Whether the actor has ended, or is about to.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.core.is_closed()
    }
}

impl<M> Clone for Port<M> {
    fn clone(&self) -> Self {
        Self { core: Arc::clone(&self.core) }
    }
}

impl<M> fmt::Debug for Port<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Port").field(&self.core).finish()
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "its queue is full",
            Self::Closed => "it has ended",
            Self::MustWait => "its queue is full for now",
        })
    }
}

impl<M> fmt::Display for Refused<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the actor did not take the message: {}", self.why)
    }
}

impl<M: fmt::Debug> std::error::Error for Refused<M> {}

#[cfg(test)]
mod tests;
