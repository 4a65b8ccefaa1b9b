//! Bytes that are written from front to back, into a buffer that is kept from one packet to the
//! next. It never shrinks, so that room for bytes which will all be set is not set to zero first.

use alloc::vec::Vec;

use super::segment::ROOM;
use crate::error::{Fault, WireError};

/// What has been written.
#[derive(Debug)]
pub(super) struct Out<'a> {
    pub(super) buffer: &'a mut Vec<u8>,
    pub(super) len: usize,
}

impl Out<'_> {
    /// Room for so many bytes more, each of which the caller sets.
    pub(super) fn room(&mut self, len: usize) -> &mut [u8] {
        let start = self.len;
        self.len += len;
        if self.len > self.buffer.len() {
            grow(self.buffer, self.len);
        }
        &mut self.buffer[start..self.len]
    }

    /// Room for a segment that makes so many bytes.
    pub(super) fn segment(&mut self, len: usize) -> Result<&mut [u8; ROOM], WireError> {
        let start = self.len;
        self.len += len;
        segment_at(self.buffer, start)
    }

    pub(super) fn put(&mut self, bytes: &[u8]) {
        self.room(bytes.len()).copy_from_slice(bytes);
    }

    /// Sets bytes that were written before.
    pub(super) fn set(&mut self, at: usize, bytes: &[u8]) {
        self.buffer[at..at + bytes.len()].copy_from_slice(bytes);
    }
}

/// Room for a segment from this byte on.
#[inline]
pub(super) fn segment_at(buffer: &mut Vec<u8>, start: usize) -> Result<&mut [u8; ROOM], WireError> {
    if buffer.len() < start + ROOM {
        grow(buffer, start + ROOM);
    }
    let room = buffer.get_mut(start..).and_then(<[u8]>::first_chunk_mut);
    room.ok_or(WireError::new("", Fault::Truncated))
}

#[cold]
fn grow(buffer: &mut Vec<u8>, len: usize) {
    buffer.resize(len, 0);
}
