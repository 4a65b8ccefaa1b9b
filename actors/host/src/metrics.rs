//! Metrics: what a shell notes about its actor while it works, in relaxed atomics.
//!
//! Written by one shell, read by anyone at any time: no lock, no channel, no allocation. The counts
//! per kind are the port's own accounting and are read there.

use std::array;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, AtomicUsize};

use dh_machine::Micros;

/// The numbers of one actor. What is read at every look comes first and fills one line of a cache.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Metrics {
    /// One more than the kind in hand; zero between messages.
    current: AtomicUsize,
    current_since: AtomicU64,
    pub(crate) turns: AtomicU64,
    pub(crate) busy_ns: AtomicU64,
    pub(crate) panics: AtomicU64,
    pub(crate) restarts: AtomicU64,
    /// Effects that wait for a place in another port.
    pub(crate) parked: AtomicUsize,
    /// Bits of a float; zero until something was learned.
    sleep_factor: AtomicU64,
    /// How long messages waited.
    pub(crate) wait: Histogram,
    /// How long the machine and the effects of one message took.
    pub(crate) handle: Histogram,
    /// How late deadlines were served.
    pub(crate) late: Histogram,
}

impl Metrics {
    /// Stands in the place of a kind while a deadline is served.
    pub(crate) const DEADLINE: usize = 255;

    /// A message of `kind` is in hand from now on.
    pub(crate) fn begin(&self, kind: usize, now: Micros) {
        self.current_since.store(now.0, Relaxed);
        // Whoever sees the kind must see its time.
        self.current.store(kind + 1, Release);
    }

    /// Nothing is in hand.
    pub(crate) fn rest(&self) {
        self.current.store(0, Relaxed);
    }

    /// What the actor's thread has learned about its sleeps.
    pub(crate) fn learned(&self, sleep_factor: f64) {
        self.sleep_factor.store(sleep_factor.to_bits(), Relaxed);
    }

    pub(crate) fn sleep_factor(&self) -> f64 {
        f64::from_bits(self.sleep_factor.load(Relaxed)).max(1.0)
    }

    /// The kind in hand and since when.
    pub(crate) fn current(&self) -> Option<(usize, Micros)> {
        let kind = self.current.load(Acquire).checked_sub(1)?;
        Some((kind, Micros(self.current_since.load(Relaxed))))
    }
}

/// Durations in 64 log-linear buckets, two an octave, from 32 ns to over a minute.
#[derive(Debug)]
pub(crate) struct Histogram {
    buckets: [AtomicU64; Self::BUCKETS],
    max_ns: AtomicU64,
    sum_ns: AtomicU64,
}

impl Histogram {
    const BUCKETS: usize = 64;
    /// The width of the first bucket is two to the power of this, in nanoseconds.
    const GRAIN: u32 = 5;

    /// Note one duration. Only one thread may note; any may read.
    pub(crate) fn note(&self, ns: u64) {
        bump(&self.buckets[Self::bucket(ns)], 1);
        bump(&self.sum_ns, ns);
        if ns > self.max_ns.load(Relaxed) {
            self.max_ns.store(ns, Relaxed);
        }
    }

    /// What was noted so far.
    pub(crate) fn read(&self) -> Noted {
        Noted {
            buckets: array::from_fn(|at| self.buckets[at].load(Relaxed)),
            max_ns: self.max_ns.load(Relaxed),
            sum_ns: self.sum_ns.load(Relaxed),
        }
    }

    fn bucket(ns: u64) -> usize {
        let units = ns >> Self::GRAIN;
        let Some(octave) = units.checked_ilog2() else { return 0 };
        let half = if octave == 0 { 1 } else { (units >> (octave - 1)) & 1 };
        let at = 2 * u64::from(octave) + half;
        usize::try_from(at).unwrap_or(usize::MAX).min(Self::BUCKETS - 1)
    }

