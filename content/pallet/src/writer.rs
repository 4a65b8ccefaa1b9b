//! Writer: entries in, one pallet out. Only tables are in memory, never the content.

use dh_machine::DiskError;
use dh_wire::{Content, Root};
use std::collections::BTreeMap;

use crate::encoding::{Encoding, Packed};
use crate::error::PalletError;
use crate::fingerprint::{Fingerprint, NewDigest};
use crate::groups::RootHasher;
use crate::header::{GROUP_BYTES, Header};
use crate::layout::{ALIGN, Layout};
use crate::manifest::{About, Entry, Manifest};
use crate::names::check_path;
use crate::source::{Output, Source, Take, count, fill, size};

/// An entry's stored bytes, which lie where the compiler put them.
#[derive(Debug)]
pub struct Stored<'a> {
    /// How they are stored.
    pub encoding: Encoding,
    /// Bytes of the file they stand for.
    pub raw_bytes: u64,
    /// Their BLAKE3.
    pub checksum: Root,
    /// The stored bytes, all of the source.
    pub source: Box<dyn Source + 'a>,
}

impl<'a> Stored<'a> {
    /// A file stored as it is; it is read once for its checksum.
    pub fn as_is(source: Box<dyn Source + 'a>) -> Result<Self, PalletError> {
        let raw_bytes = source.len()?;
        let mut checksum = blake3::Hasher::new();
        each_piece(&source, raw_bytes, &mut |piece| {
            checksum.update(piece);
            Ok(())
        })?;
        let checksum = Root(*checksum.finalize().as_bytes());
        Ok(Self { encoding: Encoding::AsIs, raw_bytes, checksum, source })
    }
}

impl Packed<'_> {
    /// The same with its bytes at `source`, where they were put.
    #[must_use]
    pub fn stored_at<'a>(&self, source: Box<dyn Source + 'a>) -> Stored<'a> {
        let Self { encoding, raw_bytes, checksum, .. } = *self;
        Stored { encoding, raw_bytes, checksum, source }
    }

    /// The same with its bytes in memory.
    #[must_use]
    pub fn in_memory(self) -> Stored<'static> {
        let Self { encoding, raw_bytes, checksum, bytes } = self;
        Stored { encoding, raw_bytes, checksum, source: Box::new(bytes.into_owned()) }
    }
}

/// Collects the entries of a pallet, then writes it.
#[derive(Debug)]
pub struct Writer<'a> {
    about: About,
    entries: BTreeMap<String, Stored<'a>>,
}

impl<'a> Writer<'a> {
    /// A pallet without entries.
    pub fn new(about: About) -> Result<Self, PalletError> {
        about.check()?;
        Ok(Self { about, entries: BTreeMap::new() })
    }

    /// Put an entry; a path can be put once.
    pub fn put(&mut self, path: &str, stored: Stored<'a>) -> Result<(), PalletError> {
        check_path(path)?;
        if self.entries.contains_key(path) {
            return Err(PalletError::name(path, "is there already"));
        }
        self.entries.insert(path.to_owned(), stored);
        Ok(())
    }

