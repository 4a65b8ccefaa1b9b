//! A stretch of a packet in which every value takes as many bytes as its type says, so that all
//! places are known before the first byte comes.
//!
//! Laid out by `compile`, carried out by `rewrite`, which has asked once whether the packet is long
//! enough. Never: a length that only the bytes tell.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::change::Change;
use crate::error::counted;

/// Bytes that are moved at once, or made of one number.
const WORD: usize = 8;
/// Bytes that are moved at once where so many follow each other.
const BLOCK: usize = 16;
/// The most bytes that a segment makes, so that one byte tells each place.
pub(super) const SEGMENT_MAX: usize = 256;
/// The bytes that a segment needs, with those that are set and do not count.
pub(super) const ROOM: usize = SEGMENT_MAX + BLOCK;

/// Values of fixed size, in this build's order, and where the peer has them.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// How many of the peer's bytes they are.
    pub(super) from: usize,
    /// How many they are here.
    pub(super) to: usize,
    pieces: Vec<Piece>,
}

#[derive(Debug)]
struct Piece {
    from: usize,
    to: usize,
    what: What,
}

#[derive(Debug)]
enum What {
    /// These many bytes as they are.
    Copy(usize),
    /// Bytes that the peer does not have.
    Hold(Vec<u8>),
    /// A number.
    Number(Change),
}

impl Piece {
    /// How many bytes it copies from there, if they are no more than `most`.
    fn copy_at(&self, from: usize, most: usize) -> Option<usize> {
        match self.what {
            What::Copy(len) if self.from == from && len <= most => Some(len),
            _ => None,
        }
    }
}

impl Layout {
    /// These many bytes as they are.
    pub(super) fn copy(len: usize) -> Self {
        Self::of(len, len, What::Copy(len))
    }

    /// Not these many bytes.
    pub(super) fn skip(from: usize) -> Self {
        Self { from, ..Self::default() }
    }

    /// Bytes that the peer does not have.
    pub(super) fn hold(bytes: Vec<u8>) -> Self {
        Self::of(0, bytes.len(), What::Hold(bytes))
    }

    /// A number that takes so many bytes there and here, at most eight.
    pub(super) fn number(from: usize, to: usize, change: Change) -> Self {
        Self::of(from, to, What::Number(change))
    }

    fn of(from: usize, to: usize, what: What) -> Self {
        let pieces = if to == 0 { Vec::new() } else { [Piece { from: 0, to: 0, what }].into() };
        Self { from, to, pieces }
    }

    /// Adds what comes next in both builds.
    pub(super) fn append(&mut self, next: Self) {
        let from = next.from;
        self.place(self.from, next);
        self.from += from;
    }

    /// Adds what comes next here, and lies `at` this byte of the peer's.
    pub(super) fn place(&mut self, at: usize, next: Self) {
        for Piece { from, to, what } in next.pieces {
            let (from, to) = (at + from, self.to + to);
            match (self.pieces.last_mut(), what) {
                (Some(Piece { what: What::Hold(bytes), .. }), What::Hold(more)) => {
                    bytes.extend_from_slice(&more);
                }
                (_, what) => self.pieces.push(Piece { from, to, what }),
            }
        }
        self.to += next.to;
    }
}

/// A layout ready to be carried out.
#[derive(Debug)]
pub(super) struct Segment {
    /// How many of the peer's bytes it takes.
    pub(super) from: usize,
    /// How many bytes it makes of them.
    pub(super) to: usize,
    /// Whether it is the peer's bytes as they are.
    pub(super) is_copy: bool,
    /// In the order of their places: what one sets behind its own bytes is set again by the next.
    moves: Box<[Move]>,
}

/// Whole values that are moved at once: no value is cut, as a processor is slow at reading in one
/// piece what it has just written in two.
#[derive(Debug)]
struct Move {
    from: u32,
    to: u8,
    /// How many bits of the peer's bytes lie before the value.
    shift: u8,
    how: How,
    change: Change,
}

