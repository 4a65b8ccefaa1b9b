//! Pallet: one open pallet, of which nothing is used that is not proved.

use dh_wire::Content;

use crate::encoding::{Stop, Unpacker};
use crate::error::PalletError;
use crate::groups::Groups;
use crate::header::Header;
use crate::manifest::{Entry, Manifest};
use crate::names::{PALLET_ID_BYTES_MAX, check_pallet_id};
use crate::source::{Source, Take, count, fill, size};
use crate::text::FIRST_KEY;

/// Bytes of an entry that are made room for before any has come.
const RESERVED_BYTES_MAX: u64 = 1 << 20;

/// An open pallet: header, group table and manifest were checked, and each 64 KiB is proved as it
/// is read, whatever happened to the source since.
#[derive(Debug)]
pub struct Pallet<S> {
    source: S,
    groups: Groups,
    manifest: Manifest,
}

impl<S: Source> Pallet<S> {
    /// Open `source`, which must be `wanted` if that is given.
    pub fn open(source: S, wanted: Option<&Content>) -> Result<Self, PalletError> {
        let header = Header::read(&source)?;
        wanted.map_or(Ok(()), |wanted| header.is(wanted))?;
        header.fits(source.len()?)?;
        let groups = Groups::read(&source, header)?;
        let mut bytes = Vec::with_capacity(size(header.manifest_bytes));
        groups.reader(&source).range(0, header.manifest_bytes, &mut |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })?;
        let manifest = Manifest::decode(&bytes, &header)?;
        Ok(Self { source, groups, manifest })
    }

    /// What it is called. The root is proved; [`verify`](crate::verify()) proves the fingerprint.
    #[must_use]
    pub fn content(&self) -> Content {
        self.header().content
    }

    /// Its header.
    #[must_use]
    pub fn header(&self) -> &Header {
        self.groups.header()
    }

    /// Its table of contents.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Where its bytes come from.
    #[must_use]
    pub fn source(&self) -> &S {
        &self.source
    }

    /// The file at `path`, of at most `bytes_max` bytes.
    pub fn read(&self, path: &str, bytes_max: u64) -> Result<Vec<u8>, PalletError> {
        let entry = self.manifest.entry(path);
        let bytes = entry.map_or(0, |entry| entry.raw_bytes.min(RESERVED_BYTES_MAX));
        let mut file = Vec::with_capacity(size(bytes.min(bytes_max)));
        self.copy(path, bytes_max, &mut |piece| {
            file.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(file)
    }

    /// Hand on the file at `path`, of at most `bytes_max` bytes, in pieces of at most 64 KiB.
    pub fn copy(&self, path: &str, bytes_max: u64, take: &mut Take<'_>) -> Result<(), PalletError> {
        let entry = self.manifest.entry(path);
        let entry = entry.ok_or_else(|| PalletError::NoEntry(path.to_owned()))?;
        if entry.raw_bytes > bytes_max {
            let bytes = entry.raw_bytes;
            return Err(PalletError::TooLarge { path: path.to_owned(), bytes, bytes_max });
        }
        let mut check = EntryCheck::new(entry)?;
        let Entry { offset, stored_bytes, .. } = *entry;
        let mut reader = self.groups.reader(&self.source);
        reader.range(offset, stored_bytes, &mut |piece| check.stored(piece, take))?;
        check.finish()
    }

    pub(crate) fn groups(&self) -> &Groups {
        &self.groups
    }
}

/// The id that the file at hand claims, from its header and the first line of its manifest.
///
/// Nothing of it is proved: it serves to find a pallet among many, which is then opened.
pub fn peek_id<S: Source + ?Sized>(source: &S) -> Result<String, PalletError> {
    let header = Header::read(source)?;
    let line_bytes = FIRST_KEY.len() + PALLET_ID_BYTES_MAX + 1;
    let text_at = header.body_at() + count(size_of::<u32>());
    let mut bytes = vec![0; line_bytes.min(size(header.body_bytes()).saturating_sub(4))];
    fill(source, text_at, &mut bytes)?;
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let id = std::str::from_utf8(line).ok().and_then(|line| line.strip_prefix(FIRST_KEY));
    let id = id.ok_or(PalletError::Manifest("its text lacks a line"))?;
    check_pallet_id(id).map(|()| id.to_owned())
}

/// Checks an entry as its stored bytes come.
pub(crate) struct EntryCheck<'a> {
    entry: &'a Entry,
    unpacker: Unpacker,
    checksum: blake3::Hasher,
}

impl<'a> EntryCheck<'a> {
    pub(crate) fn new(entry: &'a Entry) -> Result<Self, PalletError> {
        let unpacker = Unpacker::new(entry.encoding, entry.raw_bytes);
        let unpacker = unpacker.map_err(|why| PalletError::entry(&entry.path, why))?;
        Ok(Self { entry, unpacker, checksum: blake3::Hasher::new() })
    }

    /// More stored bytes; the file's bytes go to `take`.
    pub(crate) fn stored(&mut self, bytes: &[u8], take: &mut Take<'_>) -> Result<(), PalletError> {
        self.checksum.update(bytes);
        self.unpacker.push(bytes, take).map_err(|stop| match stop {
            Stop::Bad(why) => PalletError::entry(&self.entry.path, why),
            Stop::Refused(error) => error,
        })
    }

    /// Whether it was the entry, to its last byte.
    pub(crate) fn finish(&self) -> Result<(), PalletError> {
        let refused = |why| Err(PalletError::entry(&self.entry.path, why));
        if *self.checksum.finalize().as_bytes() != self.entry.checksum.0 {
            return refused("its bytes do not have its checksum");
        }
        self.unpacker.finish().or_else(refused)
    }
}
