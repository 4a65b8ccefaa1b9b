//! The frame of stream 0: body length u32, id u8, body.
//!
//! Used by transports and by the registry. Part of the frozen frame. Never: allocates for a length
//! that has only been announced.

use alloc::vec::Vec;

use crate::error::WireError;
use crate::limit::ENVELOPE_BODY_MAX;
use crate::walk::Fields;
use crate::writer::encode;

/// Bytes before a body.
pub const HEADER_BYTES: usize = 5;

/// One frame of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The number of the message.
    pub id: u8,
    /// Its body.
    pub body: &'a [u8],
}

/// Appends `value` as a frame with the number `id`. On an error `out` is as it was.
pub fn seal<F: Fields>(id: u8, value: &mut F, out: &mut Vec<u8>) -> Result<(), WireError> {
    let start = out.len();
    out.extend_from_slice(&header(0, id));
    let sealed = encode(value, out).and_then(|()| {
        let body = out.len() - start - HEADER_BYTES;
        out[start..start + HEADER_BYTES].copy_from_slice(&header(checked(body)?, id));
        Ok(())
    });
    if sealed.is_err() {
        out.truncate(start);
    }
    sealed
}

/// Appends a body that is already encoded as a frame with the number `id`.
pub fn seal_body(id: u8, body: &[u8], out: &mut Vec<u8>) -> Result<(), WireError> {
    let len = checked(body.len())?;
    out.extend_from_slice(&header(len, id));
    out.extend_from_slice(body);
    Ok(())
}

fn checked(body: usize) -> Result<u32, WireError> {
    match u32::try_from(body) {
        Ok(len) if body <= ENVELOPE_BODY_MAX => Ok(len),
        _ => Err(WireError::too_long("body", body, ENVELOPE_BODY_MAX)),
    }
}

fn header(len: u32, id: u8) -> [u8; HEADER_BYTES] {
    let [a, b, c, d] = len.to_le_bytes();
    [a, b, c, d, id]
}

/// Cuts a stream into frames, however its bytes come in.
///
/// Holds only bytes that have arrived. Pull until `None` before pushing more; then it holds at most
/// one unfinished frame. After an error it gives that error for ever: a stream that has lost its
/// frames cannot be taken up again.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    held: Vec<u8>,
    /// Bytes at the front of `held` that have been given out.
    taken: usize,
    failed: Option<WireError>,
}

impl Decoder {
    /// A decoder at the start of a stream.
    pub const fn new() -> Self {
        Self { held: Vec::new(), taken: 0, failed: None }
    }

    /// Takes in the next bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.failed.is_some() {
            return;
        }
        self.held.drain(..self.taken);
        self.taken = 0;
        self.held.extend_from_slice(bytes);
    }

    /// The next whole frame, if it has arrived.
    pub fn pull(&mut self) -> Result<Option<Frame<'_>>, WireError> {
        if let Some(failed) = self.failed {
            return Err(failed);
        }
        let start = self.taken + HEADER_BYTES;
        let Some([a, b, c, d]) = self.held[self.taken..].first_chunk().copied() else {
            return Ok(None);
        };
        let len = u32::from_le_bytes([a, b, c, d]) as usize;
        if len > ENVELOPE_BODY_MAX {
            let failed = WireError::too_long("body", len, ENVELOPE_BODY_MAX);
            *self = Self { failed: Some(failed), ..Self::default() };
            return Err(failed);
        }
        let Some(body) = self.held.get(start..start + len) else {
            return Ok(None);
        };
        self.taken = start + len;
        Ok(Some(Frame { id: self.held[start - 1], body }))
    }

    /// Bytes of a frame that has not arrived whole, 0 between two frames.
    pub fn unfinished(&self) -> usize {
        self.held.len() - self.taken
    }
}

#[cfg(test)]
mod tests;
