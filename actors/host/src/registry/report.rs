//! `ActorReport`: one actor at one moment, for every table there is.

use std::sync::atomic::Ordering::Relaxed;

use dh_machine::Micros;

use super::ActorId;
use super::entry::Entry;
use crate::barrier::PanicNote;
use crate::metrics::Summary;
use crate::port::PortStats;

/// One live actor at one moment.
#[derive(Clone, Debug)]
pub struct ActorReport {
    /// Its number; those started later have larger ones.
    pub id: ActorId,
    /// Where it stands in the tree.
    pub path: String,
    /// What kind of actor it is.
    pub kind: &'static str,
    /// Where it runs.
    pub place: &'static str,
    /// What it is doing.
    pub state: ActorState,
    /// The accounting of its port.
    pub port: PortStats,
    /// How long its messages waited.
    pub wait: Summary,
    /// How long its messages took.
    pub handle: Summary,
    /// How late its deadlines were served, to the microsecond.
    pub late: Summary,
    /// Time spent working since it started.
    pub busy: Micros,
    /// Turns its shell took.
    pub turns: u64,
    /// Panics caught.
    pub panics: u64,
    /// Times its machine was made again.
    pub restarts: u64,
    /// The last panic.
    pub last_panic: Option<PanicNote>,
}

/// What an actor is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActorState {
    /// Nothing.
    Idle,
    /// Handling a message.
    Running {
        /// The kind of the message, or `deadline`.
        message: &'static str,
        /// For how long.
        since: Micros,
    },
    /// Waiting for a place in another actor's port; it takes no data meanwhile.
    Waiting {
        /// Effects that wait.
        effects: usize,
    },
    /// Its restart budget is spent; the supervisor decides.
    Broken,
    /// It takes no more messages.
    Ending,
}

impl Entry {
    pub(crate) fn report(&self, now: Micros) -> ActorReport {
        let port = self.face.stats();
        let metrics = &self.metrics;
        let state = if self.awaits_verdict() {
            ActorState::Broken
        } else if port.closed {
            ActorState::Ending
        } else {
            match metrics.current() {
                Some((kind, since)) => ActorState::Running {
                    message: port.kinds.get(kind).map_or("deadline", |(name, _)| name),
                    since: now.since(since),
                },
                None => match metrics.parked.load(Relaxed) {
                    0 => ActorState::Idle,
                    effects => ActorState::Waiting { effects },
                },
            }
        };
        ActorReport {
            id: self.id,
            path: self.path.clone(),
            kind: self.spec.kind,
            place: self.place.name(),
            state,
            port,
            wait: metrics.wait.summary(),
            handle: metrics.handle.summary(),
            late: metrics.late.summary(),
            busy: Micros(metrics.busy_ns.load(Relaxed) / 1_000),
            turns: metrics.turns.load(Relaxed),
            panics: metrics.panics.load(Relaxed),
            restarts: metrics.restarts.load(Relaxed),
            last_panic: self.last_panic(),
        }
    }
}
