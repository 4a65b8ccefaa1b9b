//! A link that is cut while its player walks: what the server does meanwhile, and after.

use dh_host::net::{Link, Links};
use dh_machine::{Micros, Tick};
use dh_messages::{EntityId, Form};
use dh_scenario::{PeerSetup, Scenario, ServerSetup, Transport, World};

use crate::raw::{Dial, Raw};

/// What one tick knew of the walker, as a second peer was told.
#[derive(Clone, Copy, Debug)]
struct Seen {
    tick: Tick,
    feet: [f32; 3],
    look: [f32; 2],
}

fn seen(witness: &Raw, pawn: EntityId) -> Vec<Seen> {
    let snapshots = witness.snapshots();
    let of = |snapshot: &dh_messages::Snapshot| {
        let record = snapshot.records.iter().find(|record| record.id == pawn)?;
        let Form::Entity(state) = &record.form;
        let (feet, look) = (state.position, [state.yaw, state.pitch]);
        Some(Seen { tick: Tick(snapshot.head.tick), feet, look })
    };
    snapshots.iter().filter_map(of).collect()
}

fn step(before: &Seen, after: &Seen) -> f32 {
    let [dx, dz] = [0, 2].map(|axis| after.feet[axis] - before.feet[axis]);
    (dx * dx + dz * dz).sqrt()
}

/// INQ-06, INQ-07, INQ-08, INQ-09, CLK-04: three ticks of the last input, then none but friction;
/// nothing is acknowledged meanwhile; and when input comes again, one a tick is used again.
#[test]
fn a_walker_whose_link_is_cut_walks_three_ticks_more_and_stops() {
    let mut made = None;
    let path = Links::both(Link { latency: Micros::from_millis(20), ..Link::IDEAL });
    let report = Scenario::new("cut while walking", 21).closely().run(async |world: &mut World| {
        let server = world.server(ServerSetup::default());
        let witness = Raw::dial(world, server, Dial::new(1, Transport::Quic));
        witness.join(world, "witness").await;
        let ada = world.peer(PeerSetup::new("ada").over(path));
        world.join(ada, server);
        world.expect_within(Micros::from_secs(5), "ada plays", |world| world.is_playing(ada)).await;
        world.look(ada, 0.3, 0.2);
        world.walk(ada, 0, 127);
        world.run_for(Micros::from_secs(1)).await;
        // Answers still come down.
        world.relink(ada, Links { up: Link::CUT, ..path });
        world.run_for(Micros::from_millis(700)).await;
        world.relink(ada, path);
        world.run_for(Micros::from_secs(1)).await;
        let pawn = world.records().peer(ada).spawns[0].1;
        made = Some((server, ada, seen(&witness, pawn)));
    });
    report.assert_passed();
    let (server, ada, seen) = made.unwrap();
    let session = report.records.server(server).session_of("ada").unwrap();
    let (first, last) = (session.starved[0], *session.starved.last().unwrap());
    let run = last.0 - first.0 + 1;
    assert_eq!(session.starved.len(), run as usize, "one run: {:?}", session.starved);
    assert!((35..45).contains(&run), "{run} ticks of 700 ms less what waited");

    let at = |tick: u32| seen.iter().find(|seen| seen.tick.0 == tick).unwrap();
    let moved = |tick: u32| step(at(tick - 1), at(tick));
    let walk = 4.5 / 60.0;
    for tick in [first.0 - 1, first.0, first.0 + 1, first.0 + 2] {
        assert!((moved(tick) - walk).abs() < 1e-3, "{tick}: {}", moved(tick));
    }
    for tick in first.0 + 3..=last.0 {
        assert!(moved(tick) < moved(tick - 1).max(1e-6), "{tick}: {}", moved(tick));
        assert_eq!(at(tick).look.map(f32::to_bits), [0.3, 0.2].map(f32::to_bits), "it stays");
    }
    let slid = step(at(first.0 + 2), at(last.0));
    assert!((0.2..1.0).contains(&slid), "it stops within a metre, by friction: {slid}");
    assert!(moved(last.0) < 1e-6);

    let used = |from: u32, to: u32| {
        session.applied.iter().filter(|(tick, _)| (from..=to).contains(&tick.0)).count()
    };
    assert_eq!(used(first.0, last.0), 0, "nothing is acknowledged");
    assert_eq!(used(last.0 + 1, last.0 + 50), 50, "and then one input a tick");

    let depths: Vec<i8> = report.records.peer(ada).clock.iter().map(|(_, it)| it.depth).collect();
    let at = depths.iter().position(|depth| *depth == -1).unwrap();
    let counted: Vec<i8> = (1..=i8::try_from(run).unwrap()).map(|run| -run).collect();
    assert_eq!(depths[at..at + counted.len()], counted);
    assert!(depths[at + counted.len()..].iter().all(|depth| 0 <= *depth));
}
