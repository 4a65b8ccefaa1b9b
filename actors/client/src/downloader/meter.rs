//! Meter: how fast a transfer runs and how long it will take. Told a few times a second at most.

use dh_machine::Micros;

/// How far a transfer has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes that have come.
    pub received: u64,
    /// Bytes of the whole.
    pub total: u64,
    /// Bytes a second, over the last seconds.
    pub rate: u64,
    /// Time left at that rate; `None` while it cannot be said.
    pub left: Option<Micros>,
}

/// Measures one transfer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meter {
    received: u64,
    /// Bytes a second, smoothed.
    rate: f64,
    told: Micros,
    /// Bytes that had come when it was told last.
    before: u64,
}

impl Meter {
    /// So many bytes have come before.
    pub(super) fn new(now: Micros, received: u64) -> Self {
        Self { received, rate: 0.0, told: now, before: received }
    }

    /// So many bytes came; how far it is, when it is time to say so.
    pub(super) fn add(&mut self, now: Micros, bytes: u64, total: u64) -> Option<Progress> {
        self.received += bytes;
        let since = now.since(self.told);
        let is_whole = self.received >= total;
        if since < TOLD_EVERY && !is_whole {
            return None;
        }
        self.measure(since);
        (self.told, self.before) = (now, self.received);
        Some(self.progress(total))
    }

    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    fn measure(&mut self, since: Micros) {
        if since == Micros(0) {
            return;
        }
        let seconds = since.as_secs_f64();
        let rate = (self.received - self.before) as f64 / seconds;
        // The newest interval counts by its share of the smoothing time.
        let share = if self.rate > 0.0 { (seconds / SMOOTHED_OVER).min(1.0) } else { 1.0 };
        self.rate += (rate - self.rate) * share;
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rates and times for people; a cast of a float saturates"
    )]
    fn progress(&self, total: u64) -> Progress {
        let missing = total.saturating_sub(self.received);
        let left = (self.rate > 0.0).then(|| Micros((missing as f64 / self.rate * 1e6) as u64));
        Progress { received: self.received, total, rate: self.rate as u64, left }
    }
}

/// The least time between two reports.
const TOLD_EVERY: Micros = Micros::from_millis(250);
/// Seconds that the rate is smoothed over.
const SMOOTHED_OVER: f64 = 3.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_transfer_is_told_four_times_a_second_with_its_rate_and_the_time_left() {
        let mut meter = Meter::new(Micros(0), 0);
        let mut told = Vec::new();
        for tenth in 1..=100 {
            told.extend(meter.add(Micros::from_millis(tenth * 100), 1_000, 100_000));
        }
        assert_eq!(told.len(), 34, "every third tenth, and the last");
        let middle = told[16];
        assert_eq!((middle.received, middle.rate), (51_000, 10_000));
        assert_eq!(middle.left, Some(Micros::from_millis(4_900)));
        let last = told.last().unwrap();
        assert_eq!((last.received, last.left), (100_000, Some(Micros(0))));
    }

    #[test]
    fn a_rate_follows_a_link_that_slows_down_within_seconds() {
        let mut meter = Meter::new(Micros(0), 0);
        let mut last = None;
        for second in 1..=20 {
            let bytes = if second <= 10 { 10_000 } else { 1_000 };
            last = meter.add(Micros::from_secs(second), bytes, 1_000_000).or(last);
        }
        assert!((1_000..1_300).contains(&last.unwrap().rate), "{last:?}");
    }
}
