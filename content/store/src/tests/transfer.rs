//! Transfers: how content comes in, and what is never committed.

use std::sync::Arc;

use dh_pallet::{Header, PalletError};

use super::{CACHE, cached, fetch, pallet, short, store, twins};
use crate::{Options, Store, StoreError, Transfer};

const ANY: u64 = u64::MAX;

fn held(transfer: &Transfer) -> usize {
    usize::try_from(transfer.held()).unwrap()
}

/// MR-102, MR-111, MR-128, MR-134
#[test]
fn a_transfer_lands_in_a_partial_and_is_committed_beside_it() {
    let (disk, store) = store();
    let (bytes, content) = pallet(1);
    let mut transfer = store.try_begin(&content, ANY).unwrap().unwrap();
    assert_eq!((transfer.held(), transfer.total()), (0, None));
    transfer.take(&bytes[..100_000]).unwrap();
    assert_eq!(disk.names(), [cached(&content, ".partial")]);
    let held = usize::try_from(transfer.held()).unwrap();
    let partial = disk.bytes(&cached(&content, ".partial")).unwrap();
    assert_eq!(partial, bytes[..held], "whole proved groups and no more");
    assert_eq!((transfer.taken(), transfer.total()), (100_000, Some(bytes.len() as u64)));
    assert!(!store.have(&content), "a partial is not the content");
    transfer.take(&bytes[100_000..]).unwrap();
    assert!(transfer.is_whole() && !store.have(&content), "nor is one that is not verified");
    let path = transfer.verify(&mut |_, _| {}).unwrap().commit().unwrap();
    assert_eq!(
        (path.as_str(), disk.names()),
        (cached(&content, ".pallet").as_str(), vec![path.clone()])
    );
    assert_eq!(disk.bytes(&path), Some(bytes));
    assert!(store.have(&content));
}

/// MR-129, MR-130, MR-131, MR-143
#[test]
fn verifying_reads_small_pieces_and_committing_is_one_rename_that_reads_nothing() {
    let (disk, store) = store();
    let (bytes, content) = pallet(1);
    let mut transfer = store.try_begin(&content, ANY).unwrap().unwrap();
    transfer.take(&bytes).unwrap();
    disk.tally();
    let verified = transfer.verify(&mut |_, _| {}).unwrap();
    let tally = disk.tally();
    assert!(tally.read_bytes >= bytes.len() as u64 && tally.read_bytes_max <= 64 * 1024);
    verified.commit().unwrap();
    let tally = disk.tally();
    assert_eq!((tally.renames, tally.read_bytes, tally.written_bytes), (1, 0, 0));
}

/// MR-103, MR-104, MR-132, MR-133
#[test]
fn closing_a_transfer_keeps_what_was_proved_for_the_next_even_of_another_store() {
    let (disk, store) = store();
    let (bytes, content) = pallet(1);
    let mut at = 0;
    while at < bytes.len() {
        let store = Store::open(Arc::clone(&disk) as Arc<_>, Options::new(CACHE)).unwrap();
        let mut transfer = store.try_begin(&content, ANY).unwrap().unwrap();
        assert!(held(&transfer) <= at && held(&transfer) + 65_536 > at);
        let from = held(&transfer);
        at = bytes.len().min(from + 80_000);
        transfer.take(&bytes[from..at]).unwrap();
    }
    let transfer = store.try_begin(&content, ANY).unwrap().unwrap();
    assert!(transfer.is_whole());
    transfer.verify(&mut |_, _| {}).unwrap().commit().unwrap();
    assert_eq!(disk.bytes(&cached(&content, ".pallet")), Some(bytes));
}

/// MR-125, MR-145
#[test]
fn one_writer_a_content_until_it_is_closed() {
    let (_, store) = store();
    let [(bytes, content), (_, other)] = [1, 2].map(pallet);
    let first = store.try_begin(&content, ANY).unwrap().unwrap();
    assert!(store.clone().try_begin(&content, ANY).unwrap().is_none());
    assert!(store.try_begin(&other, ANY).unwrap().is_some());
    drop(first);
    let mut again = store.try_begin(&content, ANY).unwrap().unwrap();
    again.take(&bytes).unwrap();
    let verified = again.verify(&mut |_, _| {}).unwrap();
    assert!(store.try_begin(&content, ANY).unwrap().is_none(), "until it is committed");
    verified.commit().unwrap();
    assert!(store.try_begin(&content, ANY).unwrap().is_some());
}