/// What a move does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// It copies a block.
    Block,
    /// It copies a word.
    Word,
    /// It changes a word.
    Change,
}

impl Segment {
    /// The segment of a layout, whose first byte goes to this place.
    pub(super) fn new(Layout { from: len, to: made, pieces }: Layout, place: usize) -> Self {
        let (mut copied, mut moves) = (0, Vec::new());
        let mut pieces = pieces.into_iter().peekable();
        while let Some(Piece { from, to, what }) = pieces.next() {
            let to = place + to;
            match what {
                What::Copy(mut run) => {
                    let most = if from + BLOCK <= len { BLOCK } else { WORD };
                    let joins =
                        |next: &Piece, at: usize| next.copy_at(from + at, most.saturating_sub(at));
                    while let Some(more) = pieces.peek().and_then(|next| joins(next, run)) {
                        pieces.next();
                        run += more;
                    }
                    copied += if from == copied { run } else { 0 };
                    copy(from, to, run, len, &mut moves);
                }
                What::Hold(bytes) => {
                    for (to, word) in (to..).step_by(WORD).zip(bytes.chunks(WORD)) {
                        moves.push(Move::changed(0, to, Change::Hold(number_of(word)), len));
                    }
                }
                What::Number(change) => moves.push(Move::changed(from, to, change, len)),
            }
        }
        Self { from: len, to: made, is_copy: copied == len && len == made, moves: moves.into() }
    }

    /// Makes `to` bytes of `from`, and sets some behind them to anything.
    #[inline(always)]
    pub(super) fn carry_out(&self, from: &[u8], to: &mut [u8; ROOM]) {
        if from.len() < WORD {
            self.carry_out_short(from, to);
        } else {
            self.carry_out_long(from, to);
        }
    }

    #[inline(never)]
    fn carry_out_short(&self, from: &[u8], to: &mut [u8; ROOM]) {
        let mut word = [0; WORD];
        word[..from.len()].copy_from_slice(from);
        self.carry_out_long(&word, to);
    }

    #[inline(always)]
    fn carry_out_long(&self, from: &[u8], to: &mut [u8; ROOM]) {
        for it in &self.moves {
            let (at, place) = (it.from as usize, usize::from(it.to));
            match it.how {
                How::Block => to[place..place + BLOCK].copy_from_slice(&from[at..at + BLOCK]),
                How::Word => to[place..place + WORD].copy_from_slice(&from[at..at + WORD]),
                How::Change => {
                    let number = number_of(&from[at..at + WORD]) >> it.shift;
                    let made = it.change.make(number).to_le_bytes();
                    to[place..place + WORD].copy_from_slice(&made);
                }
            }
        }
    }
}

impl Move {
    fn plain(how: How, from: usize, to: usize) -> Self {
        Self { from: counted(from), to: small(to), shift: 0, how, change: Change::NONE }
    }

    /// The peer's word may begin before the value, so as not to end behind the segment, of this
    /// length.
    fn changed(at: usize, to: usize, change: Change, len: usize) -> Self {
        let from = at.min(len.saturating_sub(WORD));
        let shift = small(8 * (at - from));
        Self { from: counted(from), to: small(to), shift, how: How::Change, change }
    }
}

/// The moves for bytes as they are, in a segment of this length.
fn copy(from: usize, to: usize, run: usize, len: usize, moves: &mut Vec<Move>) {
    let mut done = 0;
    while done < run {
        let (from, to, left) = (from + done, to + done, run - done);
        done += if left > WORD && from + BLOCK <= len {
            moves.push(Move::plain(How::Block, from, to));
            BLOCK
        } else {
            moves.push(if from + WORD <= len {
                Move::plain(How::Word, from, to)
            } else {
                Move::changed(from, to, Change::NONE, len)
            });
            WORD
        };
    }
}

/// A place in a segment or the bits of a part of a word, neither of which is larger.
fn small(number: usize) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

/// The number that these bytes are, of which there are eight at most.
#[inline]
pub(super) fn number_of(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(word) => u64::from_le_bytes(*word),
        None => bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)),
    }
}
