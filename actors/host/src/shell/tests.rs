//! What a shell does with messages, panics, commands and full neighbours; all in simulation.

use dh_machine::Micros;

use crate::probe::{Log, Order, Probe, ProbeMsg, Seen};
use crate::{ExitReason, Place, Port, Scope, Simulation, Turn, Why};

const fn ms(millis: u64) -> Micros {
    Micros::from_millis(millis)
}

async fn after(scope: &Scope, millis: u64) {
    scope.runtime().clock().sleep(ms(millis)).await;
}

fn order(port: &Port<ProbeMsg>, order: Order) {
    port.offer(ProbeMsg::Order(order)).unwrap();
}

fn exit_reason(log: &Log, name: &str) -> Option<ExitReason> {
    log.of(name).into_iter().find_map(|seen| match seen {
        Seen::Ended(exit) => Some(exit.reason),
        _ => None,
    })
}

/// D5
#[test]
fn a_panic_loses_the_message_in_hand_and_nothing_else() {
    let log = Log::default();
    Simulation::new(1).run(async |runtime| {
        let scope = runtime.root();
        let port = scope.spawn(Place::Control, "probe", Probe::new("probe", &log));
        port.offer(ProbeMsg::Refuse(1)).unwrap();
        after(&scope, 1).await;
        order(&port, Order::Panic("unlucky"));
        port.offer(ProbeMsg::Refuse(2)).unwrap();
        after(&scope, 1).await;
        let stats = port.stats();
        assert_eq!((stats.kind("Order").lost, stats.kind("Refuse").handled), (1, 2));
        assert!(stats.balanced() && stats.total().depth == 0, "{stats:?}");
        let report = runtime.registry().report("probe").unwrap();
        assert_eq!((report.panics, report.restarts), (1, 1));
        assert_eq!(report.last_panic.unwrap().text, "unlucky");
    });
    let made = |restarts| Seen::Made { restarts };
    assert_eq!(log.of("probe"), [made(0), Seen::Data(1), made(1), Seen::Data(2)]);
}

/// D5
#[test]
fn a_panic_at_each_of_the_first_messages_restarts_the_actor_and_leaves_no_depth() {
    for nth in 1..=20 {
        let log = Log::default();
        Simulation::new(1).run(async |runtime| {
            let scope = runtime.root();
            runtime.registry().faults().panic_at("probe", nth);
            let port = scope.spawn(Place::Sessions, "probe", Probe::new("probe", &log));
            let neighbour = scope.spawn(Place::Sessions, "other", Probe::new("other", &log));
            for n in 0..20 {
                port.offer(ProbeMsg::Refuse(n)).unwrap();
                neighbour.offer(ProbeMsg::Refuse(n)).unwrap();
                after(&scope, 1).await;
            }
            let stats = port.stats();
            assert_eq!((stats.kind("Refuse").handled, stats.kind("Refuse").lost), (19, 1));
            assert!(stats.balanced() && stats.total().depth == 0, "{stats:?}");
            assert_eq!(neighbour.stats().kind("Refuse").handled, 20);
            assert_eq!(runtime.registry().report("probe").unwrap().restarts, 1);
        });
        assert_eq!((log.restarts("probe"), log.restarts("other")), (1, 0));
    }
}

/// D5
#[test]
fn what_has_a_spare_is_handed_to_the_next_machine_before_all_else_and_told_as_lost_if_that_breaks()
{
    for breaks in 0..=2_u32 {
        let log = Log::default();
        Simulation::new(1).run(async |runtime| {
            let scope = runtime.root();
            (0..breaks).for_each(|_| runtime.registry().faults().panic_at("probe", 2));
            let port = scope.spawn(Place::Control, "probe", Probe::new("probe", &log));
            port.offer(ProbeMsg::Fatal(1)).unwrap();
            port.offer(ProbeMsg::Fatal(2)).unwrap();
            port.offer(ProbeMsg::Fatal(3)).unwrap();
            after(&scope, 1).await;
            let (stats, lost) = (port.stats(), u64::from(breaks == 2));
            assert_eq!((stats.kind("Fatal").handled, stats.kind("Fatal").lost), (3 - lost, lost));
            assert!(stats.balanced() && stats.total().depth == 0, "{stats:?}");
            assert_eq!(runtime.registry().report("probe").unwrap().panics, u64::from(breaks));
        });
        let made = |restarts| Seen::Made { restarts };
        let between: &[Seen] = match breaks {
            0 => &[Seen::Data(2)],
            1 => &[made(1), Seen::Data(2)],
            _ => &[made(1), made(2), Seen::Lost(2)],
        };
        let expected = [&[made(0), Seen::Data(1)], between, &[Seen::Data(3)]].concat();
        assert_eq!(log.of("probe"), expected);
    }
}

