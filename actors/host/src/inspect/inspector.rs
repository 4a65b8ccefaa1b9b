//! Inspector actor: numbers and keeps what is taken of the process.
//!
//! Owned by: the process, in a scope of its own. Talks to: the registry and every port of its
//! runtime. Never: works unasked, or waits for anybody.

mod state;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use dh_machine::{Micros, Restart, Spec, Strategy, actor_message};
use tokio::sync::oneshot;

pub(crate) use self::state::{Effect, Inspector};
use super::collect::Collector;
use super::snapshot::Snapshot;
use crate::actor::{Actor, Context, Performed, Start};

/// The promise of the inspector.
pub const SPEC: Spec = Spec {
    kind: "inspector",
    control_max: 64,
    data_max: 1,
    data_wakes: true,
    restart: Restart { count: 10, window: Micros::from_secs(10) },
    strategy: Strategy::OneForOne,
    ask_deadline: None,
    asks: &[],
};

actor_message! {
    /// Everything the inspector can be told.
    pub enum InspectorMsg {
        /// Somebody wants a snapshot.
        Look(Look): Control Refuse,
        /// A snapshot was taken.
        Taken(Arc<Snapshot>): Control Refuse,
    }
}

/// Somebody wants a snapshot.
#[derive(Debug)]
pub struct Look {
    /// Which one.
    pub(crate) want: Want,
    /// Where it goes; nobody is told of a seq that is not kept.
    pub(crate) reply: Reply<Arc<Snapshot>>,
}

/// Which snapshot is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    /// The newest, taken now unless one is fresh; with the buckets of the actor at this path.
    Newest(Option<String>),
    /// The one of this seq, if it is kept.
    Seq(u64),
}

/// Where one answer goes.
pub(crate) struct Reply<T>(oneshot::Sender<T>);

impl<T> Reply<T> {
    /// A reply, and where it arrives.
    pub(crate) fn new() -> (Self, oneshot::Receiver<T>) {
        let (to, from) = oneshot::channel();
        (Self(to), from)
    }

    /// Answer; whoever asked may have gone.
    pub(crate) fn send(self, answer: T) {
        drop(self.0.send(answer));
    }
}

impl<T> fmt::Debug for Reply<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reply")
    }
}

/// The actor around the inspector.
#[derive(Debug)]
pub(crate) struct InspectorActor {
    collector: Collector,
    /// The last seq, kept over restarts: no two snapshots have the same.
    last: u64,
}

impl InspectorActor {
    pub(crate) fn new(collector: Collector) -> Self {
        Self { collector, last: 0 }
    }
}

impl Actor for InspectorActor {
    type Machine = Inspector;
    const SPEC: Spec = SPEC;

    fn make(&mut self, _start: Start<'_, InspectorMsg>) -> Inspector {
        Inspector::new(self.last)
    }

    fn perform(&mut self, effect: Effect, cx: &mut Context<'_, InspectorMsg>) -> Performed<Effect> {
        match effect {
            Effect::Take { seq, detail, reply } => {
                self.last = seq;
                let taken = Arc::new(self.collector.take(seq, detail.as_deref()));
                reply.send(Arc::clone(&taken));
                // Where there is no place for it, nobody can ask for it again.
                let _ = cx.port().offer(InspectorMsg::Taken(taken));
            }
            Effect::Answer(reply, snapshot) => reply.send(snapshot),
        }
        Performed::Done
    }
}
