//! The client's tick clock over links of every length: how deep it keeps the server's queue.

use crate::log::lines_of;
use dh_client::{ClockReading, Manner};
use dh_host::net::{Link, Links};
use dh_machine::{Micros, Tick};
use dh_scenario::{
    PeerId, PeerRecord, PeerSetup, Scenario, ServerId, ServerSetup, Transport, World,
};

fn one_way(millis: u64) -> Links {
    Links::both(Link { latency: Micros::from_millis(millis), ..Link::IDEAL })
}

async fn join(world: &mut World, peer: PeerId, server: ServerId) {
    world.join(peer, server);
    world.expect_within(Micros::from_secs(10), "it plays", |world| world.is_playing(peer)).await;
}

fn peer_named(world: &mut World, name: &str, links: Links) -> PeerId {
    world.peer(PeerSetup::new(name).over(links).flown(Manner::Walker))
}

/// Readings of one peer from `from` on.
fn since(record: &PeerRecord, from: Micros) -> impl Iterator<Item = &ClockReading> {
    record.clock.iter().filter(move |(at, _)| from <= *at).map(|(_, reading)| reading)
}

fn mean_depth(record: &PeerRecord, from: Micros) -> f32 {
    let depths: Vec<f32> = since(record, from).map(|it| f32::from(it.depth)).collect();
    depths.iter().sum::<f32>() / depths.len() as f32
}

/// CLK-01, CLK-03, CLK-05: at round trips of 0, 50, 100, 200 and 300 ms the server's queue is two
/// deep, 1 to 3 at any moment after 5 s, with no tick starved, and the target is the same.
#[test]
fn the_servers_queue_stays_two_deep_whatever_the_round_trip() {
    for transport in [Transport::Quic, Transport::Memory] {
        let lengths = [0, 25, 50, 100, 150];
        let (mut made, mut settled) = (None, Micros(0));
        let report = Scenario::new("round trips", 11).transport(transport).closely().run(
            async |world: &mut World| {
                let server = world.server(ServerSetup::default());
                let mut peers = Vec::new();
                for length in lengths {
                    let peer = peer_named(world, &format!("far{length}"), one_way(length));
                    join(world, peer, server).await;
                    peers.push(peer);
                }
                world.run_for(Micros::from_secs(5)).await;
                settled = world.runtime().now();
                world.run_for(Micros::from_secs(60)).await;
                made = Some((server, peers));
            },
        );
        report.assert_passed();
        let (server, peers) = made.unwrap();
        for (peer, length) in peers.into_iter().zip(lengths) {
            let what = format!("{transport:?}, {} ms", 2 * length);
            let record = report.records.peer(peer);
            for reading in since(record, settled) {
                assert!((1..=3).contains(&reading.depth), "{what}: {reading:?}");
                assert_eq!(reading.target.to_bits(), 2.0_f32.to_bits(), "{what}: {reading:?}");
                assert!(!reading.holding, "{what}: {reading:?}");
            }
            let depth = mean_depth(record, settled);
            assert!((depth - 2.0).abs() < 0.5, "{what}: {depth}");
            let name = format!("far{length}");
            let session = report.records.server(server).session_of(&name).unwrap();
            assert_eq!(session.starved, [], "{what}");
        }
    }
}

/// CLK-08: what jitter has earned is given back, and with it the latency.
#[test]
fn the_margin_that_jitter_earned_is_given_back_in_calm() {
    let (mut made, mut calm) = (None, Micros(0));
    let report = Scenario::new("jitter, then calm", 12).closely().run(async |world: &mut World| {
        let server = world.server(ServerSetup::default());
        let setup = PeerSetup::new("ada").over(one_way(60)).with("client.net.marginDecay=2");
        let peer = world.peer(setup);
        join(world, peer, server).await;
        let jitter = Link { draw: Micros(115_000), ..one_way(120).up };
        world.relink(peer, Links::both(jitter));
        world.run_for(Micros::from_secs(10)).await;
        calm = world.runtime().now();
        world.relink(peer, one_way(60));
        world.run_for(Micros::from_secs(45)).await;
        made = Some(peer);
    });
    report.assert_passed();
    let record = report.records.peer(made.unwrap());
    let before = record.clock.iter().filter(|(at, _)| *at < calm);
    let highest = before.map(|(_, it)| it.target).fold(0.0, f32::max);
    assert!(highest > 3.0, "{highest}");
    for reading in since(record, calm + Micros::from_secs(30)) {
        assert_eq!(reading.target.to_bits(), 2.0_f32.to_bits(), "{reading:?}");
        assert!((1..=3).contains(&reading.depth), "{reading:?}");
    }
}

