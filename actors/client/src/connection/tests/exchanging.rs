//! The exchange of schemas from the client's side.

use dh_messages::{
    Build, ChatKind, Dialect, Direction, Hash128, Message as _, SCHEMA_WORDS, SchemaAnswer,
    SchemaText, ServerChat, Snapshot, SnapshotFragment, SnapshotHead, datagram, encode,
    schema as our_schema,
};
use dh_wire::Schema;
use dh_wire::schema::{Edit, Type, identity, pack};

use super::*;
use crate::ending::EndKind;

/// A server's build whose acknowledgement of a spawn begins with a text, and that knows no chat.
fn other() -> Schema {
    let mut other = our_schema();
    let (shape, name, kind) = ("SpawnAck".into(), "mood".into(), Type::Str8(9));
    other.edit(&Edit::Add { shape, at: 0, name, kind }).unwrap();
    other.edit(&Edit::Drop { message: "clientChat".into() }).unwrap();
    other
}

fn hash(schema: &Schema) -> Hash128 {
    identity(schema.text().as_bytes())
}

fn packed(schema: &Schema) -> Vec<u8> {
    pack(&schema.text(), SCHEMA_WORDS)
}

fn told(wants_text: bool) -> ToClient {
    ToClient::SchemaHash(SchemaHash { hash: hash(&other()), wants_text })
}

fn answer(packed: Vec<u8>) -> ToClient {
    ToClient::SchemaAnswer(SchemaAnswer { packed: packed.into() })
}

/// A client whose process has met that build.
fn informed() -> Rig {
    let mut rig = Rig::new();
    let build = Build::read(&own(), Direction::ToClient, hash(&other()), &packed(&other()));
    let mut met = Builds::default();
    met.keep(Arc::new(build.unwrap()));
    rig.tell(connect("10.0.0.1:27015"));
    let dialed = ConnectionMsg::Dialed(rig.of_now(met));
    rig.tell(dialed);
    rig
}

fn line_of(effects: &[Effect]) -> &str {
    effects.iter().find_map(|it| if let Effect::Log(it) = it { Some(&**it) } else { None }).unwrap()
}

/// JOIN-08, JOIN-09, JOIN-14
#[test]
fn a_server_of_another_build_is_told_what_it_wants_and_asked_for_its_text() {
    for wants in [false, true] {
        let mut rig = Rig::attempting();
        let packed_ours = if wants { own().packed().to_vec() } else { Vec::new() };
        let cost = packed_ours.len();
        let text = SchemaText { wants_text: true, packed: packed_ours.into() };
        assert_eq!(sent(rig.hear(told(wants))), [&ToServer::SchemaText(text)]);
        let learned = rig.hear(answer(packed(&other())));
        assert!(learned.iter().any(|it| matches!(it, Effect::Remember(_))));
        assert!(sent(learned).is_empty());
        let joined = rig.hear(server_info());
        let (theirs, ours) = (hash(&other()).short(), own().hash().short());
        let received = packed(&other()).len();
        let line = format!(
            "schema: this server writes schema {theirs}, ours {ours}; reading it by name \
             (full schema: {cost} bytes sent, {received} received, beside 16-byte hashes)"
        );
        assert_eq!(line_of(joined), line);
        assert_eq!(rig.stands(), "loading");
    }
}

/// JOIN-09, JOIN-11, JOIN-41
#[test]
fn a_build_that_was_met_before_is_not_asked_for_its_text() {
    let mut rig = informed();
    let text = SchemaText { wants_text: false, packed: Vec::new().into() };
    assert_eq!(sent(rig.hear(told(false))), [&ToServer::SchemaText(text)]);
    let joined = rig.hear(server_info());
    assert!(line_of(joined).ends_with("reading it by name (hash only, 16 bytes each way)"));
}

/// JOIN-09, JOIN-13, JOIN-41
#[test]
fn a_build_that_was_met_before_and_asks_is_told_ours_and_is_the_one_met_last() {
    let mut rig = informed();
    let effects = rig.hear(told(true));
    let packed = own().packed().to_vec();
    let cost = format!("(full schema: {} bytes sent, 0 received, beside ", packed.len());
    let text = SchemaText { wants_text: false, packed: packed.into() };
    assert_eq!(sent(effects), [&ToServer::SchemaText(text)]);
    let is_met = |it: &Effect| matches!(it, Effect::Remember(it) if it.hash() == hash(&other()));
    assert!(effects.iter().any(is_met), "{effects:?}");
    let line = line_of(rig.hear(server_info())).to_owned();
    assert!(line.contains(&cost), "{line}");
}

