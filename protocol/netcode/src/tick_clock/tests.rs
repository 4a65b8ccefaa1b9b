//! How the clock converges, answers jitter, holds and lets go.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use dh_messages::PlayerInput;
use proptest::prelude::*;

use super::*;
use crate::{InputQueue, PendingInputs};

const FRAME: Micros = Micros(4_000);

/// Time goes by in frames of 50 ms, which are no stalls.
fn pass(clock: &mut TickClock, seconds: f64) {
    let mut left = Micros::from_secs_f64(seconds);
    while left.0 > 0 {
        let frame = left.min(Micros::from_millis(50));
        clock.advance(frame, 1.0, 0);
        left = left - frame;
    }
}

fn clock() -> TickClock {
    TickClock::new(ClockSettings::new(TickRate::DEFAULT), TickRate::DEFAULT)
}

/// One client and one server on a link with delay, uniform jitter and loss, in steps of 1 ms.
struct Loop {
    clock: TickClock,
    pending: PendingInputs<()>,
    queue: InputQueue,
    now: u64,
    server_tick: u32,
    sequence: u32,
    up: Link<Vec<PlayerInput>>,
    down: Link<(Tick, u32, i8)>,
    /// Starved ticks seen so far, and their number when `mark` was called.
    starved_at_mark: u64,
}

struct Link<T> {
    one_way_ms: u64,
    jitter_ms: u64,
    loss_percent: u64,
    cut: bool,
    under_way: Vec<(u64, T)>,
    seed: u64,
}

impl<T> Link<T> {
    fn new(one_way_ms: u64, jitter_ms: u64, loss_percent: u64, seed: u64) -> Self {
        Self { one_way_ms, jitter_ms, loss_percent, cut: false, under_way: Vec::new(), seed }
    }

    fn draw(&mut self, below: u64) -> u64 {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.seed >> 33) % below
    }

    fn send(&mut self, now: u64, packet: T) {
        if self.draw(100) < self.loss_percent || self.cut {
            return;
        }
        let jitter = self.draw(2 * self.jitter_ms + 1);
        self.under_way.push((now + self.one_way_ms + jitter - self.jitter_ms, packet));
    }

    fn arrivals(&mut self, now: u64) -> VecDeque<T> {
        self.under_way.extract_if(.., |(at, _)| *at <= now).map(|(_, packet)| packet).collect()
    }
}

impl Loop {
    fn new(round_trip_ms: u64, jitter_ms: u64, loss_percent: u64) -> Self {
        Self {
            clock: clock(),
            pending: PendingInputs::new(),
            queue: InputQueue::default(),
            now: 1_000,
            server_tick: 0,
            sequence: 0,
            up: Link::new(round_trip_ms / 2, jitter_ms, loss_percent, 7),
            down: Link::new(round_trip_ms / 2, jitter_ms, loss_percent, 8),
            starved_at_mark: 0,
        }
    }

    fn run(&mut self, seconds: f64, mut each_tick: impl FnMut(&Self)) {
        let end = self.now + count(seconds * 1_000.0);
        while self.now < end {
            self.now += 1;
            for packet in self.up.arrivals(self.now) {
                packet.into_iter().for_each(|input| _ = self.queue.offer(input));
            }
            let due = TickRate::DEFAULT.due(u64::from(self.server_tick + 1));
            if Micros::from_millis(self.now - 1_000) >= due {
                self.server_tick += 1;
                self.queue.take();
                each_tick(self);
                let answer = (Tick(self.server_tick), self.queue.ack(), self.queue.depth());
                self.down.send(self.now, answer);
            }
            if self.now.is_multiple_of(4) {
                self.client_frame();
            }
        }
    }

    fn client_frame(&mut self) {
        for (tick, ack, depth) in self.down.arrivals(self.now) {
            self.clock.observe(tick, depth);
            self.pending.acknowledge(ack);
        }
        let unacked = u32::try_from(self.pending.len()).unwrap();
        for _ in 0..self.clock.advance(FRAME, 1.0, unacked) {
            self.sequence += 1;
            let input = PlayerInput { sequence: self.sequence, ..Default::default() };
            self.pending.push(input, ());
            self.send();
        }
        if self.clock.holding() && self.now.is_multiple_of(16) {
            self.send();
        }
    }

