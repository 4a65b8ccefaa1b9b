//! Other builds: how their texts are taken in, what is asked of them, and how many are remembered.

use alloc::string::{String, ToString as _};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use dh_wire::schema::{Edit, MessageEntry, Shape, Type, identity, pack};
use dh_wire::{Fields as _, Kind, Schema};

use crate::limit::{BUILDS_MAX, BUILDS_TEXT_BYTES_MAX};
use crate::{
    Build, BuildError, Builds, Channel, ClientReady, ConnectRequest, Dialect, Direction, Hash128,
    MESSAGES, Message, Own, Passage, SCHEMA_WORDS, Scratch, SessionEnd, SpawnAck, Terms, ToClient,
    ToServer, encode, schema,
};

const UP: Direction = Direction::ToServer;
const DOWN: Direction = Direction::ToClient;

fn dropping(message: &str) -> Schema {
    let mut other = schema();
    other.edit(&Edit::Drop { message: message.into() }).unwrap();
    other
}

/// This build with so many bytes more in its text, or a few less.
fn padded(number: usize, bytes: usize) -> Schema {
    let mut other = schema();
    for at in 0..=bytes / 70 {
        let name = alloc::format!("{}_{number}_{at}", "pad".repeat(18));
        let shape = "ClientInfo".into();
        other.edit(&Edit::Add { shape, at: 0, name, kind: Type::Leaf(Kind::U8) }).unwrap();
    }
    other
}

fn met(other: &Schema, reads: Direction) -> Arc<Build> {
    let text = other.text();
    let packed = pack(&text, SCHEMA_WORDS);
    Arc::new(Build::read(&Own::this(), reads, identity(text.as_bytes()), &packed).unwrap())
}

fn body<M: Message>(mut message: M) -> Vec<u8> {
    let mut out = vec![];
    encode(&mut message, &mut out).unwrap();
    out
}

/// What a shape consists of, by name.
fn names(shape: &Shape) -> Vec<String> {
    match shape {
        Shape::Record(fields) | Shape::Sparse(_, fields) => {
            fields.iter().map(|it| it.name.clone()).collect()
        }
        Shape::Union(_, cases) => cases.iter().map(|it| it.name.clone()).collect(),
        Shape::Enum { members, .. } | Shape::Flags(_, members) => {
            members.iter().map(|(name, _)| name.clone()).collect()
        }
    }
}

/// JOIN-36, PLAN-02, PLAN-28
#[test]
fn a_peer_of_this_build_reads_every_message_and_knows_every_field() {
    let own = Own::this();
    assert_eq!(own.native(), &Dialect::Same, "no plan is made");
    let terms = Terms::same(&own);
    let same = terms.dialect();
    assert!(MESSAGES.iter().all(|row| same.reads(row.direction, row.id)));
    for (shape, entry) in &schema().shapes {
        assert!(names(entry).iter().all(|name| same.knows(shape, name)), "{shape}");
    }
}

/// JOIN-35, PLAN-28
#[test]
fn what_a_peer_of_another_build_reads_and_knows_stands_in_its_schema() {
    let mut other = dropping("serverChat");
    other.edit(&Edit::Remove { shape: "ClientInfo".into(), name: "avatar".into() }).unwrap();
    let theirs = Dialect::Other(met(&other, UP));
    for row in MESSAGES {
        let has = (row.direction, row.name) != (DOWN, "serverChat");
        assert_eq!(theirs.reads(row.direction, row.id), has, "{}", row.name);
    }
    assert!(!theirs.reads(DOWN, 200) && !theirs.reads(UP, 54));
    for (shape, entry) in &schema().shapes {
        for name in names(entry) {
            let has = (&**shape, &*name) != ("ClientInfo", "avatar");
            assert_eq!(theirs.knows(shape, &name), has, "{shape} {name}");
            assert!(!theirs.knows("Nothing", &name));
        }
        assert!(!theirs.knows(shape, "Sung"));
    }
    assert!(theirs.takes("BlobChunk", "total", u64::MAX));
    assert!(!theirs.takes("ClientInfo", "name", 0) && !theirs.takes("ClientInfo", "avatar", 0));
}

