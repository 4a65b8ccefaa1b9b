//! What passes through while a session stands.

use dh_messages::{ChatKind, ClientNotice, ServerChat, Severity};
use dh_messages::{
    Message as _, SchemaHash, Snapshot, SnapshotFragment, SnapshotHead, Str16, datagram,
};

use super::*;

fn snapshot(tick: u32, map_generation: u32) -> Vec<u8> {
    let head = SnapshotHead { tick, map_generation, ..SnapshotHead::default() };
    let mut bytes = Vec::new();
    datagram(&mut Snapshot::new(head, Vec::new()), &mut bytes).unwrap();
    bytes
}

fn hear(rig: &mut Rig, bytes: impl Into<Bytes>) -> Vec<u32> {
    let msg = ConnectionMsg::Datagram(rig.of_now(bytes.into()));
    let tick = |it: &Effect| if let Effect::Snapshot(it) = it { Some(it.head.tick) } else { None };
    rig.tell(msg).iter().filter_map(tick).collect()
}

fn logged(rig: &Rig) -> usize {
    rig.effects
        .iter()
        .filter(|it| matches!(it, Effect::Log(line) if line.contains("datagram")))
        .count()
}

#[test]
fn snapshots_pass_while_playing_and_only_those_of_the_map_that_stands() {
    assert_eq!(hear(&mut Rig::playing(), snapshot(7, 3)), [7]);
    assert_eq!(hear(&mut Rig::playing(), snapshot(7, 4)), [0; 0]);
    assert_eq!(hear(&mut Rig::loading(), snapshot(7, 3)), [0; 0]);
}

/// PLAT-05: a snapshot that overtakes the stream finds no session to belong to yet.
#[test]
fn a_snapshot_that_comes_before_its_spawn_changes_nothing() {
    let mut rig = Rig::loading();
    assert_eq!(hear(&mut rig, snapshot(7, 3)), [0; 0]);
    rig.hear(spawn_ack());
    assert_eq!(hear(&mut rig, snapshot(8, 3)), [8]);
    assert!(rig.ends().is_empty());
}

/// SES-02, SES-05
#[test]
fn a_snapshot_of_the_session_before_is_swallowed_while_the_next_is_played() {
    let mut rig = Rig::playing();
    let old = ConnectionMsg::Datagram(rig.of_now(snapshot(8, 3).into()));
    rig.moves_to("10.0.0.2:27015");
    rig.tell(rig.dialed());
    rig.hear(schema());
    rig.hear(server_info());
    rig.hear(spawn_ack());
    assert!(rig.tell(old).is_empty());
    assert_eq!(hear(&mut rig, snapshot(8, 3)), [8]);
}

#[test]
fn fragments_are_joined_to_the_snapshot_they_were() {
    let whole = snapshot(7, 3);
    let (first, second) = whole.split_at(whole.len() / 2 + whole.len() % 2);
    let mut rig = Rig::playing();
    for (index, part) in [first, second].into_iter().enumerate() {
        let index = u8::try_from(index).unwrap();
        let slice = part.to_vec().into();
        let mut bytes = Vec::new();
        datagram(&mut SnapshotFragment { tick: 7, index, count: 2, slice }, &mut bytes).unwrap();
        let whole = hear(&mut rig, bytes);
        assert_eq!(whole, if index == 1 { vec![7] } else { vec![] });
    }
}

#[test]
fn an_unreadable_datagram_is_dropped_and_logged_once_a_minute() {
    let mut rig = Rig::playing();
    for bytes in [&[][..], &[200, 1], &[Snapshot::ID, 1], &[SnapshotFragment::ID, 1, 0, 0, 0, 9, 2]]
    {
        assert_eq!(hear(&mut rig, bytes.to_vec()), [0; 0]);
    }
    assert_eq!((logged(&rig), rig.stands()), (1, "playing"));
    rig.pass(rig.now + Micros::from_secs(60));
    hear(&mut rig, vec![200]);
    assert_eq!(logged(&rig), 2);
}

