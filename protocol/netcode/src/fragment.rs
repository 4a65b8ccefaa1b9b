//! Cutting an oversized snapshot datagram into fragments, and joining them again.
//!
//! `slice` is used by the session actor, [`Assembler`] by the connection actor. A joined set is the
//! datagram as it was, its message id included; this file never looks inside, and knows the
//! fragment message only by its header's size.

use alloc::boxed::Box;
use alloc::vec;
use core::fmt;

use dh_machine::Tick;
use dh_machine::planted::{self, Bug};
use dh_messages::limit::{PACKET_BYTES_MAX, SNAPSHOT_BYTES_MAX, SNAPSHOT_FRAGMENTS_MAX};

/// What a fragment spends before its part: id u8, tick u32, index u8, count u8.
pub const FRAGMENT_HEADER_BYTES: usize = 7;
/// The most bytes of a snapshot one fragment carries.
pub const FRAGMENT_BODY_MAX: usize = PACKET_BYTES_MAX - FRAGMENT_HEADER_BYTES;

/// One part of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// Its number, from 0.
    pub index: u8,
    /// How many there are, at most [`SNAPSHOT_FRAGMENTS_MAX`].
    pub count: u8,
    /// Its bytes; all parts but the last are of one length.
    pub bytes: &'a [u8],
}

/// A snapshot that would need more than [`SNAPSHOT_FRAGMENTS_MAX`] fragments; it is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyFragments {
    /// What it would have needed.
    pub needed: usize,
}

/// Cuts `datagram` into parts that fit `budget` with their headers. Who calls it sends a datagram
/// that fits the budget whole instead.
///
/// # Errors
/// When it would take too many, or the budget has no room beside the header.
pub fn slice(
    datagram: &[u8],
    budget: usize,
) -> Result<impl ExactSizeIterator<Item = Part<'_>>, TooManyFragments> {
    let room = budget.min(PACKET_BYTES_MAX).saturating_sub(FRAGMENT_HEADER_BYTES);
    let needed = if room == 0 { usize::MAX } else { datagram.len().div_ceil(room) };
    let count = u8::try_from(needed).ok().filter(|it| usize::from(*it) <= SNAPSHOT_FRAGMENTS_MAX);
    let Some(count) = count else { return Err(TooManyFragments { needed }) };
    let parts = datagram.chunks(room.max(1)).zip(0..count);
    Ok(parts.map(move |(bytes, index)| Part { index, count, bytes }))
}

/// Joins the fragments of one tick at a time, in one buffer that is allocated once.
#[derive(Debug)]
pub struct Assembler {
    /// Part i starts at `i * FRAGMENT_BODY_MAX` until the set is complete.
    buffer: Box<[u8]>,
    lengths: [usize; SNAPSHOT_FRAGMENTS_MAX],
    /// The newest tick any fragment named; 0 before the first.
    tick: Tick,
    count: usize,
    /// Bit i: part i is here. All zero once the set was given out.
    arrived: u16,
    given_up: u64,
}

/// What one fragment led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joined<'a> {
    /// Others are missing.
    Waiting,
    /// It belongs to an older tick, or came again.
    Stale,
    /// The whole datagram, once a tick.
    Whole(&'a [u8]),
}

/// A fragment no honest sender makes; nothing of it was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FragmentError {
    /// A set of none, or of more than [`SNAPSHOT_FRAGMENTS_MAX`].
    Count,
    /// A number past the count.
    Index,
    /// No bytes, more than [`FRAGMENT_BODY_MAX`], or not the length of its neighbours.
    Length,
    /// Another count than the rest of its set.
    Disagrees,
}

impl Assembler {
    /// An assembler with its buffer of [`SNAPSHOT_BYTES_MAX`] bytes.
    #[must_use]
    pub fn new() -> Self {
        Self {
            buffer: vec![0; SNAPSHOT_BYTES_MAX].into_boxed_slice(),
            lengths: [0; SNAPSHOT_FRAGMENTS_MAX],
            tick: Tick(0),
            count: 0,
            arrived: 0,
            given_up: 0,
        }
    }

    /// Takes one fragment. One of a newer tick gives up the set in hand.
    ///
    /// # Errors
    /// When no honest sender makes such a fragment.
    pub fn accept(
        &mut self,
        tick: Tick,
        index: u8,
        count: u8,
        bytes: &[u8],
    ) -> Result<Joined<'_>, FragmentError> {
        let (index, count) = (usize::from(index), usize::from(count));
        check(index, count, bytes)?;
        let is_old = tick < self.tick && !planted::is(Bug::OldFragment);
        if is_old || (tick == self.tick && self.arrived == 0) {
            return Ok(Joined::Stale);
        }
        if tick > self.tick {
            self.given_up += u64::from(self.arrived != 0);
            (self.tick, self.count, self.arrived) = (tick, count, 0);
        }
        if count != self.count {
            return Err(FragmentError::Disagrees);
        }
        if self.has(index) {
            return Ok(Joined::Stale);
        }
        let place = index * FRAGMENT_BODY_MAX;
        if let Some(room) = self.buffer.get_mut(place..place + bytes.len()) {
            room.copy_from_slice(bytes);
        }
        self.lengths[index] = bytes.len();
        self.arrived |= 1 << index;
        if (0..count).all(|part| self.has(part)) { self.join() } else { Ok(Joined::Waiting) }
    }

    /// Sets begun and never completed.
    #[must_use]
    pub const fn given_up(&self) -> u64 {
        self.given_up
    }

    /// Forgets the set in hand and every tick seen, as for another session.
    pub const fn reset(&mut self) {
        (self.tick, self.count, self.arrived) = (Tick(0), 0, 0);
    }

    const fn has(&self, index: usize) -> bool {
        self.arrived & (1 << index) != 0
    }

    /// Moves the parts together; the set is given out, and its tick is done.
    fn join(&mut self) -> Result<Joined<'_>, FragmentError> {
        self.arrived = 0;
        let lengths = self.lengths.get(..self.count).unwrap_or_default();
        let Some((last, others)) = lengths.split_last() else { return Ok(Joined::Waiting) };
        let length = others.first().unwrap_or(last);
        if others.iter().any(|other| other != length) || last > length {
            return Err(FragmentError::Length);
        }
        let mut end = 0;
        for (part, length) in lengths.iter().enumerate() {
            let place = part * FRAGMENT_BODY_MAX;
            if place != end {
                self.buffer.copy_within(place..place + length, end);
            }
            end += length;
        }
        Ok(Joined::Whole(self.buffer.get(..end).unwrap_or_default()))
    }
}

impl Default for Assembler {
    fn default() -> Self {
        Self::new()
    }
}

fn check(index: usize, count: usize, bytes: &[u8]) -> Result<(), FragmentError> {
    if count == 0 || count > SNAPSHOT_FRAGMENTS_MAX {
        return Err(FragmentError::Count);
    }
    if index >= count {
        return Err(FragmentError::Index);
    }
    if bytes.is_empty() || bytes.len() > FRAGMENT_BODY_MAX {
        return Err(FragmentError::Length);
    }
    Ok(())
}

impl fmt::Display for TooManyFragments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a snapshot of {} fragments, at most {SNAPSHOT_FRAGMENTS_MAX}", self.needed)
    }
}

impl core::error::Error for TooManyFragments {}

impl fmt::Display for FragmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Count => "a fragment of a set of none or of too many",
            Self::Index => "a fragment numbered past its set",
            Self::Length => "a fragment of a length its set cannot have",
            Self::Disagrees => "a fragment that counts its set differently",
        })
    }
}

impl core::error::Error for FragmentError {}

#[cfg(test)]
mod tests;
