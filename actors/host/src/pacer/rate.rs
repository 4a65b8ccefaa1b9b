//! `RateWatch`: whether ticks come often enough. Pure; used by whoever runs ticks.

use dh_machine::Micros;

/// The rate fell too low.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowRate {
    /// What was measured over the last second, in ticks a second.
    pub hz: f64,
    /// What it should be.
    pub nominal: f64,
}

impl SlowRate {
    /// The line for the log. `factor` is how many times longer than asked the host sleeps.
    #[must_use]
    pub fn line(&self, factor: f64) -> String {
        let Self { hz, nominal } = self;
        format!(
            "ticks run at {hz:.1} Hz instead of {nominal}, sleeps take {factor:.2} times as long"
        )
    }
}

/// Watches the rate of ticks and warns when it is too low, but not too often.
#[derive(Clone, Copy, Debug)]
pub struct RateWatch {
    nominal: f64,
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

    /// Warn under `fraction` (`server.tick.rateWarnFraction`) of `nominal` ticks a second, at most
    /// once in `interval` (`server.tick.rateWarnInterval`).
    #[must_use]
    pub const fn new(nominal: f64, fraction: f64, interval: Micros) -> Self {
        Self { nominal, fraction, interval, window: None, warned: None }
    }

    /// Watch for these from now on. The span under way is measured anew.
    pub const fn set(&mut self, nominal: f64, fraction: f64, interval: Micros) {
        *self = Self { warned: self.warned, ..Self::new(nominal, fraction, interval) };
    }

    /// A tick ran at `now`.
    pub fn ticked(&mut self, now: Micros) -> Option<SlowRate> {
        let window = self.window.get_or_insert(Window { start: now, ticks: 0 });
        let span = now.since(window.start);
        if span < Self::WINDOW {
            window.ticks += 1;
            return None;
        }
        let hz = f64::from(window.ticks) / span.as_secs_f64();
        *window = Window { start: now, ticks: 1 };
        let slow = hz < self.fraction * self.nominal;
        let quiet = self.warned.is_some_and(|warned| now.since(warned) < self.interval);
        if !slow || quiet {
            return None;
        }
        self.warned = Some(now);
        Some(SlowRate { hz, nominal: self.nominal })
    }
}
