//! The five policies, the lanes and the accounting of a port.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use dh_machine::{ActorMessage, actor_message};

use super::*;
use crate::Actor;
use crate::probe::{Order, Probe, ProbeMsg};

fn port() -> Port<ProbeMsg> {
    Port::new(&Probe::<0>::SPEC, Clock::real())
}

/// Take everything, as a shell that handles every message would.
fn drain<M: ActorMessage>(port: &Port<M>) -> Vec<M> {
    let mut taken = Vec::new();
    let mut last = None;
    loop {
        match port.core.take(last.take(), true, Micros(0)) {
            Taken::Message(held) => taken.push(held.msg),
            Taken::Expired => continue,
            Taken::Nothing => return taken,
        }
        last = Some(Settled::Handled);
    }
}

fn numbers(port: &Port<ProbeMsg>) -> Vec<u32> {
    let number = |msg| match msg {
        ProbeMsg::Refuse(n)
        | ProbeMsg::Newest(n)
        | ProbeMsg::Waits(n)
        | ProbeMsg::Fatal(n)
        | ProbeMsg::Keyed((_, n))
        | ProbeMsg::Order(Order::Note(n)) => n,
        ProbeMsg::Order(_) => u32::MAX,
    };
    drain(port).into_iter().map(number).collect()
}

/// D4
#[test]
fn a_full_lane_gives_the_message_back() {
    let port = port();
    (0..16).for_each(|n| port.offer(ProbeMsg::Refuse(n)).unwrap());
    let Err(Refused { msg: ProbeMsg::Refuse(16), why: Why::Full }) =
        port.offer(ProbeMsg::Refuse(16))
    else {
        panic!("it must come back")
    };
    assert_eq!(numbers(&port), (0..16).collect::<Vec<_>>());
    let stats = port.stats();
    assert_eq!(stats.kind("Refuse").refused, 1);
    assert!(stats.balanced(), "{stats:?}");
}

/// D4
#[test]
fn a_newer_message_of_the_same_key_takes_the_place_of_the_waiting_one() {
    let port = port();
    for msg in [(1, 10), (2, 20), (1, 11)] {
        port.offer(ProbeMsg::Keyed(msg)).unwrap();
    }
    (0..14).for_each(|n| port.offer(ProbeMsg::Refuse(n)).unwrap());
    port.offer(ProbeMsg::Keyed((2, 21))).unwrap();
    assert!(port.offer(ProbeMsg::Keyed((3, 30))).is_err(), "full, and none of its key waits");
    assert_eq!(numbers(&port)[..3], [11, 21, 0]);
    let counts = port.stats().kind("Keyed");
    assert_eq!((counts.offered, counts.coalesced, counts.refused), (5, 2, 1));
}

/// D4
#[test]
fn the_oldest_of_its_kind_makes_room_for_the_newest() {
    let port = port();
    port.offer(ProbeMsg::Refuse(100)).unwrap();
    (0..20).for_each(|n| port.offer(ProbeMsg::Newest(n)).unwrap());
    assert_eq!(numbers(&port), [&[100][..], &(5..20).collect::<Vec<_>>()].concat());
    (0..16).for_each(|n| port.offer(ProbeMsg::Refuse(n)).unwrap());
    assert!(port.offer(ProbeMsg::Newest(0)).is_err(), "none of its kind waits");
    let stats = port.stats();
    assert_eq!(stats.kind("Newest").dropped, 5);
    assert!(stats.balanced(), "{stats:?}");
}

/// D4
#[test]
fn a_message_that_must_never_be_refused_closes_the_port() {
    let port = port();
    (0..16).for_each(|n| port.offer(ProbeMsg::Fatal(n)).unwrap());
    assert!(port.offer(ProbeMsg::Fatal(16)).is_err());
    assert_eq!(port.core.overflowed(), Some("Fatal"));
    assert!(port.core.commanded().has(Command::OVERFLOWED));
    assert_eq!(port.offer(ProbeMsg::Refuse(0)).map_err(|refused| refused.why), Err(Why::Closed));
}

