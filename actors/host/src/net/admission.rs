//! Admission: what a listener is told about arrivals, and what it may answer.

use super::connection::{Connection, Remote};

/// What an endpoint tells its listener.
#[derive(Debug)]
pub enum Knock {
    /// Somebody asks to come in; answer with [`Endpoint::answer`](super::Endpoint::answer) within
    /// [`HANDSHAKE_MAX`](super::limit::HANDSHAKE_MAX), or it is ignored.
    Incoming(Incoming),
    /// An accepted arrival has proven its key.
    Arrived {
        /// The number it knocked with.
        id: u64,
        /// Its connection.
        connection: Connection,
    },
    /// An accepted arrival did not get through the handshake.
    Failed(Failed),
}

/// A first packet that waits for a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incoming {
    /// Its number; each endpoint counts from 1 and never reuses one.
    pub id: u64,
    /// Where it says it comes from.
    pub remote: Remote,
    /// Whether it has proven that it receives what is sent there.
    pub validated: bool,
}

/// What to do with an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Go through the handshake with it.
    Accept,
    /// Have it prove its address first; a validated one is ignored instead.
    Retry,
    /// Say nothing.
    Ignore,
}

/// An accepted arrival that did not get through the handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The number it knocked with.
    pub id: u64,
    /// Where it came from.
    pub remote: Remote,
    /// Why, in a few words.
    pub why: String,
}
