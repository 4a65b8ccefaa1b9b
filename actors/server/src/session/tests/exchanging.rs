//! The exchange of schemas: what is asked, what is answered, and what is refused.

use dh_machine::Machine as _;
use dh_messages::{
    BlobKind, BlobRefused, BlobRequest, Build, ClientChat, CloseCode, Direction, Message as _,
    PlayerList, SchemaAnswer, SchemaHash, SchemaText, ServerChat, SpawnAck,
};
use dh_wire::Schema;
use dh_wire::schema::{Edit, identity, pack};

use super::*;
use crate::session::exchange::EXCHANGE_MAX;

fn ours() -> Schema {
    dh_messages::schema()
}

/// A build without chat lines of the server, whose readies begin with a text.
fn other() -> Schema {
    let mut other = ours();
    other.edit(&Edit::Drop { message: "serverChat".into() }).unwrap();
    let (shape, name, kind) = ("ClientReady".into(), "mood".into(), dh_wire::schema::Type::Str8(9));
    other.edit(&Edit::Add { shape, at: 0, name, kind }).unwrap();
    other
}

/// A build that adds to the map a client says it has loaded.
fn close() -> Schema {
    let mut other = ours();
    let (shape, name, kind) = ("ClientReady".into(), "mood".into(), dh_wire::schema::Type::Str8(9));
    other.edit(&Edit::Add { shape, at: 0, name, kind }).unwrap();
    other
}

fn hash(schema: &Schema) -> Hash128 {
    identity(schema.text().as_bytes())
}

fn packed(schema: &Schema) -> Vec<u8> {
    pack(&schema.text(), dh_messages::SCHEMA_WORDS)
}

fn text(wants_text: bool, packed: Vec<u8>) -> SchemaText {
    SchemaText { wants_text, packed: packed.into() }
}

fn known(schema: &Schema) -> Builds {
    let own = Arc::clone(facts().builds.own());
    let build = Build::read(&own, Direction::ToServer, hash(schema), &packed(schema)).unwrap();
    let mut builds = Builds::default();
    builds.keep(Arc::new(build));
    builds
}

fn remembers(effects: &[Effect], schema: &Schema) -> bool {
    let is_it = |it: &Effect| matches!(it, Effect::Remember(it) if it.hash() == hash(schema));
    effects.iter().any(is_it)
}

/// A session made anew of what it had kept last.
fn remade(effects: Vec<Effect>) -> Talk {
    let kept = effects.into_iter().rev().find_map(|it| match it {
        Effect::Keep(kept) => Some(*kept),
        _ => None,
    });
    Talk { session: Session::resume(opening(), kept.unwrap(), Micros(0)), now: Micros(0) }
}

/// A peer of this schema that has asked to join.
fn asking(schema: &Schema) -> Talk {
    let mut talk = Talk::new(opening());
    let greeted = talk.hear(request(PROTOCOL_VERSION, hash(schema)));
    let told = SchemaHash { hash: schema_hash(), wants_text: true };
    assert_eq!(sent(&greeted), [&ToClient::SchemaHash(told)], "nothing else yet");
    talk
}

/// One that plays.
fn playing(schema: &Schema) -> (Talk, Vec<Effect>) {
    let mut talk = asking(schema);
    talk.hear(text(false, packed(schema)));
    talk.hear(info("ada"));
    talk.hear_raw(ClientReady::ID, &[&b"\x03sad"[..], &1_u32.to_le_bytes()].concat());
    talk.tell(SessionMsg::Seated(4));
    let spawned = talk.tell(SessionMsg::Spawned(Spawned { pawn: PAWN, tick: Tick(9) }));
    assert_eq!(*talk.session.phase(), Phase::Playing { slot: 4, pawn: PAWN });
    (talk, spawned)
}

/// JOIN-06, JOIN-08, JOIN-09
#[test]
fn a_peer_of_another_build_tells_its_text_and_is_told_ours_before_it_learns_where_it_is() {
    let mut talk = asking(&close());
    assert!(matches!(talk.session.phase(), Phase::Exchanging { .. }));
    let answered = talk.hear(text(true, packed(&close())));
    let [ToClient::SchemaAnswer(SchemaAnswer { packed }), ToClient::ServerInfo(_)] =
        &sent(&answered)[..]
    else {
        panic!("{answered:?}")
    };
    assert_eq!(&packed[..], facts().builds.own().packed());
    assert_eq!(*talk.session.phase(), Phase::Identifying);
    assert!(remembers(&answered, &close()));
}

