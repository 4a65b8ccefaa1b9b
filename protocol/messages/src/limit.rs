//! The limits of messages, in one place.
//!
//! Used by declarations here and by those who fill them. Never: a limit of behaviour, such as how
//! many lines a peer may say.

/// The largest datagram, its id included, in bytes (the specification's `MaxPacketBytes`).
pub const PACKET_BYTES_MAX: usize = 1_200;
/// The most fragments one snapshot may be cut into (`MaxSnapshotFragments`).
pub const SNAPSHOT_FRAGMENTS_MAX: usize = 16;
/// The largest snapshot, its id included, in bytes (`MaxSnapshotBytes`).
pub const SNAPSHOT_BYTES_MAX: usize = PACKET_BYTES_MAX * SNAPSHOT_FRAGMENTS_MAX;
/// The most records one snapshot may announce.
pub const SNAPSHOT_RECORDS_MAX: usize = 8_192;
/// The most inputs one packet carries.
pub const INPUTS_MAX: usize = 4;
/// The most float channels of a kind's payload (`MaxChannels`).
pub const CHANNELS_MAX: usize = 4;
/// Bytes of every slice of a blob but the last (`BlobChunkPayloadBytes`).
pub const BLOB_SLICE_BYTES: u16 = 1_024;
/// The longest display name, in UTF-16 units; whoever makes a name cuts it to this.
pub const NAME_UNITS_MAX: usize = 32;
/// The longest display name on the wire, in bytes.
pub const NAME_BYTES_MAX: usize = 128;
/// The longest name of a world, in bytes.
pub const WORLD_NAME_BYTES_MAX: usize = 64;
/// The longest barcode of a map or an avatar, in bytes.
pub const BARCODE_BYTES_MAX: usize = 1_024;
/// The longest reason or notice, in bytes.
pub const REASON_BYTES_MAX: usize = 512;
/// The longest line of chat on the wire, in bytes: 200 characters of up to four bytes.
pub const CHAT_BYTES_MAX: usize = 800;
/// The longest line of a console that a client forwards, in bytes.
pub const CONSOLE_LINE_BYTES_MAX: usize = 2_048;
/// The longest answer to such a line, in bytes: the listing of a full server.
pub const CONSOLE_ANSWER_BYTES_MAX: usize = 32_768;
/// The most other builds that a process remembers at once.
pub const BUILDS_MAX: usize = 32;
/// The most bytes of text of other builds that a process remembers at once: an honest one has about
/// a sixtieth of it.
pub const BUILDS_TEXT_BYTES_MAX: usize = 1 << 20;
