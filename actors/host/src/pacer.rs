//! Pacer: waiting for a deadline as exactly as the host allows.
//!
//! One routine, [`DeadlineWait`], shared by every actor with a thread of its own (the tick first)
//! and by the client's frame limiter. It sleeps for most of the time, learns how much its host
//! oversleeps, and spins for the last few hundred microseconds. Never a timer of a runtime.

mod priority;
mod rate;

pub use self::priority::{HostTimerPeriod, RaisedPriority, priority_of_this_thread};
pub use self::rate::{RateWatch, SlowRate};

use dh_machine::Micros;

/// How a thread waits for its deadlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pacing {
    /// The longest spin of one wait (`server.tick.maxSpin`); zero never spins.
    pub max_spin: Micros,
    /// Ask for a higher priority while the thread runs (`server.tick.raisePriority`).
    pub raise_priority: bool,
    /// Tighten the host's sleep timer while the thread runs (`server.timerPeriod`).
    pub tight_timer: bool,
}

impl Pacing {
    /// For actors that may be a fraction of a millisecond late.
    pub const RELAXED: Self =
        Self { max_spin: Micros(0), raise_priority: false, tight_timer: false };

    /// For the tick loop, as it is by default.
    pub const TICK: Self = Self { max_spin: Micros(400), raise_priority: true, tight_timer: true };
}

/// What a wait is made of; a fake one in tests.
pub trait Sleeper {
    /// The time now.
    fn now(&mut self) -> Micros;

    /// Sleep for about `span`; true if something woke it before.
    fn sleep(&mut self, span: Micros) -> bool;

    /// One turn of a spin.
    fn relax(&mut self);
}

/// Waits for deadlines, and learns from each sleep how its host oversleeps.
#[derive(Clone, Copy, Debug)]
pub struct DeadlineWait {
    max_spin: Micros,
    /// How many times longer a sleep of a millisecond or more takes than was asked.
    factor: f64,
    /// How many times longer the last one took.
    last_ratio: f64,
    /// Microseconds any sleep ends late: mean and mean deviation.
    late: f64,
    late_deviation: f64,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// The deadline is here.
    Reached,
    /// Something woke the sleeper before.
    Woken,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Sleep(Micros),
    Spin,
}

impl DeadlineWait {
    /// The shortest time kept back from a sleep.
    const MARGIN_MIN: f64 = 50.0;
    /// The shortest sleep worth asking a fine host for.
    const FINE: f64 = 50.0;
    /// The shortest sleep a coarse host knows.
    const COARSE: f64 = 1_000.0;
    /// From this factor on a host counts as coarse.
    const COARSE_FACTOR: f64 = 2.0;

    /// Nothing learned yet.
    #[must_use]
    pub fn new(max_spin: Micros) -> Self {
        Self { max_spin, factor: 1.0, last_ratio: 1.0, late: Self::MARGIN_MIN, late_deviation: 0.0 }
    }

    /// Spin so long at most from now on; what was learned stays.
    pub fn set_max_spin(&mut self, max_spin: Micros) {
        self.max_spin = max_spin;
    }

    /// How many times longer than asked the host sleeps; 1 is exact.
    #[must_use]
    pub fn factor(&self) -> f64 {
        self.factor
    }

    /// Wait until `deadline`, or until the sleeper is woken. Returns at once when it has passed.
    pub fn wait(&mut self, sleeper: &mut impl Sleeper, deadline: Micros) -> Waited {
        loop {
            let now = sleeper.now();
            if now >= deadline {
                return Waited::Reached;
            }
            match self.step(deadline - now) {
                Step::Sleep(asked) => {
                    if sleeper.sleep(asked) {
                        return Waited::Woken;
                    }
                    self.learn(asked, sleeper.now() - now);
                }
                Step::Spin => {
                    while sleeper.now() < deadline {
                        sleeper.relax();
                    }
                }
            }
        }
    }

    /// What to do with the time that is left: sleep for a part of it, or spin to its end.
    fn step(&self, left: Micros) -> Step {
        if self.max_spin == Micros(0) {
            return Step::Sleep(left);
        }
        let asked = (float(left) - self.margin()) / self.factor;
        let grain = if self.factor < Self::COARSE_FACTOR { Self::FINE } else { Self::COARSE };
        if asked < grain && left <= self.max_spin {
            Step::Spin
        } else {
            // Where even this oversleeps, the deadline cannot be met without burning a core.
            Step::Sleep(whole(asked.max(1.0)))
        }
    }

    /// What is kept back from a sleep for the spin: what the host usually oversleeps, and more.
    fn margin(&self) -> f64 {
        let usual = self.late + 3.0 * self.late_deviation;
        usual.max(Self::MARGIN_MIN).min(float(self.max_spin))
    }

    /// The factor goes up at once and comes down slowly. What no spin could have covered, as when
    /// another thread had the core for milliseconds, says nothing about how long to spin.
    fn learn(&mut self, asked: Micros, slept: Micros) {
        let late = float(slept.since(asked)).min(float(self.max_spin));
        self.late_deviation += ((late - self.late).abs() - self.late_deviation) / 16.0;
        self.late += (late - self.late) / 16.0;
        if asked >= Micros::from_millis(1) {
            let ratio = (float(slept) / float(asked)).max(1.0);
            // A fine host that is late once was busy; its next sleep is no longer for that.
            let seen = if ratio < Self::COARSE_FACTOR { ratio.min(self.last_ratio) } else { ratio };
            self.last_ratio = ratio;
            self.factor =
                if seen > self.factor { seen } else { self.factor + (seen - self.factor) / 32.0 };
        }
    }
}

/// Waits are far below the 285 years up to which this is exact.
fn float(span: Micros) -> f64 {
    span.as_secs_f64() * 1e6
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive part of a wait that was whole microseconds before"
)]
fn whole(us: f64) -> Micros {
    Micros(us as u64)
}

#[cfg(test)]
mod tests;
