//! A word of the server to one client's player.
//!
//! Used by whoever has something to tell. Never ends anything; endings have their own message.

use dh_wire::{Str16, message};

use crate::limit::REASON_BYTES_MAX;

message!(
    #[named(u8)]
    /// How loud a notice is.
    pub enum Severity {
        /// For the record.
        Info = 0,
        /// Something works less well than it should.
        Warning = 1,
        /// Something does not work.
        Error = 2,
    }
);

message!(
    /// A notice for the player.
    #[derive(Eq)]
    pub struct ClientNotice {
        /// How loud.
        pub severity: Severity,
        /// One line.
        pub text: Str16<REASON_BYTES_MAX>,
    }
);