/// D4
#[test]
fn control_is_taken_before_data_that_came_first() {
    let port = port();
    port.offer(ProbeMsg::Refuse(1)).unwrap();
    port.offer(ProbeMsg::Order(Order::Note(2))).unwrap();
    port.offer(ProbeMsg::Refuse(3)).unwrap();
    assert_eq!(numbers(&port), [2, 1, 3]);
}

#[test]
fn a_message_whose_time_is_over_is_counted_and_not_handled() {
    let port = port();
    port.offer_until(ProbeMsg::Refuse(1), Micros(5)).unwrap();
    port.offer(ProbeMsg::Refuse(2)).unwrap();
    assert!(matches!(port.core.take(None, true, Micros(6)), Taken::Expired));
    assert_eq!(numbers(&port), [2]);
    let counts = port.stats().kind("Refuse");
    assert_eq!((counts.expired, counts.handled, counts.depth), (1, 1, 0));
}

#[test]
fn one_wake_is_sent_until_the_next_turn() {
    let port = port();
    let wakes = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&wakes);
    port.offer(ProbeMsg::Refuse(0)).unwrap();
    port.core.driven_by(Box::new(move || {
        counted.fetch_add(1, SeqCst);
    }));
    assert_eq!(wakes.load(SeqCst), 1, "what was offered before the driver came is told");
    (0..9).for_each(|n| port.offer(ProbeMsg::Refuse(n)).unwrap());
    assert_eq!(wakes.load(SeqCst), 1);
    port.core.turn_begins();
    port.offer(ProbeMsg::Refuse(9)).unwrap();
    assert_eq!(wakes.load(SeqCst), 2);
}

#[test]
fn data_does_not_wake_an_actor_that_takes_it_only_at_its_deadline() {
    let port: Port<ProbeMsg> = Port::new(&Probe::<0, false>::SPEC, Clock::real());
    let woken = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&woken);
    port.core.driven_by(Box::new(move || told.store(true, SeqCst)));
    port.core.turn_begins();
    woken.store(false, SeqCst);
    port.offer(ProbeMsg::Refuse(0)).unwrap();
    assert!(!woken.load(SeqCst));
    port.offer(ProbeMsg::Order(Order::Note(0))).unwrap();
    assert!(woken.load(SeqCst));
}

actor_message! {
    /// Every policy, with small bounds.
    enum Storm {
        /// Refused when full.
        Refuse(u64): Data Refuse,
        /// Replaced by key.
        Keyed(u64): Data Coalesce(|key| *key % 4),
        /// Keeps the newest.
        Newest(u64): Data DropOldest,
        /// Waits.
        Waits(u64): Data Wait,
        /// In the other lane.
        Control(u64): Control Refuse,
    }
}

fn storm(n: u64) -> Storm {
    match n % 5 {
        0 => Storm::Refuse(n),
        1 => Storm::Keyed(n),
        2 => Storm::Newest(n),
        3 => Storm::Waits(n),
        _ => Storm::Control(n),
    }
}

