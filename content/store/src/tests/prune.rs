//! Pruning: what was used longest ago goes first, and some things never go.

use dh_machine::Micros;

use super::{cached, fetch, pallet, store};
use crate::{Kind, PARTIAL_AGE_MAX};

fn paths(kept: &[crate::Kept]) -> Vec<&str> {
    kept.iter().map(|kept| kept.path.as_str()).collect()
}

/// MR-Q43
#[test]
fn the_pallets_used_longest_ago_go_until_the_rest_fits() {
    let (disk, store) = store();
    let contents = [1, 2, 3, 4].map(|seed| {
        let (bytes, content) = pallet(seed);
        fetch(&store, &bytes, &content);
        content
    });
    let bytes: u64 = store.list().unwrap().iter().map(|kept| kept.bytes).sum();
    assert_eq!(store.prune(disk.now(), bytes, &[]).unwrap().removed, []);
    // The first was used again.
    assert!(store.pallet(&contents[0]).unwrap().is_some());
    let pruned = store.prune(disk.now(), bytes / 2, &[]).unwrap();
    let gone = [1, 2].map(|at| cached(&contents[at], ".pallet"));
    assert_eq!(paths(&pruned.removed), gone);
    assert_eq!(pruned.bytes, store.list().unwrap().iter().map(|kept| kept.bytes).sum::<u64>());
    assert!(store.have(&contents[0]) && store.have(&contents[3]) && !store.have(&contents[1]));
}

/// MR-141, MR-Q43
#[test]
fn what_is_pinned_being_written_given_or_not_ours_never_goes() {
    let (disk, store) = store();
    let [(one, pinned), (two, written), (three, given), (four, loose)] = [1, 2, 3, 4].map(pallet);
    fetch(&store, &one, &pinned);
    fetch(&store, &two, &written);
    fetch(&store, &four, &loose);
    disk.put("mods/three.pallet", &three);
    disk.put(&format!("{}/notes.pallet", super::CACHE), b"not ours");
    store.set_given(vec!["mods".to_owned()]);
    let transfer = store.try_begin(&written, u64::MAX).unwrap().unwrap();
    let late = disk.now() + PARTIAL_AGE_MAX + PARTIAL_AGE_MAX;
    let pruned = store.prune(late, 0, &[pinned]).unwrap();
    assert_eq!(paths(&pruned.removed), [cached(&loose, ".pallet")]);
    assert!([pinned, written, given].iter().all(|content| store.have(content)));
    assert_eq!(disk.names().len(), 5, "with the partial that is being written");
    drop(transfer);
    store.prune(late, 0, &[]).unwrap();
    assert_eq!(
        disk.names(),
        [format!("{}/notes.pallet", super::CACHE), "mods/three.pallet".into()]
    );
}

/// MR-Q43
#[test]
fn partials_go_when_nobody_touched_them_for_seven_days() {
    let (disk, store) = store();
    let (bytes, content) = pallet(1);
    let mut transfer = store.try_begin(&content, u64::MAX).unwrap().unwrap();
    transfer.take(&bytes[..100_000]).unwrap();
    drop(transfer);
    let listed = store.list().unwrap();
    assert_eq!((listed.len(), listed[0].kind), (1, Kind::Partial));
    let week = listed[0].used + PARTIAL_AGE_MAX;
    assert_eq!(store.prune(week, 0, &[]).unwrap().removed, []);
    let pruned = store.prune(week + Micros(1), 0, &[]).unwrap();
    assert_eq!(paths(&pruned.removed), [cached(&content, ".partial")]);
    assert_eq!(disk.names(), Vec::<String>::new());
}

#[test]
fn a_cached_pallet_is_examined_with_its_name_and_stays_until_it_is_removed() {
    let (disk, store) = store();
    let [(good, one), (spoilt, two), (swapped, three)] = [1, 2, 3].map(pallet);
    fetch(&store, &good, &one);
    let mut spoilt_bytes = spoilt.clone();
    *spoilt_bytes.last_mut().unwrap() ^= 1;
    disk.put(&cached(&two, ".pallet"), &spoilt_bytes);
    // A good pallet under the name of another.
    disk.put(&cached(&three, ".pallet"), &good);
    assert_ne!(swapped, good);
    let kept = store.list().unwrap();
    let good: Vec<bool> =
        kept.iter().map(|kept| store.examine(kept, &mut |_, _| {}).is_ok()).collect();
    let told = kept.iter().map(|kept| kept.path == cached(&one, ".pallet"));
    assert_eq!(good, told.collect::<Vec<_>>());
    assert_eq!(store.list().unwrap(), kept);
    for (kept, good) in kept.iter().zip(good) {
        if !good {
            store.remove(kept).unwrap();
        }
    }
    assert_eq!(paths(&store.list().unwrap()), [cached(&one, ".pallet")]);
}
