//! The wait on hosts that sleep well and badly, and the warning.

use std::time::{Duration, Instant};

use dh_machine::{Micros, TickRate};

use super::*;

/// A host whose sleeps end when the test says.
struct Fake<F> {
    now: u64,
    slept: F,
    sleeps: Vec<u64>,
    spun: u64,
}

impl<F: FnMut(u64) -> u64> Fake<F> {
    fn new(slept: F) -> Self {
        Self { now: 0, slept, sleeps: Vec::new(), spun: 0 }
    }
}

impl<F: FnMut(u64) -> u64> Sleeper for Fake<F> {
    fn now(&mut self) -> Micros {
        Micros(self.now)
    }

    fn sleep(&mut self, span: Micros) -> bool {
        self.sleeps.push(span.0);
        self.now += (self.slept)(span.0);
        false
    }

    fn relax(&mut self) {
        self.now += 1;
        self.spun += 1;
    }
}

/// PACE-06
#[test]
fn a_new_bound_on_the_spin_holds_from_the_next_wait_on() {
    let mut host = Fake::new(|asked| asked);
    let mut wait = DeadlineWait::new(Micros(400));
    wait.set_max_spin(Micros(0));
    wait.wait(&mut host, Micros(10_000));
    assert_eq!((host.spun, host.now), (0, 10_000));
}

fn learned(max_spin: u64, factor: f64) -> DeadlineWait {
    DeadlineWait { factor, ..DeadlineWait::new(Micros(max_spin)) }
}

/// PACE-03
#[test]
fn the_factor_rises_at_once_and_falls_over_many_sleeps() {
    let mut wait = DeadlineWait::new(Micros(400));
    wait.learn(Micros(14_000), Micros(83_000));
    assert!((5.9..6.0).contains(&wait.factor()), "{}", wait.factor());
    wait.learn(Micros(14_000), Micros(14_000));
    assert!(wait.factor() > 5.7, "{}", wait.factor());
    let mut sleeps = 1;
    while wait.factor() > 1.1 {
        wait.learn(Micros(14_000), Micros(14_000));
        sleeps += 1;
    }
    assert!((50..500).contains(&sleeps), "{sleeps}");
}

/// PACE-04
#[test]
fn it_asks_for_the_budget_divided_by_the_factor() {
    let mut host = Fake::new(|asked| asked * 6);
    // The margin kept back for the spin is on top of a budget of 12 ms.
    let mut wait = learned(400, 6.0);
    let margin = 50;
    wait.wait(&mut host, Micros(12_000 + margin));
    assert_eq!(host.sleeps, [2_000]);
    assert_eq!(host.now, 12_000 + margin);
}

/// PACE-05
#[test]
fn where_a_millisecond_of_sleep_would_be_too_long_it_spins() {
    let mut host = Fake::new(|asked| asked * 8);
    learned(5_000, 7.8).wait(&mut host, Micros(5_000));
    assert!(host.sleeps.is_empty(), "{:?}", host.sleeps);
    assert_eq!(host.spun, 5_000);
}

/// PACE-06
#[test]
fn a_timer_that_always_oversleeps_never_makes_it_spin_longer_than_allowed() {
    for late in [0, 60, 900, 1_900, 15_000] {
        let mut host = Fake::new(|asked| asked + late);
        let mut wait = DeadlineWait::new(Micros(400));
        for tick in 1..=600 {
            host.spun = 0;
            wait.wait(&mut host, TickRate::DEFAULT.due(tick));
            assert!(host.spun <= 400, "{} us of spin where sleeps end {late} us late", host.spun);
        }
    }
}

/// PLAT-06
#[test]
fn the_rate_stays_at_60_hz_on_a_host_that_sleeps_six_times_too_long() {
    // Asked for 1 ms it takes 7.8, asked for 14 it takes 83; in a straight line between and beyond.
    let mut host = Fake::new(|asked| 2_000 + asked * 58 / 10);
    let mut wait = DeadlineWait::new(Micros(400));
    let mut ticks = 0;
    while host.now < 10_000_000 {
        host.spun = 0;
        wait.wait(&mut host, TickRate::DEFAULT.due(ticks + 1));
        assert!(host.spun <= 400);
        while TickRate::DEFAULT.due(ticks + 1) <= Micros(host.now) {
            ticks += 1;
        }
    }
    let hz = ticks as f64 / (host.now as f64 / 1e6);
    assert!((59.0..=60.5).contains(&hz), "{hz} Hz");
}

/// PACE-07
#[test]
fn ticks_at_a_third_of_their_rate_are_warned_of_with_both_numbers() {
    let mut watch = RateWatch::new(60.0, 0.9, Micros::from_secs(10));
    let warnings: Vec<_> = (0..60).filter_map(|tick| watch.ticked(Micros(tick * 50_000))).collect();
    let [warning] = warnings[..] else { panic!("{warnings:?}") };
    let text = warning.line(6.25);
    assert!(text.contains("20.0 Hz instead of 60") && text.contains("6.25"), "{text}");
    let mut watch = RateWatch::new(60.0, 0.9, Micros::from_secs(10));
    let at = |tick| TickRate::DEFAULT.due(tick);
    assert!((0..6_000).all(|tick| watch.ticked(at(tick)).is_none()));
}

