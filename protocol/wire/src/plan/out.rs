//! Bytes that are written from front to back, into a buffer that is kept from one packet to the
//! next. It never shrinks, so that room for bytes which will all be set is not set to zero first.

use alloc::vec::Vec;

use super::segment::ROOM;

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

    /// Room for a segment.
    #[inline(always)]
    pub(super) fn segment(&mut self, len: usize) -> &mut [u8; ROOM] {
        let start = self.len;
        self.len += len;
        if self.buffer.get(start..).is_none_or(|room| room.len() < ROOM) {
            grow(self.buffer, start + ROOM);
        }
        self.buffer[start..].first_chunk_mut().expect("it has grown")
    }

    pub(super) fn put(&mut self, bytes: &[u8]) {
        self.room(bytes.len()).copy_from_slice(bytes);
    }

    /// Sets bytes that were written before.
    pub(super) fn set(&mut self, at: usize, bytes: &[u8]) {
        self.buffer[at..at + bytes.len()].copy_from_slice(bytes);
    }
}

#[cold]
pub(super) fn grow(buffer: &mut Vec<u8>, len: usize) {
    buffer.resize(len, 0);
}
