//! `TickClock`: how fast a client's ticks run, so that the server's queue of its inputs stays short
//! and never empty.
//!
//! Used by the predictor. It steers by the server's own queue depth, never by the client's backlog,
//! and reads no clock: elapsed time and readings are handed in.

use alloc::format;
use alloc::string::String;

use dh_machine::planted::{self, Bug};
use dh_machine::{Micros, Tick, TickRate};

use crate::JitterMargin;
use crate::margin::MarginSettings;

/// The knobs of the tick clock, `client.net.*`. Each may change while playing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockSettings {
    /// How far the rate may leave 1 either way: `client.net.clockMaxRate`, 0 to 0.1.
    pub max_rate: f32,
    /// Un-acknowledged inputs that mean a dead link: `client.net.holdBacklog`, in inputs.
    pub hold_backlog: u32,
    /// `client.net.marginGrowth`, `marginMax` and `marginDecay`.
    pub margin: MarginSettings,
    /// Rate added for each tick the queue is short of its target.
    pub gain: f32,
    /// Time constant of the depth's smoothing, in seconds.
    pub smoothing: f32,
    /// Ticks that should wait at the server before any margin.
    pub target: f32,
}

impl ClockSettings {
    /// What a client starts with on a server that runs at `rate`.
    #[must_use]
    pub fn new(rate: TickRate) -> Self {
        Self {
            max_rate: 0.02,
            hold_backlog: u32::from(rate.hz()),
            margin: MarginSettings { growth: 0.5, max: 6.0, decay: 10.0 },
            gain: 0.01,
            smoothing: 0.5,
            target: 2.0,
        }
    }
}

/// The regulator of one session's ticks; made anew for every session.
#[derive(Clone, Debug)]
pub struct TickClock {
    settings: ClockSettings,
    tick_rate: TickRate,
    margin: JitterMargin,
    /// The margin before the present run of starved ticks.
    margin_before: JitterMargin,
    /// Seconds for which the margin stays as it is.
    tight_for: f64,
    /// Seconds for which starved ticks still tell of a stall of ours, and not of jitter.
    excused_for: f64,
    reading: Option<Reading>,
    holding: bool,
    /// Ticks that time has paid for and nobody has made yet; always below 1 between calls.
    owed: f64,
    /// Ticks that were never made because too many were owed at once.
    discarded: u64,
}

/// What the server's queue looked like in the newest snapshot.
#[derive(Clone, Copy, Debug)]
struct Reading {
    tick: Tick,
    depth: i8,
    smoothed: f32,
}

impl TickClock {
    /// Ticks one call may ask for: more inputs at once would overflow the server's queue. Whoever
    /// owes more has stalled; the server has lived through that time without us.
    pub const BURST_MAX: u32 = 12;
    /// Seconds after a stall within which the server's answers still tell of it.
    pub const STALL_ECHO: f64 = 0.5;
    /// Seconds after the last empty queue from which on the link is calm.
    pub const CALM_AFTER: f64 = 10.0;

    /// A clock that has seen nothing: rate 1, no margin, depth unknown.
    #[must_use]
    pub fn new(settings: ClockSettings, tick_rate: TickRate) -> Self {
        Self {
            settings,
            tick_rate,
            margin: JitterMargin::default(),
            margin_before: JitterMargin::default(),
            tight_for: 0.0,
            excused_for: 0.0,
            reading: None,
            holding: false,
            owed: 0.0,
            discarded: 0,
        }
    }

    /// Takes other settings, from the next call on.
    pub const fn set_settings(&mut self, settings: ClockSettings) {
        self.settings = settings;
    }

    /// Forgets the session: the next link starts from nothing.
    pub fn reset(&mut self) {
        *self = Self::new(self.settings, self.tick_rate);
    }

    /// Takes the depth byte of the snapshot of `tick`. Snapshots older than the newest one read
    /// are passed over.
    pub fn observe(&mut self, tick: Tick, depth: i8) {
        let passed = match self.reading {
            None => u32::MAX,
            Some(last) if tick <= last.tick || planted::is(Bug::ClockNeverRetargets) => return,
            Some(last) => tick.0 - last.tick.0,
        };
        // A run of n starved ticks ends at this tick; those before the last reading were counted.
        let run = u32::from(depth.min(0).unsigned_abs());
        if run == 0 {
            self.margin_before = self.margin;
        }
        if self.excused_for <= 0.0 {
            self.margin.grow(self.settings.margin, run.min(passed));
            // One input less, or one later, and that tick would have starved.
            if depth <= 0 {
                self.tight_for = Self::CALM_AFTER;
            }
        }
        // How deep a starved queue would be is unknown; it is empty.
        let waiting = f32::from(depth.max(0));
        let smoothed = self.reading.map_or(waiting, |last| {
            last.smoothed + (waiting - last.smoothed) * self.smoothing_share(passed)
        });
        self.reading = Some(Reading { tick, depth, smoothed });
    }

