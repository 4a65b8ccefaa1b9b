//! What is sent of each frame: whole, cut, or not at all, and what is logged of it.

use dh_messages::limit::{PACKET_BYTES_MAX, SNAPSHOT_FRAGMENTS_MAX};
use dh_messages::{Form, NetKind, Snapshot, SnapshotFragment, decode};
use dh_netcode::{Assembler, Joined};

use super::*;
use crate::session::diagnostics::DIAGNOSTICS_INTERVAL;

fn datagrams(effects: &[Effect]) -> Vec<Bytes> {
    let sent = effects.iter().filter_map(|effect| match effect {
        Effect::Datagrams(datagrams) => Some(datagrams.clone()),
        _ => None,
    });
    sent.flatten().collect()
}

fn detailed(effects: &[Effect]) -> Vec<&str> {
    let lines = effects.iter().filter_map(|effect| match effect {
        Effect::Detail(line) => Some(line.as_str()),
        _ => None,
    });
    lines.collect()
}

/// The snapshot that these fragments are of.
fn joined(fragments: &[Bytes]) -> Vec<u8> {
    let mut assembler = Assembler::new();
    for bytes in fragments {
        let (id, body) = bytes.split_first().unwrap();
        assert_eq!(*id, SnapshotFragment::ID);
        let SnapshotFragment { tick, index, count, slice } = decode(body).unwrap();
        if let Joined::Whole(whole) = assembler.accept(Tick(tick), index, count, &slice).unwrap() {
            return whole.to_vec();
        }
    }
    panic!("{} fragments make no snapshot", fragments.len());
}

/// SNAP-14, KIND-01, KIND-02
#[test]
fn a_snapshot_that_fits_is_one_datagram_with_everything_in_it() {
    let frame = frame(3);
    let sent = datagrams(&Talk::playing().tell(SessionMsg::Published(Arc::clone(&frame))));
    let [whole] = &sent[..] else { panic!("{} datagrams", sent.len()) };
    assert_eq!(whole[0], Snapshot::ID);
    let snapshot: Snapshot = decode(&whole[1..]).unwrap();
    assert_eq!((snapshot.head.tick, snapshot.head.input_ack), (1, 77));
    assert_eq!((snapshot.head.owner.pawn, snapshot.head.owner.depth), (PAWN, 2));
    let records: Vec<_> = frame.records().copied().collect();
    assert_eq!(snapshot.records.0, records);
    let Form::Entity(pawn) = records[0].form;
    assert_eq!(pawn.kind, NetKind::PlayerPawn);
}

/// KIND-05
#[test]
fn an_entity_of_a_kind_nobody_knows_travels_beside_the_others() {
    let mut world = World::gray_box(TickRate::DEFAULT);
    world.spawn_pawn(4).unwrap();
    for kind in [NetKind::of_value(200), NetKind::Prop] {
        world.spawn_prop(prop(kind, 1.0)).unwrap();
    }
    world.step(|_| None);
    let frame = world.publish(|_| Answer::default());
    let sent = datagrams(&Talk::playing().tell(SessionMsg::Published(frame)));
    let snapshot: Snapshot = decode(&sent[0][1..]).unwrap();
    let kinds = snapshot.records.iter().map(|record| {
        let Form::Entity(state) = record.form;
        state.kind.value()
    });
    assert_eq!(kinds.collect::<Vec<_>>(), [1, 200, 2]);
}

/// SNAP-01, SNAP-06
#[test]
fn no_datagram_exceeds_the_budget_in_force_and_the_fragments_are_the_snapshot() {
    for budget in [PACKET_BYTES_MAX, 1_162, 600, 300] {
        for props in [0, 20, 25, 60] {
            let frame = frame(props);
            let mut talk = Talk::playing();
            talk.tell(SessionMsg::Budget(budget));
            let sent = datagrams(&talk.tell(SessionMsg::Published(Arc::clone(&frame))));
            assert!(sent.iter().all(|it| it.len() <= budget), "{budget} with {props} props");
            let whole = if sent.len() == 1 { sent[0].to_vec() } else { joined(&sent) };
            let snapshot: Snapshot = decode(&whole[1..]).unwrap();
            assert!(snapshot.records.iter().eq(frame.records()));
        }
    }
}

