//! The receiver's end: nothing is handed on that is not proved.

use dh_machine::{DiskError, DiskErrorKind};
use dh_wire::Content;

use super::{Counted, GROUP_BYTES, Random, content, large, noise, small};
use crate::source::{count, size};
use crate::{Header, PalletError, Prover, Stored, Writer};

/// A receiver and what was handed on to its disk.
struct Receiver {
    prover: Prover,
    file: Vec<u8>,
}

impl Receiver {
    fn new(wanted: Content) -> Self {
        Self { prover: Prover::new(wanted, u64::MAX), file: Vec::new() }
    }

    fn push(&mut self, bytes: &[u8]) -> Result<(), PalletError> {
        let file = &mut self.file;
        self.prover.push(bytes, &mut |offset, proved| {
            assert_eq!(offset, count(file.len()), "in order, without a gap");
            file.extend_from_slice(proved);
            Ok(())
        })
    }
}

#[test]
fn bytes_in_pieces_of_any_size_come_out_proved_and_whole() {
    let bytes = large();
    for piece in [1, 1024, 65_536, 100_000, bytes.len()] {
        let mut receiver = Receiver::new(content(&bytes));
        for bytes in bytes.chunks(piece) {
            receiver.push(bytes).unwrap();
            let whole = (receiver.file.len().saturating_sub(288)).is_multiple_of(GROUP_BYTES);
            assert!(whole || receiver.prover.is_whole(), "whole groups only");
        }
        assert!(receiver.prover.is_whole());
        assert_eq!(receiver.prover.total(), Some(count(bytes.len())));
        assert_eq!(receiver.file, bytes);
        let more = receiver.push(b"x").unwrap_err();
        assert_eq!(more, PalletError::Trailing { bytes: 1 });
    }
}

#[test]
fn a_thousand_flips_in_flight_are_found_and_nothing_past_one_is_trusted() {
    let (bytes, mut random) = (large(), Random(23));
    let body = size(Header::decode(&bytes).unwrap().body_at());
    for _ in 0..1_000 {
        let (at, bit) = (random.below(bytes.len()), random.below(8));
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << bit;
        let mut receiver = Receiver::new(content(&bytes));
        let error = flipped.chunks(1024).find_map(|piece| receiver.push(piece).err()).unwrap();
        if at >= body {
            let group = (at - body) / GROUP_BYTES;
            assert_eq!(error, PalletError::BadGroup { group: count(group) });
            assert_eq!(receiver.file.len(), body + group * GROUP_BYTES);
        } else {
            assert_eq!(receiver.file.len(), 0);
        }
        let proved = size(receiver.prover.proved());
        assert_eq!(receiver.file, bytes[..proved]);
        // The right bytes from there on complete it.
        receiver.push(&bytes[proved..]).unwrap();
        assert!(receiver.prover.is_whole() && receiver.file == bytes);
    }
}

#[test]
fn another_pallet_is_refused_by_its_header_and_one_over_the_bound_too() {
    let (bytes, other) = (large(), content(&small()));
    let mut receiver = Receiver::new(other);
    let error = receiver.push(&bytes[..128]).unwrap_err();
    assert!(matches!(error, PalletError::OtherFingerprint { .. }), "{error}");
    let mut prover = Prover::new(content(&bytes), count(bytes.len()) - 1);
    let error = prover.push(&bytes[..128], &mut |_, _| Ok(())).unwrap_err();
    assert!(matches!(error, PalletError::TooLarge { .. }), "{error}");
}

#[test]
fn as_many_bytes_as_the_bound_are_taken() {
    let bytes = large();
    let mut prover = Prover::new(content(&bytes), count(bytes.len()));
    prover.push(&bytes, &mut |_, _| Ok(())).unwrap();
    assert!(prover.is_whole());
    assert!(Prover::resume(content(&bytes), count(bytes.len()), bytes.as_slice()).is_ok());
}

#[test]
fn a_header_that_lies_about_its_lengths_is_forgotten_with_its_table_and_another_sender_goes_on() {
    let bytes = large();
    let good = Header::decode(&bytes).unwrap();
    // One group more than there are; everything else is what was advertised.
    let (file_bytes, table_bytes) = (good.file_bytes + 32 + 65_536, good.table_bytes + 32);
    let lie = Header { file_bytes, table_bytes, ..good };
    let mut receiver = Receiver::new(content(&bytes));
    let told = [lie.encode().as_slice(), &bytes[128..]].concat();
    assert_eq!(receiver.push(&told), Err(PalletError::BadRoot));
    assert_eq!((receiver.prover.taken(), receiver.file.len()), (0, 0));
    receiver.push(&bytes).unwrap();
    assert!(receiver.prover.is_whole() && receiver.file == bytes);
}

