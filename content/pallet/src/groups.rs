//! Groups: the table of hashes that proves each 64 KiB of a body.

use dh_wire::Root;

use crate::error::PalletError;
use crate::header::{GROUP_BYTES, HASH_BYTES, Header};
use crate::source::{Source, Take, count, fill, size};

/// A group table that gives the root of its header.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    header: Header,
    hashes: Vec<u8>,
}

impl Groups {
    /// The table, if it and the header give the root that the header claims.
    pub(crate) fn proved(header: Header, hashes: Vec<u8>) -> Result<Self, PalletError> {
        let mut root = RootHasher::new(&header);
        root.table(&hashes);
        if root.finish() == header.content.root {
            Ok(Self { header, hashes })
        } else {
            Err(PalletError::BadRoot)
        }
    }

    /// Read the table that follows `header`.
    pub(crate) fn read<S: Source + ?Sized>(
        source: &S,
        header: Header,
    ) -> Result<Self, PalletError> {
        // The length is only a claim: no more is allocated than the file has bytes for.
        let len = source.len()?;
        if len < header.body_at() {
            return Err(PalletError::CutShort { len });
        }
        let mut hashes = vec![0; size(header.table_bytes)];
        fill(source, count(Header::BYTES), &mut hashes)?;
        Self::proved(header, hashes)
    }

    /// The header the table belongs to.
    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// How many groups the body has.
    pub(crate) fn count(&self) -> u64 {
        self.header.table_bytes / count(HASH_BYTES)
    }

    /// Whether `bytes` are group `group` of the body.
    pub(crate) fn prove(&self, group: u64, bytes: &[u8]) -> Result<(), PalletError> {
        let at = size(group).saturating_mul(HASH_BYTES);
        let told = self.hashes.get(at..at.saturating_add(HASH_BYTES));
        if told == Some(blake3::hash(bytes).as_bytes()) {
            Ok(())
        } else {
            Err(PalletError::BadGroup { group })
        }
    }

    /// Reads the body at `source`.
    pub(crate) fn reader<'a, S: Source + ?Sized>(&'a self, source: &'a S) -> BodyReader<'a, S> {
        BodyReader { groups: self, source, held: None, bytes: Vec::new() }
    }
}

/// Reads a body in ranges, each group proved and, while ranges go forward, read once.
pub(crate) struct BodyReader<'a, S: ?Sized> {
    groups: &'a Groups,
    source: &'a S,
    held: Option<u64>,
    bytes: Vec<u8>,
}

impl<S: Source + ?Sized> BodyReader<'_, S> {
    /// Hand on the `bytes` bytes of the body from `offset` on, in pieces of at most 64 KiB.
    pub(crate) fn range(
        &mut self,
        offset: u64,
        bytes: u64,
        take: &mut Take<'_>,
    ) -> Result<(), PalletError> {
        let (mut at, end) = (offset, offset + bytes);
        while at < end {
            let group = at / count(GROUP_BYTES);
            self.hold(group)?;
            let start = group * count(GROUP_BYTES);
            let stop = end.min(start + count(self.bytes.len()));
            take(&self.bytes[size(at - start)..size(stop - start)])?;
            at = stop;
        }
        Ok(())
    }

    fn hold(&mut self, group: u64) -> Result<(), PalletError> {
        if self.held == Some(group) {
            return Ok(());
        }
        self.held = None;
        let header = self.groups.header();
        self.bytes.resize(header.group_bytes(group), 0);
        let at = header.body_at() + group * count(GROUP_BYTES);
        fill(self.source, at, &mut self.bytes)?;
        self.groups.prove(group, &self.bytes)?;
        self.held = Some(group);
        Ok(())
    }
}

/// The root: BLAKE3 of the header with root and checksum zero, then the group table.
pub(crate) struct RootHasher(blake3::Hasher);

impl RootHasher {
    pub(crate) fn new(header: &Header) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&header.without_seal());
        Self(hasher)
    }

    /// More of the group table.
    pub(crate) fn table(&mut self, hashes: &[u8]) {
        self.0.update(hashes);
    }

    pub(crate) fn finish(&self) -> Root {
        Root(*self.0.finalize().as_bytes())
    }
}
