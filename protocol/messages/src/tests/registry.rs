//! The list of numbers and what follows from it.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use crate::{
    Channel, ClientReady, ConnectRequest, Direction, Fault, Hash128, Input, MESSAGES, Message,
    PROTOCOL_VERSION, SCHEMA_WORDS, SchemaHash, Snapshot, ToClient, ToServer, WireError, datagram,
    encode, frame, schema, schema_hash, schema_short, schema_text,
};
use dh_wire::Fields as _;
use dh_wire::envelope::Decoder;
use dh_wire::schema::{Schema, Shape, Type, identity, pack, unpack};

/// WIRE-18
#[test]
fn every_number_is_given_out_once_per_direction_and_is_the_documented_one() {
    let mut seen = BTreeSet::new();
    for row in MESSAGES {
        assert!(seen.insert((row.direction, row.id)), "{} shares its number", row.name);
    }
    let listed: BTreeMap<(&str, Direction), (u8, Channel)> =
        MESSAGES.iter().map(|row| ((row.name, row.direction), (row.id, row.channel))).collect();
    let (up, down) = (Direction::ToServer, Direction::ToClient);
    let documented = BTreeMap::from([
        (("connectRequest", up), (1, Channel::Stream)),
        (("serverInfo", down), (2, Channel::Stream)),
        (("input", up), (3, Channel::Datagram)),
        (("clientReady", up), (4, Channel::Stream)),
        (("spawnAck", down), (5, Channel::Stream)),
        (("mapLoad", down), (12, Channel::Stream)),
        (("blobRequest", up), (13, Channel::Stream)),
        (("blobChunk", down), (14, Channel::Blob)),
        (("blobRefused", down), (50, Channel::Blob)),
        (("snapshot", down), (6, Channel::Datagram)),
        (("clientNotice", down), (16, Channel::Stream)),
        (("clientInfo", up), (20, Channel::Stream)),
        (("snapshotFragment", down), (28, Channel::Datagram)),
        (("schemaHash", down), (44, Channel::Stream)),
        (("schemaText", up), (45, Channel::Stream)),
        (("schemaText", down), (45, Channel::Stream)),
        (("sessionEnd", down), (52, Channel::Stream)),
        (("playerList", down), (53, Channel::Stream)),
        (("serverChat", down), (54, Channel::Stream)),
        (("clientChat", up), (55, Channel::Stream)),
        (("consoleLine", up), (57, Channel::Stream)),
        (("consoleLine", down), (57, Channel::Stream)),
    ]);
    assert_eq!(listed, documented);
}

/// CHAT-01
#[test]
fn a_client_sends_nothing_but_the_text_it_typed() {
    let Some(Shape::Record(fields)) = schema().shapes.remove("ClientChat") else {
        panic!("clientChat is a record");
    };
    let fields: Vec<_> = fields.iter().map(|it| (it.name.as_str(), it.kind.to_string())).collect();
    assert_eq!(fields, [("text", "str16(800)".to_string())]);
}

/// WIRE-18
#[test]
fn a_number_belongs_to_a_direction_and_a_channel() {
    let unknown = Err(WireError::new("id", Fault::UnknownMessage(2)));
    assert_eq!(ToServer::from_stream(2, &[]), unknown);
    assert_eq!(ToServer::from_stream(3, &[]), Err(WireError::new("id", Fault::WrongChannel(3))));
    assert_eq!(ToServer::from_datagram(&[1]), Err(WireError::new("id", Fault::WrongChannel(1))));
    assert_eq!(ToClient::from_datagram(&[]), Err(WireError::new("id", Fault::Truncated)));
    assert!(matches!(ToServer::from_stream(4, &[7, 0, 0, 0]), Ok(ToServer::ClientReady(_))));
    assert!(ToClient::from_stream(4, &[7, 0, 0, 0]).is_err());
}

