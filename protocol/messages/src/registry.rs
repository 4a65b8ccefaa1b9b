//! The one list of message numbers, and what follows from it.
//!
//! Used by whoever sends, receives, describes or tests messages. Never: a number given out anywhere
//! else. A message listed here is a promise to handle it.

use alloc::string::String;
use alloc::vec::Vec;

use dh_wire::schema::MessageEntry;
use dh_wire::{Fault, Fields, Hash128, Schema, Short, WireError, decode, dump, encode, envelope};

use crate::chat::{ClientChat, ServerChat};
use crate::console::{ConsoleAnswer, ConsoleLine};
use crate::content::{BlobChunk, BlobRefused, BlobRequest, MapLoad};
use crate::input::Input;
use crate::join::{
    ClientInfo, ClientReady, ConnectRequest, PROTOCOL_VERSION, SchemaAnswer, SchemaHash,
    SchemaText, ServerInfo, SpawnAck,
};
use crate::notice::ClientNotice;
use crate::roster::PlayerList;
use crate::session_end::SessionEnd;
use crate::snapshot::{Snapshot, SnapshotFragment};

/// Numbers, names, channels and dispatch, from one list.
macro_rules! registry {
    ($($Side:ident {
        $($id:literal $name:ident $Channel:ident $($frame:ident)? => $Type:ident,)*
    })*) => {
        /// Every message, in the order of the registry.
        pub const MESSAGES: &[MessageRow] = &[$($(MessageRow {
            id: $id,
            name: stringify!($name),
            direction: Direction::$Side,
            channel: Channel::$Channel,
            frame: is_frame(stringify!($($frame)?)),
            shape: <$Type as Fields>::SHAPE,
            describe: Schema::shape::<$Type>,
            recode: recode::<$Type>,
            show: show::<$Type>,
        },)*)*];

        $($(impl Message for $Type {
            const ID: u8 = $id;
            const NAME: &'static str = stringify!($name);
            const DIRECTION: Direction = Direction::$Side;
            const CHANNEL: Channel = Channel::$Channel;
        })*)*

        $(side! { $Side { $($id $Channel $Type,)* } })*
    };
}

/// The messages that one side receives.
macro_rules! side {
    ($Side:ident { $($id:literal $Channel:ident $Type:ident,)* }) => {
        #[doc = concat!("A message `", stringify!($Side), "`.")]
        #[derive(Clone, Debug, PartialEq)]
        pub enum $Side {
            $(
                #[doc = concat!("Message ", stringify!($id), ".")]
                $Type($Type),
            )*
        }

        impl $Side {
            /// Reads the body of a frame of stream 0.
            pub fn from_stream(id: u8, body: &[u8]) -> Result<Self, WireError> {
                Self::read(Channel::Stream, id, body)
            }

            /// Reads the body of a frame of stream 1.
            pub fn from_blob(id: u8, body: &[u8]) -> Result<Self, WireError> {
                Self::read(Channel::Blob, id, body)
            }

            /// Reads a datagram: a number, then a body.
            pub fn from_datagram(datagram: &[u8]) -> Result<Self, WireError> {
                let Some((id, body)) = datagram.split_first() else {
                    return Err(WireError::new("id", Fault::Truncated));
                };
                Self::read(Channel::Datagram, *id, body)
            }

            /// The number of the message.
            pub const fn id(&self) -> u8 {
                match self { $(Self::$Type(_) => $id),* }
            }

            /// The name of the message.
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$Type(_) => <$Type as Message>::NAME),* }
            }

            /// Appends the body of the message. On an error `out` is as it was.
            pub fn write_body(&mut self, out: &mut Vec<u8>) -> Result<(), WireError> {
                match self { $(Self::$Type(message) => encode(message, out)),* }
            }

        }

        impl Side for $Side {
            const DIRECTION: Direction = Direction::$Side;

            fn read(channel: Channel, id: u8, body: &[u8]) -> Result<Self, WireError> {
                match id {
                    $($id if channel == Channel::$Channel => decode(body).map(Self::$Type),)*
                    $($id => Err(WireError::new("id", Fault::WrongChannel(id))),)*
                    _ => Err(WireError::new("id", Fault::UnknownMessage(id))),
                }
            }
        }
    };
}

registry! {
    ToServer {
        1 connectRequest Stream frame => ConnectRequest,
        3 input Datagram => Input,
        4 clientReady Stream => ClientReady,
        13 blobRequest Stream => BlobRequest,
        20 clientInfo Stream => ClientInfo,
        45 schemaText Stream frame => SchemaText,
        55 clientChat Stream => ClientChat,
        57 consoleLine Stream => ConsoleLine,
    }
    ToClient {
        2 serverInfo Stream => ServerInfo,
        5 spawnAck Stream => SpawnAck,
        6 snapshot Datagram => Snapshot,
        12 mapLoad Stream => MapLoad,
        14 blobChunk Blob => BlobChunk,
        16 clientNotice Stream => ClientNotice,
        28 snapshotFragment Datagram => SnapshotFragment,
        44 schemaHash Stream frame => SchemaHash,
        45 schemaText Stream frame => SchemaAnswer,
        50 blobRefused Blob => BlobRefused,
        52 sessionEnd Stream frame => SessionEnd,
        53 playerList Stream => PlayerList,
        54 serverChat Stream => ServerChat,
        57 consoleLine Stream => ConsoleAnswer,
    }
}