/// CLK-09: a cut link holds at sixty inputs without an answer, and ends with the first answers;
/// 300 ms never hold.
#[test]
fn only_a_dead_link_holds_and_not_longer_than_it_is_dead() {
    let (mut made, mut cut, mut mended) = (None, Micros(0), Micros(0));
    let report = Scenario::new("a dead link", 13).closely().run(async |world: &mut World| {
        let server = world.server(ServerSetup::default());
        let (near, far) =
            (peer_named(world, "near", one_way(30)), peer_named(world, "far", one_way(150)));
        join(world, near, server).await;
        join(world, far, server).await;
        world.run_for(Micros::from_secs(3)).await;
        cut = world.runtime().now();
        world.relink(near, Links::CUT);
        world.run_for(Micros::from_secs(3)).await;
        mended = world.runtime().now();
        world.relink(near, one_way(30));
        world.run_for(Micros::from_secs(5)).await;
        made = Some((server, near, far));
    });
    report.assert_passed();
    let (server, near, far) = made.unwrap();
    let record = report.records.peer(far);
    assert!(record.clock.iter().all(|(_, it)| !it.holding && it.unacked < 40));

    let record = report.records.peer(near);
    assert!(record.clock.iter().all(|(_, it)| it.unacked <= 60));
    assert!(since(record, Micros(0)).any(|it| 55 <= it.unacked), "the answer found it holding");
    let after: Vec<_> = since(record, mended + Micros::from_millis(500)).collect();
    assert!(after.iter().all(|it| !it.holding), "it is over within half a second");
    // Datagrams went on at tick pace all the while.
    let session = report.records.server(server).session_of("near").unwrap();
    let newest = |ticks: &[(Tick, u32)]| ticks.last().map_or(0, |(_, sequence)| *sequence);
    assert!(record.sent.len() > newest(&session.applied) as usize + 90, "{}", record.sent.len());
    assert!(record.endings.is_empty(), "{:?}", record.endings);
    assert!(cut < mended);
}

/// CLK-11: the next session's clock knows nothing of the one before.
#[test]
fn a_jittery_server_leaves_nothing_behind_for_the_next() {
    let mut made = None;
    let report = Scenario::new("from bad to good", 14).closely().run(async |world: &mut World| {
        let (bad, good) =
            (world.server(ServerSetup::default()), world.server(ServerSetup::default()));
        let jitter = Links::both(Link { draw: Micros(115_000), ..one_way(120).up });
        let peer = peer_named(world, "ada", jitter);
        join(world, peer, bad).await;
        world.run_for(Micros::from_secs(5)).await;
        let readings = world.records().peer(peer).clock.len();
        world.relink(peer, one_way(10));
        world.join(peer, good);
        let spawned = |world: &World| world.records().peer(peer).spawns.len() == 2;
        world.expect_within(Micros::from_secs(5), "it plays again", spawned).await;
        world.run_for(Micros::from_secs(1)).await;
        made = Some((peer, readings));
    });
    report.assert_passed();
    let (peer, readings) = made.unwrap();
    let clock = &report.records.peer(peer).clock;
    assert!(clock[readings - 1].1.target > 2.5, "{:?}", clock[readings - 1]);
    let (_, first) = clock[readings];
    let fresh = ClockReading {
        depth: 0,
        smoothed: 0.0,
        target: 2.0,
        rate: 1.02,
        unacked: 0,
        holding: false,
    };
    assert_eq!(first, fresh, "a first reading, with no margin");
}

/// PACE-07, netcode OQ-18: the time scale changes how many ticks a real second has, at both ends
/// alike and from one moment on, so that nobody waits for the other and no host counts as slow.
#[test]
fn another_time_scale_starves_nobody_piles_up_nothing_and_is_no_slow_server() {
    for (scale, ticks) in [("0.5", 30), ("2", 120)] {
        let (mut made, mut settled) = (None, Micros(0));
        let mut span = [Tick(0); 2];
        let lines = lines_of(|| {
            let report = Scenario::new("another scale", 15).closely().run(async |world| {
                let server = world.server(ServerSetup::default());
                let peer = peer_named(world, "ada", one_way(30));
                join(world, peer, server).await;
                world.run_for(Micros::from_secs(2)).await;
                world.console(server, &format!("world.timeScale {scale}"));
                world.run_for(Micros::from_secs(10)).await;
                settled = world.runtime().now();
                let tick = |world: &World| world.records().server(server).last_tick.unwrap().0;
                span[0] = tick(world);
                world.run_for(Micros::from_secs(10)).await;
                span[1] = tick(world);
                made = Some((server, peer));
            });
            report.assert_passed();
            let (server, peer) = made.unwrap();
            for reading in since(report.records.peer(peer), settled) {
                assert!((1..=4).contains(&reading.depth), "x{scale}: {reading:?}");
                assert!(!reading.holding, "x{scale}: {reading:?}");
            }
            let session = report.records.server(server).session_of("ada").unwrap();
            let starved = session.starved.iter().filter(|tick| span[0] < **tick).count();
            assert_eq!((starved, session.overflowed.len()), (0, 0), "x{scale}");
        });
        assert!((span[1].0 - span[0].0).abs_diff(10 * ticks) <= 2, "x{scale}: {span:?}");
        assert!(!lines.iter().any(|line| line.contains("instead of")), "x{scale}: {lines:?}");
    }
}