/// A message that goes another way in the other build is none that it reads.
#[test]
fn a_message_that_travels_on_another_channel_is_not_the_same() {
    let mut other = schema();
    let ack = other.messages.iter_mut().find(|it| it.name == "spawnAck").unwrap();
    ack.channel = "blob".into();
    let theirs = Dialect::Other(met(&other, DOWN));
    assert!(!theirs.reads(DOWN, SpawnAck::ID));
    let mut scratch = Scratch::default();
    let (channel, ack) = (Channel::Blob, body(SpawnAck::default()));
    let read = theirs.read::<ToClient>(channel, SpawnAck::ID, &ack, &mut scratch);
    assert_eq!(read, Ok(None));
}

/// PLAN-04
#[test]
fn a_message_of_another_build_is_read_as_this_builds_and_one_of_a_name_of_its_own_is_not() {
    let mut other = schema();
    let (shape, name) = ("ClientReady".into(), "mood".into());
    other.edit(&Edit::Add { shape, at: 0, name, kind: Type::Str8(9) }).unwrap();
    other.messages.push(MessageEntry {
        direction: "toServer".into(),
        id: 200,
        name: "greeting".into(),
        channel: "stream".into(),
        frame: false,
        shape: ClientReady::SHAPE.into(),
    });
    let (theirs, mut scratch) = (Dialect::Other(met(&other, UP)), Scratch::default());
    let sent = [&b"\x03sad"[..], &7_u32.to_le_bytes()].concat();
    let mut read =
        |id, body: &[u8]| theirs.read::<ToServer>(Channel::Stream, id, body, &mut scratch);
    let ready = ToServer::ClientReady(ClientReady { map_generation: 7 });
    assert_eq!(read(4, &sent), Ok(Some(ready)));
    assert_eq!(read(200, &sent), Ok(None));
    assert!(read(4, &sent[..5]).is_err());
    assert_eq!(read(99, b"anything"), Ok(None));
}

/// PLAN-26
#[test]
fn the_frame_is_read_as_this_build_has_it_whatever_another_says_of_it() {
    let mut other = schema();
    let (shape, name) = ("SessionEnd".into(), "mood".into());
    other.edit(&Edit::Add { shape, at: 0, name, kind: Type::Str8(9) }).unwrap();
    let (theirs, mut scratch) = (Dialect::Other(met(&other, DOWN)), Scratch::default());
    let end = SessionEnd { reason: "bye".into(), ..SessionEnd::default() };
    let sent = body(end.clone());
    let read = theirs.read::<ToClient>(Channel::Stream, SessionEnd::ID, &sent, &mut scratch);
    assert_eq!(read, Ok(Some(ToClient::SessionEnd(end))));
    assert!(theirs.reads(UP, ConnectRequest::ID));
}

/// JOIN-33, JOIN-34
#[test]
fn the_first_message_of_a_name_that_is_held_back_is_told() {
    let own = Own::this();
    let mut terms = Terms::other(&own, met(&dropping("serverChat"), UP));
    assert!(terms.differ());
    let first = terms.pass(DOWN, 54);
    assert_eq!(first, Passage::HeldFirst("serverChat"));
    let line = "not sending serverChat to ada: its schema does not list it";
    assert_eq!(first.line(|| "ada").as_deref(), Some(line));
    for (id, passage) in [(54, Passage::Held), (53, Passage::Sent)] {
        assert_eq!(terms.pass(DOWN, id), passage);
        assert_eq!(passage.line(|| "ada"), None);
    }
    assert_eq!(Terms::same(&own).pass(DOWN, 54), Passage::Sent);
}