/// SNAP-06
#[test]
fn three_thousand_bytes_go_as_three_fragments() {
    let frame = frame(55);
    let sent = datagrams(&Talk::playing().tell(SessionMsg::Published(frame)));
    let bytes: usize = joined(&sent).len();
    assert!((2_387..=3_579).contains(&bytes), "{bytes}");
    assert_eq!(sent.len(), 3);
}

/// SNAP-13, SNAP-16
#[test]
fn a_snapshot_of_more_than_sixteen_fragments_is_not_sent_and_the_log_says_so_once() {
    let mut talk = Talk::playing();
    let mut lines = Vec::new();
    for frame in frames(800, 60) {
        let effects = talk.tell(SessionMsg::Published(frame));
        assert!(datagrams(&effects).is_empty());
        lines.extend(logged(&effects).into_iter().map(str::to_owned));
    }
    let [line] = &lines[..] else { panic!("{lines:?}") };
    assert!(line.contains("801 records") && line.contains("not sent"), "{line}");
    assert!(line.contains(&format!("at most {SNAPSHOT_FRAGMENTS_MAX}")), "{line}");
}

/// SNAP-16
#[test]
fn a_steady_world_is_told_once_and_each_change_of_it_once_more() {
    let mut talk = Talk::playing();
    let mut lines = 0;
    for (props, want) in [(3, 1), (4, 2), (40, 3), (3, 4)] {
        for frame in frames(props, 120) {
            lines += logged(&talk.tell(SessionMsg::Published(frame))).len();
        }
        assert_eq!(lines, want);
    }
    talk.tell(SessionMsg::Budget(100));
    lines += logged(&talk.tell(SessionMsg::Published(frame(3)))).len();
    assert_eq!(lines, 5, "the budget was crossed by itself");
}

/// SNAP-17
#[test]
fn the_figures_of_an_interval_are_told_at_its_end() {
    let mut talk = Talk::playing();
    let mut lines: Vec<String> = Vec::new();
    let mut bytes = 0;
    for (at, frame) in (1..).zip(frames(30, 1_199)) {
        talk.now = TickRate::DEFAULT.due(at);
        let effects = talk.tell(SessionMsg::Published(frame));
        if lines.is_empty() {
            bytes += joined(&datagrams(&effects)).len();
        }
        lines.extend(detailed(&effects).into_iter().map(str::to_owned));
    }
    assert_eq!(lines.len(), 1, "600 ticks are {} us: {lines:?}", DIAGNOSTICS_INTERVAL.0);
    let want = format!(
        "SnapshotDiagnostics for ada ({ENDPOINT}): 600 snapshots of 31 to 31 records, {bytes} \
         bytes in 1200 datagrams"
    );
    assert!(lines[0].starts_with(&want), "{lines:?}");
}

#[test]
fn a_pawn_that_is_not_in_the_frame_gets_no_snapshot() {
    let mut world = World::gray_box(TickRate::DEFAULT);
    world.step(|_| None);
    let empty = world.publish(|_| Answer::default());
    assert!(datagrams(&Talk::playing().tell(SessionMsg::Published(empty))).is_empty());
}

#[test]
fn the_round_trip_is_measured_with_the_first_frame_and_then_once_a_second() {
    let mut talk = Talk::playing();
    let mut reported = Vec::new();
    for (tick, frame) in frames(0, 121).into_iter().enumerate() {
        if talk.tell(SessionMsg::Published(frame)).contains(&Effect::ReportPing) {
            reported.push(tick);
        }
    }
    assert_eq!(reported, [0, 60, 120]);
}
