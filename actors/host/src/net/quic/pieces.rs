//! Pieces: a stream read as its bytes arrive and handed on in order.
//!
//! quinn's own ordered reads leave what came after a lost packet unread, and unread bytes fill the
//! window: for each loss the sender then stands still for a round trip. Read in any order they make
//! room at once, and wait here.

use std::collections::BTreeMap;

use bytes::Bytes;
use quinn::RecvStream;

use crate::net::limit;

/// A stream and what came of it too early.
#[derive(Debug)]
pub(super) struct Pieces {
    stream: RecvStream,
    early: Early,
}

/// Why there are no more bytes.
#[derive(Debug)]
pub(super) enum NoPiece {
    /// The stream or its connection has failed.
    Lost,
    /// The sender leaves out some bytes and sends ever more behind them.
    Hole,
}

impl Pieces {
    pub(super) fn of(stream: RecvStream) -> Self {
        Self { stream, early: Early::default() }
    }

    /// The next bytes; none at the end of the stream.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, NoPiece> {
        loop {
            if let Some(bytes) = self.early.next() {
                return Ok(Some(bytes));
            }
            match self.stream.read_chunk(READ_MAX, false).await.map_err(|_| NoPiece::Lost)? {
                Some(chunk) => self.early.put(chunk.offset, chunk.bytes)?,
                None => return Ok(None),
            }
        }
    }
}

/// Bytes by their offset, handed out in order. None is put twice.
#[derive(Debug, Default)]
struct Early {
    pieces: BTreeMap<u64, Bytes>,
    /// Bytes of all of them.
    held: usize,
    /// Where the next one begins.
    at: u64,
}

impl Early {
    fn put(&mut self, offset: u64, bytes: Bytes) -> Result<(), NoPiece> {
        self.held += bytes.len();
        self.pieces.insert(offset, bytes);
        if self.held > HELD_MAX { Err(NoPiece::Hole) } else { Ok(()) }
    }

    fn next(&mut self) -> Option<Bytes> {
        let bytes = self.pieces.remove(&self.at)?;
        self.held -= bytes.len();
        self.at += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        Some(bytes)
    }
}

/// Bytes taken from the stream at once.
const READ_MAX: usize = 64 << 10;
/// Bytes that may wait for one that is missing: all that a server of ours ever has under way, and
/// what was taken of them at once.
const HELD_MAX: usize = limit::BLOB_UNACKED as usize + READ_MAX;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_too_early_is_handed_out_in_its_place() {
        let mut early = Early::default();
        for (offset, bytes) in [(5, &b"fgh"[..]), (2, b"cde"), (8, b"i")] {
            early.put(offset, Bytes::from_static(bytes)).unwrap();
            assert_eq!(early.next(), None);
        }
        early.put(0, Bytes::from_static(b"ab")).unwrap();
        let all: Vec<u8> = std::iter::from_fn(|| early.next()).flatten().collect();
        assert_eq!((&all[..], early.held), (&b"abcdefghi"[..], 0));
    }

    #[test]
    fn a_hole_that_is_never_filled_holds_no_more_than_its_bound() {
        let mut early = Early::default();
        let piece = Bytes::from(vec![0; READ_MAX]);
        let put = (1..).map(|number| early.put(number * 65_536, piece.clone()));
        let taken = put.take_while(Result::is_ok).count();
        assert_eq!(taken, HELD_MAX / READ_MAX);
    }
}