/// MR-144, MR-146
#[test]
fn two_free_transfers_of_one_content_end_in_one_file() {
    let (disk, store) = store();
    let (bytes, content) = pallet(1);
    let mut one = store.begin(&content, ANY).unwrap();
    one.take(&bytes[..150_000]).unwrap();
    let mut other = store.begin(&content, ANY).unwrap();
    assert!(store.try_begin(&content, ANY).unwrap().is_none());
    let held = held(&other);
    other.take(&bytes[held..]).unwrap();
    one.take(&bytes[150_000..]).unwrap();
    let one = one.verify(&mut |_, _| {}).unwrap();
    let other = other.verify(&mut |_, _| {}).unwrap();
    assert_eq!(one.commit(), other.commit());
    assert_eq!(disk.names(), [cached(&content, ".pallet")]);
    assert_eq!(disk.bytes(&cached(&content, ".pallet")), Some(bytes));
    assert!(store.try_begin(&content, ANY).unwrap().is_some());
}

/// MR-144: what one proved is never cut under it by another.
#[test]
fn a_free_transfer_cuts_nothing_that_another_of_its_content_has_written() {
    let (disk, store) = store();
    let (bytes, content) = pallet(1);
    let partial = cached(&content, ".partial");
    let mut one = store.begin(&content, ANY).unwrap();
    let mut behind = store.begin(&content, ANY).unwrap();
    one.take(&bytes[..150_000]).unwrap();
    let written = disk.bytes(&partial);
    assert_eq!(written.as_ref().map(Vec::len), Some(held(&one)));
    assert!(behind.take(&[7; 500]).is_err());
    assert_eq!(disk.bytes(&partial), written, "after an error");
    // In the second group, so that whoever resumes counts one less.
    disk.flip(&partial, 100_000);
    let mut again = store.begin(&content, ANY).unwrap();
    assert!(again.held() < one.held());
    assert_eq!(disk.bytes(&partial).map(|bytes| bytes.len()), Some(held(&one)), "on resuming");
    let from = held(&again);
    again.take(&bytes[from..]).unwrap();
    again.verify(&mut |_, _| {}).unwrap().commit().unwrap();
    assert_eq!(disk.bytes(&cached(&content, ".pallet")), Some(bytes));
}

#[test]
fn a_bad_group_in_flight_is_named_and_another_sender_goes_on_from_what_is_held() {
    let (disk, store) = store();
    let (bytes, content) = pallet(1);
    let mut flipped = bytes.clone();
    flipped[140_000] ^= 8;
    let mut transfer = store.try_begin(&content, ANY).unwrap().unwrap();
    let error = flipped.chunks(1024).find_map(|piece| transfer.take(piece).err());
    assert_eq!(error, Some(StoreError::Pallet(PalletError::BadGroup { group: 2 })));
    let held = held(&transfer);
    assert_eq!(disk.bytes(&cached(&content, ".partial")), Some(bytes[..held].to_vec()));
    transfer.take(&bytes[held..]).unwrap();
    transfer.verify(&mut |_, _| {}).unwrap().commit().unwrap();
    assert!(store.have(&content));
}

/// MR-70, MR-133, MR-Q44
#[test]
fn only_a_failed_verification_removes_the_partial() {
    let (disk, store) = store();
    let (bytes, content) = pallet(1);
    for at in (0..bytes.len()).step_by(997) {
        let mut transfer = store.try_begin(&content, ANY).unwrap().unwrap();
        transfer.take(&bytes).unwrap();
        disk.flip(&cached(&content, ".partial"), at);
        let error = transfer.verify(&mut |_, _| {}).unwrap_err();
        assert!(matches!(error, StoreError::Pallet(_)), "byte {at}: {error}");
        assert_eq!(disk.names(), Vec::<String>::new(), "byte {at}");
    }
    let mut short = store.try_begin(&content, ANY).unwrap().unwrap();
    short.take(&bytes[..100_000]).unwrap();
    assert!(short.verify(&mut |_, _| {}).is_err());
    assert_eq!(disk.names(), [cached(&content, ".partial")], "it only lacks bytes");
    fetch(&store, &bytes, &content);
}

/// MR-71, MR-72
#[test]
fn bytes_that_claim_the_content_and_are_not_it_are_never_written() {
    let (disk, store) = store();
    let [(bytes, content), (other, _)] = [1, 2].map(pallet);
    // The other's body behind this header, and this header's claim on the other's header.
    let spliced = [&bytes[..128], &other[128..]].concat();
    for lie in [other, spliced] {
        let mut transfer = store.try_begin(&content, ANY).unwrap().unwrap();
        assert!(matches!(transfer.take(&lie), Err(StoreError::Pallet(_))));
        assert_eq!(transfer.held(), 0);
    }
    assert_eq!(disk.bytes(&cached(&content, ".partial")), Some(Vec::new()));
}