    /// The longest duration that falls into a bucket.
    fn upper_ns(at: usize) -> u64 {
        let octave = at / 2;
        let units = match (octave, at % 2) {
            (0, half) => half as u64 + 1,
            (_, 0) => 3 << (octave - 1),
            (..) => 2 << octave,
        };
        (units << Self::GRAIN) - 1
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            buckets: array::from_fn(|_| AtomicU64::new(0)),
            max_ns: AtomicU64::new(0),
            sum_ns: AtomicU64::new(0),
        }
    }
}

/// A histogram read at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Noted {
    buckets: [u64; Histogram::BUCKETS],
    max_ns: u64,
    sum_ns: u64,
}

impl Noted {
    /// Quantiles and sums.
    pub(crate) fn summary(&self) -> Summary {
        let count: u64 = self.buckets.iter().sum();
        let ranks = [500, 990, 999].map(|share| (count * share).div_ceil(1000).max(1));
        let mut quantiles = [0; 3];
        let (mut seen, mut found) = (0, 0);
        for (at, in_bucket) in self.buckets.iter().enumerate() {
            seen += in_bucket;
            while found < ranks.len() && seen >= ranks[found] {
                quantiles[found] = Histogram::upper_ns(at).min(self.max_ns);
                found += 1;
            }
            if seen == count {
                break;
            }
        }
        let [p50_ns, p99_ns, p999_ns] = quantiles;
        Summary { count, p50_ns, p99_ns, p999_ns, max_ns: self.max_ns, sum_ns: self.sum_ns }
    }

    /// The buckets that are not empty: their upper ends in nanoseconds, and how many lie in each.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        let filled = self.buckets.iter().enumerate().filter(|(_, count)| **count > 0);
        filled.map(|(at, count)| (Histogram::upper_ns(at), *count))
    }

    /// Add what another noted.
    pub(crate) fn add(&mut self, other: &Self) {
        for (sum, more) in self.buckets.iter_mut().zip(&other.buckets) {
            *sum += more;
        }
        self.max_ns = self.max_ns.max(other.max_ns);
        self.sum_ns += other.sum_ns;
    }
}

impl Default for Noted {
    fn default() -> Self {
        Self { buckets: [0; Histogram::BUCKETS], max_ns: 0, sum_ns: 0 }
    }
}

/// Add to a counter that has one writer: a plain load and store, no locked instruction.
pub(crate) fn bump(counter: &AtomicU64, by: u64) {
    counter.store(counter.load(Relaxed).wrapping_add(by), Relaxed);
}

/// A histogram read at one moment, in nanoseconds; quantiles are the upper ends of their buckets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Durations noted.
    pub count: u64,
    /// Half were at most this.
    pub p50_ns: u64,
    /// 99 of 100 were at most this.
    pub p99_ns: u64,
    /// 999 of 1000 were at most this.
    pub p999_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// All together.
    pub sum_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_duration_lies_in_a_bucket_that_is_at_most_half_too_wide() {
        for ns in (0..200_000).chain((20..36).map(|power| (1 << power) + 12_345)) {
            let at = Histogram::bucket(ns);
            let upper = Histogram::upper_ns(at);
            assert!(ns <= upper, "{ns} ns in bucket {at} that ends at {upper}");
            assert!(ns < 64 || upper < ns + ns / 2 + 32, "{ns} ns in bucket {at} up to {upper}");
        }
    }

    #[test]
    fn quantiles_come_from_the_durations_noted() {
        let histogram = Histogram::default();
        (0..990).for_each(|_| histogram.note(1_000));
        (0..10).for_each(|_| histogram.note(1_000_000));
        let summary = histogram.read().summary();
        assert_eq!((summary.count, summary.max_ns), (1_000, 1_000_000));
        assert!((1_000..1_500).contains(&summary.p50_ns), "{summary:?}");
        assert!((1_000..1_500).contains(&summary.p99_ns), "{summary:?}");
        assert_eq!(summary.p999_ns, 1_000_000);
    }

    #[test]
    fn the_message_in_hand_is_named_while_it_is_there() {
        let metrics = Metrics::default();
        metrics.begin(2, Micros(7));
        assert_eq!(metrics.current(), Some((2, Micros(7))));
        metrics.rest();
        assert_eq!(metrics.current(), None);
    }
}
