//! Clock: the one source of time of a runtime.
//!
//! Used by ports, shells, drivers and the network. Real: the OS's monotonic clock. Simulated: the
//! paused clock of the one thread. Never the calendar, never handed to a machine, which gets
//! `Micros`.

use std::time::{Duration, Instant};

use dh_machine::Micros;

/// Reads microseconds since the runtime started. Cheap to copy.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Source);

#[derive(Clone, Copy, Debug)]
enum Source {
    Real(Instant),
    Simulated(tokio::time::Instant),
}

impl Clock {
    /// A clock of the operating system that starts now.
    pub(crate) fn real() -> Self {
        Self(Source::Real(Instant::now()))
    }

    /// The paused clock of the current thread; starts now, on a whole millisecond.
    pub(crate) fn simulated() -> Self {
        Self(Source::Simulated(tokio::time::Instant::now()))
    }

    /// Microseconds since the runtime started.
    #[must_use]
    pub fn now(&self) -> Micros {
        match self.0 {
            Source::Real(start) => micros(start.elapsed()),
            Source::Simulated(start) => micros(start.elapsed()),
        }
    }

    /// What [`Clock::now`] was at `instant`, read a moment ago; in simulation simply now.
    pub(crate) fn at(&self, instant: Instant) -> Micros {
        match self.0 {
            Source::Real(start) => micros(instant.saturating_duration_since(start)),
            Source::Simulated(_) => self.now(),
        }
    }

    /// The time, where it stands still until all work at hand is done: in simulation.
    pub(crate) fn standing(&self) -> Option<Micros> {
        self.is_simulated().then(|| self.now())
    }

    /// Whether time is simulated.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        matches!(self.0, Source::Simulated(_))
    }

    /// The instant for timers of `tokio` and `quinn`.
    #[must_use]
    pub fn instant(&self, at: Micros) -> tokio::time::Instant {
        let start = match self.0 {
            Source::Real(start) => tokio::time::Instant::from_std(start),
            Source::Simulated(start) => start,
        };
        start + Duration::from_micros(at.0)
    }

    /// Wait until `at`, on the millisecond grid of timers; never precise enough for a tick.
    pub async fn sleep_until(&self, at: Micros) {
        tokio::time::sleep_until(self.instant(at)).await;
    }

    /// Wait for `span`, on the millisecond grid of timers.
    pub async fn sleep(&self, span: Micros) {
        self.sleep_until(self.now() + span).await;
    }
}

/// Whole microseconds of a duration; saturates after half a million years.
pub(crate) fn micros(span: Duration) -> Micros {
    Micros(u64::try_from(span.as_micros()).unwrap_or(u64::MAX))
}

/// Nanoseconds of a duration; saturates after five hundred years.
pub(crate) fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
