//! The conversation of a join, from the first word to the spawn.
//!
//! Used by connection and session. `connectRequest`, `schemaHash` and both `schemaText` are part of
//! the frozen frame: a change of theirs moves [`PROTOCOL_VERSION`].

use dh_wire::{Guid, Hash128, Rest, Str8, Str16, message};

use crate::entity::EntityId;
use crate::limit::{BARCODE_BYTES_MAX, NAME_BYTES_MAX, WORLD_NAME_BYTES_MAX};
use crate::world::MapAdvert;

/// The version of the frame: openings, the schema exchange, endings, the envelope and the spelling
/// of the schema text. All else may differ between two builds of one version.
pub const PROTOCOL_VERSION: u32 = 2;

message!(
    /// A client's first word.
    #[derive(Copy, Eq)]
    pub struct ConnectRequest {
        /// The client's [`PROTOCOL_VERSION`].
        pub version: u32,
        /// The identity of the client's schema text.
        pub schema_hash: Hash128,
    }
);

message!(
    /// The server's answer: what it writes, and whether it has to be told what the client writes.
    #[derive(Copy, Eq)]
    pub struct SchemaHash {
        /// The identity of the server's schema text.
        pub hash: Hash128,
        /// Whether the client's text is wanted.
        pub wants_text: bool,
    }
);

message!(
    /// A client's answer to a hash that is not its own: what was asked for, and what it asks for.
    #[derive(Eq)]
    pub struct SchemaText {
        /// Whether the server's text is wanted.
        pub wants_text: bool,
        /// The client's text, packed; nothing where it was not wanted.
        pub packed: Rest,
    }
);

message!(
    /// The server's text, for a client that wanted it.
    #[derive(Eq)]
    pub struct SchemaAnswer {
        /// The server's text, packed.
        pub packed: Rest,
    }
);

message!(
    /// What a server is and runs.
    #[derive(Eq)]
    pub struct ServerInfo {
        /// The server's [`PROTOCOL_VERSION`].
        pub version: u32,
        /// Ticks a second.
        pub tick_rate: u16,
        /// The identity of the world.
        pub world_id: Guid,
        /// The name of the world.
        pub world_name: Str8<WORLD_NAME_BYTES_MAX>,
        /// The map that stands.
        pub map: MapAdvert,
    }
);

message!(
    /// Who a client says it is. Display only; standing comes from its key.
    #[derive(Eq)]
    pub struct ClientInfo {
        /// The name to show.
        pub name: Str8<NAME_BYTES_MAX>,
        /// The colour of its screens, `0xRRGGBB`.
        pub seed_colour: u32,
        /// The barcode of the avatar worn, empty for none.
        pub avatar: Str16<BARCODE_BYTES_MAX>,
    }
);

message!(
    /// The client has loaded the map and wants to be spawned.
    #[derive(Copy, Eq)]
    pub struct ClientReady {
        /// The generation of the map it has loaded.
        pub map_generation: u32,
    }
);

message!(
    /// The client has a pawn.
    #[derive(Copy, Eq)]
    pub struct SpawnAck {
        /// Its number in the roster.
        pub slot: u8,
        /// Its pawn.
        pub pawn: EntityId,
        /// The tick of the spawn.
        pub tick: u32,
        /// The generation of the map it stands in.
        pub map_generation: u32,
    }
);
