//! Schedule: when ticks fall due. Whole numbers, so that 60 Hz never drifts.

use dh_machine::{Micros, TickRate};

/// Time the schedule may fall behind before the excess is given up.
const BACKLOG_MAX: Micros = Micros::from_secs(2);

/// When each tick falls due: counted from a base that moves only when the time scale changes, or
/// when more time was lost than can be caught up with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Schedule {
    rate: TickRate,
    scale: f32,
    base: Micros,
    /// Ticks begun since the base.
    begun: u64,
}

impl Schedule {
    /// The first tick falls due one tick after `now`.
    pub(super) fn new(rate: TickRate, now: Micros) -> Self {
        Self { rate, scale: 1.0, base: now, begun: 0 }
    }

    /// When the next tick falls due.
    pub(super) fn next_due(&self) -> Micros {
        self.base + self.span(self.begun + 1)
    }

    /// Whether a tick is due; if so it counts as begun.
    pub(super) fn begin(&mut self, now: Micros) -> bool {
        let due = self.next_due() <= now;
        self.begun += u64::from(due);
        due
    }

    /// Give up what is behind by more than two seconds; how much that was.
    pub(super) fn give_up_excess(&mut self, now: Micros) -> Option<Micros> {
        let behind = now.since(self.next_due());
        if behind <= BACKLOG_MAX {
            return None;
        }
        let excess = behind - BACKLOG_MAX;
        self.base = self.base + excess;
        Some(excess)
    }

    /// Simulated seconds a real second from now on.
    pub(super) fn set_scale(&mut self, scale: f32) {
        if scale.to_bits() != self.scale.to_bits() {
            self.base = self.base + self.span(self.begun);
            (self.scale, self.begun) = (scale, 0);
        }
    }

    fn span(&self, ticks: u64) -> Micros {
        let exact = self.rate.due(ticks);
        if self.scale.to_bits() == 1.0_f32.to_bits() { exact } else { stretch(exact, self.scale) }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "exact to the microsecond for 285 years"
)]
fn stretch(span: Micros, scale: f32) -> Micros {
    Micros((span.0 as f64 / f64::from(scale)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun_until(schedule: &mut Schedule, now: Micros) -> u64 {
        let mut begun = 0;
        while schedule.begin(now) {
            begun += 1;
        }
        begun
    }

    /// PACE-12
    #[test]
    fn every_tick_begins_exactly_once_at_every_rate_and_never_early() {
        for hz in [10, 60, 77, 128, 240] {
            let rate = TickRate::new(hz).unwrap();
            let mut schedule = Schedule::new(rate, Micros(333));
            for tick in 1..=2_000 {
                let due = schedule.next_due();
                assert_eq!(due, Micros(333) + rate.due(tick));
                assert!(!schedule.begin(Micros(due.0 - 1)));
                assert!(schedule.begin(due), "tick {tick} at {hz} Hz");
            }
        }
    }

    #[test]
    fn an_hour_at_60_hz_is_exactly_216000_ticks() {
        let mut schedule = Schedule::new(TickRate::DEFAULT, Micros(7));
        assert_eq!(begun_until(&mut schedule, Micros(7) + Micros::from_secs(3600)), 216_000);
    }

    #[test]
    fn half_the_time_scale_makes_half_the_ticks_from_the_change_on() {
        let mut schedule = Schedule::new(TickRate::DEFAULT, Micros(0));
        assert_eq!(begun_until(&mut schedule, Micros::from_secs(1)), 60);
        schedule.set_scale(0.5);
        assert_eq!(begun_until(&mut schedule, Micros::from_secs(3)), 60);
    }

    #[test]
    fn what_is_more_than_two_seconds_behind_is_given_up_and_no_tick_twice() {
        let mut schedule = Schedule::new(TickRate::DEFAULT, Micros(0));
        let now = Micros::from_secs(10);
        assert!(schedule.give_up_excess(now).is_some());
        let caught_up = begun_until(&mut schedule, now);
        assert!((120..=121).contains(&caught_up), "{caught_up}");
        assert_eq!(schedule.give_up_excess(now), None);
    }
}
