//! The real runtime on real threads, and what makes simulated worlds replayable.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use dh_machine::{Digest, Micros, Tick};
use rand_chacha::rand_core::Rng;

use super::*;
use crate::probe::{Log, Order, Probe, ProbeMsg, Seen};
use crate::{Exit, Hashes, Simulation};

/// Wait for something that other threads bring about.
fn until(what: &str, is: impl Fn() -> bool) {
    let patience = Instant::now() + Duration::from_secs(20);
    while !is() {
        assert!(Instant::now() < patience, "{what} did not come about");
        thread::sleep(Duration::from_millis(1));
    }
}

const PLACES: [Place; 5] =
    [Place::Net, Place::Sessions, Place::Io, Place::Control, Place::Thread("own")];
const NAMES: [&str; 5] = ["net", "sessions", "io", "control", "own"];

/// D3
#[test]
fn every_place_runs_actors_serves_deadlines_and_stops_in_order() {
    let log = Log::default();
    let runtime = Runtime::real(RealOptions { sessions: 2, records: true }).unwrap();
    let scope = runtime.root().child("all");
    let ports = [0, 1, 2, 3, 4].map(|at: usize| {
        let port = scope.spawn(PLACES[at], NAMES[at], Probe::new(NAMES[at], &log));
        let soon = runtime.now() + Micros::from_millis(20);
        port.offer(ProbeMsg::Order(Order::WakeAt(vec![soon]))).unwrap();
        (0..10).for_each(|n| port.offer(ProbeMsg::Refuse(n)).unwrap());
        port
    });
    for (port, name) in ports.iter().zip(NAMES) {
        until(name, || port.stats().kind("Refuse").handled == 10);
        until(name, || log.of(name).iter().any(|seen| matches!(seen, Seen::Woken(_))));
        assert!(port.stats().balanced());
    }
    let table = runtime.registry().reports();
    let paths: Vec<_> = table.iter().map(|report| report.path.as_str()).collect();
    let want = ["all/control", "all/io", "all/net", "all/own", "all/sessions", "supervisor"];
    assert_eq!(paths, want);
    runtime.stop().unwrap();
    let ended = log.all().into_iter().filter(|(_, seen)| matches!(seen, Seen::Ended(_)));
    let mut started_last_first = NAMES;
    started_last_first.reverse();
    assert_eq!(ended.map(|(name, _)| name).collect::<Vec<_>>(), started_last_first);
    assert!(runtime.registry().is_empty());
    runtime.stop().unwrap();
}

/// D4
#[test]
fn two_threads_that_wait_for_each_others_places_never_stop_for_good() {
    let log = Log::default();
    let runtime = Runtime::real(RealOptions { sessions: 2, records: true }).unwrap();
    let scope = runtime.root();
    let to = scope.spawn(Place::Io, "to", Probe::new("to", &log));
    let from = [0, 1, 2].map(|at: usize| {
        scope.spawn(Place::Sessions, ["a", "b", "c"][at], Probe::new("from", &log))
    });
    for port in from.iter().cycle().take(60) {
        let forward = || ProbeMsg::Order(Order::Forward(to.clone(), 500));
        until("a place", || port.offer(forward()).is_ok());
    }
    until("all of them", || to.stats().kind("Waits").handled == 60 * 500);
    assert!(to.stats().kind("Waits").waited > 0 && to.stats().data.peak == 16);
    assert!(to.stats().balanced());
    runtime.stop().unwrap();
}