/// PACE-08
#[test]
fn a_hundred_slow_seconds_are_warned_of_ten_times() {
    let mut watch = RateWatch::new(60.0, 0.9, Micros::from_secs(10));
    let slow = (0..2_000).filter_map(|tick| watch.ticked(Micros(tick * 50_000)));
    assert!((9..=11).contains(&slow.count()));
}

#[test]
fn another_rate_to_watch_for_does_not_bring_the_next_warning_forward() {
    let mut watch = RateWatch::new(60.0, 0.9, Micros::from_secs(10));
    let slow = |from: u64, watch: &mut RateWatch| {
        (from..from + 40).filter_map(|tick| watch.ticked(Micros(tick * 50_000))).count()
    };
    assert_eq!(slow(0, &mut watch), 1);
    watch.set(120.0, 0.9, Micros::from_secs(10));
    assert_eq!(slow(40, &mut watch), 0);
    watch.set(20.0, 0.9, Micros(0));
    assert_eq!(slow(80, &mut watch), 0, "20 Hz is what is wanted now");
}

struct Host(Instant);

impl Sleeper for Host {
    fn now(&mut self) -> Micros {
        crate::clock::micros(self.0.elapsed())
    }

    fn sleep(&mut self, span: Micros) -> bool {
        std::thread::sleep(Duration::from_micros(span.0));
        false
    }

    fn relax(&mut self) {
        std::hint::spin_loop();
    }
}

/// PACE-01, PACE-02, PLAT-07
#[test]
fn on_this_machine_a_wait_is_never_early_and_costs_a_small_part_of_a_core() {
    let mut host = Host(Instant::now());
    let mut wait = DeadlineWait::new(Pacing::TICK.max_spin);
    let cpu = cpu_of_this_thread();
    for tick in 1..=60 {
        let due = TickRate::DEFAULT.due(tick);
        assert_eq!(wait.wait(&mut host, due), Waited::Reached);
        let now = host.now();
        assert!(now >= due, "early: {now:?} before {due:?}");
    }
    assert!(host.now() >= TickRate::DEFAULT.due(60));
    // Sixty spins of at most 0.4 ms, and the sleeps.
    let used = cpu_of_this_thread() - cpu;
    assert!(used < Duration::from_millis(60), "{used:?} of a second");
}

fn cpu_of_this_thread() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap())
}

/// PACE-09, PLAT-09
#[test]
#[cfg(target_os = "linux")]
fn the_priority_is_higher_while_the_guard_lives_and_the_old_one_after() {
    let before = priority_of_this_thread().unwrap();
    match RaisedPriority::raise() {
        Ok(raised) => {
            assert_eq!(priority_of_this_thread().unwrap(), before.min(RaisedPriority::NICE));
            drop(raised);
        }
        // Without the right to it nothing changes, and the caller is told.
        Err(refused) => assert_eq!(refused.kind(), std::io::ErrorKind::PermissionDenied),
    }
    assert_eq!(priority_of_this_thread().unwrap(), before);
}

/// PACE-10, PLAT-08
#[test]
#[cfg(target_os = "linux")]
fn the_timer_slack_is_a_nanosecond_while_the_guard_lives() {
    let before = HostTimerPeriod::slack_ns().unwrap();
    let tight = HostTimerPeriod::tighten().unwrap();
    assert_eq!(HostTimerPeriod::slack_ns().unwrap(), 1);
    drop(tight);
    assert_eq!(HostTimerPeriod::slack_ns().unwrap(), before);
}

/// PACE-06
#[test]
fn a_host_that_is_taken_away_for_milliseconds_now_and_then_is_not_answered_with_longer_spins() {
    let mut sleeps = 0_u64;
    // 60 us late as a rule, 5 ms every tenth time.
    let mut host = Fake::new(|asked| {
        sleeps += 1;
        asked + if sleeps.is_multiple_of(10) { 5_000 } else { 60 }
    });
    let mut wait = DeadlineWait::new(Micros(400));
    for tick in 1..=600 {
        wait.wait(&mut host, TickRate::DEFAULT.due(tick));
    }
    let each = host.spun / 600;
    assert!(each < 270, "{each} us of spin each tick");
}

/// PACE-03
#[test]
fn a_fine_host_that_is_late_once_is_slept_on_as_before_and_one_that_is_always_is_not() {
    let mut wait = DeadlineWait::new(Micros(400));
    wait.learn(Micros(16_000), Micros(19_000));
    assert!(wait.factor() < 1.001, "{}", wait.factor());
    wait.learn(Micros(16_000), Micros(24_000));
    wait.learn(Micros(16_000), Micros(24_000));
    assert!((1.49..=1.5).contains(&wait.factor()), "{}", wait.factor());
}
