//! Which moment is shown over even, bursting and broken links.

use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::{KindSet, Replica, ReplicaStore};

const RATE: TickRate = TickRate::DEFAULT;
const FRAME: Micros = Micros(16_667);

fn settings() -> InterpSettings {
    InterpSettings::new(RATE)
}

/// A clock that shows `newest` less the delay.
fn clock_at(settings: InterpSettings, newest: u32) -> RenderClock {
    let mut clock = RenderClock::new(settings, RATE);
    clock.receive(Tick(newest), Micros(0));
    clock.advance(FRAME, 1.0).unwrap();
    clock
}

/// INT-01
#[test]
fn arrival_times_do_not_move_the_moment_shown() {
    let show = |arrivals: [u64; 10]| {
        let mut clock = RenderClock::new(settings(), RATE);
        for (tick, at) in (1..).zip(arrivals) {
            clock.receive(Tick(tick), Micros::from_millis(at));
        }
        (0..10).map(|_| clock.advance(FRAME, 1.0).unwrap().ticks).collect::<Vec<_>>()
    };
    let even = show([0, 17, 33, 50, 67, 83, 100, 117, 133, 150]);
    assert_eq!(show([0, 1, 1, 90, 91, 92, 93, 149, 149, 150]), even);
}

/// INT-02
#[test]
fn at_half_the_time_scale_the_clock_moves_half_as_far() {
    let (mut whole, mut half) = (clock_at(settings(), 100), clock_at(settings(), 100));
    let from = whole.advance(Micros(0), 1.0).unwrap().ticks;
    let whole = whole.advance(FRAME, 1.0).unwrap().ticks - from;
    let half = half.advance(FRAME, 0.5).unwrap().ticks - from;
    assert!((whole - 1.0).abs() < 1e-3 && (half - 0.5).abs() < 1e-3, "{whole} {half}");
}

/// INT-03; netcode OQ-14.
#[test]
fn each_tick_of_error_changes_the_rate_by_two_percent() {
    for (newest, rate) in [(99, 0.98), (100, 1.0), (101, 1.02), (102, 1.04)] {
        let mut clock = clock_at(settings(), 100);
        let from = clock.advance(Micros(0), 1.0).unwrap().ticks;
        (clock.newest, clock.fresh) = (Some(Tick(newest)), true);
        let moved = clock.advance(FRAME, 1.0).unwrap().ticks - from;
        assert!((moved - rate).abs() < 1e-3, "{newest}: {moved}");
    }
}

/// INT-04, INT-09
#[test]
fn an_error_inside_the_buffer_is_never_jumped_over_and_one_outside_always_is() {
    for buffer_ticks in [8, 16] {
        let settings = InterpSettings { buffer_ticks, ..settings() };
        for (off, jumps) in [(-1, false), (0, false), (1, true)] {
            let mut clock = clock_at(settings, 100);
            clock.receive(Tick((100 + i32::from(buffer_ticks) + off).unsigned_abs()), Micros(0));
            let moment = clock.advance(FRAME, 1.0).unwrap();
            assert_eq!(moment.snapped, jumps, "{off} past {buffer_ticks}");
            assert_eq!(clock.counts().snaps, u64::from(jumps));
            if jumps {
                assert!((moment.ticks - f64::from(98 + buffer_ticks)).abs() < 1e-9);
            }
        }
    }
}

/// INT-05, INT-10
#[test]
fn the_delay_is_interp_rounded_up_one_fixed_tick_and_the_margin_in_whole_ticks() {
    assert!((settings().delay - 2.0 / 60.0).abs() < 1e-9);
    for (delay, ticks) in [(2.0 / 60.0, 3), (0.05, 4), (0.034, 4), (0.0, 1)] {
        let clock = RenderClock::new(InterpSettings { delay, ..settings() }, RATE);
        assert_eq!(clock.delay_ticks(), ticks, "{delay}");
    }
    let mut clock = clock_at(settings(), 100);
    clock.margin.grow(settings().margin, 1);
    assert_eq!(clock.delay_ticks(), 4, "half a tick earned is a whole one of delay");
    clock.advance(FRAME, 0.05);
    assert_eq!(clock.delay_ticks(), 4, "the time scale plays no part");
}

