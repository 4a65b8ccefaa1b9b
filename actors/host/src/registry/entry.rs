//! Entry: what the runtime knows of one live actor, without its types.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use dh_machine::{ActorMessage, Lane, Spec};
use tokio::sync::Notify;

use super::ActorId;
use super::fault::Armed;
use super::past::Reading;
use super::{Ticks, Waits};
use crate::actor::Exit;
use crate::barrier::PanicNote;
use crate::metrics::Metrics;
use crate::port::{Command, Core, Glance, PortStats};
use crate::scope::Place;

/// One live actor. What a look reads of those that did nothing comes first, in one line of a cache.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Entry {
    pub(crate) id: ActorId,
    pub(crate) face: Arc<dyn Face>,
    pub(crate) waits: Waits,
    /// Its budget is spent and the supervisor has not yet said what happens.
    pub(crate) awaits_verdict: AtomicBool,
    pub(crate) metrics: Metrics,
    pub(crate) path: String,
    pub(crate) spec: Spec,
    pub(crate) place: Place,
    pub(crate) faults: Armed,
    /// Its last turns, where it lives by deadlines.
    pub(crate) ticks: Option<Ticks>,
    last_panic: Mutex<Option<PanicNote>>,
    /// What it had done when it left; offers that are refused later are not its deeds.
    pub(super) last_reading: OnceLock<Reading>,
    exit: Mutex<Option<Exit>>,
    ended: Condvar,
    ended_task: Notify,
}

/// A port without its message type.
pub(crate) trait Face: Send + Sync + fmt::Debug {
    fn stats(&self) -> PortStats;
    fn glance(&self) -> Glance;
    /// The name of a kind of message, or `deadline` for what is none.
    fn kind(&self, at: usize) -> &'static str;
    fn moves(&self) -> u64;
    fn is_balanced(&self) -> bool;
    fn command(&self, command: Command);
    /// Change the bound of a lane; refused with its depth where more wait there.
    fn bound(&self, control: bool, max: usize) -> Result<(), usize>;
}

impl<M: ActorMessage> Face for Core<M> {
    fn stats(&self) -> PortStats {
        Self::stats(self)
    }

    fn glance(&self) -> Glance {
        Self::glance(self)
    }

    fn kind(&self, at: usize) -> &'static str {
        M::KINDS.get(at).copied().unwrap_or("deadline")
    }

    fn moves(&self) -> u64 {
        Self::moves(self)
    }

    fn is_balanced(&self) -> bool {
        Self::is_balanced(self)
    }

    fn command(&self, command: Command) {
        Self::command(self, command);
    }

    fn bound(&self, control: bool, max: usize) -> Result<(), usize> {
        Self::bound(self, if control { Lane::Control } else { Lane::Data }, max)
    }
}

impl Entry {
    pub(crate) fn new(
        id: ActorId,
        path: String,
        spec: Spec,
        place: Place,
        face: Arc<dyn Face>,
    ) -> Self {
        Self {
            id,
            face,
            waits: Waits::default(),
            awaits_verdict: AtomicBool::new(false),
            metrics: Metrics::default(),
            path,
            spec,
            place,
            faults: Armed::default(),
            ticks: (!spec.data_wakes).then(Ticks::default),
            last_panic: Mutex::new(None),
            last_reading: OnceLock::new(),
            exit: Mutex::new(None),
            ended: Condvar::new(),
            ended_task: Notify::new(),
        }
    }

    pub(crate) fn keep_panic(&self, note: PanicNote) {
        *self.last_panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(note);
    }

    pub(crate) fn last_panic(&self) -> Option<PanicNote> {
        self.last_panic.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn awaits_verdict(&self) -> bool {
        self.awaits_verdict.load(Ordering::Relaxed)
    }

    /// It has ended: whoever waits is told.
    pub(crate) fn end(&self, exit: Exit) {
        *self.exit.lock().unwrap_or_else(PoisonError::into_inner) = Some(exit);
        self.ended.notify_all();
        self.ended_task.notify_waiters();
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.exit.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Wait for the end as a task.
    pub(crate) async fn ended(&self) {
        loop {
            let told = self.ended_task.notified();
            if self.has_ended() {
                return;
            }
            told.await;
        }
    }

    /// Wait for the end as a thread; false if it did not come in time.
    pub(crate) fn ended_within(&self, span: Duration) -> bool {
        let until = Instant::now() + span;
        let mut exit = self.exit.lock().unwrap_or_else(PoisonError::into_inner);
        while exit.is_none() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            exit = self.ended.wait_timeout(exit, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}