/// D4
#[test]
fn the_accounting_adds_up_at_every_moment_with_many_senders_and_a_dying_actor() {
    const SENDERS: u64 = 4;
    const EACH: u64 = 50_000;
    let port: Port<Storm> = Port::new(&Probe::<0>::SPEC, Clock::real());
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let senders: Vec<_> = (0..SENDERS)
            .map(|sender| {
                let port = port.clone();
                scope.spawn(move || {
                    let offer = |n| match port.offer_until(storm(n), Micros(n % 7 * 10_000)) {
                        Err(Refused { why: Why::MustWait, .. }) => 0,
                        _ => 1u64,
                    };
                    (0..EACH).map(|n| offer(n * SENDERS + sender)).sum::<u64>()
                })
            })
            .collect();
        let actor = scope.spawn(|| {
            let mut last = None;
            let mut handled = 0;
            while handled < EACH {
                last = match port.core.take(last.take(), true, Clock::real().now()) {
                    Taken::Message(held) if held.kind == 2 && handled % 100 == 0 => {
                        Some(Settled::Lost)
                    }
                    Taken::Message(_) => Some(Settled::Handled),
                    Taken::Expired | Taken::Nothing => None,
                };
                handled += 1;
            }
            // It dies with a message in hand, while the others still send.
            while !matches!(port.core.take(last.take(), true, Micros(0)), Taken::Message(_)) {
                thread::yield_now();
                if over.load(SeqCst) {
                    break;
                }
            }
            port.core.close();
        });
        let watcher = scope.spawn(|| {
            let mut looks = 0u64;
            while !over.load(SeqCst) {
                let stats = port.stats();
                assert!(stats.balanced(), "{stats:?}");
                looks += 1;
            }
            looks
        });
        let offered: u64 = senders.into_iter().map(|sender| sender.join().unwrap()).sum();
        over.store(true, SeqCst);
        actor.join().unwrap();
        assert!(watcher.join().unwrap() > 10);
        let stats = port.stats();
        assert_eq!(stats.total().offered, offered);
        assert_eq!(stats.total().depth, 0);
        assert!(stats.balanced() && stats.closed, "{stats:?}");
        assert!(stats.kinds.iter().all(|(_, counts)| counts.handled > 0), "{stats:?}");
    });
}

/// D4
#[test]
fn every_sender_that_waits_gets_its_message_in_and_nobody_waits_for_ever() {
    let port: Port<Storm> = Port::new(&Probe::<0>::SPEC, Clock::real());
    let tasks = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let got = tasks.block_on(async {
        let sends: Vec<_> = (0..200).map(|n| tokio::spawn(port.send(Storm::Waits(n)))).collect();
        // Some give up: their place in the line must not keep the others waiting.
        sends.iter().skip(20).step_by(3).for_each(tokio::task::JoinHandle::abort);
        let mut got = Vec::new();
        for _ in 0..100 {
            tokio::time::sleep(Duration::from_millis(1)).await;
            got.extend(drain(&port));
        }
        got.len()
    });
    let waited = port.stats().kind("Waits").waited;
    assert!(waited >= 100, "{waited} waits");
    assert!(got >= 200 - 60, "{got} got in");
}

#[test]
fn an_inlet_speaks_another_type_and_waits_for_a_place() {
    let port = port();
    let inlet: Inlet<&'static str> =
        port.inlet(|text: &str| ProbeMsg::Waits(u32::try_from(text.len()).unwrap()));
    (0..16).for_each(|_| inlet.offer("four").unwrap());
    assert_eq!(inlet.offer("lost"), Err(Why::MustWait));
    let tasks = tokio::runtime::Builder::new_current_thread().build().unwrap();
    tasks.block_on(async {
        let sending = tokio::spawn(async move { inlet.send("waits").await });
        tokio::task::yield_now().await;
        assert!(!sending.is_finished());
        assert_eq!(numbers(&port).len(), 16);
        assert_eq!(sending.await.unwrap(), Ok(()));
        assert_eq!(numbers(&port), [5]);
    });
}

#[test]
fn closing_tells_whoever_waits() {
    let port = port();
    (0..16).for_each(|n| port.offer(ProbeMsg::Waits(n)).unwrap());
    let tasks = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let why = tasks.block_on(async {
        let sending = tokio::spawn(port.send(ProbeMsg::Waits(16)));
        tokio::task::yield_now().await;
        port.core.close();
        sending.await.unwrap().map_err(|refused| refused.why)
    });
    assert_eq!(why, Err(Why::Closed));
    let counts = port.stats().kind("Waits");
    assert_eq!((counts.lost, counts.refused), (16, 1));
}
