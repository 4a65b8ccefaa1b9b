//! Every message of the protocol, one file per conversation, and the one registry of their numbers.
//!
//! Who uses it: both ends of a session, scenarios, the inspector. Never: a socket, a clock, a
//! decision; a message is declared here and judged elsewhere.
#![no_std]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod build;
mod chat;
mod console;
mod content;
mod dialect;
mod entity;
mod input;
mod join;
mod notice;
mod opening;
mod registry;
mod roster;
mod session_end;
mod snapshot;
mod world;

pub mod limit;

pub use self::build::{Build, BuildError, Builds, Own};
pub use self::chat::{ChatKind, ClientChat, ServerChat};
pub use self::console::{ConsoleAnswer, ConsoleLine};
pub use self::content::{BlobChunk, BlobKind, BlobRefused, BlobRequest, MapLoad};
pub use self::dialect::{Dialect, Passage, Terms};
pub use self::entity::{
    EntityId, EntityRecord, EntityState, Form, KindPayload, NetKind, RecordFlags,
};
pub use self::input::{Buttons, Input, PlayerInput, SnapshotAck};
pub use self::join::{
    ClientInfo, ClientReady, ConnectRequest, PROTOCOL_VERSION, SchemaAnswer, SchemaHash,
    SchemaText, ServerInfo, SpawnAck,
};
pub use self::notice::{ClientNotice, Severity};
pub use self::opening::{Opening, opening};
pub use self::registry::{
    Channel, Direction, MESSAGES, Message, MessageRow, SCHEMA_WORDS, Side, ToClient, ToServer,
    datagram, frame, row, schema, schema_hash, schema_short, schema_text,
};
pub use self::roster::{PlayerEntry, PlayerList};
pub use self::session_end::{CloseCode, SessionEnd};
pub use self::snapshot::{OwnerDetail, PawnFlags, Snapshot, SnapshotFragment, SnapshotHead};
pub use self::world::{MapAdvert, WorldSettings};

/// What a session reads a peer of another build by, kept from one message to the next.
pub use dh_wire::plan::Scratch;
/// The wire types that messages are made of, for those who build them.
pub use dh_wire::{
    Content, Count16, Counted, Fault, Few8, Full, Guid, Hash128, List8, List16, Rest, Root,
    Section, Short, Str8, Str16, WireError, decode, encode,
};

#[cfg(test)]
mod tests;
