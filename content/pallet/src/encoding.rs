//! Encoding: how the bytes of an entry are stored, and back.

use dh_wire::Root;
use std::borrow::Cow;
use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};
use zstd::zstd_safe::DParameter;

use crate::error::PalletError;
use crate::source::{Take, count};

/// The level entries are compressed with. It is part of what a pallet's bytes follow from.
pub const ZSTD_LEVEL: i32 = 6;
/// Larger files are stored as they are, so that compressing one takes bounded memory.
const PACK_BYTES_MAX: usize = 64 << 20;
/// A decoder remembers at most 2 to this power bytes: 16 MiB, more than our level ever needs.
const WINDOW_LOG_MAX: u32 = 24;
/// Bytes that come out of a decoder at once.
const PIECE_BYTES: usize = 64 * 1024;

/// How an entry is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// As it is.
    AsIs,
    /// One zstd frame.
    Zstd,
}

impl Encoding {
    /// Its number in a manifest.
    pub(crate) const fn number(self) -> u8 {
        match self {
            Self::AsIs => 0,
            Self::Zstd => 1,
        }
    }

    /// The encoding of this number.
    pub(crate) const fn of(number: u8) -> Result<Self, PalletError> {
        match number {
            0 => Ok(Self::AsIs),
            1 => Ok(Self::Zstd),
            _ => Err(PalletError::Manifest("an encoding is unknown")),
        }
    }
}

/// A file as it will be stored.
#[derive(Clone, Debug)]
pub struct Packed<'a> {
    /// How.
    pub encoding: Encoding,
    /// Bytes of the file.
    pub raw_bytes: u64,
    /// BLAKE3 of the stored bytes.
    pub checksum: Root,
    /// The stored bytes.
    pub bytes: Cow<'a, [u8]>,
}

/// Compress a file if that saves a twentieth of it. The same bytes always give the same.
#[must_use]
pub fn pack(raw: &[u8]) -> Packed<'_> {
    let worth = |packed: &Vec<u8>| packed.len() <= raw.len() - raw.len().div_ceil(20);
    let small = raw.len() <= PACK_BYTES_MAX && !raw.is_empty();
    let packed = small.then(|| zstd::bulk::compress(raw, ZSTD_LEVEL).ok()).flatten();
    let (encoding, bytes) = match packed.filter(worth) {
        Some(packed) => (Encoding::Zstd, Cow::Owned(packed)),
        None => (Encoding::AsIs, Cow::Borrowed(raw)),
    };
    let checksum = Root(*blake3::hash(&bytes).as_bytes());
    Packed { encoding, raw_bytes: count(raw.len()), checksum, bytes }
}

/// Turns stored bytes back into the file, piece by piece, and never makes more of them than told.
pub(crate) struct Unpacker {
    decoder: Option<Decoder<'static>>,
    left: u64,
    piece: Vec<u8>,
    ended: bool,
}

/// What an entry is refused with.
type Fault = &'static str;

const DAMAGED: Fault = "its compressed bytes are damaged";

/// Why unpacking stopped.
pub(crate) enum Stop {
    /// The stored bytes are at fault.
    Bad(Fault),
    /// Whoever takes the file failed.
    Refused(PalletError),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Bad(fault)
    }
}

impl From<PalletError> for Stop {
    fn from(error: PalletError) -> Self {
        Self::Refused(error)
    }
}

impl Unpacker {
    pub(crate) fn new(encoding: Encoding, raw_bytes: u64) -> Result<Self, Fault> {
        let (decoder, piece) = match encoding {
            Encoding::AsIs => (None, Vec::new()),
            Encoding::Zstd => {
                let mut decoder = Decoder::new().map_err(|_| DAMAGED)?;
                let bounded = decoder.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX));
                bounded.map_err(|_| DAMAGED)?;
                (Some(decoder), vec![0; PIECE_BYTES])
            }
        };
        Ok(Self { decoder, left: raw_bytes, piece, ended: false })
    }

    /// More stored bytes; what they stand for goes to `take`.
    pub(crate) fn push(&mut self, stored: &[u8], take: &mut Take<'_>) -> Result<(), Stop> {
        let Some(decoder) = &mut self.decoder else {
            self.left = self.left.checked_sub(count(stored.len())).ok_or("is longer than told")?;
            return Ok(take(stored)?);
        };
        let mut input = InBuffer::around(stored);
        while !self.ended {
            let mut output = OutBuffer::around(self.piece.as_mut_slice());
            let hint = decoder.run(&mut input, &mut output).map_err(|_| DAMAGED)?;
            let made = output.pos();
            self.left = self.left.checked_sub(count(made)).ok_or("unpacks to more than told")?;
            take(&self.piece[..made])?;
            self.ended = hint == 0;
            if made < PIECE_BYTES && input.pos() == stored.len() {
                return Ok(());
            }
        }
        let spent = input.pos() == stored.len();
        if spent { Ok(()) } else { Err("bytes follow its compressed bytes".into()) }
    }

    /// Whether all came that was told.
    pub(crate) fn finish(&self) -> Result<(), Fault> {
        let whole = self.left == 0 && (self.ended || self.decoder.is_none());
        if whole { Ok(()) } else { Err("unpacks to less than told") }
    }
}
