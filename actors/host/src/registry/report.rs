//! `ActorReport`: one actor at one moment, for every table there is.

use std::sync::atomic::Ordering::Relaxed;

use dh_machine::Micros;

use super::ActorId;
use super::entry::Entry;
use super::past::Reading;
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
        /// Since when, on the runtime's clock.
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

/// What changes whenever an actor's numbers or its state do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pulse {
    moves: u64,
    turns: u64,
    current: Option<(usize, Micros)>,
    pub(crate) panics: u64,
    restarts: u64,
    broken: bool,
}

impl Entry {
    /// Its numbers at this moment; once it has left, those of its end.
    pub(crate) fn reading(&self) -> Reading {
        if let Some(last) = self.last_reading.get() {
            return last.clone();
        }
        let metrics = &self.metrics;
        let reading = Reading {
            port: self.face.stats(),
            wait: metrics.wait.read(),
            handle: metrics.handle.read(),
            late: metrics.late.read(),
            busy_ns: metrics.busy_ns.load(Relaxed),
            turns: metrics.turns.load(Relaxed),
            panics: metrics.panics.load(Relaxed),
            restarts: metrics.restarts.load(Relaxed),
            ticks: self.ticks.as_ref().map(|ticks| Box::new(ticks.sums())),
        };
        // It may have left meanwhile.
        self.last_reading.get().cloned().unwrap_or(reading)
    }

    /// It leaves: its numbers change no more.
    pub(super) fn last_reading(&self) -> &Reading {
        let reading = self.reading();
        self.last_reading.get_or_init(|| reading)
    }

    /// What changes whenever its numbers or its state do; read without any lock.
    pub(crate) fn pulse(&self) -> Pulse {
        let metrics = &self.metrics;
        Pulse {
            moves: self.face.moves(),
            turns: metrics.turns.load(Relaxed),
            current: metrics.current(),
            panics: metrics.panics.load(Relaxed),
            restarts: metrics.restarts.load(Relaxed),
            broken: self.awaits_verdict(),
        }
    }

    /// What it is doing.
    pub(crate) fn state(&self, closed: bool) -> ActorState {
        if self.awaits_verdict() {
            return ActorState::Broken;
        }
        if closed {
            return ActorState::Ending;
        }
        match self.metrics.current() {
            Some((kind, since)) => ActorState::Running { message: self.face.kind(kind), since },
            None => match self.metrics.parked.load(Relaxed) {
                0 => ActorState::Idle,
                effects => ActorState::Waiting { effects },
            },
        }
    }

    pub(crate) fn report(&self) -> ActorReport {
        let reading = self.reading();
        ActorReport {
            id: self.id,
            path: self.path.clone(),
            kind: self.spec.kind,
            place: self.place.name(),
            state: self.state(reading.port.closed),
            port: reading.port,
            wait: reading.wait.summary(),
            handle: reading.handle.summary(),
            late: reading.late.summary(),
            busy: Micros(reading.busy_ns / 1_000),
            turns: reading.turns,
            panics: reading.panics,
            restarts: reading.restarts,
            last_panic: self.last_panic(),
        }
    }
}
