//! A store on a disk in memory that counts what is asked of it, and pallets to put there.

mod disk;
mod lookup;
mod prune;
mod transfer;

use std::sync::Arc;

use dh_pallet::{About, Digest, Header, NewDigest, Writer, pack, xxh128};
use dh_wire::{Content, Hash128};

pub(crate) use self::disk::MemoryDisk;
use crate::{Options, Store};

const CACHE: &str = "data/cache/maps";

/// A pallet with an entry that holds `noise` bytes decided by `seed`.
fn pallet_of(id: &str, noise: usize, seed: u32, digest: NewDigest) -> (Vec<u8>, Content) {
    let mut writer = Writer::new(About { id: id.to_owned(), ..About::default() }).unwrap();
    let mut word = seed.wrapping_mul(0x9e37_79b9) | 1;
    let file: Vec<u8> = (0..noise)
        .map(|_| {
            word ^= word << 13;
            word ^= word >> 17;
            word ^= word << 5;
            word.to_le_bytes()[0]
        })
        .collect();
    writer.put("assets/a.dh-map", pack(&seed.to_le_bytes()).in_memory()).unwrap();
    writer.put("assets/noise", pack(&file).in_memory()).unwrap();
    let mut out = Vec::new();
    let content = writer.write(&mut out, digest, &mut |_, _| {}).unwrap();
    (out, content)
}

/// A pallet of four groups.
fn pallet(seed: u32) -> (Vec<u8>, Content) {
    pallet_of("museum", 200_000, seed, xxh128)
}

fn store() -> (Arc<MemoryDisk>, Store) {
    let disk = Arc::new(MemoryDisk::default());
    let store = Store::open(Arc::clone(&disk) as Arc<_>, Options::new(CACHE)).unwrap();
    (disk, store)
}

/// Where the cache has this content.
fn cached(content: &Content, suffix: &str) -> String {
    format!("{CACHE}/{}-{}{suffix}", content.fingerprint, &content.root.to_string()[..16])
}

/// Bring all of a pallet in.
fn fetch(store: &Store, bytes: &[u8], content: &Content) -> String {
    let mut transfer = store.try_begin(content, u64::MAX).unwrap().unwrap();
    let from = usize::try_from(transfer.held()).unwrap();
    bytes[from..].chunks(1024).for_each(|piece| transfer.take(piece).unwrap());
    transfer.verify(&mut |_, _| {}).unwrap().commit().unwrap()
}

/// XXH128 of which 16 bits are kept.
struct Short(Box<dyn Digest>);

impl Digest for Short {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> Hash128 {
        let mut hash = [0; 16];
        hash[..2].copy_from_slice(&self.0.finish().0[..2]);
        Hash128(hash)
    }
}

fn short() -> Box<dyn Digest> {
    Box::new(Short(xxh128()))
}

/// Two valid pallets whose fingerprints of 16 bits are equal.
fn twins() -> [(Vec<u8>, Content); 2] {
    let mut seen = std::collections::BTreeMap::new();
    for seed in 0_u32.. {
        let (bytes, content) = pallet_of("museum", 0, seed, short);
        assert_eq!(Header::decode(&bytes).map(|header| header.content), Ok(content));
        if let Some(other) = seen.insert(content.fingerprint, (bytes.clone(), content)) {
            return [other, (bytes, content)];
        }
    }
    unreachable!("65,536 fingerprints are soon used up")
}
