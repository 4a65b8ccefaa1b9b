//! What a session does with datagrams: inputs on, acknowledgements kept, the rest counted.

use dh_messages::{Few8, Input, PlayerInput, SnapshotAck, datagram};

use super::super::bucket::{Bucket, CHAT, CONSOLE};
use super::*;
use crate::event::ServerEvent;
use crate::session::datagrams::{BURST_MAX, LOG_INTERVAL, PER_TICK_MAX};

fn input(sequences: &[u32], ack: SnapshotAck) -> SessionMsg {
    let inputs: Vec<PlayerInput> = sequences
        .iter()
        .map(|sequence| PlayerInput { sequence: *sequence, ..PlayerInput::default() })
        .collect();
    let inputs = Few8::try_from(&inputs[..]).unwrap();
    let mut bytes = Vec::new();
    datagram(&mut Input { snapshot_ack: ack, inputs }, &mut bytes).unwrap();
    SessionMsg::Datagram(bytes.into())
}

fn handed_on(effects: &[Effect]) -> Vec<u32> {
    let inputs = effects.iter().filter_map(|effect| match effect {
        Effect::Inputs(inputs) => Some(inputs.iter().map(|input| input.sequence)),
        _ => None,
    });
    inputs.flatten().collect()
}

#[test]
fn inputs_are_handed_on_oldest_first_and_only_of_a_peer_that_plays() {
    let ack = SnapshotAck::default();
    assert_eq!(handed_on(&Talk::playing().tell(input(&[9, 8, 7], ack))), [7, 8, 9]);
    for phase in [Phase::Identifying, Phase::Loading, Phase::Spawning { slot: 4 }] {
        let effects = Talk::at(&phase).tell(input(&[9], ack));
        assert!(handed_on(&effects).is_empty());
        assert!(logged(&effects)[0].contains("1 before play"), "{effects:?}");
    }
}

/// So many datagrams in one breath; how many were used, and what was logged.
fn flood(talk: &mut Talk, count: u32) -> (usize, Vec<String>) {
    let (mut used, mut lines) = (0, Vec::new());
    for sequence in 1..=count {
        let effects = talk.tell(input(&[sequence], SnapshotAck::default()));
        used += handed_on(&effects).len();
        lines.extend(logged(&effects).into_iter().map(str::to_owned));
    }
    (used, lines)
}

#[test]
fn what_a_path_that_stood_still_held_back_is_no_flood() {
    let mut talk = Talk::playing();
    assert_eq!(flood(&mut talk, BURST_MAX), (32, vec![]));
    talk.now = TickRate::DEFAULT.due(2);
    assert_eq!(flood(&mut talk, BURST_MAX).0, 31, "and two ticks later nearly as much");
}

#[test]
fn a_flood_is_cut_to_sixteen_datagrams_a_tick_and_told_once_a_minute() {
    let mut talk = Talk::playing();
    let (mut used, mut lines) = (0, Vec::new());
    for tick in 0..600 {
        talk.now = TickRate::DEFAULT.due(tick);
        let (more, told) = flood(&mut talk, 100);
        used += more;
        lines.extend(told);
    }
    let most = usize::try_from(599 * PER_TICK_MAX + BURST_MAX).unwrap();
    assert!((most - 1..=most).contains(&used), "{used} of {most}");
    assert_eq!(lines.len(), 1, "{lines:?}");
    talk.now = LOG_INTERVAL + Micros::from_secs(1);
    let (_, told) = flood(&mut talk, BURST_MAX + 1);
    assert!(told[0].contains(&format!("{} over 16 a tick", 60_000 - used + 1)), "{told:?}");
}

#[test]
fn what_cannot_be_read_is_dropped_counted_and_ends_nothing() {
    let mut talk = Talk::playing();
    let garbage: [&[u8]; 5] = [b"", b"\x03", b"\x03\x00\x01", b"\x06anything", b"\xff\xff\xff"];
    let mut lines = 0;
    for bytes in garbage {
        let effects = talk.tell(SessionMsg::Datagram(Bytes::from_static(bytes)));
        lines += logged(&effects).len();
        assert!(handed_on(&effects).is_empty() && !talk.has_ended());
    }
    assert_eq!(lines, 1);
    let effects = talk.tell(SessionMsg::End(Ending::new(dh_messages::CloseCode::Closed, "over")));
    assert!(logged(&effects)[0].contains("5 unreadable"), "the sum is told at the end");
}

#[test]
fn an_input_that_is_no_number_is_unreadable() {
    let mut talk = Talk::playing();
    let SessionMsg::Datagram(bytes) = input(&[9], SnapshotAck::default()) else { panic!() };
    let mut bytes = bytes.to_vec();
    let pitch = bytes.len() - 4;
    bytes[pitch..].copy_from_slice(&f32::NAN.to_le_bytes());
    let effects = talk.tell(SessionMsg::Datagram(bytes.into()));
    assert!(handed_on(&effects).is_empty());
    assert!(logged(&effects)[0].contains("1 unreadable"));
}

#[test]
fn an_acknowledgement_that_was_overtaken_or_lies_ahead_is_passed_over() {
    let mut talk = Talk::playing();
    frames(0, 5).into_iter().for_each(|it| drop(talk.tell(SessionMsg::Published(it))));
    for (tick, mask, newest) in [(3, 0b11, 3), (2, 0b1, 3), (900, 0, 3), (5, 0b1111, 5)] {
        talk.tell(input(&[], SnapshotAck { tick, mask }));
        assert_eq!(talk.session.acks.newest(), Tick(newest));
    }
    assert_eq!(talk.session.acks.mask(), 0b1111);
}

#[test]
fn a_watcher_hears_of_every_datagram_that_was_read() {
    let mut talk = Talk::new(Opening { watched: true, ..opening() });
    let kept = Kept {
        phase: Phase::Playing { slot: 4, pawn: PAWN },
        presence: Presence::new(PeerId(3), ENDPOINT.to_owned(), false),
        map: (opening().advert, true),
        buckets: [Bucket::full(CHAT, Micros(0)), Bucket::full(CONSOLE, Micros(0))],
        speech: talk.session.speech.clone(),
    };
    talk.session = Session::resume(Opening { watched: true, ..opening() }, kept, Micros(0));
    let effects = talk.tell(input(&[9, 8], SnapshotAck::default()));
    let came = ServerEvent::InputCame { peer: PeerId(3), sequences: vec![9, 8] };
    assert_eq!(effects[0], Effect::Tell(came));
}