/// PLAT-02: inputs leave as datagrams, all else on the stream.
#[test]
fn the_predictors_input_passes_while_its_own_session_is_played() {
    let input = |rig: &Rig| ConnectionMsg::Input(rig.of_now(Bytes::from_static(&[3])));
    let mut rig = Rig::playing();
    let old = input(&rig);
    let effects = rig.tell(input(&rig));
    assert!(matches!(effects, [Effect::SendDatagram(_)]), "{effects:?}");
    let mut loading = Rig::loading();
    assert!(loading.tell(input(&loading)).is_empty());

    rig.moves_to("10.0.0.2:27015");
    rig.tell(rig.dialed());
    rig.hear(schema());
    rig.hear(server_info());
    rig.hear(spawn_ack());
    assert!(rig.tell(old).is_empty(), "an input of the session before");
}

#[test]
fn lines_of_the_feed_and_notices_reach_whoever_watches_from_loading_on() {
    let line = || {
        let (name, text) = (dh_messages::Str8::clipped("ada"), Str16::clipped(""));
        ToClient::ServerChat(ServerChat { kind: ChatKind::Join, slot: 0, name, text })
    };
    let mut rig = Rig::loading();
    rig.hear(line());
    let text = Str16::clipped("the world went back");
    rig.hear(ToClient::ClientNotice(ClientNotice { severity: Severity::Warning, text }));
    assert_eq!(rig.lines(), ["[notice] the world went back"]);
    let chat = |it: &ClientEvent| matches!(it, ClientEvent::Chat(it) if it.kind == ChatKind::Join);
    assert_eq!(rig.told().filter(|it| chat(it)).count(), 1);
    let mut early = Rig::attempting();
    early.hear(line());
    assert_eq!(early.ends().len(), 1);
}

#[test]
fn the_round_trip_is_measured_at_once_and_then_twice_a_second() {
    let mut rig = Rig::playing();
    let measured =
        |rig: &Rig| rig.effects.iter().filter(|it| matches!(it, Effect::MeasurePing)).count();
    rig.pass(rig.now + Micros::from_secs(2));
    assert_eq!(measured(&rig), 5);
}

#[test]
fn a_conversation_goes_on_after_a_panic_wherever_it_stood() {
    let mut rig = Rig::new();
    rig.tell(connect("10.0.0.1:27015"));
    rig.panics();
    rig.tell(rig.dialed());
    rig.panics();
    rig.hear(schema());
    rig.panics();
    assert_eq!(sent(rig.hear(server_info())).len(), 2, "who it is, and that its map stands");
    rig.panics();
    rig.hear(spawn_ack());
    assert_eq!(rig.stands(), "playing");
    rig.panics();
    assert!(rig.machine.next_deadline().is_some(), "the round trip is measured on");
    assert_eq!(sent(rig.tell(ConnectionMsg::Chat("hi".to_owned()))).len(), 1);
    let late = rig.closed(By::Peer, 0, "");
    rig.tell(ConnectionMsg::Connect(None));
    rig.panics();
    rig.tell(rig.closed(By::Local, 0, "left"));
    rig.tell(late);
    let dials = rig.dials();
    assert!(dials.len() == 2 && dials[0].0 < dials[1].0, "{dials:?}");
    assert_eq!(dials[1].1, "10.0.0.1:27015");
}

#[test]
fn a_session_that_lost_a_fact_in_this_client_ends_with_a_reason_and_one_that_is_over_says_nothing()
{
    let mut rig = Rig::playing();
    let failed = || ConnectionMsg::Unusable("what predicts failed".to_owned());
    rig.tell(failed());
    assert_eq!(rig.ends()[0].kind, crate::ending::EndKind::ClientFailed);
    assert!(rig.ends()[0].detail().contains("what predicts failed"));
    assert!(rig.tell(failed()).is_empty());
}

#[test]
fn a_schema_hash_that_comes_twice_is_out_of_order() {
    let mut rig = Rig::attempting();
    rig.hear(schema());
    rig.hear(ToClient::SchemaHash(SchemaHash { hash: schema_hash(), wants_text: true }));
    assert_eq!(rig.hang_ups(), [CloseCode::Unreadable]);
}
