//! A client's console reaching the server's: one line there, one answer back.
//!
//! Used by connection, session and roster. Never: whether the line may be run; the server decides.

use dh_wire::{Str16, message};

use crate::limit::{CONSOLE_ANSWER_BYTES_MAX, CONSOLE_LINE_BYTES_MAX};

message!(
    /// A line of a client's console that is for the server.
    #[derive(Eq)]
    pub struct ConsoleLine {
        /// The client's own number; the answer carries it.
        pub id: u32,
        /// The line.
        pub text: Str16<CONSOLE_LINE_BYTES_MAX>,
    }
);

message!(
    /// What the server answers to such a line.
    #[derive(Eq)]
    pub struct ConsoleAnswer {
        /// The number of the line.
        pub id: u32,
        /// The answer, of one line or several.
        pub text: Str16<CONSOLE_ANSWER_BYTES_MAX>,
    }
);