#[test]
fn a_partial_of_something_else_or_with_a_torn_end_is_cut_to_what_is_proved() {
    let (bytes, content) = pallet(1);
    let torn = [&bytes[..100_000], &[7; 30_000]].concat();
    let end = [&bytes, b"and more".as_slice()].concat();
    let other = pallet(2).0;
    for partial in [&other, &torn, &end, &bytes[..300].to_vec(), &vec![0; 500]] {
        let (disk, store) = store();
        disk.put(&cached(&content, ".partial"), partial);
        let transfer = store.try_begin(&content, ANY).unwrap().unwrap();
        let held = held(&transfer);
        assert_eq!(disk.bytes(&cached(&content, ".partial")), Some(bytes[..held].to_vec()));
        drop(transfer);
        fetch(&store, &bytes, &content);
        assert_eq!(disk.bytes(&cached(&content, ".pallet")).as_ref(), Some(&bytes));
    }
}

/// MR-Q51
#[test]
fn a_disk_without_room_is_told_with_what_is_needed_and_goes_on_when_there_is_room() {
    let (disk, store) = store();
    let (bytes, content) = pallet(1);
    let mut transfer = store.try_begin(&content, ANY).unwrap().unwrap();
    disk.set_free(70_000);
    let error = transfer.take(&bytes[..1_000]).unwrap_err();
    let needed = bytes.len() as u64 - transfer.held();
    assert!(matches!(error, StoreError::NoRoom { needed: told, .. } if told == needed), "{error}");
    // Others fill the disk behind the first look at it.
    disk.set_free(1 << 20);
    let at = held(&transfer);
    transfer.take(&bytes[at..10_000]).unwrap();
    disk.set_free(70_000);
    assert!(matches!(transfer.take(&bytes[10_000..]), Err(StoreError::Disk(_))));
    let at = held(&transfer);
    assert_eq!(disk.bytes(&cached(&content, ".partial")), Some(bytes[..at].to_vec()));
    disk.set_free(u64::MAX);
    transfer.take(&bytes[at..]).unwrap();
    transfer.verify(&mut |_, _| {}).unwrap().commit().unwrap();
    assert_eq!(disk.bytes(&cached(&content, ".pallet")), Some(bytes));
}

/// MR-Q51
#[test]
fn a_disk_with_room_for_exactly_the_rest_is_enough_and_with_a_byte_less_is_not() {
    let (bytes, content) = pallet(1);
    let first = Header::decode(&bytes).unwrap().body_at();
    let rest = bytes.len() as u64 - first;
    for (free, is_enough) in [(rest, true), (rest - 1, false)] {
        let (disk, store) = store();
        let mut transfer = store.try_begin(&content, ANY).unwrap().unwrap();
        // Header and table tell how much is to come, and are written by then.
        disk.set_free(first + free);
        let taken = transfer.take(&bytes[..1_000]);
        assert_eq!(taken.is_ok(), is_enough, "{taken:?}");
        if is_enough {
            transfer.take(&bytes[1_000..]).unwrap();
            assert!(transfer.is_whole());
        }
    }
}

#[test]
fn content_over_the_bound_is_refused_by_its_header() {
    let (_, store) = store();
    let (bytes, content) = pallet(1);
    let mut transfer = store.try_begin(&content, 100_000).unwrap().unwrap();
    let error = transfer.take(&bytes[..128]).unwrap_err();
    assert!(matches!(error, StoreError::Pallet(PalletError::TooLarge { .. })), "{error}");
}

#[test]
fn a_discarded_transfer_leaves_nothing() {
    let (disk, store) = store();
    let (bytes, content) = pallet(1);
    let mut transfer = store.try_begin(&content, ANY).unwrap().unwrap();
    transfer.take(&bytes).unwrap();
    transfer.discard().unwrap();
    assert_eq!(disk.names(), Vec::<String>::new());
}

/// MR-13
#[test]
fn names_tell_contents_apart_that_share_a_fingerprint() {
    let (disk, _) = store();
    let options = Options { digest: short, ..Options::new(CACHE) };
    let store = Store::open(Arc::clone(&disk) as Arc<_>, options).unwrap();
    let [(one, first), (other, second)] = twins();
    let mut transfer = store.try_begin(&first, ANY).unwrap().unwrap();
    assert!(transfer.take(&other).is_err(), "the twin is not taken for it");
    transfer.take(&one).unwrap();
    fetch(&store, &other, &second);
    transfer.verify(&mut |_, _| {}).unwrap().commit().unwrap();
    let mut names = [cached(&first, ".pallet"), cached(&second, ".pallet")];
    names.sort();
    assert_eq!(disk.names(), names);
}

#[test]
fn a_store_its_transfers_and_its_pallets_can_be_used_from_any_thread() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Store>();
    is_shared::<Transfer>();
    is_shared::<dh_pallet::Pallet<Box<dyn dh_machine::DiskFile>>>();
}
