//! Content with one fingerprint: told apart everywhere, because the root is what counts.

use std::collections::BTreeMap;

use dh_wire::Hash128;

use super::{built, content, find, seal};
use crate::{Digest, Pallet, PalletError, Prover, verify, xxh128};

/// Two contents of 32 bytes with one XXH128: the words of 8 bytes are swapped.
const TWINS: [[u8; 32]; 2] = {
    let (one, other) = (0xf951_1541_566a_41c7_u64, 0x06ae_eabe_a995_be38_u64);
    let mut twins = [[0; 32]; 2];
    let mut at = 0;
    while at < 8 {
        twins[0][at] = one.to_le_bytes()[at];
        twins[0][8 + at] = other.to_le_bytes()[at];
        twins[1][at] = other.to_le_bytes()[at];
        twins[1][8 + at] = one.to_le_bytes()[at];
        at += 1;
    }
    twins
};

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

/// Two valid pallets with one fingerprint of 16 bits.
fn pair() -> (Vec<u8>, Vec<u8>) {
    let mut seen: BTreeMap<Hash128, Vec<u8>> = BTreeMap::new();
    for number in 0_u32.. {
        let bytes = built(&[("assets/a.dh-map", &number.to_le_bytes())], short);
        if let Some(other) = seen.insert(content(&bytes).fingerprint, bytes.clone()) {
            return (other, bytes);
        }
    }
    unreachable!("65,536 fingerprints are soon used up")
}

#[test]
fn two_valid_pallets_with_one_fingerprint_are_never_taken_for_each_other() {
    let (one, other) = pair();
    let (first, second) = (content(&one), content(&other));
    assert_eq!(first.fingerprint, second.fingerprint);
    assert_ne!(first.root, second.root);
    for (bytes, wanted, unwanted) in [(&one, &first, &second), (&other, &second, &first)] {
        let verified = verify(bytes.as_slice(), Some(wanted), short, &mut |_, _| {});
        assert_eq!(verified.as_ref(), Ok(wanted));
        let refused = verify(bytes.as_slice(), Some(unwanted), short, &mut |_, _| {});
        assert!(matches!(refused, Err(PalletError::OtherRoot { .. })));
        let refused = Pallet::open(bytes.as_slice(), Some(unwanted)).unwrap_err();
        assert!(matches!(refused, PalletError::OtherRoot { .. }));
        let mut prover = Prover::new(*unwanted, u64::MAX);
        let refused = prover.push(bytes, &mut |_, _| Ok(())).unwrap_err();
        assert!(matches!(refused, PalletError::OtherRoot { .. }));
    }
}

#[test]
fn the_body_of_one_behind_the_header_of_the_other_is_refused() {
    let (one, other) = pair();
    let header = 128 + 32;
    let spliced = [&one[..header], &other[header..]].concat();
    assert_eq!(
        verify(spliced.as_slice(), Some(&content(&one)), short, &mut |_, _| {}),
        Err(PalletError::BadGroup { group: 0 }),
    );
}

#[test]
fn an_entry_swapped_for_its_twin_is_a_change_everywhere() {
    assert_eq!(Hash128::of(&TWINS[0]), Hash128::of(&TWINS[1]));
    let [one, other] = TWINS.map(|twin| built(&[("assets/twin", &twin)], xxh128));
    assert_ne!(content(&one).fingerprint, content(&other).fingerprint);
    assert_ne!(content(&one).root, content(&other).root);
    // Swapped in the file itself, and sealed again: its checksum tells.
    let mut swapped = one.clone();
    let at = find(&one, &TWINS[0]);
    swapped[at..at + 32].copy_from_slice(&TWINS[1]);
    let plain = verify(swapped.as_slice(), Some(&content(&one)), xxh128, &mut |_, _| {});
    assert_eq!(plain, Err(PalletError::BadGroup { group: 0 }));
    seal(&mut swapped);
    let sealed = verify(swapped.as_slice(), None, xxh128, &mut |_, _| {});
    assert!(matches!(sealed, Err(PalletError::Entry { .. })), "{sealed:?}");
}