    /// Write the pallet into `out`, which is empty. Each entry's stored bytes are read once.
    /// `progress` is told the bytes done and the bytes in all. After an error `out` is no pallet.
    pub fn write(
        self,
        out: &mut dyn Output,
        digest: NewDigest,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Content, PalletError> {
        let (manifest, sources) = self.laid_out()?;
        let bytes = manifest.encode();
        Manifest::check_bytes(&bytes)?;
        let mut layout = Layout::behind(count(bytes.len()))?;
        for entry in &manifest.entries {
            layout.place(entry.stored_bytes)?;
        }
        let mut header = Header::of(count(bytes.len()), layout.body_bytes())?;
        let mut fingerprint = Fingerprint::new(digest, &manifest.text());
        let mut body = Body::new(out, &header);
        body.put(&bytes)?;
        body.pad()?;
        for (entry, source) in manifest.entries.iter().zip(sources) {
            let mut checksum = blake3::Hasher::new();
            each_piece(&source, entry.stored_bytes, &mut |piece| {
                fingerprint.stored(piece);
                checksum.update(piece);
                body.put(piece)?;
                progress(body.at, header.file_bytes);
                Ok(())
            })?;
            if *checksum.finalize().as_bytes() != entry.checksum.0 {
                let path = &entry.path;
                return Err(PalletError::entry(path, "changed while the pallet was written"));
            }
            body.pad()?;
        }
        body.end()?;
        header.content.fingerprint = fingerprint.finish();
        header.content.root = root_of(out, &header)?;
        out.write_at(0, &header.encode())?;
        progress(header.file_bytes, header.file_bytes);
        Ok(header.content)
    }

    /// The manifest with the places of all entries, and where their bytes come from.
    fn laid_out(self) -> Result<(Manifest, Vec<Box<dyn Source + 'a>>), PalletError> {
        let mut manifest = Manifest { about: self.about, entries: Vec::new() };
        let mut sources = Vec::new();
        for (path, stored) in self.entries {
            let Stored { encoding, raw_bytes, checksum, source } = stored;
            let stored_bytes = source.len()?;
            let entry = Entry { path, raw_bytes, offset: 0, stored_bytes, encoding, checksum };
            manifest.entries.push(entry);
            sources.push(source);
        }
        manifest.check()?;
        // Offsets have a fixed width, so the length of the manifest is known before they are.
        let mut layout = Layout::behind(count(manifest.encode().len()))?;
        for entry in &mut manifest.entries {
            entry.offset = layout.place(entry.stored_bytes)?;
        }
        Ok((manifest, sources))
    }
}

/// The body on its way out: grouped, hashed, the group table written beside it.
struct Body<'a> {
    out: &'a mut dyn Output,
    /// Where the next group goes, and where the next hashes go.
    at: u64,
    table_at: u64,
    group: Vec<u8>,
    hashes: Vec<u8>,
}

impl<'a> Body<'a> {
    fn new(out: &'a mut dyn Output, header: &Header) -> Self {
        let (group, hashes) = (Vec::with_capacity(GROUP_BYTES), Vec::new());
        let table_at = count(Header::BYTES);
        Self { out, at: header.body_at(), table_at, group, hashes }
    }

    fn put(&mut self, mut bytes: &[u8]) -> Result<(), DiskError> {
        while !bytes.is_empty() {
            let (piece, rest) = bytes.split_at(bytes.len().min(GROUP_BYTES - self.group.len()));
            self.group.extend_from_slice(piece);
            bytes = rest;
            if self.group.len() == GROUP_BYTES {
                self.end_group()?;
            }
        }
        Ok(())
    }

    /// Zeros up to where the next entry starts; groups are whole multiples of that.
    fn pad(&mut self) -> Result<(), DiskError> {
        let len = self.group.len().next_multiple_of(ALIGN) - self.group.len();
        self.put(&[0; ALIGN][..len])
    }

    fn end(&mut self) -> Result<(), DiskError> {
        if !self.group.is_empty() {
            self.end_group()?;
        }
        self.end_hashes()
    }

    fn end_group(&mut self) -> Result<(), DiskError> {
        self.out.write_at(self.at, &self.group)?;
        self.at += count(self.group.len());
        self.hashes.extend(blake3::hash(&self.group).as_bytes());
        self.group.clear();
        if self.hashes.len() >= GROUP_BYTES { self.end_hashes() } else { Ok(()) }
    }

    fn end_hashes(&mut self) -> Result<(), DiskError> {
        self.out.write_at(self.table_at, &self.hashes)?;
        self.table_at += count(self.hashes.len());
        self.hashes.clear();
        Ok(())
    }
}

/// The root of what was written: the header covers the fingerprint, which is known last, so the
/// table, a two-thousandth of the file, is read again.
fn root_of(out: &dyn Output, header: &Header) -> Result<Root, PalletError> {
    let mut root = RootHasher::new(header);
    let (mut at, end) = (count(Header::BYTES), header.body_at());
    let mut bytes = vec![0; GROUP_BYTES];
    while at < end {
        let piece = &mut bytes[..size(end - at).min(GROUP_BYTES)];
        fill(out, at, piece)?;
        root.table(piece);
        at += count(piece.len());
    }
    Ok(root.finish())
}

/// Hand on all `bytes` bytes of a source, in pieces of at most 64 KiB.
fn each_piece<S: Source + ?Sized>(
    source: &S,
    bytes: u64,
    take: &mut Take<'_>,
) -> Result<(), PalletError> {
    let mut buf = vec![0; size(bytes).min(GROUP_BYTES)];
    let mut at = 0;
    while at < bytes {
        let piece = &mut buf[..size(bytes - at).min(GROUP_BYTES)];
        fill(source, at, piece)?;
        take(piece)?;
        at += count(piece.len());
    }
    Ok(())
}
