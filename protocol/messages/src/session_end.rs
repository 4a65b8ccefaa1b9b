//! How a session ends: the server's last reliable word, and the code of the close after it.
//!
//! Used by session and connection. Part of the frozen frame.

use dh_wire::{Str16, message};

use crate::limit::REASON_BYTES_MAX;

message!(
    #[open(u8)]
    /// Why a connection is closed; the same number is the transport's close code.
    pub enum CloseCode {
        /// The peer left on its own.
        Leave = 0,
        /// The two ends speak different versions; both numbers are told.
        ProtocolMismatch = 1,
        /// The server ended it, with a reason.
        Closed = 2,
        /// A message could not be read.
        Unreadable = 3,
        /// The server has no place left.
        Full = 4,
    }
);

message!(
    /// The server's last word.
    #[derive(Eq)]
    pub struct SessionEnd {
        /// Why.
        pub code: CloseCode,
        /// The server's protocol version.
        pub server_version: u32,
        /// The version the client offered.
        pub client_version: u32,
        /// The reason in words, may be empty.
        pub reason: Str16<REASON_BYTES_MAX>,
    }
);