/// D5
#[test]
fn a_panic_on_one_thread_leaves_the_others_alone() {
    let log = Log::default();
    let runtime = Runtime::real(RealOptions::default()).unwrap();
    let ports = [0, 1, 2, 3, 4].map(|at: usize| {
        let scope = runtime.root().contained(NAMES[at]);
        let good = scope.spawn(PLACES[at], "good", Probe::new("good", &log));
        let scope = runtime.root().contained(format!("{}-bad", NAMES[at]));
        (scope.spawn(PLACES[at], "bad", Probe::new("bad", &log)), good)
    });
    for (bad, good) in &ports {
        for _ in 0..4 {
            until("a place", || bad.offer(ProbeMsg::Order(Order::Panic("again"))).is_ok());
        }
        until("its end", || bad.is_closed() && bad.stats().total().depth == 0);
        good.offer(ProbeMsg::Refuse(1)).unwrap();
        until("an answer", || good.stats().kind("Refuse").handled == 1);
        assert!(bad.stats().balanced() && good.stats().balanced());
    }
    assert_eq!(log.restarts("bad"), 5 * 4 - 1, "each was made four times");
    runtime.stop().unwrap();
}

/// D4
#[test]
fn ten_times_what_an_actor_can_take_for_ten_seconds_passes_no_bound_and_adds_up() {
    let log = Log::default();
    let runtime = Runtime::real(RealOptions::default()).unwrap();
    let port = runtime.root().spawn(Place::Sessions, "flooded", Probe::new("flooded", &log));
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for n in 0.. {
                    let _ = port.offer(match n % 4 {
                        0 => ProbeMsg::Refuse(n),
                        1 => ProbeMsg::Keyed((u64::from(n) % 8, n)),
                        2 => ProbeMsg::Newest(n),
                        _ => ProbeMsg::Order(Order::Burn(Duration::from_micros(20))),
                    });
                    if over.load(SeqCst) {
                        return;
                    }
                }
            });
        }
        thread::sleep(Duration::from_secs(1));
        let warm = resident_bytes();
        let end = Instant::now() + Duration::from_secs(9);
        while Instant::now() < end {
            let stats = port.stats();
            assert!(stats.balanced(), "{stats:?}");
        }
        over.store(true, SeqCst);
        // Tens of millions were offered: even a byte kept of each would show. Other tests of this
        // process run beside it, so flat means within what they use.
        let grown = resident_bytes().saturating_sub(warm);
        assert!(grown < 64 << 20, "memory grew by {grown} bytes");
    });
    until("calm", || port.stats().total().depth == 0);
    let stats = port.stats();
    let total = stats.total();
    assert!(total.offered > 10 * total.handled, "{stats:?}");
    assert!(stats.balanced() && stats.data.peak == 16 && stats.control.peak == 8, "{stats:?}");
    runtime.stop().unwrap();
    assert!(port.stats().balanced());
}

/// Memory of this process that is resident, where the system tells; 0 elsewhere.
fn resident_bytes() -> u64 {
    let told = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: Option<u64> = told.split_whitespace().nth(1).and_then(|pages| pages.parse().ok());
    pages.unwrap_or(0) * 4_096
}

/// PLAT-10
#[test]
fn a_flood_of_data_delays_a_thread_by_no_more_than_a_millisecond_of_messages() {
    let log = Log::default();
    let runtime = Runtime::real(RealOptions::default()).unwrap();
    let tick = Probe::<0, false>::with("tick", &log);
    let (port, mut pump) = runtime.root().pumped("tick", tick);
    let due = runtime.now() + Micros::from_millis(1);
    let wakes = ProbeMsg::Order(Order::WakeAt(vec![due, Micros(u64::MAX)]));
    port.offer(wakes).unwrap();
    pump.pump(Micros(0), 8);
    thread::sleep(Duration::from_millis(2));
    // Each takes most of what a turn may spend, and its deadline is there.
    (0..8).for_each(|_| {
        port.offer(ProbeMsg::Order(Order::Burn(Duration::from_micros(700)))).unwrap();
    });
    pump.pump_now(64);
    assert!(log.of("tick").iter().any(|seen| matches!(seen, Seen::Woken(_))));
    assert!(port.stats().control.depth >= 5, "{:?}", port.stats().control);
    runtime.root().kill();
    pump.pump_now(64);
    runtime.stop().unwrap();
}