#[test]
fn a_panic_that_was_planned_and_never_came_is_left_also_when_its_actor_has_ended() {
    let log = Log::default();
    Simulation::new(1).run(async |runtime| {
        let scope = runtime.root().child("here");
        let faults = runtime.registry().faults();
        faults.panic_at("here/probe", 1);
        faults.panic_at("here/probe", 9);
        faults.panic_at("elsewhere", 2);
        let port = scope.spawn(Place::Sessions, "probe", Probe::new("probe", &log));
        port.offer(ProbeMsg::Refuse(1)).unwrap();
        after(&scope, 1).await;
        let left = [("elsewhere".to_owned(), 2), ("here/probe".to_owned(), 9)];
        assert_eq!(faults.left(), left);
        scope.stop().await;
        assert_eq!(faults.left(), left);
    });
}

/// D5
#[test]
fn an_actor_past_its_budget_is_ended_with_a_told_reason_and_its_neighbours_go_on() {
    let log = Log::default();
    Simulation::new(1).run(async |runtime| {
        let peers = runtime.root().child("peers");
        let first = peers.contained("peer-1");
        let one = first.spawn(Place::Sessions, "session", Probe::new("one", &log));
        let beside = first.spawn(Place::Io, "transfer", Probe::new("beside", &log));
        let second = peers.contained("peer-2");
        let two = second.spawn(Place::Sessions, "session", Probe::new("two", &log));
        for _ in 0..4 {
            order(&one, Order::Panic("again"));
            order(&two, Order::Note(7));
            after(&peers, 5).await;
        }
        assert!(one.is_closed() && beside.is_closed() && !two.is_closed());
        assert_eq!(one.offer(ProbeMsg::Refuse(1)).map_err(|refused| refused.why), Err(Why::Closed));
        assert!(one.stats().balanced() && one.stats().total().depth == 0);
        assert!(runtime.failure().is_none());
    });
    assert_eq!((log.restarts("one"), log.restarts("two")), (3, 0));
    assert_eq!(exit_reason(&log, "one"), Some(ExitReason::Exhausted));
    assert_eq!(exit_reason(&log, "beside"), Some(ExitReason::Exhausted));
    let told = log.of("one").into_iter().find_map(|seen| match seen {
        Seen::Ended(exit) => exit.panic,
        _ => None,
    });
    assert_eq!(told.unwrap().text, "again");
    assert_eq!(log.of("two").iter().filter(|seen| **seen == Seen::Note(7)).count(), 4);
}

/// D5
#[test]
fn spent_budgets_climb_the_tree_until_only_the_orderly_shutdown_is_left() {
    let log = Log::default();
    Simulation::new(1).run(async |runtime| {
        let scope = runtime.root().child("server");
        let other = runtime.root().child("other");
        let port = scope.spawn(Place::Control, "bad", Probe::new("bad", &log));
        other.spawn(Place::Control, "good", Probe::new("good", &log));
        let mut panics = 0;
        while runtime.failure().is_none() {
            panics += 1;
            assert!(panics < 100, "it must come to an end");
            let _ = port.offer(ProbeMsg::Order(Order::Panic("hopeless")));
            after(&scope, 1).await;
        }
        // Three of its own, then each remake of its scope and then of everything costs one more.
        assert_eq!(panics, 3 + 3 + 3 + 1);
        let failure = runtime.failure().unwrap();
        assert_eq!(failure.path, "server/bad");
        assert_eq!(failure.panic.unwrap().text, "hopeless");
    });
    assert_eq!(log.restarts("good"), 3, "remade with everything, three times");
}

