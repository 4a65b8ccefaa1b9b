//! The frame that every build of one protocol version shares, held to files that are never
//! rewritten: how schemas are spelled and packed, the first words of a session, the envelope.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use dh_messages::{
    ConnectRequest, Hash128, MESSAGES, Message as _, PROTOCOL_VERSION, SCHEMA_WORDS, ToServer,
    frame,
};
use dh_tests::shapes;
use dh_wire::Kind;
use dh_wire::envelope::Decoder;
use dh_wire::schema::{MessageEntry, Schema, identity, pack, unpack};
use dh_wire::stride::stride;

use crate::fixture::{Files, bytes_of, file_of, mode, row_of, text};
use crate::samples::samples;
use crate::sealed::{beside, freeze, sealed};

/// The first bytes of a stream to a server.
const OPENING: &str = "opening.hex";
/// A schema that spells every construct: its text, the same packed, and a value of its one shape.
const TEXT: &str = "spelling.txt";
const PACKED: &str = "spelling.packed.hex";
const VALUE: &str = "spelling.value.hex";

/// The words of the spelling that are no leaf's.
const CONSTRUCTS: [&str; 19] = [
    "protocol", "envelope", "datagram", "message", "frame", "record", "sparse", "union", "enum",
    "open", "flags", "str8", "str16", "optional", "list8", "list16", "counted", "section", "tail",
];

/// The frame of this version as it was frozen.
fn frozen() -> &'static Files {
    static FILES: OnceLock<Files> = OnceLock::new();
    FILES.get_or_init(|| {
        let folder = beside(&format!("frame/v{PROTOCOL_VERSION}"));
        if mode("write") {
            freeze(&folder, built());
        }
        sealed(&folder)
    })
}

/// The frame that this build has.
fn built() -> Files {
    let mut files = Files::new();
    for sample in samples().into_iter().filter(|sample| row_of(sample).frame) {
        let shown = row_of(&sample).show(&sample.body).unwrap();
        files.insert(file_of(&sample), text(&shown, &sample.body));
    }
    let mut opening = Vec::new();
    frame(&mut connect_request(), &mut opening).unwrap();
    files.insert(OPENING.to_owned(), text("connectRequest in its envelope\n", &opening));
    let schema = spelled().text();
    let packed = text("spelling.txt, packed\n", &pack(&schema, SCHEMA_WORDS));
    files.insert(PACKED.to_owned(), packed);
    files.insert(TEXT.to_owned(), schema);
    let body = shapes::packet();
    files.insert(VALUE.to_owned(), text(&shapes::show(&body).unwrap(), &body));
    files
}

/// A protocol of two messages, one of them part of a frame.
fn spelled() -> Schema {
    let mut schema = Schema::new(PROTOCOL_VERSION);
    let message = shapes::add_to(&mut schema);
    let (direction, channel) = ("toServer".into(), "stream".into());
    schema.messages.push(MessageEntry { direction, channel, frame: true, ..message });
    schema
}

fn connect_request() -> ConnectRequest {
    let hash = std::array::from_fn(|at| 0xa0 + u8::try_from(at).unwrap());
    ConnectRequest { version: PROTOCOL_VERSION, schema_hash: Hash128(hash) }
}

/// What must not change of each file: all of a text, and of bytes what they mean. How a text is
/// packed may change, as long as it unpacks.
fn content(files: &Files) -> BTreeMap<&str, Vec<u8>> {
    let bytes = |name: &str, text: &str| match name {
        TEXT => text.as_bytes().to_vec(),
        PACKED => unpack(&bytes_of(text), SCHEMA_WORDS).unwrap().into_bytes(),
        _ => bytes_of(text),
    };
    files.iter().map(|(name, text)| (name.as_str(), bytes(name, text))).collect()
}

/// PLAN-26
#[test]
fn the_frame_is_what_was_frozen_of_this_protocol_version() {
    let built = built();
    let (frozen, built) = (content(frozen()), content(&built));
    let changed = frozen.iter().filter(|(name, bytes)| built.get(**name) != Some(*bytes));
    let changed: Vec<_> = changed.map(|(name, _)| name).collect();
    let remedy = "undo it, or move PROTOCOL_VERSION and set DH_WIRE_FIXTURES=write";
    assert!(changed.is_empty(), "the frame changed, {remedy}: {changed:?}");
    for row in MESSAGES.iter().filter(|row| row.frame) {
        let start = format!("{}.{}.", row.direction.word(), row.name);
        let is_frozen = frozen.keys().any(|name| name.starts_with(&start));
        assert!(is_frozen, "{start}hex is missing: remove the folder and have it written anew");
    }
}

/// PLAN-26, WIRE-19, WIRE-20
#[test]
fn a_frozen_text_reads_as_the_schema_it_spelled_packed_or_not() {
    let files = frozen();
    let text = files[TEXT].as_str();
    assert_eq!(Schema::read(text.as_bytes()), Ok(spelled()));
    assert_eq!(identity(text.as_bytes()), spelled().identity());
    assert_eq!(unpack(&bytes_of(&files[PACKED]), SCHEMA_WORDS).as_deref(), Ok(text));
    let words: BTreeSet<&str> =
        text.split(|it: char| !(it.is_ascii_alphanumeric() || it == '_')).collect();
    let leaves = Kind::ALL.iter().map(|kind| kind.word());
    for word in leaves.chain(CONSTRUCTS) {
        assert!(words.contains(word), "{word} is spelled nowhere");
    }
}

/// PLAN-26, WIRE-03, WIRE-14, WIRE-15, WIRE-16, WIRE-17
#[test]
fn a_frozen_text_alone_walks_a_frozen_value_of_every_construct() {
    let files = frozen();
    let schema = Schema::read(files[TEXT].as_bytes()).unwrap();
    let packet = bytes_of(&files[VALUE]);
    let mut reached = 0;
    stride(&schema, shapes::SPELLING, &packet, &mut |step| reached = step.range.end).unwrap();
    assert_eq!(reached, packet.len());
    assert_eq!(shapes::recode(&packet), Ok(packet));
}

/// PLAN-26
#[test]
fn a_frozen_opening_comes_out_of_a_stream() {
    let mut decoder = Decoder::new();
    decoder.push(&bytes_of(&frozen()[OPENING]));
    let pulled = decoder.pull().unwrap().unwrap();
    assert_eq!(pulled.id, ConnectRequest::ID);
    let read = ToServer::from_stream(pulled.id, pulled.body);
    assert_eq!(read, Ok(ToServer::ConnectRequest(connect_request())));
}
