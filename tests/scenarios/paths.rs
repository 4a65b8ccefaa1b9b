//! Paths that are cut, healed, isolated and moved under whole servers and clients, and hostile
//! peers beside them.

use dh_host::net::{Burst, Cut, Link, Links};
use dh_machine::Micros;
use dh_scenario::{PeerId, PeerSetup, Report, ServerId, ServerSetup, Transport, World, hostile};

use crate::stage::{self, BOTH, SECOND, nobody_panicked, play, player};

const ADA: PeerId = PeerId(0);

/// A path with losses that come in threes, some copies, and a delay with a tail.
fn rough() -> Links {
    Links::both(Link {
        latency: Micros::from_millis(25),
        tail: Micros::from_millis(20),
        duplicate_ppm: 20_000,
        burst: Burst::of(20_000, 3),
        ..Link::IDEAL
    })
}

fn world(transport: Transport, course: impl AsyncFnOnce(&mut World, ServerId, PeerId)) -> Report {
    let report = stage::world(transport, ServerSetup::default(), async |world, server| {
        let ada = world.peer(PeerSetup::new("ada").over(rough()));
        play(world, server, ada).await;
        world.walk(ada, 20, 100);
        world.run_for(SECOND).await;
        course(world, server, ada).await;
        world.expect("ada still plays", world.is_playing(ada));
        nobody_panicked(world.runtime());
    });
    let ada = report.records.peer(ADA);
    assert!(ada.endings.is_empty() && ada.spawns.len() == 1, "{:?}", ada.endings);
    report
}

/// Snapshots that came to ada between these moments of the world's clock.
fn snapshots(report: &Report, from: Micros, to: Micros) -> usize {
    let seen = &report.records.peer(ADA).snapshots;
    seen.iter().filter(|(at, _)| (from..to).contains(at)).count()
}

#[test]
fn a_player_whose_address_changes_plays_on_and_the_run_repeats() {
    for transport in BOTH {
        let run = || {
            let mut moved = Micros(0);
            let report = world(transport, async |world, _server, ada| {
                let before = world.client(ada).path().address();
                let after = world.client(ada).rebind().unwrap();
                assert_ne!(before, Some(after));
                moved = world.runtime().now();
                world.run_for(Micros::from_secs(3)).await;
            });
            let seen = snapshots(&report, moved + SECOND, moved + Micros::from_secs(3));
            assert!(seen > 100, "{transport:?}: {seen} snapshots in two seconds");
            let trace = report.wire;
            assert!(trace.copied > 2, "{trace:?}");
            (trace, report.hashes)
        };
        assert_eq!(run(), run(), "{transport:?}");
    }
}

#[test]
fn a_player_who_is_cut_off_for_two_seconds_plays_on_when_the_path_heals() {
    for transport in BOTH {
        for cut in [Cut::BOTH, Cut::UP, Cut::DOWN] {
            let mut began = Micros(0);
            let report = world(transport, async |world, _server, ada| {
                began = world.runtime().now();
                world.client(ada).path().cut(cut);
                world.run_for(Micros::from_secs(2)).await;
                world.client(ada).path().heal();
                world.run_for(Micros::from_secs(3)).await;
            });
            let of = |from, to| {
                let [from, to] = [from, to].map(|it| began + Micros::from_millis(it));
                snapshots(&report, from, to)
            };
            let meanwhile = of(200, 2_000);
            assert_eq!(meanwhile == 0, cut.down, "{transport:?} {cut:?}: {meanwhile}");
            assert!(of(3_500, 5_000) > 70, "{transport:?} {cut:?}: {}", of(3_500, 5_000));
        }
    }
}

#[test]
fn of_two_servers_the_one_that_is_isolated_is_missed_and_the_other_is_not() {
    for transport in BOTH {
        world(transport, async |world, server, _ada| {
            let other = world.server(ServerSetup::default());
            let bob = player(world, other, "bob").await;
            let address = world.running(server).address();
            world.runtime().net().isolate(address);
            world.run_for(Micros::from_millis(500)).await;
            let seen = |world: &World, peer| world.records().peer(peer).snapshots.len();
            let (ada_had, bob_had) = (seen(world, ADA), seen(world, bob));
            world.run_for(SECOND).await;
            assert_eq!(seen(world, ADA), ada_had);
            assert!(seen(world, bob) > bob_had + 50);
            world.runtime().net().reunite(address);
            world.run_for(Micros::from_secs(3)).await;
            assert!(seen(world, ADA) > ada_had + 50);
        });
    }
}

#[test]
fn a_flood_half_open_handshakes_and_a_slow_reader_leave_a_player_alone() {
    world(Transport::Quic, async |world, server, _ada| {
        let address = world.running(server).address();
        let flood = world.runtime().net().flood(address, 3_000, Micros::from_secs(2)).unwrap();
        let half_open = world.runtime().net().half_open(address, 20).unwrap();
        let transport = Transport::Quic;
        let slow = hostile::slow_reader(world.runtime(), transport, address, "eve").unwrap();
        let joined = |it: &World| {
            it.records().server(server).session_of("eve").is_some_and(|it| it.ended.is_none())
        };
        world.expect_within(Micros::from_secs(6), "the slow reader joins", joined).await;
        world.run_for(Micros::from_secs(3)).await;
        assert_eq!((flood.count(), half_open.count(), slow.count()), (6_000, 20, 1));
        drop(slow);
        let left = |it: &World| {
            it.records().server(server).session_of("eve").is_some_and(|it| it.ended.is_some())
        };
        world.expect_within(Micros::from_secs(12), "the slow reader is gone", left).await;
    });
}