/// JOIN-06, JOIN-09, JOIN-11
#[test]
fn a_build_that_was_met_before_is_not_asked_and_is_sent_no_text_that_it_does_not_want() {
    let mut talk = Talk::knowing(known(&close()), opening());
    let greeted = talk.hear(request(PROTOCOL_VERSION, hash(&close())));
    let told = SchemaHash { hash: schema_hash(), wants_text: false };
    assert_eq!(sent(&greeted), [&ToClient::SchemaHash(told)]);
    let answered = talk.hear(text(false, Vec::new()));
    assert!(matches!(sent(&answered)[..], [ToClient::ServerInfo(_)]));
    assert!(remembers(&answered, &close()), "it is the one met last");
}

/// JOIN-13, JOIN-14
#[test]
fn the_log_tells_what_it_took_to_read_a_peer_by_name() {
    let (theirs, ours) = (hash(&close()).short(), schema_hash().short());
    let line = |cost: &str| {
        format!(
            "schema: ada ({ENDPOINT}) writes schema {theirs}, this server writes {ours}; \
             reading it by name {cost}"
        )
    };
    let mut talk = asking(&close());
    talk.hear(text(true, packed(&close())));
    let sent = facts().builds.own().packed().len();
    let received = packed(&close()).len();
    let cost =
        format!("(full schema: {sent} bytes sent, {received} received, beside 16-byte hashes)");
    assert_eq!(logged(&talk.hear(info("ada"))), [line(&cost)]);

    let mut talk = Talk::knowing(known(&close()), opening());
    talk.hear(request(PROTOCOL_VERSION, hash(&close())));
    talk.hear(text(false, Vec::new()));
    assert_eq!(logged(&talk.hear(info("ada"))), [line("(hash only, 16 bytes each way)")]);
}

/// JOIN-27, JOIN-28, JOIN-30, JOIN-31, PLAN-04
#[test]
fn a_peer_of_another_build_is_read_by_name_and_told_once_that_it_is_one() {
    let (mut talk, spawned) = playing(&close());
    let [ToClient::SpawnAck(_), ToClient::ServerChat(line)] = &sent(&spawned)[..] else {
        panic!("{spawned:?}")
    };
    let (theirs, ours) = (hash(&close()).short(), schema_hash().short());
    let want = format!("[server] Protocol mismatch: yours {theirs}, server {ours}");
    assert_eq!(line.to_log_line(), want);

    let advert = MapAdvert { generation: 2, ..MapAdvert::default() };
    talk.tell(SessionMsg::MapLoad(Arc::new(advert)));
    let again = talk.hear_raw(ClientReady::ID, &[&b"\x00"[..], &2_u32.to_le_bytes()].concat());
    assert!(matches!(sent(&again)[..], [ToClient::SpawnAck(_)]), "{again:?}");
}

/// JOIN-32
#[test]
fn a_peer_of_this_build_is_told_nothing_of_builds() {
    let mut talk = Talk::at(&Phase::Spawning { slot: 4 });
    let spawned = talk.tell(SessionMsg::Spawned(Spawned { pawn: PAWN, tick: Tick(9) }));
    assert!(matches!(sent(&spawned)[..], [ToClient::SpawnAck(SpawnAck { .. })]));
}

/// JOIN-33, JOIN-34
#[test]
fn what_a_schema_does_not_list_is_not_sent_and_logged_once() {
    let (mut talk, spawned) = playing(&other());
    assert!(matches!(sent(&spawned)[..], [ToClient::SpawnAck(_)]), "{spawned:?}");
    let line = format!("not sending serverChat to ada ({ENDPOINT}): its schema does not list it");
    assert_eq!(logged(&spawned), [&*line], "the line about builds was the first");
    let say = || SessionMsg::Say(Say { id: ServerChat::ID, body: Bytes::from_static(b"hello") });
    for _ in 0..100 {
        assert_eq!(talk.tell(say()), []);
    }
    let list = SessionMsg::Say(Say { id: 53, body: Bytes::from_static(b"\0\0") });
    assert!(matches!(talk.tell(list)[..], [Effect::Pass(_)]));
}