/// JOIN-10
#[test]
fn a_text_of_another_hash_than_announced_is_refused() {
    let own = Own::this();
    let text = dropping("serverChat").text();
    let (found, packed) = (identity(text.as_bytes()), pack(&text, SCHEMA_WORDS));
    let announced = Hash128([7; 16]);
    let refused = Build::read(&own, UP, announced, &packed).unwrap_err();
    assert_eq!(refused, BuildError::OtherHash { announced, found });
    assert_eq!(Build::read(&own, UP, found, &packed).unwrap().hash(), found);
    assert!(matches!(Build::read(&own, UP, found, b""), Err(BuildError::Schema(_))));
    assert_eq!(Build::read(&own, UP, own.hash(), own.packed()).unwrap().hash(), own.hash());
}

/// JOIN-11, JOIN-41, PLAN-03
#[test]
fn a_process_remembers_the_builds_it_met_last_and_no_more_than_it_may() {
    let mut builds = Builds::default();
    let first = met(&padded(0, 0), UP);
    assert!(!builds.keep(Arc::clone(&first)));
    for number in 1..BUILDS_MAX {
        assert!(!builds.keep(met(&padded(number, 0), UP)));
    }
    let again = builds.find(first.hash(), UP).unwrap();
    assert!(Arc::ptr_eq(again, &first), "its plan is made once");
    assert_eq!(builds.find(first.hash(), DOWN), None, "who receives reads by it");
    assert!(!builds.keep(Arc::clone(&first)), "met again, it is the newest");
    assert!(builds.keep(met(&padded(99, 0), UP)), "another is given up for it");
    assert_eq!(builds.len(), BUILDS_MAX);
    assert!(builds.find(first.hash(), UP).is_some());
    assert!(builds.find(met(&padded(1, 0), UP).hash(), UP).is_none());
    let long = 200 << 10;
    let fit = BUILDS_TEXT_BYTES_MAX / padded(0, long).text().len();
    for number in 0..=fit {
        builds.keep(met(&padded(number, long), UP));
    }
    assert_eq!(builds.len(), fit);
}

/// JOIN-41, PLAN-03: one process may hold a server and a client.
#[test]
fn a_build_that_both_ends_of_a_process_meet_is_remembered_for_each() {
    let (other, mut builds) = (dropping("serverChat"), Builds::default());
    let met = [UP, DOWN].map(|reads| met(&other, reads));
    for build in &met {
        assert!(!builds.keep(Arc::clone(build)));
    }
    for build in &met {
        let found = builds.find(build.hash(), build.receiver());
        assert!(found.is_some_and(|found| Arc::ptr_eq(found, build)), "{build:?}");
    }
}

/// JOIN-12, JOIN-13
#[test]
fn what_it_took_to_come_to_terms_counts_a_text_that_crossed_one_way_alone() {
    let own = Own::this();
    let cost = |sent, received| Terms::same(&own).having(sent, received).cost().to_string();
    assert_eq!(cost(0, 0), "(hash only, 16 bytes each way)");
    for (sent, received) in [(5, 0), (0, 7), (5, 7)] {
        let crossed = alloc::format!("{sent} bytes sent, {received} received");
        let full = alloc::format!("(full schema: {crossed}, beside 16-byte hashes)");
        assert_eq!(cost(sent, received), full);
    }
}

#[test]
fn a_build_that_is_posed_as_announces_itself_and_is_read_by_a_plan() {
    let mut other = schema();
    let (shape, name) = ("ClientReady".into(), "mood".into());
    other.edit(&Edit::Add { shape, at: 0, name, kind: Type::Str8(9) }).unwrap();
    let own = Own::posing_as(&other, UP).unwrap();
    assert_eq!(own.hash(), identity(other.text().as_bytes()));
    let terms = Terms::same(&own);
    assert!(!terms.differ());
    let sent = [&b"\x03sad"[..], &7_u32.to_le_bytes()].concat();
    let mut scratch = Scratch::default();
    let read = terms.dialect().read::<ToServer>(Channel::Stream, 4, &sent, &mut scratch);
    assert_eq!(read, Ok(Some(ToServer::ClientReady(ClientReady { map_generation: 7 }))));
}
