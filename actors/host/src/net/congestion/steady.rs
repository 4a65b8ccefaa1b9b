//! Steady: quinn's BBR without the pauses in which it looks for a shorter round trip.
//!
//! At its first full window and every ten seconds of full ones after that, BBR narrows its window
//! for at least 200 ms, so that queues drain and the bare round trip shows. quinn's takes nothing
//! from what it sees then, since its shortest round trip only ever gets shorter; but play that
//! sends as much as the path holds has its datagrams go stale in a queue meanwhile. So the window
//! stays what it was until the pause is over, and the pause is over as soon as it may be.

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quinn::congestion::{BbrConfig, Controller, ControllerFactory};
use quinn_proto::RttEstimator;

/// Full windows for longer than this since the last pause bring the next one.
const PAUSE_EVERY: Duration = Duration::from_secs(10);
/// A pause ends at the first round trip that begins so long after it began.
const PAUSE_MIN: Duration = Duration::from_millis(200);

/// Makes a controller for each connection.
#[derive(Debug, Default)]
pub(super) struct SteadyConfig(BbrConfig);

impl ControllerFactory for SteadyConfig {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let inner = Arc::new(self.0.clone()).build(now, mtu);
        Box::new(Steady::over(inner, Duration::ZERO))
    }
}

/// BBR whose pauses do not show.
pub(super) struct Steady {
    inner: Box<dyn Controller>,
    /// When the last pause began.
    last_pause: Option<Instant>,
    pause: Option<Pause>,
    /// As it was measured last.
    round_trip: Duration,
    /// How far those of single packets lie from it on average, once one was measured.
    variation: Option<Duration>,
}

/// A pause of the inner controller.
#[derive(Clone, Copy)]
struct Pause {
    began: Instant,
    /// The window before it.
    window: u64,
}

impl Steady {
    fn over(inner: Box<dyn Controller>, round_trip: Duration) -> Self {
        Self { inner, last_pause: None, pause: None, round_trip, variation: None }
    }

    /// How far the round trips of single packets lie from the smoothed one, on average.
    pub(super) fn variation(&self) -> Option<Duration> {
        self.variation
    }

    /// What quinn smooths stands there now. It tells no single round trip, but each moves it by an
    /// eighth of what it is off; the rest is RFC 9002. Before the first it is a guess.
    fn measured(&mut self, smoothed: Duration) {
        let before = std::mem::replace(&mut self.round_trip, smoothed);
        if before == smoothed || before.is_zero() {
            return;
        }
        let off = before.abs_diff(smoothed) * 8;
        let next = |variation: Duration| (variation * 3 + off) / 4;
        self.variation = Some(self.variation.map_or(smoothed / 2, next));
    }

    /// The inner controller begins a pause where it sees a full window after long enough.
    fn is_pause_due(&self, now: Instant, app_limited: bool) -> bool {
        let long_ago = |last| now.saturating_duration_since(last) > PAUSE_EVERY;
        !app_limited && self.last_pause.is_none_or(long_ago)
    }
}

impl Controller for Steady {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.measured(rtt.get());
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    ) {
        let in_flight = match self.pause {
            // The pause is counted from when its window is kept to; say at once that it is.
            Some(pause) if now.saturating_duration_since(pause.began) < PAUSE_MIN => 0,
            Some(pause) => {
                let over = pause.began + PAUSE_MIN + 2 * self.round_trip;
                self.pause = Some(pause).filter(|_| now < over);
                in_flight
            }
            None if self.is_pause_due(now, app_limited) => {
                self.last_pause = Some(now);
                self.pause = Some(Pause { began: now, window: self.inner.window() });
                in_flight
            }
            None => in_flight,
        };
        self.inner.on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        self.inner.on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        let window = self.inner.window();
        self.pause.map_or(window, |pause| pause.window.max(window))
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self { inner: self.inner.clone_box(), ..*self })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Narrows its window for 200 ms from the first full one on, once that is kept to.
    #[derive(Clone, Default)]
    struct Pausing {
        paused: bool,
        until: Option<Instant>,
    }

    impl Controller for Pausing {
        fn on_end_acks(&mut self, now: Instant, in_flight: u64, limited: bool, _: Option<u64>) {
            self.paused |= !limited;
            if self.paused && in_flight < 10 {
                self.until.get_or_insert(now + PAUSE_MIN);
            }
        }

        fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}

        fn on_mtu_update(&mut self, _: u16) {}

        fn window(&self) -> u64 {
            if self.paused { 10 } else { 100 }
        }

        fn clone_box(&self) -> Box<dyn Controller> {
            Box::new(self.clone())
        }

        fn initial_window(&self) -> u64 {
            100
        }

        fn into_any(self: Box<Self>) -> Box<dyn Any> {
            self
        }
    }

    fn steady() -> Steady {
        let inner = Box::new(Pausing::default());
        Steady::over(inner, Duration::from_millis(50))
    }

    #[test]
    fn a_pause_does_not_show_and_is_told_at_once_that_its_window_is_kept_to() {
        let (start, mut controller) = (Instant::now(), steady());
        let at = |millis| start + Duration::from_millis(millis);
        controller.on_end_acks(at(0), 90, true, None);
        assert!(controller.pause.is_none(), "a window that is not full brings no pause");
        controller.on_end_acks(at(10), 90, false, None);
        assert_eq!((controller.inner.window(), controller.window()), (10, 100));
        controller.on_end_acks(at(20), 90, false, None);
        assert_eq!(inner_of(&controller).until, Some(at(20) + PAUSE_MIN));
        controller.on_end_acks(at(320), 90, false, None);
        assert_eq!(controller.window(), 10, "what the inner one wants after that counts");
    }

    #[test]
    fn the_variation_is_how_far_single_round_trips_lie_from_the_smoothed_one() {
        let mut controller = steady();
        controller.measured(Duration::from_millis(50));
        assert_eq!(controller.variation(), None, "none was measured");
        let mut variation = |micros| {
            controller.measured(Duration::from_micros(micros));
            controller.variation().unwrap().as_micros()
        };
        // 40 ms; then one that is off by 8 ms, and nothing new; then many off by 2 ms.
        assert_eq!([40_000, 41_000, 41_000].map(&mut variation), [20_000, 17_000, 17_000]);
        let settled = (0..60).map(|n| variation(41_000 + 250 * (n % 2))).last().unwrap();
        assert!((1_990..=2_010).contains(&settled), "{settled}");
        let told = super::super::variation(controller.clone_box());
        assert_eq!(told, controller.variation());
    }

    #[test]
    fn a_pause_is_expected_once_in_ten_seconds_of_full_windows() {
        let (start, mut controller) = (Instant::now(), steady());
        let mut pauses = 0;
        for millis in (0..25_000).step_by(100) {
            let before = controller.last_pause;
            controller.on_end_acks(start + Duration::from_millis(millis), 90, false, None);
            pauses += u32::from(controller.last_pause != before);
        }
        assert_eq!(pauses, 3);
    }

    fn inner_of(controller: &Steady) -> Pausing {
        *controller.inner.clone_box().into_any().downcast().unwrap()
    }
}
