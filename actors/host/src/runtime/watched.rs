//! How a runtime is watched: alarms of the watchdog, and records of the flight recorder.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, Weak};

use dh_machine::Micros;

use super::{Hands, Inner, Runtime};
use crate::flight::{Flight, FlightError};
use crate::watchdog::{Alarm, Ask, CYCLE_AGE};

impl Runtime {
    /// The flight recorder.
    #[must_use]
    pub fn flight(&self) -> &Flight {
        &self.inner.flight
    }

    /// Write a flight record now, on the calling thread, which must be one that may block; the path
    /// of its trace. Its journals lie beside it.
    ///
    /// # Errors
    /// Nothing is recorded, nobody has said where to write, or the system fails.
    pub fn dump_flight(&self, cause: &str) -> Result<PathBuf, FlightError> {
        self.flight().write(self.registry(), cause)
    }

    /// The last alarms of the watchdog, oldest first.
    #[must_use]
    pub fn alarms(&self) -> Vec<Alarm> {
        self.inner.watchdog.lock().unwrap_or_else(PoisonError::into_inner).alarms()
    }

    /// Something went wrong: the watchdog's thread writes a record, unless one was written a moment
    /// ago.
    pub(crate) fn record(&self, cause: &'static str) {
        if self.flight().is_on()
            && self.flight().folder().is_some()
            && let Some(watch) = self.inner.watch.get()
        {
            // Full means that one is about to be written.
            let _ = watch.try_send(Ask::Record(cause));
        }
    }

    /// Somebody waits from now on: in simulation a look at it is due when it has lasted. The real
    /// watchdog looks in any case.
    pub(crate) fn somebody_waits(&self) {
        if let Hands::Simulated(only) = self.hands()
            && !self.inner.armed.swap(true, Ordering::Relaxed)
        {
            let runtime = self.clone();
            only.tasks.spawn(async move {
                let mut at = Some(runtime.now() + CYCLE_AGE);
                while let Some(due) = at {
                    runtime.sleep_until(due).await;
                    at = runtime.look_for_cycles();
                }
                runtime.inner.armed.store(false, Ordering::Relaxed);
            });
        }
    }

    /// Look at everybody; whether somebody is stuck for so long that a record should be written.
    pub(crate) fn look(&self) -> bool {
        self.look_for_cycles();
        let now = self.now();
        let mut watchdog = self.inner.watchdog.lock().unwrap_or_else(PoisonError::into_inner);
        watchdog.look_for_busy(self.registry(), now);
        watchdog.alarms().last().is_some_and(|last| last.stuck && last.at == now)
    }

    fn look_for_cycles(&self) -> Option<Micros> {
        let mut watchdog = self.inner.watchdog.lock().unwrap_or_else(PoisonError::into_inner);
        watchdog.look_for_cycles(self.registry(), self.now())
    }

    pub(crate) fn of(inner: &Weak<Inner>) -> Option<Self> {
        Some(Self { inner: inner.upgrade()? })
    }

    pub(super) fn downgrade(&self) -> Weak<Inner> {
        Arc::downgrade(&self.inner)
    }
}