/// D5
#[test]
fn strategies_take_along_the_siblings_they_name() {
    let restarts = |strategy: u8| {
        let log = Log::default();
        Simulation::new(1).run(async |runtime| {
            let scope = runtime.root().child("group");
            scope.spawn(Place::Control, "a", Probe::new("a", &log));
            let bad = match strategy {
                0 => scope.spawn(Place::Net, "b", Probe::<0>::with("b", &log)),
                1 => scope.spawn(Place::Net, "b", Probe::<1>::with("b", &log)),
                _ => scope.spawn(Place::Net, "b", Probe::<2>::with("b", &log)),
            };
            scope.spawn(Place::Thread("own"), "c", Probe::new("c", &log));
            runtime.root().spawn(Place::Control, "outside", Probe::new("outside", &log));
            after(&scope, 1).await;
            order(&bad, Order::Panic("once"));
            after(&scope, 1).await;
        });
        ["a", "b", "c", "outside"].map(|name| log.restarts(name))
    };
    assert_eq!(restarts(0), [0, 1, 0, 0]);
    assert_eq!(restarts(1), [0, 1, 1, 0]);
    assert_eq!(restarts(2), [1, 1, 1, 0]);
}

/// D4
#[test]
fn an_actor_that_waits_for_a_place_takes_no_data_while_control_goes_on() {
    let log = Log::default();
    Simulation::new(1).run(async |runtime| {
        let scope = runtime.root();
        let (full, mut pump) = scope.pumped("full", Probe::new("full", &log));
        let port = scope.spawn(Place::Control, "probe", Probe::new("probe", &log));
        order(&port, Order::Forward(full.clone(), 20));
        port.offer(ProbeMsg::Refuse(1)).unwrap();
        after(&scope, 1).await;
        order(&port, Order::Note(2));
        after(&scope, 1).await;
        let seen = log.of("probe");
        assert_eq!(seen.last(), Some(&Seen::Note(2)));
        assert!(!seen.contains(&Seen::Data(1)) && seen.contains(&Seen::Forwarded(15)));
        assert_eq!(port.stats().data.depth, 1);
        pump.pump(runtime.now(), 2);
        after(&scope, 1).await;
        let seen = log.of("probe");
        assert!(seen.contains(&Seen::Forwarded(17)) && !seen.contains(&Seen::Forwarded(18)));
        assert!(!seen.contains(&Seen::Data(1)));
        pump.pump(runtime.now(), 100);
        after(&scope, 1).await;
        assert_eq!(log.of("probe").last(), Some(&Seen::Data(1)));
        pump.pump(runtime.now(), 100);
        let got = log.of("full").into_iter().filter(|seen| matches!(seen, Seen::Data(_)));
        assert_eq!(got.collect::<Vec<_>>(), (0..20).map(Seen::Data).collect::<Vec<_>>());
        assert!(full.stats().balanced(), "{:?}", full.stats());
    });
}

/// D4
#[test]
fn a_full_actor_that_ends_lets_those_who_wait_for_it_go() {
    let log = Log::default();
    Simulation::new(1).run(async |runtime| {
        let scope = runtime.root();
        let (full, pump) = scope.pumped("full", Probe::new("full", &log));
        let port = scope.spawn(Place::Control, "probe", Probe::new("probe", &log));
        order(&port, Order::Forward(full, 20));
        port.offer(ProbeMsg::Refuse(1)).unwrap();
        after(&scope, 1).await;
        drop(pump);
        after(&scope, 1).await;
        assert_eq!(log.of("probe").last(), Some(&Seen::Data(1)));
    });
}

#[test]
fn deadlines_are_served_at_the_first_millisecond_at_or_after_them() {
    for place in [Place::Control, Place::Thread("tick")] {
        let log = Log::default();
        Simulation::new(1).run(async |runtime| {
            let scope = runtime.root();
            let port = scope.spawn(place, "probe", Probe::new("probe", &log));
            order(&port, Order::WakeAt(vec![Micros(16_666), Micros(33_333), ms(50), ms(50)]));
            after(&scope, 100).await;
        });
        let woken: Vec<_> =
            log.of("probe").into_iter().filter(|seen| matches!(seen, Seen::Woken(_))).collect();
        assert_eq!(woken, [17, 34, 50, 50].map(|at| Seen::Woken(ms(at))), "{place:?}");
    }
}