    fn send(&mut self) {
        let packet = self.pending.newest_first().take(4).copied().collect();
        self.up.send(self.now, packet);
    }

    fn mark(&mut self) {
        self.starved_at_mark = self.queue.counts().starved;
    }

    fn starved(&self) -> u64 {
        self.queue.counts().starved - self.starved_at_mark
    }
}

/// CLK-01
#[test]
fn at_100_ms_and_no_jitter_one_to_three_inputs_wait_and_none_is_missing_for_a_minute() {
    let mut link = Loop::new(100, 0, 0);
    link.run(5.0, |_| ());
    link.mark();
    link.run(60.0, |link| assert!((1..=3).contains(&link.queue.depth())));
    assert_eq!(link.starved(), 0);
}

/// CLK-05, CLK-06
#[test]
fn a_queue_much_too_deep_comes_to_two_waiting_inputs_at_every_round_trip() {
    for round_trip_ms in [0, 50, 100, 200, 300] {
        let mut link = Loop::new(round_trip_ms, 0, 0);
        link.run(1.0, |_| ());
        link.clock.owed += 6.0;
        link.run(0.4, |_| ());
        assert!(link.queue.depth() > 5, "the test must start off the target");
        link.run(15.0, |_| ());
        let depth = link.clock.depth().unwrap();
        assert!((depth - 2.0).abs() < 0.5, "{depth} at {round_trip_ms} ms");
        assert!((link.clock.rate() - 1.0).abs() < 0.005);
    }
}

#[test]
fn jitter_of_20_ms_and_2_percent_loss_starve_at_most_one_tick_in_a_thousand() {
    let mut link = Loop::new(120, 20, 2);
    link.run(5.0, |_| ());
    link.mark();
    link.run(600.0, |_| ());
    assert!(link.starved() <= 36, "{} of 36,000", link.starved());
}

/// CLK-07
#[test]
fn each_starved_tick_raises_the_target_up_to_the_maximum_and_leaves_the_gain_alone() {
    let mut clock = clock();
    clock.observe(Tick(10), 2);
    for (tick, depth) in [(11, -1), (12, -2), (13, -3)] {
        clock.observe(Tick(tick), depth);
    }
    assert!((clock.target() - 3.5).abs() < 1e-6);
    // Two snapshots were lost: the run still tells of the ticks between.
    clock.observe(Tick(16), -6);
    assert!((clock.target() - 5.0).abs() < 1e-6);
    // Of a new run, only what lies after the last reading is new.
    clock.observe(Tick(18), -1);
    assert!((clock.target() - 5.5).abs() < 1e-6);
    clock.observe(Tick(200), -128);
    assert!((clock.target() - 8.0).abs() < 1e-6);

    let settings = ClockSettings { max_rate: 1.0, ..ClockSettings::new(TickRate::DEFAULT) };
    clock.set_settings(settings);
    let error = clock.target() - clock.depth().unwrap();
    assert!((clock.rate() - 1.0 - settings.gain * error).abs() < 1e-6);
}

/// CLK-08
#[test]
fn jitter_widens_the_target_and_calm_gives_all_of_it_back() {
    let mut link = Loop::new(100, 50, 2);
    link.run(10.0, |_| ());
    assert!(link.clock.target() > 2.2, "{}", link.clock.overlay());
    (link.up.jitter_ms, link.down.jitter_ms) = (0, 0);
    (link.up.loss_percent, link.down.loss_percent) = (0, 0);
    link.run(70.0, |_| ());
    for _ in 0..10 {
        link.run(1.0, |_| ());
        assert!((link.clock.target() - 2.0).abs() < 1e-6);
    }
}