    /// How many ticks to make now, given that `elapsed` went by since the last call, that the
    /// world runs at `time_scale`, and that `unacked` inputs are without an answer.
    pub fn advance(&mut self, elapsed: Micros, time_scale: f32, unacked: u32) -> u32 {
        let seconds = elapsed.as_secs_f64();
        self.narrow_margin(seconds);
        self.judge_hold(unacked);
        if self.holding {
            return 0;
        }
        let rate = f64::from(self.rate()) * f64::from(time_scale) * f64::from(self.tick_rate.hz());
        self.owed += (seconds * rate).max(0.0);
        let whole = libm::floor(self.owed);
        self.owed -= whole;
        self.excused_for = (self.excused_for - seconds).max(0.0);
        let mut made = whole;
        if whole > f64::from(Self::BURST_MAX) {
            self.excuse_stall();
            // The queue ran dry; it is filled to where it stands best.
            made = f64::from(libm::ceilf(self.target())).min(f64::from(Self::BURST_MAX));
        }
        self.discarded += count(whole - made);
        u32::try_from(count(made)).unwrap_or(Self::BURST_MAX)
    }

    /// How far time stands between the last tick made and the next, 0 up to 1: the share of the
    /// newer state in what is drawn.
    #[must_use]
    pub fn fraction(&self) -> f32 {
        narrow(self.owed)
    }

    /// How much faster than real time ticks are made; 1 with no reading, never further from 1 than
    /// `max_rate`.
    #[must_use]
    pub fn rate(&self) -> f32 {
        let Some(reading) = self.reading else { return 1.0 };
        let bound = self.settings.max_rate.max(0.0);
        let error = self.target() - reading.smoothed;
        1.0 + (self.settings.gain * error).clamp(-bound, bound)
    }

    /// Ticks that should wait at the server, margin included.
    #[must_use]
    pub fn target(&self) -> f32 {
        self.settings.target + self.margin.ticks()
    }

    /// The margin that starved ticks have earned.
    #[must_use]
    pub const fn margin(&self) -> JitterMargin {
        self.margin
    }

    /// The smoothed depth of the server's queue; `None` before the first reading.
    #[must_use]
    pub fn depth(&self) -> Option<f32> {
        self.reading.map(|reading| reading.smoothed)
    }

    /// Whether the link counts as dead, so that no ticks are made. A holding client goes on sending
    /// its newest inputs at tick pace: the answer to them is what ends the hold.
    #[must_use]
    pub const fn holding(&self) -> bool {
        self.holding
    }

    /// Ticks never made because more than [`TickClock::BURST_MAX`] were owed at once.
    #[must_use]
    pub const fn discarded(&self) -> u64 {
        self.discarded
    }

    /// The overlay's part: `buf 2/2.0 rate x1.000`, with `-` for a depth not yet read.
    #[must_use]
    pub fn overlay(&self) -> String {
        let (target, rate) = (self.target(), self.rate());
        match self.reading {
            Some(Reading { depth, .. }) => format!("buf {depth}/{target:.1} rate x{rate:.3}"),
            None => format!("buf -/{target:.1} rate x{rate:.3}"),
        }
    }

    /// Gives margin back while the link is calm. It is not where the queue ran down to nothing: a
    /// margin that jitter still needs would be given back and earned again for ever, by a starved
    /// tick each time.
    fn narrow_margin(&mut self, seconds: f64) {
        let calm = (seconds - self.tight_for).max(0.0);
        self.tight_for = (self.tight_for - seconds).max(0.0);
        self.margin.narrow(self.settings.margin, narrow(calm));
    }

    /// No margin could have covered the ticks that starved while we stood still: they earn none.
    fn excuse_stall(&mut self) {
        if self.reading.is_some_and(|reading| reading.depth < 0) {
            self.margin = self.margin_before;
        }
        self.excused_for = Self::STALL_ECHO;
    }

    fn judge_hold(&mut self, unacked: u32) {
        if unacked >= self.settings.hold_backlog {
            self.holding = true;
        } else if unacked < self.settings.hold_backlog.div_ceil(2) {
            self.holding = false;
        }
    }

    fn smoothing_share(&self, ticks: u32) -> f32 {
        let seconds = f64::from(ticks) / f64::from(self.tick_rate.hz());
        1.0 - libm::expf(-narrow(seconds) / self.settings.smoothing.max(1e-3))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "seconds and shares need no more than f32")]
const fn narrow(value: f64) -> f32 {
    value as f32
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole, 0 or more")]
const fn count(value: f64) -> u64 {
    value as u64
}

#[cfg(test)]
mod tests;
