//! Lines of chat: as a client typed one, and as the server stamps it for everybody.
//!
//! Used by session, chat and connection. Never: a name or a number that a client claims for a line.

use alloc::format;
use alloc::string::String;

use dh_wire::{Str8, Str16, message};

use crate::limit::{CHAT_BYTES_MAX, NAME_BYTES_MAX};

message!(
    /// A line that a player typed, and nothing else: who says it is the server's to know.
    #[derive(Eq)]
    pub struct ClientChat {
        /// The line.
        pub text: Str16<CHAT_BYTES_MAX>,
    }
);

message!(
    #[named(u8)]
    /// Where a line comes from.
    pub enum ChatKind {
        /// A player typed it.
        Player = 0,
        /// The server says it.
        Server = 1,
        /// A player has entered play.
        Join = 2,
        /// A player has left play.
        Leave = 3,
    }
);

message!(
    /// One line.
    #[derive(Eq)]
    pub struct ServerChat {
        /// Where it comes from.
        pub kind: ChatKind,
        /// The player's number in the roster, [`Self::NO_SLOT`] for none.
        pub slot: u8,
        /// The player's name, empty for none.
        pub name: Str8<NAME_BYTES_MAX>,
        /// The line.
        pub text: Str16<CHAT_BYTES_MAX>,
    }
);

impl ChatKind {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Player => "player",
            Self::Server => "server",
            Self::Join => "join",
            Self::Leave => "leave",
        }
    }
}

impl ServerChat {
    /// The slot of a line that no player stands behind.
    pub const NO_SLOT: u8 = 255;

    /// The line as feeds and logs of both ends show it.
    #[must_use]
    pub fn to_log_line(&self) -> String {
        let (name, text) = (&self.name, &self.text);
        match self.kind {
            ChatKind::Player => format!("{name}: {text}"),
            ChatKind::Server => format!("[server] {text}"),
            ChatKind::Join => format!("{name} joined"),
            ChatKind::Leave => format!("{name} left"),
        }
    }
}