/// PLAN-04: blobs are read beside the conversation, and as it is.
#[test]
fn how_the_server_is_read_is_told_as_soon_as_it_is_known() {
    let spoken = |effects: &[Effect]| {
        effects.iter().find_map(|it| match it {
            Effect::Speaks(it) => Some(it.clone()),
            _ => None,
        })
    };
    let mut rig = Rig::attempting();
    assert_eq!(spoken(rig.hear(schema())), Some(Dialect::Same));
    let mut rig = Rig::attempting();
    assert_eq!(spoken(rig.hear(told(false))), None);
    let Some(Dialect::Other(build)) = spoken(rig.hear(answer(packed(&other())))) else { panic!() };
    assert_eq!(build.hash(), hash(&other()));
}

/// JOIN-33
#[test]
fn inputs_do_not_go_to_a_server_whose_schema_does_not_list_them() {
    let mut other = our_schema();
    other.edit(&Edit::Drop { message: "input".into() }).unwrap();
    let mut rig = Rig::attempting();
    rig.hear(ToClient::SchemaHash(SchemaHash { hash: hash(&other), wants_text: false }));
    rig.hear(answer(packed(&other)));
    rig.hear(server_info());
    rig.hear(spawn_ack());
    let input = ConnectionMsg::Input(rig.of_now(Bytes::from_static(b"\x03")));
    let effects = rig.tell(input);
    assert_eq!(effects.len(), 1, "{effects:?}");
    assert_eq!(line_of(effects), "not sending input to the server: its schema does not list it");
}

/// JOIN-27, PLAN-04
#[test]
fn a_server_of_another_build_is_read_by_name_also_after_a_panic() {
    let mut rig = informed();
    rig.hear(told(false));
    rig.hear(server_info());
    rig.panics();
    let mut ack = Vec::new();
    spawn_ack().write_body(&mut ack).unwrap();
    let body = [&b"\x03sad"[..], &ack].concat().into();
    let event = rig.of_now(InMessage { id: 5, body });
    rig.tell(ConnectionMsg::Message(event));
    assert_eq!(rig.stands(), "playing");
    let chat = ServerChat { kind: ChatKind::Server, text: "hi".into(), ..ServerChat::default() };
    rig.hear(ToClient::ServerChat(chat));
    assert!(rig.ends().is_empty());
}

/// JOIN-33
#[test]
fn what_a_servers_schema_does_not_list_is_not_sent_and_whoever_typed_it_is_told() {
    let mut rig = informed();
    rig.hear(told(false));
    rig.hear(server_info());
    let mut ack = Vec::new();
    spawn_ack().write_body(&mut ack).unwrap();
    let body = [&b"\0"[..], &ack].concat().into();
    let event = rig.of_now(InMessage { id: 5, body });
    rig.tell(ConnectionMsg::Message(event));
    let effects = rig.tell(ConnectionMsg::Chat("hello".to_owned()));
    assert!(sent(effects).is_empty());
    let held = "not sending clientChat to the server: its schema does not list it";
    assert_eq!(line_of(effects), held);
    let effects = rig.tell(ConnectionMsg::Chat("hello".to_owned()));
    assert!(!effects.iter().any(|it| matches!(it, Effect::Log(_))), "{effects:?}");
    let line = "chat: this server's build has no such message; nothing was said";
    assert_eq!(rig.lines(), [line, line]);
}

/// JOIN-01
#[test]
fn a_text_that_was_not_asked_for_or_is_none_ends_the_attempt() {
    let mut equal = Rig::attempting();
    equal.hear(schema());
    let mut known = informed();
    known.hear(told(false));
    let mut asked = Rig::attempting();
    asked.hear(told(true));
    asked.hear(answer(packed(&other())));
    let mut early = Rig::attempting();
    early.hear(told(true));
    for (rig, message) in [
        (&mut equal, answer(packed(&other()))),
        (&mut known, answer(packed(&other()))),
        (&mut asked, answer(packed(&other()))),
        (&mut early, server_info()),
        (&mut Rig::attempting(), answer(packed(&other()))),
    ] {
        rig.hear(message);
        assert_eq!(rig.ends()[0].kind, EndKind::Unreadable);
        assert_eq!(rig.hang_ups(), [CloseCode::Unreadable]);
    }
    let mut cut = packed(&other());
    cut.truncate(9);
    for packed in [Vec::new(), cut, packed(&our_schema()), vec![0; 70_000]] {
        let mut rig = Rig::attempting();
        rig.hear(told(true));
        let effects = rig.hear(answer(packed));
        let line = line_of(effects);
        assert!(line.starts_with("unreadable message from the server: schemaText: its schema "));
        assert_eq!(rig.ends()[0].kind, EndKind::Unreadable);
    }
}