/// INT-07
#[test]
fn while_nothing_newer_comes_every_frame_counts_as_held_and_nothing_jumps_back() {
    let mut clock = clock_at(settings(), 100);
    let frames: Vec<_> = (0..22).map(|_| clock.advance(FRAME, 1.0).unwrap()).collect();
    let held = frames.iter().filter(|it| it.held).count();
    assert!(frames.iter().all(|it| it.held == (it.ticks > 100.0) && !it.snapped));
    assert!(frames.is_sorted_by(|a, b| a.ticks < b.ticks));
    assert!((17..=19).contains(&held), "300 ms less the delay: {held}");
    assert_eq!(clock.counts().held, u64::try_from(held).unwrap());
}

/// INT-08
#[test]
fn the_ring_keeps_the_places_its_session_began_with() {
    let mut clock = clock_at(settings(), 100);
    clock.set_settings(InterpSettings { buffer_ticks: 8, delay: 0.1, ..settings() });
    assert_eq!((clock.snap_ticks(), clock.delay_max(), clock.delay_ticks()), (16, 14, 7));
}

/// INT-09
#[test]
fn the_longest_delay_follows_from_the_places_of_the_ring() {
    for (buffer_ticks, longest) in [(16, 14), (8, 6)] {
        let settings = InterpSettings { buffer_ticks, delay: 10.0, ..settings() };
        assert_eq!(RenderClock::new(settings, RATE).delay_ticks(), longest);
    }
}

/// INT-12
#[test]
fn held_and_jumped_frames_widen_the_margin_up_to_its_maximum() {
    let mut clock = clock_at(settings(), 100);
    clock.receive(Tick(500), Micros(0));
    assert!(clock.advance(FRAME, 1.0).unwrap().snapped);
    assert!((clock.margin_ticks() - 0.5).abs() < 1e-6);
    (0..600).for_each(|_| _ = clock.advance(FRAME, 1.0));
    assert!(clock.counts().held > 500);
    assert!((clock.margin_ticks() - 8.0).abs() < 0.01, "{}", clock.margin_ticks());
}

/// INT-12; netcode OQ-16.
#[test]
fn a_display_four_times_as_fast_earns_no_more_margin() {
    let earned = |frames_per_tick: u64| {
        let mut clock = clock_at(settings(), 100);
        let frame = Micros(16_672 / frames_per_tick);
        (0..10 * frames_per_tick).for_each(|_| _ = clock.advance(frame, 1.0));
        clock.margin_ticks()
    };
    assert!(earned(1) > 2.0);
    assert!((earned(1) - earned(4)).abs() < 0.6, "{} {}", earned(1), earned(4));
}

/// INT-13
#[test]
fn calm_play_gives_the_margin_back() {
    let margin = MarginSettings { growth: 3.0, max: 8.0, decay: 5.0 };
    let mut clock = clock_at(InterpSettings { margin, ..settings() }, 100);
    clock.receive(Tick(500), Micros(0));
    clock.advance(FRAME, 1.0);
    assert!((clock.margin_ticks() - 3.0).abs() < 1e-6);
    for tick in 501..501 + 60 * 15 {
        clock.receive(Tick(tick), Micros(0));
        assert!(!clock.advance(FRAME, 1.0).unwrap().held);
    }
    assert!(clock.margin_ticks().abs() < 0.01, "{}", clock.margin_ticks());
}

/// INT-14
#[test]
fn with_auto_margin_off_the_delay_stays_at_its_fixed_part() {
    let mut clock = clock_at(InterpSettings { auto_margin: false, ..settings() }, 100);
    (0..100).for_each(|_| _ = clock.advance(FRAME, 1.0));
    assert_eq!(clock.delay_ticks(), 3);
    assert!(clock.overlay().starts_with("interp 3 t (+0.0) held 9"), "{}", clock.overlay());
}

