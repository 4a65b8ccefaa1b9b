//! One function for each decoder: any bytes may go in, and nothing but a broken decoder panics.
//!
//! What was read is written and read again, and must be the same value; the schema alone must take
//! and refuse the same bytes as the reader.

mod builds;
mod plans;

use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

use dh_cook::Cooked;
use dh_map::{Map, Mesh, image};
use dh_messages::{
    BlobChunk, BlobRefused, BlobRequest, Build, Channel, ClientChat, ClientInfo, ClientNotice,
    ClientReady, ConnectRequest, ConsoleAnswer, ConsoleLine, Dialect, Direction, Input, MapLoad,
    Message, Opening, Own, PlayerList, SCHEMA_WORDS, SchemaAnswer, SchemaHash, SchemaText, Scratch,
    ServerChat, ServerInfo, SessionEnd, Snapshot, SnapshotFragment, SpawnAck, ToClient, ToServer,
    decode, encode, opening, schema,
};
use dh_pallet::{Header, Pallet, Prover, peek_id, verify, xxh128};
use dh_prefs::{Address, Prefs, Side, parse};
use dh_wire::Schema;
use dh_wire::envelope::Decoder;
use dh_wire::schema::{identity, pack, unpack};
use dh_wire::stride::stride;

pub use self::plans::{another_build, fuzz_plan, fuzz_planned, own_build};

