//! Snapshots and changes against what actors did.

use dh_machine::Micros;
use rand_chacha::rand_core::Rng;

use crate::inspect::follow::Follower;
use crate::inspect::{Collector, Process, Snapshot, State};
use crate::probe::{Log, Order, Probe, ProbeMsg};
use crate::{Place, Port, Runtime, Simulation};

fn collector(runtime: &Runtime) -> Collector {
    Collector::new(runtime.clone(), Process { simulated: true, ..Process::default() })
}

/// A snapshot without what a stream does not keep up to date.
fn comparable(mut snapshot: Snapshot, like: &Snapshot) -> Snapshot {
    (snapshot.seq, snapshot.kinds) = (like.seq, like.kinds.clone());
    snapshot.now_us = like.now_us;
    (snapshot.links, snapshot.link_totals) = (like.links.clone(), like.link_totals);
    snapshot.limits.clone_from(&like.limits);
    snapshot.figures.clone_from(&like.figures);
    snapshot.actors.iter_mut().for_each(|row| row.messages = Vec::new());
    snapshot
}

/// A snapshot without what a stream tells but once a second.
fn at_once(mut snapshot: Snapshot) -> Snapshot {
    for row in &mut snapshot.actors {
        (row.wait, row.handle, row.late) = Default::default();
    }
    snapshot
}

fn disturb(port: &Port<ProbeMsg>, other: &Port<ProbeMsg>, draw: u32) {
    let offered = match draw % 8 {
        0 => port.offer(ProbeMsg::Refuse(draw)),
        1 => port.offer(ProbeMsg::Keyed((u64::from(draw % 3), draw))),
        2 => port.offer(ProbeMsg::Newest(draw)),
        3 => port.offer(ProbeMsg::Order(Order::Panic("injected"))),
        4 => port.offer(ProbeMsg::Order(Order::Forward(other.clone(), 20))),
        5 => port.offer(ProbeMsg::Order(Order::Finish)),
        _ => (0..draw % 24).try_for_each(|n| port.offer(ProbeMsg::Refuse(n))),
    };
    // Whether it was taken shows in the counts.
    drop(offered);
}

/// D4
#[test]
fn whoever_applies_every_change_holds_what_a_new_snapshot_says() {
    for seed in 0..20 {
        Simulation::new(seed).run(async |runtime| {
            let mut rng = runtime.rng("disturb");
            let scope = runtime.root().contained("probes");
            let log = Log::default();
            let mut ports: Vec<_> = (0..6)
                .map(|_| scope.contained("one").spawn(Place::Control, "p", Probe::new("p", &log)))
                .collect();
            let collector = collector(&runtime);
            let base = collector.take(7, None);
            let mut follower = Follower::new(collector.clone(), None, &base);
            let mut held = follower.begin(&base);
            for _ in 0..60 {
                for _ in 0..rng.next_u32() % 4 {
                    let draw = rng.next_u32();
                    let (a, b) = (draw as usize % ports.len(), (draw >> 8) as usize % ports.len());
                    disturb(&ports[a], &ports[b], draw >> 16);
                    if draw >> 28 == 0 {
                        let one = scope.contained("one");
                        ports[a] = one.spawn(Place::Control, "p", Probe::new("p", &log));
                    }
                }
                if rng.next_u32() % 2 == 0 {
                    runtime.sleep_until(runtime.now() + Micros::from_millis(1)).await;
                }
                held.apply(follower.step()).unwrap();
                let fresh = comparable(collector.take(0, None), &held);
                assert_eq!(at_once(held.clone()), at_once(fresh), "seed {seed}");
            }
            // Nothing more happens: after a second everything has been told.
            for _ in 0..2 {
                runtime.sleep_until(runtime.now() + Micros::from_secs(1)).await;
                held.apply(follower.step()).unwrap();
            }
            let fresh = collector.take(0, None);
            assert_eq!(held.limits, fresh.limits, "seed {seed}");
            assert_eq!(held.figures, fresh.figures, "seed {seed}");
            assert_eq!(held, comparable(fresh, &held), "seed {seed}");
        });
    }
}