/// CLK-09
#[test]
fn a_cut_link_holds_at_one_second_of_inputs_and_resumes_when_answers_return() {
    let mut link = Loop::new(300, 0, 0);
    for _ in 0..100 {
        link.run(0.1, |_| ());
        assert!(!link.clock.holding(), "a long round trip is no dead link");
    }
    (link.up.cut, link.down.cut) = (true, true);
    link.run(3.0, |_| ());
    assert!(link.clock.holding());
    assert_eq!(link.pending.len(), 60);
    (link.up.cut, link.down.cut) = (false, false);
    link.run(1.0, |_| ());
    assert!(!link.clock.holding() && link.pending.len() < 30);
}

/// CLK-09
#[test]
fn a_hold_lasts_until_fewer_than_half_of_its_backlog_are_unanswered() {
    let mut clock = clock();
    let second = Micros::from_millis(100);
    assert_eq!(clock.advance(second, 1.0, 59), 6);
    assert_eq!(clock.advance(second, 1.0, 60), 0);
    assert_eq!(clock.advance(second, 1.0, 30), 0);
    assert_eq!(clock.advance(second, 1.0, 29), 6);
}

/// CLK-10
#[test]
fn every_setting_counts_from_the_next_frame_on() {
    let base = ClockSettings::new(TickRate::DEFAULT);
    let mut clock = clock();
    clock.observe(Tick(1), 0);
    clock.observe(Tick(2), -1);
    assert!((clock.rate() - 1.02).abs() < 1e-6);
    clock.set_settings(ClockSettings { max_rate: 0.01, ..base });
    assert!((clock.rate() - 1.01).abs() < 1e-6);
    clock.set_settings(ClockSettings { hold_backlog: 5, ..base });
    assert_eq!(clock.advance(Micros::from_secs(1), 1.0, 5), 0);
    let margin = MarginSettings { growth: 2.0, max: 2.25, decay: 1.0 };
    clock.set_settings(ClockSettings { margin, ..base });
    clock.observe(Tick(3), -2);
    pass(&mut clock, 10.25);
    assert!((clock.target() - 4.0).abs() < 1e-4);
}

/// CLK-08: what jitter still needs is not given back to be earned again by the next starved tick.
#[test]
fn the_margin_stays_while_the_queue_still_runs_down_to_nothing() {
    let mut clock = clock();
    clock.observe(Tick(1), 2);
    clock.observe(Tick(2), -1);
    let mut tick = 2;
    for depth in [1, 2, 0].into_iter().cycle().take(200) {
        tick += 60;
        clock.observe(Tick(tick), depth);
        pass(&mut clock, 1.0);
    }
    assert!((clock.target() - 2.5).abs() < 1e-6, "{}", clock.target());
    for _ in 0..15 {
        tick += 60;
        clock.observe(Tick(tick), 1);
        pass(&mut clock, 1.0);
    }
    assert!((clock.target() - 2.0).abs() < 1e-6, "{}", clock.target());
}

/// CLK-11
#[test]
fn leaving_a_session_forgets_depth_margin_rate_and_hold() {
    let mut clock = clock();
    (1..20).for_each(|tick| clock.observe(Tick(tick), -1));
    clock.advance(Micros::from_millis(10), 1.0, 60);
    assert!(clock.holding() && clock.margin().ticks() > 1.0 && clock.rate() > 1.0);
    clock.reset();
    assert_eq!(clock.overlay(), "buf -/2.0 rate x1.000");
    assert_eq!((clock.depth(), clock.holding()), (None, false));
    assert!(clock.fraction().abs() < 1e-6);
    clock.observe(Tick(1), 2);
    assert_eq!(clock.depth(), Some(2.0), "an old tick of the next session is news");
}

/// CLK-12
#[test]
fn the_overlay_shows_depth_target_and_rate() {
    let mut clock = clock();
    clock.observe(Tick(1), 2);
    assert_eq!(clock.overlay(), "buf 2/2.0 rate x1.000");
}

/// CLK-13
#[test]
fn an_unknown_queue_shows_a_dash_and_is_not_taken_for_an_empty_one() {
    let mut clock = clock();
    assert_eq!(clock.overlay(), "buf -/2.0 rate x1.000");
    let ticks: u32 = (0..251).map(|_| clock.advance(FRAME, 1.0, 0)).sum();
    assert_eq!(ticks, 60);
}

