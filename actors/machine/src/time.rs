//! Micros, Tick, `TickRate`: time as numbers that are handed in.

use core::ops::{Add, Sub};

/// Microseconds since the runtime started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Micros(pub u64);

impl Micros {
    /// So many milliseconds.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000)
    }

    /// So many seconds.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * 1_000_000)
    }

    /// So many seconds, to the nearest microsecond: none where that is no number or negative, and
    /// the most there can be where it is more.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast of a float saturates, which is what is wanted"
    )]
    pub fn from_secs_f64(secs: f64) -> Self {
        // Half a microsecond and a cut round what is positive, which `core` has no function for.
        Self((secs * 1e6 + 0.5) as u64)
    }

    /// How long since `earlier`; zero if that lies ahead.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// In seconds, for arithmetic that is not replayed bit by bit.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "exact below 285 years")]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl Add for Micros {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Micros {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.since(other)
    }
}

/// The number of a fixed simulation step; the first is 1, and 0 is "before any".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tick(pub u32);

impl Tick {
    /// The tick after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

/// Ticks a second, 10 to 240.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TickRate(u16);

impl TickRate {
    /// What servers run at unless told otherwise.
    pub const DEFAULT: Self = Self(60);

    /// The rate if it lies in 10..=240.
    #[must_use]
    pub const fn new(hz: u16) -> Option<Self> {
        if 10 <= hz && hz <= 240 { Some(Self(hz)) } else { None }
    }

    /// Ticks a second.
    #[must_use]
    pub const fn hz(self) -> u16 {
        self.0
    }

    /// Seconds of one tick.
    #[must_use]
    pub fn seconds_per_tick(self) -> f32 {
        1.0 / f32::from(self.0)
    }

    /// When the `count`-th tick after the start is due, with no drift: `count * 1e6 / hz`.
    #[must_use]
    pub const fn due(self, count: u64) -> Micros {
        Micros(count.saturating_mul(1_000_000) / self.0 as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixty_ticks_are_exactly_a_second_for_a_year() {
        let ticks = 60 * 60 * 60 * 24 * 365;
        assert_eq!(TickRate::DEFAULT.due(ticks), Micros::from_secs(60 * 60 * 24 * 365));
    }

    #[test]
    fn seconds_are_rounded_to_the_microsecond_and_never_wrap() {
        for (secs, micros) in [
            (0.0, 0),
            (2.1, 2_100_000),
            (f64::from(2.1_f32), 2_100_000),
            (0.000_000_6, 1),
            (0.000_000_4, 0),
            (3_600.0, 3_600_000_000),
            (-1.0, 0),
            (f64::NAN, 0),
            (f64::NEG_INFINITY, 0),
            (f64::INFINITY, u64::MAX),
            (1e300, u64::MAX),
        ] {
            assert_eq!(Micros::from_secs_f64(secs), Micros(micros), "{secs}");
        }
        assert_eq!(Micros::from_secs_f64(Micros(123_456).as_secs_f64()), Micros(123_456));
    }

    #[test]
    fn only_rates_from_10_to_240_exist() {
        let rates = [9, 10, 240, 241].map(|hz| TickRate::new(hz).is_some());
        assert_eq!(rates, [false, true, true, false]);
    }
}