/// A build that could only wait for what is never said is told so at once, and what it is told is
/// all that the log says of it.
#[test]
fn a_build_that_lacks_what_nobody_plays_without_is_sent_home_with_the_reason() {
    for lacking in ["serverInfo", "clientInfo", "clientReady", "spawnAck", "snapshot", "mapLoad"] {
        let mut other = ours();
        other.edit(&Edit::Drop { message: lacking.into() }).unwrap();
        let mut talk = asking(&other);
        let effects = talk.hear(text(false, packed(&other)));
        let ending = ending(&effects).unwrap();
        assert_eq!(ending.code, CloseCode::ProtocolMismatch);
        assert!(ending.reason.contains(lacking), "{}", ending.reason);
        assert!(sent(&effects).is_empty() && logged(&effects).len() == 1, "{effects:?}");
        assert_eq!(talk.session.next_deadline(), None);
    }
}

/// JOIN-31, JOIN-34: what a panic interrupts is neither told nor logged again.
#[test]
fn a_session_that_is_remade_reads_its_peer_as_before() {
    let (_, spawned) = playing(&close());
    let mut talk = remade(spawned);
    let advert = MapAdvert { generation: 2, ..MapAdvert::default() };
    talk.tell(SessionMsg::MapLoad(Arc::new(advert)));
    let again = talk.hear_raw(ClientReady::ID, &[&b"\x00"[..], &2_u32.to_le_bytes()].concat());
    assert!(matches!(sent(&again)[..], [ToClient::SpawnAck(_)]), "{again:?}");

    let mut deaf = close();
    deaf.edit(&Edit::Drop { message: "playerList".into() }).unwrap();
    let (mut talk, _) = playing(&deaf);
    let list = || SessionMsg::Say(Say { id: PlayerList::ID, body: Bytes::from_static(b"\0\0") });
    let held = talk.tell(list());
    assert_eq!(logged(&held).len(), 1, "{held:?}");
    assert_eq!(remade(held).tell(list()), []);
}

/// JOIN-33, SNAP-15
#[test]
fn fragments_are_not_sent_to_who_lists_none_and_who_lists_no_chunks_is_told_so_by_the_transfer() {
    let mut blind = close();
    for message in ["snapshotFragment", "blobChunk"] {
        blind.edit(&Edit::Drop { message: message.into() }).unwrap();
    }
    let (mut talk, _) = playing(&blind);
    let line =
        |name| format!("not sending {name} to ada ({ENDPOINT}): its schema does not list it");
    let seen = talk.tell(SessionMsg::Published(frame(60)));
    assert!(logged(&seen).contains(&&*line("snapshotFragment")), "{seen:?}");
    assert!(!seen.iter().any(|it| matches!(it, Effect::Datagrams(_))), "{seen:?}");
    let small = talk.tell(SessionMsg::Published(frame(1)));
    assert!(small.iter().any(|it| matches!(it, Effect::Datagrams(_))), "{small:?}");
    let asked = talk.hear(BlobRequest::default());
    assert_eq!(logged(&asked), [line("blobChunk")]);
    assert!(asked.iter().any(|it| matches!(it, Effect::Transfer(..))), "{asked:?}");
}

/// JOIN-08
#[test]
fn a_peer_that_keeps_its_text_to_itself_runs_out_of_time() {
    let mut talk = Talk::new(opening());
    talk.now = Micros::from_millis(700);
    talk.hear(request(PROTOCOL_VERSION, hash(&close())));
    let due = talk.session.next_deadline().unwrap();
    assert_eq!(due, talk.now + EXCHANGE_MAX, "from when it was asked");
    assert!(talk.wake(Micros(due.0 - 1)).is_empty());
    let ended = talk.wake(due);
    let ending = ending(&ended).unwrap();
    let seconds = EXCHANGE_MAX.0 / 1_000_000;
    let reason = format!("no schemaText within {seconds} s of the schemaHash");
    assert_eq!((ending.code, &ending.reason), (CloseCode::Closed, &reason));
    assert!(sent(&ended).is_empty());
}