/// An entry point and its name.
pub type Target = (&'static str, fn(&[u8]));

macro_rules! bodies {
    ($($fuzz:ident $Type:ident;)*) => {
        /// The entry points for the bodies of messages, under the names of the messages.
        pub const BODIES: &[Target] = &[$((<$Type as Message>::NAME, $fuzz)),*];

        $(
            #[doc = concat!("Reads the bytes as the body of [`", stringify!($Type), "`].")]
            pub fn $fuzz(bytes: &[u8]) {
                body::<$Type>(bytes);
            }
        )*
    };
}

bodies! {
    fuzz_blob_chunk BlobChunk;
    fuzz_blob_refused BlobRefused;
    fuzz_blob_request BlobRequest;
    fuzz_client_chat ClientChat;
    fuzz_client_info ClientInfo;
    fuzz_client_notice ClientNotice;
    fuzz_client_ready ClientReady;
    fuzz_connect_request ConnectRequest;
    fuzz_console_answer ConsoleAnswer;
    fuzz_console_line ConsoleLine;
    fuzz_input Input;
    fuzz_map_load MapLoad;
    fuzz_player_list PlayerList;
    fuzz_schema_answer SchemaAnswer;
    fuzz_schema_hash SchemaHash;
    fuzz_schema_text SchemaText;
    fuzz_server_chat ServerChat;
    fuzz_server_info ServerInfo;
    fuzz_session_end SessionEnd;
    fuzz_snapshot Snapshot;
    fuzz_snapshot_fragment SnapshotFragment;
    fuzz_spawn_ack SpawnAck;
}

/// The entry points for everything around the bodies.
pub const FRAMES: &[Target] =
    &[("envelope", fuzz_envelope), ("datagram", fuzz_datagram), ("opening", fuzz_opening)];

/// The entry points for what people write.
pub const TEXTS: &[Target] = &[("preferences", fuzz_preferences), ("console", fuzz_console)];

/// The entry points for what another build says of itself.
pub const SCHEMAS: &[Target] = &[
    ("schema", fuzz_schema),
    ("packed_schema", fuzz_packed_schema),
    ("plan", fuzz_plan),
    ("planned", fuzz_planned),
];

/// The entry points for files that come from others.
pub const FILES: &[Target] = &[
    ("pallet", fuzz_pallet),
    ("map", fuzz_map),
    ("mesh", fuzz_mesh),
    ("image", fuzz_image),
    ("cooked", fuzz_cooked),
];

/// The longest edge that pictures are decoded to here, in pixels.
const SIDE_MAX: u32 = 64;

/// Reads the bytes as a pallet: from a file, as it arrives, and as a partial.
///
/// # Panics
///
/// If a pallet that is good as a whole is refused as it arrives.
pub fn fuzz_pallet(bytes: &[u8]) {
    drop(peek_id(bytes));
    let verified = verify(bytes, None, xxh128, &mut |_, _| {});
    if let Ok(pallet) = Pallet::open(bytes, None) {
        for entry in &pallet.manifest().entries {
            drop(pallet.read(&entry.path, 1 << 20));
        }
    }
    if let Ok(header) = Header::decode(bytes) {
        drop(Prover::resume(header.content, u64::MAX, bytes));
        let mut prover = Prover::new(header.content, u64::MAX);
        let pushed = prover.push(bytes, &mut |_, _| Ok(()));
        assert!(verified.is_err() || (pushed.is_ok() && prover.is_whole()), "{pushed:?}");
    }
}

/// Reads the bytes as the text of a map.
///
/// # Panics
///
/// If the canonical text of a good map is not that of the same map.
pub fn fuzz_map(bytes: &[u8]) {
    if let Ok(map) = Map::parse(&String::from_utf8_lossy(bytes), "fuzz.dh-map") {
        let text = map.text();
        let again = Map::parse(&text, "again.dh-map").map(|map| map.text());
        assert_eq!(again, Ok(text), "canonical text reads back as another map");
    }
}

/// Reads the bytes as a mesh.
///
/// # Panics
///
/// If what was read is written as other bytes.
pub fn fuzz_mesh(bytes: &[u8]) {
    if let Ok(mesh) = Mesh::decode(bytes) {
        assert_eq!(Mesh::decode(&mesh.encode()), Ok(mesh), "a mesh is written as another one");
    }
}

/// Reads the bytes as a picture.
///
/// # Panics
///
/// If a picture is larger than was asked for, or has not the pixels its size tells.
pub fn fuzz_image(bytes: &[u8]) {
    drop(image::probe(bytes));
    if let Ok(picture) = image::decode(bytes, SIDE_MAX) {
        let (width, height) = (picture.width, picture.height);
        assert!(width.max(height) <= SIDE_MAX, "{width} x {height}");
        assert_eq!(u32::try_from(picture.rgba.len()), Ok(width * height * 4));
    }
}

/// Reads the bytes as cooked collision.
///
/// # Panics
///
/// If what was read is written as other bytes.
pub fn fuzz_cooked(bytes: &[u8]) {
    if let Ok(cooked) = Cooked::decode(bytes) {
        assert!(cooked.encode() == bytes, "cooked collision is written as other bytes");
    }
}

/// Reads the bytes as a file of preferences.
pub fn fuzz_preferences(bytes: &[u8]) {
    drop(Prefs::default().load_file("config.toml", &String::from_utf8_lossy(bytes)));
}

/// Reads the bytes as a line of either console, and as a server's address.
pub fn fuzz_console(bytes: &[u8]) {
    let line = String::from_utf8_lossy(bytes);
    drop(parse(Side::Server, &line));
    drop(parse(Side::Client, &line));
    drop(Address::read(&line));
}

/// Reads the bytes as the text of a schema.
///
/// # Panics
///
/// If a text that is taken is not the one its schema is written as.
pub fn fuzz_schema(bytes: &[u8]) {
    if let Ok(schema) = Schema::read(bytes) {
        assert_eq!(schema.text().as_bytes(), bytes, "a schema is written as another text");
    }
}

/// Unpacks the bytes as the text of a build, and reads them as each message of that build.
///
/// # Panics
///
/// If what is unpacked does not come back once it is packed again.
pub fn fuzz_packed_schema(bytes: &[u8]) {
    static OWN: OnceLock<Own> = OnceLock::new();
    let Ok(text) = unpack(bytes, SCHEMA_WORDS) else { return };
    fuzz_schema(text.as_bytes());
    if let Ok(again) = unpack(&pack(&text, SCHEMA_WORDS), SCHEMA_WORDS) {
        assert_eq!(again, text, "a text is packed as another one");
    }
    let (own, hash) = (OWN.get_or_init(Own::this), identity(text.as_bytes()));
    let Ok(build) = Build::read(own, Direction::ToServer, hash, bytes) else { return };
    let (dialect, mut scratch) = (Dialect::Other(Arc::new(build)), Scratch::default());
    for id in 0..=u8::MAX {
        // Whether it is readable is the sender's affair.
        drop(dialect.read::<ToServer>(Channel::Stream, id, bytes, &mut scratch));
    }
}

/// Reads the bytes as stream 0 of either side, in pieces whose size the first byte chooses.
///
/// # Panics
///
/// If the frames that come out depend on how the stream was cut.
pub fn fuzz_envelope(bytes: &[u8]) {
    let Some((piece, stream)) = bytes.split_first() else { return };
    let whole = frames(stream, stream.len().max(1));
    assert_eq!(whole, frames(stream, usize::from(*piece).max(1)), "cutting a stream changes it");
    for (id, body) in &whole {
        // Whether it is readable is the sender's affair.
        drop(ToServer::from_stream(*id, body));
        drop(ToClient::from_stream(*id, body));
    }
}

/// Reads the bytes as a datagram to either side.
pub fn fuzz_datagram(bytes: &[u8]) {
    drop(ToServer::from_datagram(bytes));
    drop(ToClient::from_datagram(bytes));
}

/// Reads the bytes as a first message, of this build or of one from before the schema exchange.
///
/// # Panics
///
/// If an opening of today's shape is taken for another.
pub fn fuzz_opening(bytes: &[u8]) {
    if let Ok(Opening::Current(request)) = opening(bytes) {
        assert_eq!(decode(bytes), Ok(request), "an opening is what its body says");
    }
}

fn body<M: Message + Debug + PartialEq>(bytes: &[u8]) {
    static SCHEMA: OnceLock<Schema> = OnceLock::new();
    let schema = SCHEMA.get_or_init(schema);
    let stepped = stride(schema, M::SHAPE, bytes, &mut |_| {});
    let read = decode::<M>(bytes);
    assert_eq!(stepped.is_ok(), read.is_ok(), "reader and schema disagree: {read:?} {stepped:?}");
    if let Ok(mut message) = read {
        let mut again = Vec::new();
        let written = encode(&mut message, &mut again);
        assert_eq!(written, Ok(()), "what was read cannot be written: {message:?}");
        assert_eq!(decode(&again), Ok(message), "what was written reads back as another value");
    }
}

fn frames(stream: &[u8], piece: usize) -> Vec<(u8, Vec<u8>)> {
    let mut decoder = Decoder::new();
    let mut frames = Vec::new();
    for bytes in stream.chunks(piece) {
        decoder.push(bytes);
        while let Ok(Some(frame)) = decoder.pull() {
            frames.push((frame.id, frame.body.to_vec()));
        }
    }
    frames
}