/// A server that could never say or hear what a join needs is left at once, with the reason.
#[test]
fn a_server_that_lacks_what_nobody_plays_without_is_left_with_the_reason() {
    for lacking in ["serverInfo", "clientInfo", "clientReady", "spawnAck", "snapshot", "mapLoad"] {
        let mut other = our_schema();
        other.edit(&Edit::Drop { message: lacking.into() }).unwrap();
        let mut rig = Rig::attempting();
        rig.hear(ToClient::SchemaHash(SchemaHash { hash: hash(&other), wants_text: false }));
        rig.hear(answer(packed(&other)));
        assert_eq!(rig.ends()[0].kind, EndKind::ProtocolMismatch);
        assert!(rig.ends()[0].detail().contains(lacking), "{}", rig.ends()[0].detail());
        assert_eq!(rig.hang_ups(), [CloseCode::Leave]);
    }
}

/// The blobs of a server of another build are in this build's shapes before anybody sees them.
#[test]
fn what_comes_beside_is_rewritten_on_its_way_to_the_downloader() {
    use crate::downloader::{DownloaderActor, DownloaderMsg};
    let mut other = our_schema();
    let (shape, name) = ("BlobRefused".into(), "mood".into());
    other.edit(&Edit::Add { shape, at: 0, name, kind: Type::Str8(9) }).unwrap();
    let build = Build::read(&own(), Direction::ToClient, hash(&other), &packed(&other)).unwrap();
    let dialect = Dialect::Other(Arc::new(build));
    let mut refused = ToClient::BlobRefused(dh_messages::BlobRefused::default());
    let mut body = Vec::new();
    refused.write_body(&mut body).unwrap();
    let frame = |body: Vec<u8>| {
        let event = dh_host::net::BlobEvent::Frame(InMessage { id: 50, body: body.into() });
        DownloaderActor::ear(1, Some(&dialect), event)
    };
    let DownloaderMsg::Frame(it) = frame([&b"\x03sad"[..], &body].concat()) else { panic!() };
    assert_eq!(it.event.body[..], body);
    let DownloaderMsg::Frame(it) = frame(Vec::new()) else { panic!() };
    assert!(it.event.body.is_empty(), "nothing that could be taken for a blob");
}

/// PLAN-04
#[test]
fn a_snapshot_of_another_build_is_read_by_name_whole_and_in_pieces() {
    let mut other = our_schema();
    let (shape, name, kind) = ("SnapshotHead".into(), "mood".into(), Type::Str8(9));
    other.edit(&Edit::Add { shape, at: 0, name, kind }).unwrap();
    let mut rig = Rig::attempting();
    rig.hear(ToClient::SchemaHash(SchemaHash { hash: hash(&other), wants_text: false }));
    rig.hear(answer(packed(&other)));
    rig.hear(server_info());
    rig.hear(spawn_ack());
    let head = SnapshotHead { tick: 7, map_generation: 3, ..SnapshotHead::default() };
    let mut body = Vec::new();
    encode(&mut Snapshot::new(head, Vec::new()), &mut body).unwrap();
    let whole = [&[Snapshot::ID], &b"\x03sad"[..], &body].concat();
    let mut tick_of = |bytes: Vec<u8>| {
        let msg = ConnectionMsg::Datagram(rig.of_now(bytes.into()));
        let effects = rig.tell(msg);
        effects.iter().find_map(|it| match it {
            Effect::Snapshot(it) => Some(it.head.tick),
            _ => None,
        })
    };
    assert_eq!(tick_of(whole.clone()), Some(7));
    let (first, second) = whole.split_at(whole.len().div_ceil(2));
    for (index, piece, joined) in [(0, first, None), (1, second, Some(7))] {
        let mut part = SnapshotFragment { tick: 7, index, count: 2, slice: piece.into() };
        let mut bytes = Vec::new();
        datagram(&mut part, &mut bytes).unwrap();
        assert_eq!(tick_of(bytes), joined, "piece {index}");
    }
}