#[test]
fn a_message_goes_out_as_a_frame_or_as_a_datagram() {
    let mut stream = vec![];
    frame(&mut ClientReady { map_generation: 7 }, &mut stream).unwrap();
    assert_eq!(stream, [4, 0, 0, 0, 4, 7, 0, 0, 0]);
    let mut decoder = Decoder::new();
    decoder.push(&stream);
    let pulled = decoder.pull().unwrap().unwrap();
    let read = ToServer::from_stream(pulled.id, pulled.body).unwrap();
    assert_eq!(read, ToServer::ClientReady(ClientReady { map_generation: 7 }));
    assert_eq!((read.id(), read.name()), (ClientReady::ID, ClientReady::NAME));

    let mut packet = vec![];
    datagram(&mut Input::default(), &mut packet).unwrap();
    assert_eq!(packet, [3, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(ToServer::from_datagram(&packet), Ok(ToServer::Input(Input::default())));
}

#[test]
fn a_refused_datagram_leaves_nothing_behind() {
    let mut snapshot = Snapshot::default();
    snapshot.head.world.time_scale = f32::NAN;
    let mut out = vec![9];
    assert!(datagram(&mut snapshot, &mut out).is_err());
    assert_eq!(out, [9]);
}

/// WIRE-19, WIRE-20
#[test]
fn the_identity_is_the_hash_of_the_text_and_moves_with_every_character() {
    let text = schema_text();
    assert_eq!(text, schema_text());
    assert_eq!(schema_hash(), identity(text.as_bytes()));
    assert_eq!(format!("{}", schema_short()), format!("{}", schema_hash())[..8]);
    for at in 0..text.len() {
        let mut other = text.clone().into_bytes();
        other[at] ^= 1;
        assert_ne!(identity(&other), schema_hash());
    }
}

/// WIRE-19
#[test]
fn the_text_reads_back_as_this_protocol() {
    assert_eq!(Schema::read(schema_text().as_bytes()), Ok(schema()));
}

/// PLAN-26
#[test]
fn the_words_that_schemas_are_packed_against_are_those_of_this_frame() {
    let words = format!("{}", Hash128::of(SCHEMA_WORDS.as_bytes()));
    assert_eq!((PROTOCOL_VERSION, words.as_str()), (2, "e03bcd82f482df042cc4c7b1bd5eefda"));
}

/// JOIN-10
#[test]
fn the_packed_text_is_less_than_a_third_of_it_and_at_most_8_kib() {
    let text = schema_text();
    let packed = pack(&text, SCHEMA_WORDS);
    let sizes = format!("{} of {} bytes", packed.len(), text.len());
    assert!(packed.len() * 10 <= text.len() * 3 && packed.len() <= 8 << 10, "{sizes}");
    assert_eq!(unpack(&packed, SCHEMA_WORDS), Ok(text), "{sizes}");
}

/// WIRE-19
#[test]
fn the_text_lists_every_message_and_marks_the_frame() {
    let text = schema_text();
    for row in MESSAGES {
        let (direction, channel) = (row.direction.word(), row.channel.word());
        let frame = if row.frame { " frame" } else { "" };
        let line =
            format!("message {direction} {} {} {channel}{frame} {}\n", row.id, row.name, row.shape);
        assert!(text.contains(&line), "{line}");
    }
    let marked: Vec<&str> = MESSAGES.iter().filter(|row| row.frame).map(|row| row.name).collect();
    assert_eq!(marked, ["connectRequest", "schemaText", "schemaHash", "schemaText", "sessionEnd"]);
    assert!(text.starts_with(&format!("protocol {PROTOCOL_VERSION}\nenvelope length u32 id u8")));
}

/// WIRE-02, CLK-03
#[test]
fn the_sections_of_a_snapshot_are_shapes_of_their_own() {
    let schema = schema();
    let kind = |shape: &str, field: &str| -> Option<String> {
        let Some(Shape::Record(fields)) = schema.shapes.get(shape) else { return None };
        let found = fields.iter().find(|other| other.name == field)?;
        Some(found.kind.to_string())
    };
    let says = |shape, field, expected: &str| {
        assert_eq!(kind(shape, field).as_deref(), Some(expected), "{shape}.{field}");
    };
    says("Snapshot", "head", "SnapshotHead");
    says("Snapshot", "records", "counted(record_count, 8192, EntityRecord)");
    says("SnapshotHead", "owner", "section(OwnerDetail)");
    says("SnapshotHead", "world", "WorldSettings");
    says("OwnerDetail", "depth", "i8");
    says("EntityRecord", "form", "Form");
    says("EntityState", "payload", "KindPayload");
    says("KindPayload", "channels", "list8(4, f32)");
}

/// MR-10
#[test]
fn the_advert_of_a_map_is_one_shape_wherever_it_stands() {
    let schema = schema();
    let Some(Shape::Record(fields)) = schema.shapes.get("ServerInfo") else {
        panic!("serverInfo is a record");
    };
    assert_eq!(fields.last().unwrap().kind, Type::Named("MapAdvert".to_string()));
}

/// WIRE-01, WIRE-03
#[test]
fn the_default_of_every_message_reads_back_and_is_walked_by_the_schema_alone() {
    let schema = schema();
    for row in MESSAGES {
        let body = default_body(row.shape);
        assert_eq!(row.recode(&body).as_ref(), Ok(&body), "{}", row.name);
        let mut end = 0;
        dh_wire::stride::stride(&schema, row.shape, &body, &mut |step| end = step.range.end)
            .unwrap();
        assert_eq!(end, body.len(), "{}", row.name);
        let shown = row.show(&body).unwrap();
        assert!(shown.contains('='), "{shown}");
    }
}

fn default_body(shape: &str) -> Vec<u8> {
    fn of<M: Message>() -> Vec<u8> {
        let mut out = vec![];
        encode(&mut M::default(), &mut out).unwrap();
        out
    }
    match shape {
        ConnectRequest::SHAPE => of::<ConnectRequest>(),
        SchemaHash::SHAPE => of::<SchemaHash>(),
        crate::SchemaText::SHAPE => of::<crate::SchemaText>(),
        crate::SchemaAnswer::SHAPE => of::<crate::SchemaAnswer>(),
        crate::ServerInfo::SHAPE => of::<crate::ServerInfo>(),
        crate::ClientInfo::SHAPE => of::<crate::ClientInfo>(),
        ClientReady::SHAPE => of::<ClientReady>(),
        crate::SpawnAck::SHAPE => of::<crate::SpawnAck>(),
        crate::MapLoad::SHAPE => of::<crate::MapLoad>(),
        crate::BlobRequest::SHAPE => of::<crate::BlobRequest>(),
        crate::BlobChunk::SHAPE => of::<crate::BlobChunk>(),
        crate::BlobRefused::SHAPE => of::<crate::BlobRefused>(),
        Input::SHAPE => of::<Input>(),
        Snapshot::SHAPE => of::<Snapshot>(),
        crate::SnapshotFragment::SHAPE => of::<crate::SnapshotFragment>(),
        crate::ClientNotice::SHAPE => of::<crate::ClientNotice>(),
        crate::SessionEnd::SHAPE => of::<crate::SessionEnd>(),
        crate::PlayerList::SHAPE => of::<crate::PlayerList>(),
        crate::ServerChat::SHAPE => of::<crate::ServerChat>(),
        crate::ClientChat::SHAPE => of::<crate::ClientChat>(),
        crate::ConsoleLine::SHAPE => of::<crate::ConsoleLine>(),
        crate::ConsoleAnswer::SHAPE => of::<crate::ConsoleAnswer>(),
        shape => panic!("no default of {shape}"),
    }
}