#[test]
fn a_delayed_deadline_is_served_later_once_and_noted_as_late() {
    let log = Log::default();
    Simulation::new(1).run(async |runtime| {
        let scope = runtime.root();
        let port = scope.spawn(Place::Thread("tick"), "tick", Probe::new("tick", &log));
        after(&scope, 1).await;
        runtime.registry().faults().delay_deadline("tick", ms(30));
        order(&port, Order::WakeAt(vec![ms(10), ms(20), ms(60)]));
        after(&scope, 15).await;
        order(&port, Order::Note(1));
        after(&scope, 100).await;
        let late = runtime.registry().report("tick").unwrap().late;
        assert_eq!((late.count, late.max_ns), (3, 30_000_000));
    });
    let woken = [40, 40, 60].map(|at| Seen::Woken(ms(at)));
    assert_eq!(log.of("tick")[1..], [&[Seen::Note(1)][..], &woken].concat());
}

#[test]
fn data_that_does_not_wake_is_taken_at_the_deadline_before_it_is_served() {
    let log = Log::default();
    Simulation::new(1).run(async |runtime| {
        let scope = runtime.root();
        let tick = Probe::<0, false>::with("tick", &log);
        let port = scope.spawn(Place::Thread("tick"), "tick", tick);
        order(&port, Order::WakeAt(vec![ms(10)]));
        port.offer(ProbeMsg::Refuse(1)).unwrap();
        after(&scope, 5).await;
        order(&port, Order::Note(2));
        port.offer(ProbeMsg::Refuse(3)).unwrap();
        after(&scope, 10).await;
    });
    let want = [Seen::Note(2), Seen::Data(1), Seen::Data(3), Seen::Woken(ms(10))];
    assert_eq!(log.of("tick")[1..], want);
}

#[test]
fn a_stopped_actor_handles_its_control_lane_and_loses_its_data() {
    let log = Log::default();
    Simulation::new(1).run(async |runtime| {
        let scope = runtime.root();
        let port = scope.spawn(Place::Control, "probe", Probe::new("probe", &log));
        after(&scope, 1).await;
        order(&port, Order::Note(1));
        port.offer(ProbeMsg::Refuse(2)).unwrap();
        scope.stop().await;
        assert_eq!(port.stats().kind("Refuse").lost, 1);
        assert!(port.stats().balanced() && scope.runtime().registry().report("probe").is_none());
    });
    let [Seen::Made { .. }, Seen::Note(1), Seen::Ended(exit)] = &log.of("probe")[..] else {
        panic!("{:?}", log.of("probe"))
    };
    assert_eq!((exit.reason, exit.path.as_str()), (ExitReason::Stopped, "probe"));
}

#[test]
fn a_scope_stops_in_the_reverse_order_of_its_start_and_a_killed_one_says_nothing() {
    let log = Log::default();
    Simulation::new(1).run(async |runtime| {
        let scope = runtime.root().child("server");
        scope.spawn(Place::Net, "a", Probe::new("a", &log));
        let inner = scope.child("inner");
        inner.spawn(Place::Io, "b", Probe::new("b", &log));
        scope.spawn(Place::Thread("c"), "c", Probe::new("c", &log));
        inner.spawn(Place::Control, "d", Probe::new("d", &log));
        let peer = runtime.root().child("peer");
        let killed = peer.spawn(Place::Net, "killed", Probe::new("killed", &log));
        after(&scope, 1).await;
        peer.kill();
        scope.stop().await;
        after(&scope, 1).await;
        assert!(killed.is_closed());
        assert_eq!(runtime.registry().reports().len(), 1, "only the supervisor is left");
    });
    let ended = log.all().into_iter().filter(|(_, seen)| matches!(seen, Seen::Ended(_)));
    // The inner scope began before `c`, so all of it ends after.
    assert_eq!(ended.map(|(name, _)| name).collect::<Vec<_>>(), ["c", "d", "b", "a"]);
}