#[test]
fn an_actor_that_did_nothing_is_not_told_again() {
    Simulation::new(1).run(async |runtime| {
        let log = Log::default();
        let quiet = runtime.root().spawn(Place::Control, "quiet", Probe::new("quiet", &log));
        let busy = runtime.root().spawn(Place::Control, "busy", Probe::new("busy", &log));
        runtime.sleep_until(Micros::from_millis(1)).await;
        let collector = collector(&runtime);
        let base = collector.take(1, None);
        let mut follower = Follower::new(collector, None, &base);
        follower.step();
        assert_eq!(follower.step().beats, []);
        busy.offer(ProbeMsg::Refuse(1)).unwrap();
        let told = |change: crate::inspect::Change| {
            assert!(change.whole.is_empty() && change.gone.is_empty());
            change.beats.iter().map(|beat| beat.0).collect::<Vec<_>>()
        };
        let busy_id = base.at("busy").unwrap().id;
        assert_eq!(told(follower.step()), [busy_id]);
        runtime.sleep_until(Micros::from_millis(2)).await;
        assert_eq!(told(follower.step()), [busy_id]);
        assert_eq!(told(follower.step()), [] as [u64; 0]);
        runtime.sleep_until(Micros::from_secs(2)).await;
        let beats = follower.step().beats;
        assert_eq!(beats.iter().map(|beat| beat.0).collect::<Vec<_>>(), [busy_id], "its spreads");
        let is_spread = |place: &u64| (15..33).contains(place);
        assert!(beats[0].1.is_none() && beats[0].2.iter().step_by(2).all(is_spread), "{beats:?}");
        assert_eq!(follower.step().beats, []);
        drop(quiet);
    });
}

#[test]
fn a_change_of_another_stream_is_refused() {
    Simulation::new(1).run(async |runtime| {
        let collector = collector(&runtime);
        let mut held = collector.take(1, None);
        let other = collector.take(2, None);
        let change = Follower::new(collector, None, &other).step();
        assert!(held.apply(change).is_err());
    });
}

#[test]
fn sums_of_a_kind_never_go_backwards_when_its_actors_end() {
    Simulation::new(3).run(async |runtime| {
        let log = Log::default();
        let collector = collector(&runtime);
        let mut last = 0;
        for round in 1..=50 {
            let port = runtime.root().spawn(Place::Control, "one", Probe::new("one", &log));
            (0..round % 7).for_each(|n| port.offer(ProbeMsg::Refuse(n)).unwrap());
            runtime.sleep_until(runtime.now() + Micros::from_millis(1)).await;
            port.offer(ProbeMsg::Order(Order::Finish)).unwrap();
            runtime.sleep_until(runtime.now() + Micros::from_millis(1)).await;
            // Refused by who has ended: nobody's deed.
            assert!(port.offer(ProbeMsg::Refuse(0)).is_err());
            let taken = collector.take(round.into(), None);
            let kind = taken.kinds.iter().find(|kind| kind.kind == "probe").unwrap();
            assert_eq!((kind.started, kind.live), (u64::from(round), 0));
            assert!(kind.total.handled >= last, "{} after {last}", kind.total.handled);
            assert_eq!(kind.total.handled, kind.handle.count);
            let in_buckets: u64 = kind.handle.buckets.iter().map(|(_, count)| count).sum();
            assert_eq!(in_buckets, kind.handle.count);
            last = kind.total.handled;
        }
        assert!(last > 100);
    });
}

#[test]
fn an_actor_that_waits_or_fell_is_shown_so() {
    Simulation::new(1).run(async |runtime| {
        let log = Log::default();
        let scope = runtime.root().contained("pair");
        let full = scope.spawn(Place::Control, "full", Probe::<0, false>::with("full", &log));
        let waits = scope.spawn(Place::Control, "waits", Probe::new("waits", &log));
        waits.offer(ProbeMsg::Order(Order::Forward(full, 20))).unwrap();
        waits.offer(ProbeMsg::Order(Order::Panic("injected here"))).unwrap();
        runtime.sleep_until(Micros::from_millis(1)).await;
        let taken = collector(&runtime).take(1, Some("pair/waits"));
        let row = taken.at("pair/waits").unwrap();
        assert_eq!((row.panics, row.restarts, row.generation), (1, 1, 2));
        assert_eq!(row.last_panic.as_ref().unwrap().text, "injected here");
        assert!(!row.handle.buckets.is_empty());
        let full = taken.at("pair/full").unwrap();
        assert_eq!((full.data.depth, full.data.max, full.state.clone()), (16, 16, State::Idle));
        assert!(full.handle.buckets.is_empty());
        let text = serde_json::to_string(&taken).unwrap();
        assert_eq!(serde_json::from_str::<Snapshot>(&text).unwrap(), taken);
    });
}
