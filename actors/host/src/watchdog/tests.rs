//! What the watchdog sees and what it lets pass, in both runtimes.

use std::time::{Duration, Instant};

use super::*;
use crate::probe::{Log, Order, Probe, ProbeMsg};
use crate::{Place, Port, RealOptions, Runtime, Simulation, Wait};

const NAMES: [&str; 3] = ["a", "b", "c"];

fn probes(runtime: &Runtime, places: [Place; 3]) -> [Port<ProbeMsg>; 3] {
    let log = Log::default();
    let scope = runtime.root().child("ring");
    [0, 1, 2].map(|at: usize| scope.spawn(places[at], NAMES[at], Probe::new(NAMES[at], &log)))
}

fn order(to: &Port<ProbeMsg>, order: Order) {
    to.offer(ProbeMsg::Order(order)).unwrap();
}

fn ask_around(ports: &[Port<ProbeMsg>; 3]) {
    for at in 0..3 {
        order(&ports[at], Order::Ask(ports[(at + 1) % 3].clone()));
    }
}

fn lines(runtime: &Runtime) -> Vec<String> {
    runtime.alarms().into_iter().map(|alarm| alarm.line).collect()
}

fn until(what: &str, is: impl Fn() -> bool) {
    let start = Instant::now();
    while !is() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

const RING: &str = "actors wait in a ring: \
    ring/a waits at ring/b for an answer to Refuse; \
    ring/b waits at ring/c for an answer to Refuse; \
    ring/c waits at ring/a for an answer to Refuse";

#[test]
fn three_who_ask_each_other_in_a_ring_are_told_once_within_a_second_of_simulated_time() {
    let run = || {
        Simulation::new(7).run(async |runtime| {
            let ports = probes(&runtime, [Place::Net, Place::Sessions, Place::Thread("own")]);
            let second = Micros::from_secs(1);
            ask_around(&ports);
            runtime.sleep_until(runtime.now() + second).await;
            assert_eq!(lines(&runtime), [RING]);
            assert_eq!(runtime.registry().cycles().len(), 1);
            assert!(runtime.registry().edges().iter().all(|edge| edge.wait == Wait::Answer));
            ask_around(&ports);
            runtime.sleep_until(runtime.now() + second).await;
            assert_eq!(lines(&runtime), [RING], "it is still the same ring");
            order(&ports[1], Order::Answered);
            runtime.sleep_until(runtime.now() + second).await;
            assert!(runtime.registry().cycles().is_empty());
            runtime.alarms()
        })
    };
    assert_eq!(run(), run());
}

#[test]
fn three_who_ask_each_other_in_a_ring_are_told_within_a_second_of_real_time() {
    let runtime = Runtime::real(RealOptions::default()).unwrap();
    let ports = probes(&runtime, [Place::Net, Place::Io, Place::Thread("own")]);
    ask_around(&ports);
    until("a ring is told", || lines(&runtime).contains(&RING.to_owned()));
    let cycle = runtime.registry().cycles().remove(0);
    let youngest = cycle.iter().map(|edge| edge.since).max().unwrap();
    let at = runtime.alarms().into_iter().find(|alarm| alarm.line == RING).unwrap().at;
    // What the bounds promise; a thread that gets no core is late by what it was kept waiting.
    let promised = CYCLE_AGE + LOOK_EVERY;
    assert!(promised < Micros::from_secs(1) && at.since(youngest) >= CYCLE_AGE);
    runtime.stop().unwrap();
}

#[test]
fn a_ring_is_told_once_its_youngest_wait_has_lasted_and_not_before() {
    Simulation::new(7).run(async |runtime| {
        let [a, b, c] = probes(&runtime, [Place::Net; 3]);
        order(&a, Order::Ask(b.clone()));
        order(&b, Order::Ask(c.clone()));
        let youngest = CYCLE_AGE + CYCLE_AGE;
        runtime.sleep_until(youngest).await;
        order(&c, Order::Ask(a.clone()));
        runtime.sleep_until(youngest + LOOK_EVERY).await;
        let mut watchdog = Watchdog::default();
        let again = watchdog.look_for_cycles(runtime.registry(), runtime.now());
        assert_eq!((again, watchdog.alarms()), (Some(youngest + CYCLE_AGE), vec![]));
        assert_eq!(watchdog.look_for_cycles(runtime.registry(), youngest + CYCLE_AGE), None);
        assert_eq!(watchdog.alarms().len(), 1);
    });
}

#[test]
fn two_who_wait_for_a_place_at_each_other_are_told_with_what_waits() {
    Simulation::new(7).run(async |runtime| {
        let [a, b, _] = probes(&runtime, [Place::Net; 3]);
        // Each hands the other more than it takes while it waits itself.
        order(&a, Order::Forward(b.clone(), 40));
        order(&b, Order::Forward(a.clone(), 40));
        runtime.sleep_until(Micros::from_secs(1)).await;
        let told = lines(&runtime);
        let edges = runtime.registry().edges();
        assert_eq!(told.len(), 1, "{edges:?}");
        assert!(told[0].contains("ring/a waits at ring/b for a place for Waits"), "{told:?}");
        assert!(edges.iter().all(|edge| edge.wait == Wait::Place && edge.since < CYCLE_AGE));
    });
}

#[test]
fn a_busy_run_in_which_everybody_waits_for_a_place_now_and_then_raises_no_alarm() {
    Simulation::new(7).run(async |runtime| {
        let [a, b, c] = probes(&runtime, [Place::Net; 3]);
        for round in 0..2_000 {
            order(&a, Order::Forward(c.clone(), 40));
            order(&b, Order::Forward(c.clone(), 40));
            runtime.sleep_until(Micros::from_millis(1 + round)).await;
        }
        let waited = runtime.registry().report("ring/c").unwrap().port;
        assert!(waited.kinds.iter().any(|(_, counts)| counts.waited > 0), "{waited:?}");
        assert_eq!((runtime.alarms(), runtime.registry().edges()), (vec![], vec![]));
    });
}

#[test]
fn an_actor_that_is_busy_for_long_is_told_once_with_its_message_and_thread() {
    let runtime = Runtime::real(RealOptions::default()).unwrap();
    let [a, ..] = probes(&runtime, [Place::Thread("slow"), Place::Net, Place::Io]);
    order(&a, Order::Burn(Duration::from_millis(1_100)));
    let is_told = || lines(&runtime).iter().any(|line| line.starts_with("ring/a is busy for "));
    until("a busy actor is told", is_told);
    until("it is done", || {
        let report = runtime.registry().report("ring/a").unwrap();
        report.state == ActorState::Idle && report.handle.count == 1
    });
    let told = lines(&runtime);
    let of_it: Vec<_> = told.iter().filter(|line| line.starts_with("ring/a ")).collect();
    assert_eq!(of_it.len(), 1, "{told:?}");
    assert!(of_it[0].ends_with(" with one Order on thread slow"), "{told:?}");
    runtime.stop().unwrap();
}

#[test]
fn whoever_lives_by_deadlines_and_is_stuck_for_five_seconds_is_worth_a_record() {
    let runtime = Runtime::real(RealOptions { records: false, ..RealOptions::default() }).unwrap();
    let log = Log::default();
    let probe = Probe::<0, false>::with("tick", &log);
    let tick = runtime.root().spawn(Place::Thread("tick"), "tick", probe);
    order(&tick, Order::Burn(Duration::from_millis(300)));
    until("it is at it", || {
        let state = runtime.registry().report("tick").unwrap().state;
        matches!(state, ActorState::Running { .. })
    });
    let mut watchdog = Watchdog::default();
    let now = runtime.now();
    for after in [Micros(0), BUSY_MAX, BUSY_MAX + LOOK_EVERY, STUCK_MAX, STUCK_MAX + LOOK_EVERY] {
        watchdog.look_for_busy(runtime.registry(), now + after);
    }
    let stuck: Vec<bool> = watchdog.alarms().iter().map(|alarm| alarm.stuck).collect();
    assert_eq!(stuck, [false, true]);
    runtime.stop().unwrap();
}

#[test]
fn whoever_is_busy_for_long_again_with_another_message_is_told_again() {
    let runtime = Runtime::real(RealOptions { records: false, ..RealOptions::default() }).unwrap();
    let probe = Probe::<0, false>::with("slow", &Log::default());
    let slow = runtime.root().spawn(Place::Thread("slow"), "slow", probe);
    let begun = || match runtime.registry().report("slow").unwrap().state {
        ActorState::Running { since, .. } => Some(since),
        _ => None,
    };
    let mut watchdog = Watchdog::default();
    let mut before = None;
    for times in 1..=2 {
        order(&slow, Order::Burn(Duration::from_millis(500)));
        until("it is at the next one", || begun().is_some_and(|since| Some(since) != before));
        before = begun();
        let now = runtime.now() + BUSY_MAX;
        for after in [Micros(0), LOOK_EVERY] {
            watchdog.look_for_busy(runtime.registry(), now + after);
        }
        assert_eq!(watchdog.alarms().len(), times);
    }
    runtime.stop().unwrap();
}