/// What schemas are packed against on their way to another build: the text of the first build that
/// sent one. Part of the frozen frame, and the same for ever, whatever today's text is.
pub const SCHEMA_WORDS: &str = include_str!("words.txt");

/// A shape with a number.
pub trait Message: Fields {
    /// The number, unique in its direction.
    const ID: u8;
    /// The name, as documents and logs spell it; what goes both ways has one name and two shapes.
    const NAME: &'static str;
    /// Who receives it.
    const DIRECTION: Direction;
    /// How it travels.
    const CHANNEL: Channel;
}

/// The messages that one side receives.
pub trait Side: Sized {
    /// Which side.
    const DIRECTION: Direction;

    /// Reads the body of a message that came over this channel.
    ///
    /// # Errors
    ///
    /// A body that is none, or a number that is not received there.
    fn read(channel: Channel, id: u8, body: &[u8]) -> Result<Self, WireError>;
}

/// Who receives a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// The server does.
    ToServer,
    /// A client does.
    ToClient,
}

/// How a message travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Channel {
    /// In order and without loss, as a frame of stream 0.
    Stream,
    /// In order and without loss, as a frame of stream 1, which no message waits for.
    Blob,
    /// As a datagram: its number, then its body.
    Datagram,
}

/// One line of the registry.
#[derive(Clone, Copy, Debug)]
pub struct MessageRow {
    /// The number.
    pub id: u8,
    /// The name.
    pub name: &'static str,
    /// Who receives it.
    pub direction: Direction,
    /// How it travels.
    pub channel: Channel,
    /// Whether it is part of the frozen frame.
    pub frame: bool,
    /// The name of its shape.
    pub shape: &'static str,
    /// Adds its shape to a schema.
    describe: fn(&mut Schema) -> Result<String, WireError>,
    /// Reads a body and writes it again.
    recode: fn(&[u8]) -> Result<Vec<u8>, WireError>,
    /// Reads a body and shows it.
    show: fn(&[u8]) -> Result<String, WireError>,
}

impl Direction {
    /// The word of the schema text.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ToServer => "toServer",
            Self::ToClient => "toClient",
        }
    }
}

impl Channel {
    /// The word of the schema text.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Stream => "stream",
            Self::Blob => "blob",
            Self::Datagram => "datagram",
        }
    }
}

impl MessageRow {
    /// Reads a body of this message and writes it again.
    pub fn recode(&self, body: &[u8]) -> Result<Vec<u8>, WireError> {
        (self.recode)(body)
    }

    /// Reads a body of this message and shows it, one line a field.
    pub fn show(&self, body: &[u8]) -> Result<String, WireError> {
        (self.show)(body)
    }
}

/// Appends a message as a frame of stream 0. On an error `out` is as it was.
pub fn frame<M: Message>(message: &mut M, out: &mut Vec<u8>) -> Result<(), WireError> {
    const { assert!(matches!(M::CHANNEL, Channel::Stream), "this message is a datagram") };
    envelope::seal(M::ID, message, out)
}

/// Appends a message as a datagram. On an error `out` is as it was.
pub fn datagram<M: Message>(message: &mut M, out: &mut Vec<u8>) -> Result<(), WireError> {
    const { assert!(matches!(M::CHANNEL, Channel::Datagram), "this message is a frame") };
    out.push(M::ID);
    let written = encode(message, out);
    if written.is_err() {
        out.pop();
    }
    written
}

/// The line of the message of this number.
pub fn row(direction: Direction, id: u8) -> Option<&'static MessageRow> {
    MESSAGES.iter().find(|row| (row.direction, row.id) == (direction, id))
}

/// The whole protocol as data.
pub fn schema() -> Schema {
    let mut schema = Schema::new(PROTOCOL_VERSION);
    for row in MESSAGES {
        let shape = (row.describe)(&mut schema).expect("every declaration can be described");
        schema.messages.push(MessageEntry {
            direction: row.direction.word().into(),
            id: row.id,
            name: row.name.into(),
            channel: row.channel.word().into(),
            frame: row.frame,
            shape,
        });
    }
    schema.messages.sort_by(|a, b| (&a.direction, a.id).cmp(&(&b.direction, b.id)));
    schema
}

/// The canonical text of the protocol.
pub fn schema_text() -> String {
    schema().text()
}

/// The identity of the protocol: XXH128 of its text, big endian. Built anew at each call; whoever
/// needs it often keeps it.
pub fn schema_hash() -> Hash128 {
    schema().identity()
}

/// The first 8 hex digits of the identity, as logs and notices show it.
pub fn schema_short() -> Short {
    schema_hash().short()
}

fn recode<M: Message>(body: &[u8]) -> Result<Vec<u8>, WireError> {
    let mut message: M = decode(body)?;
    let mut out = Vec::new();
    encode(&mut message, &mut out)?;
    Ok(out)
}

fn show<M: Message>(body: &[u8]) -> Result<String, WireError> {
    Ok(dump::tree(&mut decode::<M>(body)?))
}

const fn is_frame(marker: &str) -> bool {
    !marker.is_empty()
}
