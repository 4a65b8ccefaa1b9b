//! Schedule and RateWatch: when ticks are due, and whether they come often enough. Both pure.

use dh_machine::{Micros, TickRate};

/// When each tick is due, by its number alone, and how many of a backlog run in one turn.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    rate: TickRate,
    start: Micros,
    /// Ticks taken so far.
    taken: u64,
    max_catch_up: u64,
}

impl Schedule {
    /// Ticks at `rate` from `start` on; at most `max_catch_up` (`server.tick.maxCatchUp`) in a turn.
    #[must_use]
    pub fn new(rate: TickRate, start: Micros, max_catch_up: u32) -> Self {
        Self { rate, start, taken: 0, max_catch_up: u64::from(max_catch_up.max(1)) }
    }

    /// When the next tick is due. It lies in the past while there is a backlog, so that a wait for
    /// it returns at once.
    #[must_use]
    pub fn next_due(&self) -> Micros {
        self.start + self.rate.due(self.taken + 1)
    }

    /// Ticks that are due at `now` and not taken.
    #[must_use]
    pub fn backlog(&self, now: Micros) -> u64 {
        let hz = u64::from(self.rate.hz());
        // The inverse of `due` may be one short, since `due` rounds down.
        let about = now.since(self.start).0.saturating_mul(hz) / 1_000_000;
        let due = if self.start + self.rate.due(about + 1) <= now { about + 1 } else { about };
        due.saturating_sub(self.taken)
    }

    /// Take the ticks of one turn; the rest of a backlog stays for the following turns.
    pub fn take(&mut self, now: Micros) -> u64 {
        let ticks = self.backlog(now).min(self.max_catch_up);
        self.taken += ticks;
        ticks
    }
}

/// The rate fell too low.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowRate {
    /// What was measured over the last second, in ticks a second.
    pub hz: f64,
    /// What it should be.
    pub nominal: u16,
    /// How many times longer than asked the host sleeps.
    pub factor: f64,
}

impl std::fmt::Display for SlowRate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { hz, nominal, factor } = self;
        write!(f, "ticks run at {hz:.1} Hz instead of {nominal}, sleeps take {factor:.2} times as long")
    }
}

/// Watches the rate of ticks and warns when it is too low, but not too often.
#[derive(Clone, Copy, Debug)]
pub struct RateWatch {
    nominal: u16,
    fraction: f64,
    interval: Micros,
    window: Option<Window>,
    warned: Option<Micros>,
}

#[derive(Clone, Copy, Debug)]
struct Window {
    start: Micros,
    ticks: u32,
}

impl RateWatch {
    /// The span a rate is measured over.
    const WINDOW: Micros = Micros::from_secs(1);

    /// Warn under `fraction` (`server.tick.rateWarnFraction`) of the nominal rate, at most once in
    /// `interval` (`server.tick.rateWarnInterval`).
    #[must_use]
    pub fn new(rate: TickRate, fraction: f64, interval: Micros) -> Self {
        Self { nominal: rate.hz(), fraction, interval, window: None, warned: None }
    }

    /// A tick ran at `now`, on a host whose sleeps take `factor` times as long as asked.
    pub fn ticked(&mut self, now: Micros, factor: f64) -> Option<SlowRate> {
        let window = self.window.get_or_insert(Window { start: now, ticks: 0 });
        let span = now.since(window.start);
        if span < Self::WINDOW {
            window.ticks += 1;
            return None;
        }
        let hz = f64::from(window.ticks) / span.as_secs_f64();
        *window = Window { start: now, ticks: 1 };
        let slow = hz < self.fraction * f64::from(self.nominal);
        let quiet = self.warned.is_some_and(|warned| now.since(warned) < self.interval);
        if !slow || quiet {
            return None;
        }
        self.warned = Some(now);
        Some(SlowRate { hz, nominal: self.nominal, factor })
    }
}