#[test]
fn an_actor_ends_itself_and_a_broken_one_ends_its_scope() {
    let log = Log::default();
    Simulation::new(1).run(async |runtime| {
        let scope = runtime.root().contained("peer");
        let done = scope.spawn(Place::Control, "done", Probe::new("done", &log));
        let bad = scope.spawn(Place::Control, "bad", Probe::new("bad", &log));
        let beside = scope.spawn(Place::Control, "beside", Probe::new("beside", &log));
        order(&done, Order::Finish);
        after(&scope, 1).await;
        assert!(done.is_closed() && !bad.is_closed());
        order(&bad, Order::Break);
        after(&scope, 1).await;
        assert!(beside.is_closed() && runtime.failure().is_none());
    });
    assert_eq!(exit_reason(&log, "done"), Some(ExitReason::Finished));
    assert_eq!(exit_reason(&log, "bad"), Some(ExitReason::Broken));
    assert_eq!(exit_reason(&log, "beside"), Some(ExitReason::Exhausted));
}

/// D4
#[test]
fn a_message_that_must_never_be_refused_ends_the_actor_that_had_no_place_for_it() {
    let log = Log::default();
    Simulation::new(1).run(async |runtime| {
        let scope = runtime.root().contained("peer");
        let port = scope.spawn(Place::Control, "full", Probe::new("full", &log));
        (0..16).for_each(|n| port.offer(ProbeMsg::Fatal(n)).unwrap());
        assert!(port.offer(ProbeMsg::Fatal(16)).is_err());
        after(&scope, 1).await;
        let counts = port.stats().kind("Fatal");
        assert_eq!((counts.offered, counts.refused, counts.lost, counts.depth), (17, 1, 16, 0));
    });
    assert_eq!(exit_reason(&log, "full"), Some(ExitReason::Overflowed { kind: "Fatal" }));
}

/// D4
#[test]
fn a_flooded_actor_starves_neither_its_neighbours_nor_its_own_deadline() {
    let log = Log::default();
    Simulation::new(1).run(async |runtime| {
        let scope = runtime.root();
        let port = scope.spawn(Place::Control, "flooded", Probe::new("flooded", &log));
        let neighbour = scope.spawn(Place::Control, "neighbour", Probe::new("neighbour", &log));
        order(&port, Order::WakeAt(vec![ms(2)]));
        let flood = port.clone();
        runtime.spawn_net(async move {
            // It never lets the lane run empty, and never sleeps.
            for n in 0..100_000 {
                let _ = flood.offer(ProbeMsg::Newest(n));
                tokio::task::yield_now().await;
            }
        });
        after(&scope, 2).await;
        order(&neighbour, Order::Note(1));
        after(&scope, 2).await;
        assert!(log.of("neighbour").contains(&Seen::Note(1)));
        assert!(log.of("flooded").contains(&Seen::Woken(ms(2))));
        assert!(port.stats().balanced() && port.stats().data.peak <= 16);
    });
}

#[test]
fn a_turn_takes_a_bounded_number_of_messages() {
    let log = Log::default();
    Simulation::new(1).run(async |runtime| {
        let (port, mut pump) = runtime.root().pumped("pumped", Probe::new("pumped", &log));
        (0..10).for_each(|n| port.offer(ProbeMsg::Refuse(n)).unwrap());
        assert_eq!(pump.pump(ms(1), 4), Turn::Again);
        assert_eq!(port.stats().kind("Refuse").handled, 4);
        order(&port, Order::WakeAt(vec![ms(5)]));
        assert_eq!(pump.pump(ms(2), 100), Turn::Rest(Some(ms(5))));
        assert_eq!(pump.pump(ms(7), 100), Turn::Rest(None));
        order(&port, Order::Finish);
        assert_eq!(pump.pump(ms(8), 100), Turn::Ended);
    });
    assert!(log.of("pumped").contains(&Seen::Woken(ms(7))), "the time is the owner's");
}

#[test]
fn a_deadline_that_never_moves_is_a_panic_and_not_a_standstill() {
    let log = Log::default();
    Simulation::new(1).run(async |runtime| {
        let scope = runtime.root().contained("peer");
        let port = scope.spawn(Place::Control, "stuck", Probe::new("stuck", &log));
        order(&port, Order::WakeAt(vec![Micros(0); 20_000]));
        after(&scope, 1).await;
        assert_eq!(runtime.registry().report("peer/stuck").unwrap().panics, 1);
    });
}