/// PACE-09, PACE-10, PLAT-08, PLAT-09
#[test]
#[cfg(target_os = "linux")]
fn a_thread_that_ticks_has_its_priority_raised_and_its_timer_tightened() {
    let log = Log::default();
    let runtime = Runtime::real(RealOptions::default()).unwrap();
    let scope = runtime.root();
    let tick = scope.spawn(Place::Thread("tick"), "tick", Probe::<0, false>::with("tick", &log));
    let plain = scope.spawn(Place::Thread("plain"), "plain", Probe::new("plain", &log));
    tick.offer(ProbeMsg::Order(Order::NoteThread)).unwrap();
    plain.offer(ProbeMsg::Order(Order::NoteThread)).unwrap();
    until("both", || log.of("tick").len() == 3 && log.of("plain").len() == 3);
    let [_, Seen::Note(tick_nice), Seen::Note(tick_slack)] = log.of("tick")[..] else { panic!() };
    let [_, Seen::Note(nice), Seen::Note(slack)] = log.of("plain")[..] else { panic!() };
    let allowed = crate::pacer::RaisedPriority::raise().is_ok();
    assert_eq!(tick_nice, if allowed { nice.min(90) } else { nice });
    assert!(tick_slack == 101 && slack > 101, "{tick_slack} {slack}");
    runtime.stop().unwrap();
}

/// D5
#[test]
fn the_last_resort_is_told_once_and_an_orderly_stop_follows() {
    let log = Log::default();
    let runtime = Runtime::real(RealOptions::default()).unwrap();
    let (tell, told) = mpsc::channel();
    runtime.on_last_resort(move |failure| tell.send(failure).unwrap());
    let bad = runtime.root().spawn(Place::Io, "bad", Probe::new("bad", &log));
    runtime.root().spawn(Place::Net, "good", Probe::new("good", &log));
    let failure = loop {
        let _ = bad.offer(ProbeMsg::Order(Order::Panic("hopeless")));
        if let Ok(failure) = told.recv_timeout(Duration::from_millis(2)) {
            break failure;
        }
    };
    assert_eq!(failure.path, "bad");
    runtime.stop().unwrap();
    assert!(told.try_recv().is_err());
    let [.., Seen::Ended(Exit { reason, .. })] = &log.of("good")[..] else {
        panic!("{:?}", log.of("good"))
    };
    assert_eq!(*reason, ExitReason::Stopped);
}