#[test]
fn the_first_reading_counts_at_once_and_older_snapshots_do_not() {
    let mut clock = clock();
    clock.observe(Tick(50), 5);
    clock.observe(Tick(49), -3);
    assert_eq!(clock.depth(), Some(5.0));
    assert!(clock.margin().ticks().abs() < 1e-6);
}

#[test]
fn the_depth_is_smoothed_over_half_a_second_however_many_snapshots_are_lost() {
    for ticks_apart in [1, 3, 30] {
        let mut clock = clock();
        clock.observe(Tick(100), 4);
        for tick in (1..=30 / ticks_apart).map(|it| 100 + it * ticks_apart) {
            clock.observe(Tick(tick), 2);
        }
        let depth = clock.depth().unwrap();
        assert!((depth - 2.0 - 2.0 * 0.367_879).abs() < 1e-3, "{depth} at {ticks_apart}");
    }
}

/// Netcode OQ-18.
#[test]
fn the_time_scale_scales_the_ticks() {
    let mut clock = clock();
    let ticks: u32 = (0..251).map(|_| clock.advance(FRAME, 0.5, 0)).sum();
    assert_eq!(ticks, 30);
}

#[test]
fn after_a_stall_as_many_ticks_are_made_as_should_wait_at_the_server() {
    let mut clock = clock();
    assert_eq!(clock.advance(Micros::from_millis(200), 1.0, 0), TickClock::BURST_MAX);
    assert_eq!(clock.advance(Micros::from_secs(1), 1.0, 0), 2);
    assert_eq!(clock.discarded(), 58);
    assert_eq!(clock.advance(Micros::from_millis(17), 1.0, 0), 1);
}

#[test]
fn after_a_stall_the_margin_that_jitter_has_earned_is_filled_too() {
    let mut clock = clock();
    clock.observe(Tick(1), 2);
    clock.observe(Tick(2), -1);
    clock.observe(Tick(3), 2);
    assert_eq!(clock.advance(Micros::from_secs(1), 1.0, 0), 3, "2, and half a tick of margin");
}

/// CLK-01
#[test]
fn the_ticks_that_starve_while_the_client_itself_stalls_earn_no_margin() {
    let mut clock = clock();
    clock.observe(Tick(1), 2);
    // Some answers are read before the clock learns how long it stood still, and some after.
    clock.observe(Tick(40), -38);
    assert!(clock.target() > 2.0, "until then it may be jitter");
    let _ = clock.advance(Micros::from_secs(1), 1.0, 0);
    assert!((clock.target() - 2.0).abs() < 1e-6);
    clock.observe(Tick(63), -61);
    clock.observe(Tick(64), 2);
    assert!((clock.target() - 2.0).abs() < 1e-6);
    pass(&mut clock, 1.0);
    clock.observe(Tick(200), -1);
    assert!((clock.target() - 2.5).abs() < 1e-6, "jitter earns it again");
}

/// CLK-02; netcode OQ-14.
#[test]
fn each_tick_of_error_changes_the_rate_by_one_percent_up_to_the_bound() {
    for (depth, rate) in [(0, 1.02), (1, 1.01), (2, 1.0), (3, 0.99), (4, 0.98), (9, 0.98)] {
        let mut clock = clock();
        clock.observe(Tick(1), depth);
        assert!((clock.rate() - rate).abs() < 1e-5, "{depth}: {}", clock.rate());
    }
}

proptest! {
    /// CLK-02
    #[test]
    fn the_rate_never_leaves_its_bound_and_a_new_bound_holds_from_the_next_frame(
        depths in proptest::collection::vec(any::<i8>(), 1..60), bound in 0.0_f32..0.1
    ) {
        let mut clock = clock();
        for (tick, depth) in (1..).zip(depths) {
            clock.observe(Tick(tick), depth);
            prop_assert!((0.98..=1.02).contains(&clock.rate()));
        }
        let base = ClockSettings::new(TickRate::DEFAULT);
        clock.set_settings(ClockSettings { max_rate: bound, ..base });
        prop_assert!((clock.rate() - 1.0).abs() <= bound + 1e-6);
    }
}
