//! What a first message is, by its shape: today's, or one from before the schema exchange.
//!
//! Used by the session for the body of message 1. Never allocates, and never trusts the version
//! number to tell the two apart: the old numbers go past today's.

use dh_wire::{Fields, WireError, decode};

use crate::join::ConnectRequest;

/// What a client's first message turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// A version and a schema hash. Whether the version is ours is the reader's next question.
    Current(ConnectRequest),
    /// A version and no schema hash beside it: a build from before the schema exchange.
    Legacy {
        /// The version it offered.
        version: u32,
    },
}

/// Tells what the body of a first message is. Every opening ever sent starts with its version, so
/// only a body too short for one is unreadable.
pub fn opening(body: &[u8]) -> Result<Opening, WireError> {
    if body.len() == ConnectRequest::BYTES_MIN {
        return decode(body).map(Opening::Current);
    }
    let Some((version, _)) = body.split_first_chunk() else {
        return decode::<ConnectRequest>(body).map(Opening::Current);
    };
    Ok(Opening::Legacy { version: u32::from_le_bytes(*version) })
}