/// A world of probes that panic, wait and forward, driven by its own randomness.
fn world(seed: u64) -> (Hashes, Vec<(&'static str, Seen)>) {
    let log = Log::default();
    let hashes = Simulation::new(seed).run(async |runtime| {
        let mut rng = runtime.rng("world");
        let scope = runtime.root().child("world");
        let ports = [0, 1, 2, 3, 4]
            .map(|at: usize| scope.spawn(PLACES[at], NAMES[at], Probe::new(NAMES[at], &log)));
        let forward_to = scope.spawn(Place::Net, "sink", Probe::new("sink", &log));
        for step in 0..300 {
            let draw = rng.next_u32();
            let port = &ports[draw as usize % 5];
            let told = port.offer(match draw >> 8 & 7 {
                0 if step % 7 == 0 => ProbeMsg::Order(Order::Panic("drawn")),
                1 => {
                    let at = runtime.now() + Micros(u64::from(draw >> 16));
                    ProbeMsg::Order(Order::WakeAt(vec![at]))
                }
                2 => ProbeMsg::Order(Order::Forward(forward_to.clone(), draw >> 28)),
                _ => ProbeMsg::Keyed((u64::from(draw) % 3, draw)),
            });
            runtime.trace().event(&format!("{step} {}", told.is_ok()));
            runtime.clock().sleep(Micros(u64::from(draw) % 5_000)).await;
            let mut digest = Digest::new();
            digest.word(port.stats().total().handled);
            runtime.trace().world("probes", Tick(step), digest);
        }
        runtime.trace().hashes()
    });
    (hashes, log.all())
}

/// D3
#[test]
fn one_seed_gives_one_world_also_beside_others_and_another_seed_another() {
    let alone = world(7);
    let beside: Vec<_> = thread::scope(|scope| {
        let worlds = [7, 8, 7, 9].map(|seed| scope.spawn(move || world(seed)));
        worlds.map(|world| world.join().unwrap()).into()
    });
    assert_eq!(alone, beside[0]);
    assert_eq!(alone, beside[2]);
    assert_ne!(alone.0, beside[1].0);
    assert_ne!(beside[1].0, beside[3].0);
    assert_eq!(alone.0.event_count, 300);
}

/// D3
#[test]
fn a_simulated_world_has_exactly_one_thread() {
    use dh_machine::{Machine, Outbox, Restart, Spec, actor_message};

    actor_message! {
        /// Nothing to say.
        pub enum Nothing {
            /// Never sent.
            Nothing: Data Refuse,
        }
    }
    struct Where(Arc<Mutex<Vec<thread::ThreadId>>>);
    struct Still;
    impl Machine for Still {
        type Msg = Nothing;
        type Effect = ();
        fn handle(&mut self, _: Micros, _: Nothing, _: &mut Outbox<()>) {}
    }
    impl crate::Actor for Where {
        type Machine = Still;
        const SPEC: Spec = Spec {
            kind: "where",
            control_max: 1,
            data_max: 1,
            data_wakes: true,
            restart: Restart { count: 0, window: Micros(0) },
            strategy: Strategy::OneForOne,
            ask_deadline: None,
            asks: &[],
        };
        fn make(&mut self, _: crate::Start<'_, Nothing>) -> Still {
            self.0.lock().unwrap().push(thread::current().id());
            Still
        }
        fn perform(&mut self, (): (), _: &mut crate::Context<'_, Nothing>) -> crate::Performed<()> {
            crate::Performed::Done
        }
    }
    let seen = Arc::new(Mutex::new(Vec::new()));
    Simulation::new(1).run(async |runtime| {
        for (place, name) in PLACES.into_iter().zip(NAMES) {
            runtime.root().spawn(place, name, Where(Arc::clone(&seen)));
        }
        let on_net = Arc::clone(&seen);
        runtime.spawn_net(async move { on_net.lock().unwrap().push(thread::current().id()) });
        runtime.clock().sleep(Micros::from_millis(1)).await;
    });
    assert_eq!(*seen.lock().unwrap(), [thread::current().id(); 6]);
}

#[test]
fn names_that_are_taken_get_a_number_and_stopped_scopes_make_room_again() {
    let log = Log::default();
    Simulation::new(1).run(async |runtime| {
        let root = runtime.root();
        let first = root.contained("peer");
        let second = root.contained("peer");
        assert_eq!(first.path(), "peer");
        assert!(second.path().starts_with("peer~"), "{}", second.path());
        first.spawn(Place::Net, "session", Probe::new("session", &log));
        first.stop().await;
        drop(first);
        assert_eq!(root.contained("peer").path(), "peer");
    });
}

#[test]
fn a_world_that_is_over_leaves_nothing_behind() {
    struct Told(Arc<AtomicBool>);
    impl Drop for Told {
        fn drop(&mut self) {
            self.0.store(true, SeqCst);
        }
    }
    let gone = Arc::new(AtomicBool::new(false));
    let log = Log::default();
    let kept = Simulation::new(1).run(async |runtime| {
        let told = Told(Arc::clone(&gone));
        let port = runtime.root().spawn(Place::Control, "probe", Probe::new("probe", &log));
        runtime.root().spawn(Place::Thread("own"), "own", Probe::new("own", &log));
        runtime.on_last_resort(move |_| drop(told));
        runtime.clock().sleep(Micros::from_millis(5)).await;
        port
    });
    assert!(kept.is_closed());
    assert!(gone.load(SeqCst), "the runtime itself is dropped");
}
