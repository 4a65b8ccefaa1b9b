//! Pallets made for the tests: small ones, one of many groups, forged ones.

mod format;
mod fuzz;
mod hostile;
mod names;
mod printable;
mod prover;
mod reading;
mod twins;

use std::cell::Cell;

use dh_machine::DiskError;
use dh_wire::{Content, Hash128};

use crate::groups::RootHasher;
use crate::header::{GROUP_BYTES, Header};
use crate::source::{Source, count, size};
use crate::{About, NewDigest, PalletError, Writer, pack, verify, xxh128};

/// Files of a pallet: paths and what they hold.
type Files<'a> = &'a [(&'a str, &'a [u8])];

/// A text that is worth compressing.
const WORDS: &[u8] = b"the museum has rooms, the rooms have plinths, the plinths have models; \
    the museum has rooms, the rooms have plinths, the plinths have models";

/// The files of the small pallet; one of them is empty and one is compressed.
const SMALL: Files<'_> = &[
    ("assets/a.dh-map", b"{}"),
    ("assets/b.dh-map", b"{ \"objects\": [] }"),
    ("assets/empty", b""),
    ("notes/words.txt", WORDS),
];

fn about() -> About {
    About {
        id: "museum".to_owned(),
        name: "The Museum".to_owned(),
        version: "1.2".to_owned(),
        authors: vec!["Ada".to_owned(), "Grace".to_owned()],
        licence: "CC0-1.0".to_owned(),
        dependencies: vec!["stone".to_owned(), "wood".to_owned()],
    }
}

fn built(files: Files<'_>, digest: NewDigest) -> Vec<u8> {
    let mut writer = Writer::new(about()).unwrap();
    for (path, file) in files {
        writer.put(path, pack(file).in_memory()).unwrap();
    }
    let mut out = Vec::new();
    writer.write(&mut out, digest, &mut |_, _| {}).unwrap();
    out
}

fn small() -> Vec<u8> {
    built(SMALL, xxh128)
}

/// A pallet of five groups, the last one not whole.
fn large() -> Vec<u8> {
    let noise = noise(4 * GROUP_BYTES + 100, 7);
    built(&[("assets/a.dh-map", b"{}"), ("noise", &noise)], xxh128)
}

/// Bytes that do not compress, the same for one seed.
fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    (0..len).map(|_| random.next().to_le_bytes()[5]).collect()
}

fn content(bytes: &[u8]) -> Content {
    Header::decode(bytes).unwrap().content
}

fn check(bytes: &[u8]) -> Result<Content, PalletError> {
    verify(bytes, None, xxh128, &mut |_, _| {})
}

/// Make table, root and checksum of a changed pallet hold again, so that only its content lies.
fn seal(bytes: &mut [u8]) {
    let mut header = claimed(bytes);
    let body = size(header.body_at());
    let hashes: Vec<u8> = bytes[body..]
        .chunks(GROUP_BYTES)
        .flat_map(|group| *blake3::hash(group).as_bytes())
        .collect();
    bytes[Header::BYTES..body].copy_from_slice(&hashes);
    let mut root = RootHasher::new(&header);
    root.table(&hashes);
    header.content.root = root.finish();
    bytes[..Header::BYTES].copy_from_slice(&header.encode());
}

/// The header as the bytes have it, whatever its checksum says.
fn claimed(bytes: &[u8]) -> Header {
    let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let fingerprint = Hash128(bytes[32..48].try_into().unwrap());
    Header {
        manifest_bytes: long(16),
        file_bytes: long(24),
        content: Content { fingerprint, ..Content::default() },
        table_bytes: long(80),
    }
}

/// A pallet whose manifest's bytes are replaced by others of the same length.
fn with_manifest(change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut bytes = small();
    let header = Header::decode(&bytes).unwrap();
    let (at, len) = (size(header.body_at()), size(header.manifest_bytes));
    change(&mut bytes[at..at + len]);
    seal(&mut bytes);
    bytes
}

/// Where `part` lies in `bytes`.
fn find(bytes: &[u8], part: &[u8]) -> usize {
    bytes.windows(part.len()).position(|window| window == part).unwrap()
}

/// A small generator, the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        size(self.next() % count(bound))
    }
}

/// Bytes that count how they are read.
#[derive(Debug)]
struct Counted<'a> {
    bytes: &'a [u8],
    read: Cell<u64>,
    largest: Cell<u64>,
}

impl<'a> Counted<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, read: Cell::new(0), largest: Cell::new(0) }
    }
}

impl Source for Counted<'_> {
    fn len(&self) -> Result<u64, DiskError> {
        Ok(count(self.bytes.len()))
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, DiskError> {
        let read = self.bytes.read_at(offset, buf)?;
        self.read.set(self.read.get() + count(read));
        self.largest.set(self.largest.get().max(count(read)));
        Ok(read)
    }
}