/// INT-15, INT-16
#[test]
fn a_host_that_wakes_every_83_ms_makes_five_tick_bursts_and_motion_stays_even() {
    let mut clock = RenderClock::new(settings(), RATE);
    let mut store = ReplicaStore::new(settings().buffer_ticks, KindSet::EMPTY.with(1));
    let (mut now, mut made, mut shown) = (Micros(0), 0, Vec::new());
    let mut settled = InterpCounts::default();
    for frame in 0_u32..90 * 60 {
        now = now + FRAME;
        // Every fifth tick the host catches up on all that are due.
        while made + 5 <= frame {
            for tick in made + 1..=made + 5 {
                let metres = f32::from(u16::try_from(tick).unwrap()) * 0.1;
                let replica =
                    Replica { id: 7, kind: 1, position: [metres, 0.0, 0.0], ..Replica::default() };
                clock.receive(Tick(tick), now);
                store.apply(Tick(tick), [replica]);
            }
            made += 5;
        }
        if frame == 30 * 60 {
            settled = clock.counts();
        }
        let Some(moment) = clock.advance(FRAME, 1.0) else { continue };
        if frame > 30 * 60 {
            shown.extend(store.sample(moment.ticks).map(|replica| replica.position[0]));
        }
    }
    assert_eq!(shown.len(), 60 * 60 - 1);
    assert_eq!(clock.counts(), settled, "nothing held or jumped for a minute");
    assert!(shown.windows(2).all(|pair| (0.09..0.11).contains(&(pair[1] - pair[0]))));
    assert!(clock.overlay().ends_with("burst 5"), "{}", clock.overlay());
}

/// INT-13, INT-15: what bursts still need is not given back to be earned again by a held frame.
#[test]
fn the_margin_stays_while_less_than_a_tick_is_to_spare() {
    let mut clock = RenderClock::new(settings(), RATE);
    let mut burst = |number: u32| {
        let now = RATE.due(u64::from(number) * 9);
        (number * 9 + 1..=number * 9 + 9).for_each(|tick| clock.receive(Tick(tick), now));
        (0..9).for_each(|_| _ = clock.advance(FRAME, 1.0));
        clock.counts().held
    };
    let earned = (0..40).map(&mut burst).last().unwrap();
    assert!(earned > 0);
    let held = (40..640).map(&mut burst).last().unwrap();
    assert_eq!(held, earned, "a minute and a half of the same bursts");
}

/// INT-16
#[test]
fn the_overlay_shows_delay_margin_and_what_went_wrong() {
    let mut clock = RenderClock::new(settings(), RATE);
    for tick in 1..60 {
        clock.receive(Tick(tick), RATE.due(u64::from(tick)));
        clock.advance(FRAME, 1.0);
    }
    assert_eq!(clock.overlay(), "interp 3 t (+0.0) held 0 snaps 0 burst 1");
}

/// INT-16
#[test]
fn a_burst_is_what_comes_within_half_a_tick_of_its_first_snapshot() {
    let mut clock = RenderClock::new(settings(), RATE);
    for (tick, millis) in (1..).zip([0, 5, 10, 15, 20, 25]) {
        clock.receive(Tick(tick), Micros::from_millis(millis));
    }
    assert_eq!(clock.counts().deepest_burst, 2, "a slow trickle is no burst");
}

/// INT-17
#[test]
fn a_clean_minute_reports_nothing_and_held_frames_report_once_an_interval() {
    let mut clock = RenderClock::new(settings(), RATE);
    let mut lines = Vec::new();
    for tick in 1..60 * 60 {
        clock.receive(Tick(tick), Micros(0));
        clock.advance(FRAME, 1.0);
        lines.extend(clock.poll_report());
    }
    assert!(lines.is_empty());
    for _ in 0..60 * 41 {
        clock.advance(FRAME, 1.0);
        lines.extend(clock.poll_report());
    }
    assert_eq!(lines.len(), 4);
    assert!(lines.iter().all(|line| line.contains("held")), "{lines:?}");
}

proptest! {
    /// INT-03
    #[test]
    fn inside_the_buffer_a_frame_moves_by_95_to_105_percent_of_its_time(
        ahead in 0_u32..30, micros in 1_000_u64..50_000, scale in 0.05_f32..10.0
    ) {
        let mut clock = clock_at(settings(), 100);
        let from = clock.advance(Micros(0), 1.0).unwrap().ticks;
        let newest = 87 + ahead;
        clock.newest = Some(Tick(newest));
        clock.fresh = true;
        let moment = clock.advance(Micros(micros), scale).unwrap();
        let even = Micros(micros).as_secs_f64() * 60.0 * f64::from(scale);
        let moved = moment.ticks - from;
        prop_assert!(!moment.snapped && (0.95 * even - 1e-9..=1.05 * even + 1e-9).contains(&moved));
        let behind = f64::from(newest) - 3.0 - from;
        prop_assert!((moved - even) * behind >= -1e-9, "it is pulled toward its target");
    }
}
