//! Mutations: whatever the bytes are, opening and verifying end with a value or an error.

use super::{Random, check, content, large, seal, small};
use crate::{Header, Pallet, Prover, peek_id, verify, xxh128};

/// MR-70
#[test]
fn two_thousand_random_flips_are_found() {
    let (mut bytes, mut random) = (large(), Random(11));
    let wanted = content(&bytes);
    for _ in 0..2_000 {
        let (at, bit) = (random.below(bytes.len()), random.below(8));
        bytes[at] ^= 1 << bit;
        let found = verify(bytes.as_slice(), Some(&wanted), xxh128, &mut |_, _| {});
        assert!(found.is_err(), "bit {bit} of byte {at}");
        bytes[at] ^= 1 << bit;
    }
}

#[test]
fn ten_thousand_mutations_end_in_a_value_or_an_error() {
    let (good, mut random) = (small(), Random(5));
    for round in 0..10_000 {
        let mut bytes = good.clone();
        for _ in 0..=random.below(4) {
            mutate(&mut bytes, &mut random);
        }
        // Every other one is sealed again, so that what lies behind the root is reached too.
        if round % 2 == 0 && fits(&bytes) {
            seal(&mut bytes);
        }
        drop(check(&bytes));
        drop(peek_id(bytes.as_slice()));
        if let Ok(pallet) = Pallet::open(bytes.as_slice(), None) {
            for entry in &pallet.manifest().entries {
                drop(pallet.read(&entry.path, 1 << 20));
            }
        }
        if let Ok(header) = Header::decode(&bytes) {
            let mut prover = Prover::new(header.content, u64::MAX);
            drop(prover.push(&bytes, &mut |_, _| Ok(())));
            drop(Prover::resume(header.content, u64::MAX, bytes.as_slice()));
        }
    }
}

fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len());
    let end = bytes.len().min(at + 8);
    match random.below(6) {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes[at] = random.next().to_le_bytes()[0],
        2 => bytes[at..end].fill([0, 0xff][random.below(2)]),
        3 => drop(bytes.drain(at..end)),
        4 => bytes.extend_from_within(at..end),
        _ => bytes.truncate(at + 1),
    }
}

/// Whether the lengths of the header, which may be mutated, are those of the bytes.
fn fits(bytes: &[u8]) -> bool {
    bytes.len() > Header::BYTES && {
        let header = super::claimed(bytes);
        let whole = u64::try_from(bytes.len()) == Ok(header.file_bytes);
        whole && header.table_bytes == 32
    }
}
