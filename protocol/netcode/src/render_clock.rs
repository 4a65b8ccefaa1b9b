//! `RenderClock`: which moment of the server's timeline a picture shows of everybody else.
//!
//! Used by the presenter. Moments are server ticks, so arrival times move nothing; the clock runs
//! on its own and is pulled softly toward the newest tick less a delay. It never extrapolates and
//! reads no clock.

use alloc::format;
use alloc::string::String;

use dh_machine::{Micros, Tick, TickRate};

use crate::JitterMargin;
use crate::margin::MarginSettings;

/// The knobs of interpolation, `client.interp*`. All may change while playing but `buffer_ticks`,
/// which is read when a session's clock and store are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InterpSettings {
    /// `client.interp`, in seconds: what is drawn lies this far back, rounded up to ticks.
    pub delay: f32,
    /// `client.interp.bufferTicks`: places of the replica ring, 4 to 128.
    pub buffer_ticks: u16,
    /// `client.interp.autoMargin`: whether held frames earn extra delay.
    pub auto_margin: bool,
    /// `client.interp.marginGrowth`, `maxMarginTicks` and `marginDecay`.
    pub margin: MarginSettings,
    /// `client.interp.reportInterval`, in seconds.
    pub report_interval: f32,
}

impl InterpSettings {
    /// What a client starts with on a server that runs at `rate`.
    #[must_use]
    pub fn new(rate: TickRate) -> Self {
        Self {
            delay: 2.0 * rate.seconds_per_tick(),
            buffer_ticks: 16,
            auto_margin: true,
            margin: MarginSettings { growth: 0.5, max: 8.0, decay: 10.0 },
            report_interval: 10.0,
        }
    }
}

/// The interpolation clock of one session; made anew for every session.
#[derive(Clone, Debug)]
pub struct RenderClock {
    settings: InterpSettings,
    tick_rate: TickRate,
    margin: JitterMargin,
    /// The newest tick received.
    newest: Option<Tick>,
    /// Whether something newer came since the error was last judged.
    fresh: bool,
    /// The moment shown, in ticks.
    time: f64,
    /// Whether `time` was ever set.
    running: bool,
    /// Ticks of real time since the margin last grew.
    since_growth: f64,
    /// Seconds for which the margin stays as it is.
    tight_for: f64,
    burst: Burst,
    counts: InterpCounts,
    report: Report,
}

/// What one frame shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// The moment, in server ticks; may lie past the newest tick, where poses are held.
    pub ticks: f64,
    /// Whether it lies past the newest tick received.
    pub held: bool,
    /// Whether the clock jumped to get here.
    pub snapped: bool,
}

/// What went wrong since the session began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterpCounts {
    /// Frames that found no newer snapshot.
    pub held: u64,
    /// Jumps of the clock.
    pub snaps: u64,
    /// The most snapshots that came together.
    pub deepest_burst: u32,
}

/// Snapshots that come within half a tick of the first of them are one burst.
#[derive(Clone, Copy, Debug, Default)]
struct Burst {
    began: Micros,
    depth: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Report {
    seconds: f64,
    held: u64,
    snaps: u64,
}

impl RenderClock {
    /// The fixed margin: ticks of delay beside `client.interp` and what jitter earns.
    pub const FIXED_MARGIN_TICKS: u16 = 1;
    /// Rate added for each tick of error.
    pub const GAIN: f64 = 0.02;
    /// How far the rate may leave 1 either way.
    pub const CORRECTION_MAX: f64 = 0.05;
    /// Seconds after the last frame with less than a tick to spare from which on play is calm.
    pub const CALM_AFTER: f64 = 1.0;

    /// A clock that has received nothing.
    #[must_use]
    pub fn new(settings: InterpSettings, tick_rate: TickRate) -> Self {
        Self {
            settings,
            tick_rate,
            margin: JitterMargin::default(),
            newest: None,
            fresh: false,
            time: 0.0,
            running: false,
            since_growth: f64::INFINITY,
            tight_for: 0.0,
            burst: Burst::default(),
            counts: InterpCounts::default(),
            report: Report::default(),
        }
    }

    /// Takes other settings; the ring's places stay those the session began with.
    pub const fn set_settings(&mut self, settings: InterpSettings) {
        let buffer_ticks = self.settings.buffer_ticks;
        self.settings = InterpSettings { buffer_ticks, ..settings };
    }

    /// A snapshot of `tick` came at `now`.
    pub fn receive(&mut self, tick: Tick, now: Micros) {
        let half_a_tick = self.tick_rate.due(1).0 / 2;
        if self.burst.depth > 0 && now.since(self.burst.began).0 < half_a_tick {
            self.burst.depth = self.burst.depth.saturating_add(1);
        } else {
            self.burst = Burst { began: now, depth: 1 };
        }
        self.counts.deepest_burst = self.counts.deepest_burst.max(self.burst.depth);
        if self.newest.is_none_or(|newest| tick > newest) {
            self.newest = Some(tick);
            self.fresh = true;
        }
    }