/// JOIN-01
#[test]
fn a_text_out_of_its_order_ends_the_session() {
    let asked = || text(true, packed(&close()));
    let mut before = Talk::new(opening());
    let mut equal = Talk::at(&Phase::Identifying);
    let mut twice = asking(&close());
    twice.hear(asked());
    let (mut playing, _) = playing(&close());
    let mut unasked = Talk::knowing(known(&close()), opening());
    unasked.hear(request(PROTOCOL_VERSION, hash(&close())));
    for talk in [&mut before, &mut equal, &mut twice, &mut playing, &mut unasked] {
        let effects = talk.hear(asked());
        assert_eq!(ending(&effects).unwrap().code, CloseCode::Unreadable);
        assert!(sent(&effects).is_empty());
    }
    let mut early = asking(&close());
    let effects = early.hear(info("eve"));
    assert_eq!(ending(&effects).unwrap().code, CloseCode::Unreadable);
}

#[test]
fn a_text_that_is_none_or_another_than_announced_ends_the_session_with_the_reason() {
    let mut cut = packed(&close());
    cut.truncate(9);
    for (packed, why) in [
        (Vec::new(), "cannot be unpacked"),
        (cut, "cannot be unpacked"),
        (packed(&other()), "was announced as"),
        (vec![0; (64 << 10) + 1], "at most 65536"),
        (pack("protocol 2\n", dh_messages::SCHEMA_WORDS), "was announced as"),
    ] {
        let mut talk = asking(&close());
        let effects = talk.hear(text(true, packed));
        let ending = ending(&effects).unwrap();
        assert_eq!(ending.code, CloseCode::Unreadable);
        assert!(
            ending.reason.starts_with("unreadable schemaText: its schema "),
            "{}",
            ending.reason
        );
        assert!(ending.reason.contains(why), "{}", ending.reason);
        assert!(logged(&effects)[0].contains(why) && sent(&effects).is_empty());
    }
}

/// A map that comes to stand meanwhile is the one that the peer is told of.
#[test]
fn a_peer_that_is_still_exchanging_hears_of_no_map() {
    let mut talk = asking(&close());
    let advert = MapAdvert { generation: 2, ..MapAdvert::default() };
    let told = talk.tell(SessionMsg::MapLoad(Arc::new(advert.clone())));
    assert!(sent(&told).is_empty());
    let answered = talk.hear(text(false, packed(&close())));
    let [ToClient::ServerInfo(info)] = &sent(&answered)[..] else { panic!("{answered:?}") };
    assert_eq!(info.map, advert);
}

#[test]
fn a_peer_of_another_build_that_says_what_it_does_not_list_is_passed_over() {
    let mut mute = close();
    mute.edit(&Edit::Drop { message: "clientChat".into() }).unwrap();
    let (mut talk, _) = playing(&mute);
    let effects = talk.hear(ClientChat { text: "hello".into() });
    assert!(matches!(effects[..], [Effect::Detail(_)]), "{effects:?}");
}

/// MR-67, MR-68, PLAN-28
#[test]
fn a_blob_that_is_not_sent_ends_the_session_of_who_reads_no_refusal_if_it_was_a_map() {
    let mut deaf = close();
    deaf.edit(&Edit::Drop { message: "blobRefused".into() }).unwrap();
    let refused = |kind| {
        let reason = "it is gone".into();
        SessionMsg::Unread(BlobRefused { kind, reason, ..BlobRefused::default() })
    };
    let (mut talk, _) = playing(&deaf);
    let effects = talk.tell(refused(BlobKind::AvatarPallet));
    assert_eq!((logged(&effects).len(), ending(&effects)), (1, None), "{effects:?}");
    assert!(talk.tell(refused(BlobKind::AvatarPallet)).is_empty(), "it was logged once");
    let effects = talk.tell(refused(BlobKind::MapPallet));
    assert_eq!(ending(&effects), Some(&Ending::new(CloseCode::Closed, "it is gone")));
    assert!(talk.has_ended() && sent(&effects).is_empty());
}
