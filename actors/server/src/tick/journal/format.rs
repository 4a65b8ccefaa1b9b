//! The file of a journal: little-endian words. A magic, version and rate, the spans, each with its
//! map, the world it begins with and its entries, and a checksum over all of it.

use std::fmt;
use std::sync::Arc;

use dh_host::flight::Flight;
use dh_machine::{Damage, Digest, TickRate, Words, halves, joined};
use dh_messages::MapAdvert;

use super::Start;
use super::entry::{Entry, advert_of_words, advert_words};

const MAGIC: u64 = u64::from_le_bytes(*b"DHJOURNL");
const VERSION: u32 = 1;
/// Bytes of the largest file that is read.
pub const JOURNAL_FILE_MAX: usize = 2 * Flight::JOURNAL_BYTES;

/// A journal that was read.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Ticks a second.
    pub rate: TickRate,
    /// Its spans, oldest first.
    pub spans: Vec<Span>,
}

/// One span of a journal.
#[derive(Clone, Debug)]
pub struct Span {
    /// The map that stood when it began; the gray box where it has no name.
    pub map: MapAdvert,
    /// Whether it begins with what was restored after a fault.
    pub after_fault: bool,
    /// The world and its peers, as words.
    pub(super) world: Arc<[u64]>,
    /// Which word of the file the world begins at.
    pub(super) at: usize,
    pub(super) entries: Vec<Entry>,
}

/// Why a file is no journal that can be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalError {
    /// It is something else.
    Foreign,
    /// It is one of another version.
    Version(u32),
    /// It is larger than any journal.
    TooLarge(usize),
    /// Its checksum does not fit what it holds.
    Checksum,
    /// Something in it cannot be what it is.
    Damaged(Damage),
}

pub(super) fn write(rate: TickRate, spans: &[(Start, Vec<u64>)]) -> Vec<u8> {
    let mut words = vec![MAGIC, joined(VERSION, u32::from(rate.hz())), spans.len() as u64];
    for (start, entries) in spans {
        words.push(u64::from(start.after_fault));
        advert_words(&start.map, &mut words);
        let place = words.len();
        words.push(0);
        start.kept.to_words(&mut words);
        words[place] = (words.len() - place - 1) as u64;
        words.push(entries.len() as u64);
        words.extend_from_slice(entries);
    }
    let sum = checksum(&words);
    words.push(sum);
    words.into_iter().flat_map(u64::to_le_bytes).collect()
}

impl Recorded {
    /// The journal in these bytes.
    ///
    /// # Errors
    /// They are none, or damaged.
    pub fn parse(bytes: &[u8]) -> Result<Self, JournalError> {
        if bytes.len() > JOURNAL_FILE_MAX {
            return Err(JournalError::TooLarge(bytes.len()));
        }
        let (words, rest) = bytes.as_chunks::<8>();
        let mut all: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let (Some(&MAGIC), Some(second)) = (all.first(), all.get(1)) else {
            return Err(JournalError::Foreign);
        };
        let (version, hz) = halves(*second);
        if version != VERSION {
            return Err(JournalError::Version(version));
        }
        let sum = all.pop();
        if !rest.is_empty() || sum != Some(checksum(&all)) {
            return Err(JournalError::Checksum);
        }
        let mut words = Words::new(&all);
        words.take(2, "a journal")?;
        let here = words.damage("ticks a second");
        let rate = u16::try_from(hz).ok().and_then(TickRate::new).ok_or(here)?;
        let count = words.count("spans", 4)?;
        let spans: Result<Vec<Span>, Damage> = (0..count).map(|_| span(&mut words)).collect();
        let spans = spans?;
        if words.left() > 0 {
            return Err(words.damage("the end of the journal").into());
        }
        Ok(Self { rate, spans })
    }
}

fn span(words: &mut Words<'_>) -> Result<Span, Damage> {
    let fault = |word| (word < 2).then_some(word == 1);
    let after_fault = words.read("whether it follows a fault", fault)?;
    let map = advert_of_words(words)?;
    let count = words.count("the words of a world", 1)?;
    let at = words.damage("").word;
    let world = words.take(count, "a world")?.into();
    let count = words.count("the words of entries", 1)?;
    let before = words.left();
    let mut entries = Vec::new();
    while before - words.left() < count {
        entries.push(Entry::of_words(words)?);
    }
    if before - words.left() > count {
        return Err(words.damage("the end of the entries"));
    }
    Ok(Span { map, after_fault, world, at, entries })
}

#[cfg(test)]
impl Span {
    pub(in super::super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(in super::super) fn set(&mut self, at: usize, entry: Entry) {
        self.entries[at] = entry;
    }
}

/// The same bytes with the checksum that they should have.
#[cfg(test)]
pub(in super::super) fn resealed(bytes: &[u8]) -> Vec<u8> {
    let (words, _) = bytes.as_chunks::<8>();
    let mut all: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
    all.pop();
    let sum = checksum(&all);
    all.push(sum);
    all.into_iter().flat_map(u64::to_le_bytes).collect()
}

fn checksum(words: &[u64]) -> u64 {
    let mut digest = Digest::new();
    words.iter().for_each(|word| digest.word(*word));
    digest.value()
}

impl From<Damage> for JournalError {
    fn from(damage: Damage) -> Self {
        Self::Damaged(damage)
    }
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign => f.write_str(
                "byte 0: expected a journal (DHJOURNL), found something else; \
                 give the .journal file of a flight record",
            ),
            Self::Version(version) => write!(
                f,
                "byte 8: expected journal version {VERSION}, found {version}; \
                 replay it with the build that wrote it"
            ),
            Self::TooLarge(bytes) => write!(
                f,
                "expected a journal of at most {JOURNAL_FILE_MAX} bytes, found {bytes}; \
                 give the .journal file of a flight record"
            ),
            Self::Checksum => f.write_str(
                "the last 8 bytes: expected the checksum of the file, found another; \
                 it is cut short or damaged: copy it again",
            ),
            Self::Damaged(damage) => write!(f, "{damage}; it is damaged: copy it again"),
        }
    }
}

impl std::error::Error for JournalError {}
