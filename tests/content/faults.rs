//! Whatever the disk does, nothing wrong is committed, and it goes on when the disk is well again.

use std::fs;

use dh_host::disk::Faults;
use dh_machine::{DiskError, DiskErrorKind, Micros};
use dh_store::{Store, StoreError, Transfer};
use dh_wire::Content;

use crate::stage::{Stage, files, pallet};

/// Look for the content, bring it in if it is not here, and read all of it; tells whether it was
/// found in the end.
fn run(stage: &Stage, bytes: &[u8], content: &Content) -> Result<bool, StoreError> {
    let store = stage.store()?;
    if !store.have(content) {
        let mut transfer = store.try_begin(content, u64::MAX)?.expect("nobody else writes");
        take_rest(&mut transfer, bytes)?;
        transfer.verify(&mut |_, _| {})?.commit()?;
    }
    read(&store, content)
}

fn take_rest(transfer: &mut Transfer, bytes: &[u8]) -> Result<(), StoreError> {
    let taken = usize::try_from(transfer.taken()).unwrap();
    bytes[taken..].chunks(30_000).try_for_each(|piece| transfer.take(piece))
}

fn read(store: &Store, content: &Content) -> Result<bool, StoreError> {
    let Some(pallet) = store.pallet(content)? else { return Ok(false) };
    for (path, file) in files() {
        assert_eq!(pallet.read(path, 1 << 20)?, file, "what is read is right");
    }
    Ok(true)
}

/// Files of the cache are this pallet, or proved beginnings of it.
fn nothing_is_wrong(stage: &Stage, bytes: &[u8]) {
    for (name, file) in stage.cached() {
        if name.ends_with(".pallet") {
            assert!(file == bytes, "{name} was committed");
        } else {
            assert!(bytes.starts_with(&file), "{name} holds what was not proved");
        }
    }
}

/// MR-133, MR-Q51
#[test]
fn whatever_call_fails_nothing_wrong_is_committed_and_the_next_run_completes() {
    let (bytes, content) = pallet();
    let mut failed_runs = 0;
    for nth in 1.. {
        let stage = Stage::new();
        stage.disk.set(Faults { nth: Some(nth), ..Faults::default() });
        let ran = run(&stage, &bytes, &content);
        let failed = stage.disk.tally().failed;
        nothing_is_wrong(&stage, &bytes);
        failed_runs += u32::from(ran != Ok(true));
        stage.disk.set(Faults::default());
        assert_eq!(run(&stage, &bytes, &content), Ok(true), "call {nth}");
        let [(name, file)] = <[_; 1]>::try_from(stage.cached()).expect("one file and no partial");
        assert!(name.ends_with(".pallet") && file == bytes);
        if failed == 0 {
            assert_eq!(ran, Ok(true));
            break;
        }
    }
    assert!(failed_runs > 20, "{failed_runs} of the calls matter");
}

/// MR-Q51
#[test]
fn a_disk_that_runs_full_anywhere_keeps_what_was_proved_and_goes_on_when_there_is_room() {
    let (bytes, content) = pallet();
    let stage = Stage::new();
    let store = stage.store().unwrap();
    // Header, table and the first group are there by then; all but the last byte fits.
    let last = u64::try_from(bytes.len()).unwrap() - (128 + 4 * 32 + 65_536) - 1;
    for room in [0, 1, 65_535, 65_536, 65_537, 131_072, last] {
        let mut transfer = store.try_begin(&content, u64::MAX).unwrap().unwrap();
        // The first look at the disk finds room; others fill it afterwards.
        transfer.take(&bytes[..66_000]).unwrap();
        let before = transfer.held();
        stage.disk.set(Faults { room: Some(room), ..Faults::default() });
        let error = take_rest(&mut transfer, &bytes).unwrap_err();
        let StoreError::Disk(DiskError { kind, .. }) = error else { panic!("{room}: {error}") };
        assert_eq!(kind, DiskErrorKind::Full);
        assert!(transfer.held() >= before && transfer.held() <= before + room);
        let held = usize::try_from(transfer.held()).unwrap();
        assert_eq!(stage.cached()[0].1, bytes[..held], "whole proved groups, {room}");
        assert!(take_rest(&mut transfer, &bytes).is_err(), "still full");
        stage.disk.set(Faults::default());
        take_rest(&mut transfer, &bytes).unwrap();
        let path = transfer.verify(&mut |_, _| {}).unwrap().commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), bytes);
        fs::remove_file(path).unwrap();
    }
}

/// MR-Q51
#[test]
fn a_disk_that_is_too_small_from_the_start_is_told_before_it_is_filled() {
    let (bytes, content) = pallet();
    let stage = Stage::new();
    let store = stage.store().unwrap();
    let mut transfer = store.try_begin(&content, u64::MAX).unwrap().unwrap();
    stage.disk.set(Faults { room: Some(150_000), ..Faults::default() });
    let error = take_rest(&mut transfer, &bytes).unwrap_err();
    assert!(matches!(error, StoreError::NoRoom { .. }), "{error}");
    assert!(stage.disk.tally().written_bytes < 1_000);
    stage.disk.set(Faults::default());
    take_rest(&mut transfer, &bytes).unwrap();
    transfer.verify(&mut |_, _| {}).unwrap().commit().unwrap();
    assert_eq!(read(&store, &content), Ok(true));
}

/// MR-Q43
#[test]
fn pruning_tells_what_the_disk_keeps_and_counts_it_among_what_is_left() {
    let (bytes, content) = pallet();
    let mut kept = 0;
    for nth in 1.. {
        let stage = Stage::new();
        assert_eq!(run(&stage, &bytes, &content), Ok(true));
        let store = stage.store().unwrap();
        stage.disk.set(Faults { nth: Some(nth), ..Faults::default() });
        let pruned = store.prune(Micros(0), 0, &[]);
        if stage.disk.tally().failed == 0 {
            assert!(nth > 1 && stage.cached().is_empty());
            break;
        }
        let Ok(pruned) = pruned else { continue };
        kept += 1;
        assert_eq!((pruned.removed.len(), pruned.failed.len()), (0, 1));
        assert_eq!(pruned.bytes, u64::try_from(bytes.len()).unwrap());
        assert!(store.have(&content));
    }
    assert_eq!(kept, 1, "one call removes");
}

/// MR-70
#[test]
fn a_thousand_bits_read_wrongly_are_found_by_verify_and_never_used() {
    let (bytes, content) = pallet();
    let stage = Stage::new();
    fs::create_dir(stage.path("mods")).unwrap();
    fs::write(stage.path("mods/m.pallet"), &bytes).unwrap();
    let mut at: u64 = 0;
    for _ in 0..1_000 {
        at = (at + 104_729) % u64::try_from(bytes.len()).unwrap();
        let store = stage.store().unwrap();
        store.set_given(vec![stage.path("mods")]);
        let found = store.resolve(&content).found.expect("the header is good");
        stage.disk.set(Faults { flip: Some((at, ".pallet")), ..Faults::default() });
        // What is read is right, or it is an error.
        if let Ok(Some(pallet)) = store.pallet(&content) {
            for (path, file) in files() {
                assert!(pallet.read(path, 1 << 20).map_or(true, |read| read == file));
            }
        }
        let error = store.verify(&found, &mut |_, _| {}).unwrap_err();
        assert!(matches!(error, StoreError::Pallet(_)), "byte {at}: {error}");
        stage.disk.set(Faults::default());
        assert!(!store.have(&content), "it is passed over from now on");
        assert!(fs::read(stage.path("mods/m.pallet")).unwrap() == bytes, "and left as it is");
    }
}