#[test]
fn a_disk_that_fails_loses_nothing_that_was_proved() {
    let bytes = large();
    let mut prover = Prover::new(content(&bytes), u64::MAX);
    let mut file = Vec::new();
    let full = DiskError::new(DiskErrorKind::Full, "x");
    let mut room = 2;
    while !prover.is_whole() {
        let from = size(prover.proved());
        let pushed = prover.push(&bytes[from..], &mut |offset, proved| {
            if room == 0 {
                room = 2;
                return Err(full.clone());
            }
            room -= 1;
            file.truncate(size(offset));
            file.extend_from_slice(proved);
            Ok(())
        });
        assert!(pushed.is_ok() || pushed == Err(PalletError::Disk(full.clone())));
    }
    assert_eq!(file, bytes);
}

#[test]
fn a_transfer_resumes_from_the_whole_groups_of_its_partial() {
    let bytes = large();
    let wanted = content(&bytes);
    let body = size(Header::decode(&bytes).unwrap().body_at());
    for len in [body, body + 1, body + GROUP_BYTES - 1, body + 3 * GROUP_BYTES, bytes.len()] {
        let prover = Prover::resume(wanted, u64::MAX, &bytes[..len]).unwrap();
        let whole = body + (len - body) / GROUP_BYTES * GROUP_BYTES;
        let proved = if len == bytes.len() { len } else { whole };
        assert_eq!((size(prover.proved()), prover.taken()), (proved, prover.proved()));
        let mut receiver = Receiver { prover, file: bytes[..proved].to_vec() };
        receiver.push(&bytes[proved..]).unwrap();
        assert!(receiver.prover.is_whole());
        assert_eq!(receiver.file, bytes);
    }
}

#[test]
fn a_partial_without_its_table_or_of_something_else_is_not_resumed() {
    let (bytes, other) = (large(), content(&small()));
    for len in [0, 5, 127, 128, 200, 287] {
        assert!(Prover::resume(content(&bytes), u64::MAX, &bytes[..len]).is_err(), "{len}");
    }
    assert!(Prover::resume(other, u64::MAX, bytes.as_slice()).is_err());
    let mut damaged = bytes.clone();
    damaged[130] ^= 1;
    let refused = Prover::resume(content(&bytes), u64::MAX, damaged.as_slice());
    assert_eq!(refused.err(), Some(PalletError::BadRoot));
}

#[test]
fn a_partial_counts_up_to_its_first_bad_group() {
    let bytes = large();
    let body = size(Header::decode(&bytes).unwrap().body_at());
    for group in 0..5 {
        let mut damaged = bytes.clone();
        damaged[body + group * GROUP_BYTES] ^= 0x80;
        let prover = Prover::resume(content(&bytes), u64::MAX, damaged.as_slice()).unwrap();
        assert_eq!(size(prover.proved()), body + group * GROUP_BYTES);
    }
}

#[test]
fn bytes_that_are_not_proved_can_be_forgotten() {
    let bytes = large();
    let mut receiver = Receiver::new(content(&bytes));
    receiver.push(&bytes[..100_000]).unwrap();
    let proved = receiver.prover.proved();
    assert_eq!(receiver.prover.taken(), 100_000);
    receiver.prover.rewind();
    assert_eq!((receiver.prover.taken(), receiver.prover.proved()), (proved, proved));
    receiver.push(&bytes[size(proved)..]).unwrap();
    assert!(receiver.prover.is_whole());
}

#[test]
fn a_prover_holds_the_table_and_one_group() {
    let bytes = super::built(&[("noise", &noise(3 << 20, 4))], crate::xxh128);
    let mut prover = Prover::new(content(&bytes), u64::MAX);
    let mut largest = 0;
    prover
        .push(&bytes, &mut |_, proved| {
            largest = largest.max(proved.len());
            Ok(())
        })
        .unwrap();
    assert_eq!(largest, GROUP_BYTES);
}

#[test]
fn resuming_a_long_partial_proves_only_its_end_again() {
    let zeros = vec![0; 66 << 20];
    let mut writer = Writer::new(super::about()).unwrap();
    writer.put("zeros", Stored::as_is(Box::new(zeros)).unwrap()).unwrap();
    let mut bytes = Vec::new();
    let wanted = writer.write(&mut bytes, crate::xxh128, &mut |_, _| {}).unwrap();
    let body = size(Header::decode(&bytes).unwrap().body_at());
    // What was proved long ago is left to the verification of the whole.
    bytes[body + 100_000] ^= 1;
    let source = Counted::new(&bytes);
    let prover = Prover::resume(wanted, u64::MAX, &source).unwrap();
    assert!(prover.is_whole());
    assert!(source.read.get() <= count((64 << 20) + body));
    let verified = crate::verify(&source, Some(&wanted), crate::xxh128, &mut |_, _| {});
    assert_eq!(verified, Err(PalletError::BadGroup { group: 1 }));
}