    /// Moves on by one frame that took `elapsed`, in a world that runs at `time_scale`; `None`
    /// while nothing was received.
    pub fn advance(&mut self, elapsed: Micros, time_scale: f32) -> Option<Moment> {
        let newest = f64::from(self.newest?.0);
        let seconds = elapsed.as_secs_f64();
        let real_ticks = seconds * f64::from(self.tick_rate.hz());
        self.report.seconds += seconds;
        self.since_growth += real_ticks;

        let snapped = self.step(newest, real_ticks * f64::from(time_scale));
        self.narrow_margin(newest, seconds);
        let held = self.time > newest;
        self.counts.held += u64::from(held);
        self.counts.snaps += u64::from(snapped);
        if held || snapped {
            self.strike();
        }
        Some(Moment { ticks: self.time, held, snapped })
    }

    /// How far behind the newest tick the picture is meant to be, in whole ticks.
    #[must_use]
    pub fn delay_ticks(&self) -> u16 {
        // The default is two ticks written in seconds: rounding must not make it three.
        let ticks = self.settings.delay * f32::from(self.tick_rate.hz());
        let asked = whole(libm::ceilf(ticks - 1e-3));
        let earned = whole(libm::ceilf(self.margin_ticks()));
        let sum = asked.saturating_add(Self::FIXED_MARGIN_TICKS).saturating_add(earned);
        sum.min(self.delay_max())
    }

    /// The longest delay the ring allows: two places are left for what lies ahead.
    #[must_use]
    pub const fn delay_max(&self) -> u16 {
        self.settings.buffer_ticks.saturating_sub(2)
    }

    /// The error past which the clock jumps, in ticks: the places of the ring.
    #[must_use]
    pub const fn snap_ticks(&self) -> u16 {
        self.settings.buffer_ticks
    }

    /// The delay that jitter has earned, in ticks; 0 with `autoMargin` off.
    #[must_use]
    pub const fn margin_ticks(&self) -> f32 {
        if self.settings.auto_margin { self.margin.ticks() } else { 0.0 }
    }

    /// What went wrong since the session began.
    #[must_use]
    pub const fn counts(&self) -> InterpCounts {
        self.counts
    }

    /// The overlay's part: `interp 3 t (+0.0) held 0 snaps 0 burst 1`.
    #[must_use]
    pub fn overlay(&self) -> String {
        let InterpCounts { held, snaps, deepest_burst } = self.counts;
        let (delay, margin) = (self.delay_ticks(), self.margin_ticks());
        format!("interp {delay} t (+{margin:.1}) held {held} snaps {snaps} burst {deepest_burst}")
    }

    /// The same line for the log, once an interval has passed in which something held or snapped.
    pub fn poll_report(&mut self) -> Option<String> {
        if self.report.seconds < f64::from(self.settings.report_interval) {
            return None;
        }
        let InterpCounts { held, snaps, .. } = self.counts;
        let quiet = (held, snaps) == (self.report.held, self.report.snaps);
        self.report = Report { seconds: 0.0, held, snaps };
        (!quiet).then(|| self.overlay())
    }

    /// Moves the clock by `ticks`; whether it had to jump.
    fn step(&mut self, newest: f64, ticks: f64) -> bool {
        let target = newest - f64::from(self.delay_ticks());
        if !self.running {
            (self.running, self.fresh, self.time) = (true, false, target);
            return false;
        }
        let error = target - self.time;
        // While nothing comes, running on is no error: the server's time runs on as well. Jumping
        // back then would show the same ticks again and again.
        let judged = core::mem::take(&mut self.fresh);
        if judged && error.abs() > f64::from(self.snap_ticks()) {
            self.time = target;
            return true;
        }
        let pull = (Self::GAIN * error).clamp(-Self::CORRECTION_MAX, Self::CORRECTION_MAX);
        self.time += ticks * (1.0 + pull);
        false
    }

    /// Gives margin back while play is calm. It is not calm where one tick less would have run
    /// dry: a margin that bursts still need would be given back and earned again for ever, by a
    /// held frame each time.
    fn narrow_margin(&mut self, newest: f64, seconds: f64) {
        if newest - self.time < 1.0 {
            self.tight_for = Self::CALM_AFTER;
        }
        let calm = (seconds - self.tight_for).max(0.0);
        self.tight_for = (self.tight_for - seconds).max(0.0);
        self.margin.narrow(self.settings.margin, narrow(calm));
    }

    /// Widens the margin, at most once in the span of a tick, so that a fast display earns no more
    /// than a slow one.
    fn strike(&mut self) {
        if self.since_growth >= 1.0 {
            self.since_growth = 0.0;
            self.margin.grow(self.settings.margin, 1);
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "seconds need no more than f32")]
const fn narrow(value: f64) -> f32 {
    value as f32
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
const fn whole(value: f32) -> u16 {
    value as u16
}

#[cfg(test)]
mod tests;
