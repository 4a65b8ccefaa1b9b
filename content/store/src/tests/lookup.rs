//! Lookups: where content is found, what that costs, and what is passed over.

use std::sync::Arc;

use dh_machine::Disk as _;
use dh_pallet::{PalletError, xxh128};

use super::{CACHE, MemoryDisk, cached, fetch, pallet, pallet_of, short, store, twins};
use crate::{Options, Place, Store, StoreError};

/// MR-18, MR-38, MR-39, MR-135, MR-136, MR-140
#[test]
fn content_is_found_in_the_cache_among_the_bundled_and_among_the_given() {
    let disk = Arc::new(MemoryDisk::default());
    let [(one, first), (two, second), (three, third), (_, fourth)] = [1, 2, 3, 4].map(pallet);
    disk.put("program/two.pallet", &two);
    disk.put("mods/three.pallet", &three);
    let bundled = vec!["program/two.pallet".to_owned()];
    let options = Options { bundled, ..Options::new(CACHE) };
    let store = Store::open(Arc::clone(&disk) as Arc<_>, options).unwrap();
    let place = |content| store.resolve(content).found.map(|found| (found.path, found.place));
    assert_eq!(place(&third), None);
    store.set_given(vec!["mods".to_owned()]);
    fetch(&store, &one, &first);
    assert_eq!(place(&first), Some((cached(&first, ".pallet"), Place::Cache)));
    assert_eq!(place(&second), Some(("program/two.pallet".to_owned(), Place::Given)));
    assert_eq!(place(&third), Some(("mods/three.pallet".to_owned(), Place::Given)));
    assert!(!store.have(&fourth));
    store.set_given(Vec::new());
    assert_eq!(place(&third), None, "the list is live");
}

/// MR-38, MR-39, MR-135
#[test]
fn of_equal_files_that_of_the_cache_counts_then_the_first_bundled_then_the_first_given() {
    let disk = Arc::new(MemoryDisk::default());
    let (bytes, content) = pallet(1);
    for path in ["program/a.pallet", "mods/a.pallet", "mods/b.pallet"] {
        disk.put(path, &bytes);
    }
    let options = Options { bundled: vec!["program".to_owned()], ..Options::new(CACHE) };
    let store = Store::open(Arc::clone(&disk) as Arc<_>, options).unwrap();
    store.set_given(vec!["mods".to_owned()]);
    let path = || store.resolve(&content).found.unwrap().path;
    assert_eq!(path(), "program/a.pallet");
    let all: Vec<String> = store.by_id("museum").into_iter().map(|found| found.path).collect();
    assert_eq!(all, ["program/a.pallet", "mods/a.pallet", "mods/b.pallet"]);
    fetch(&store, &bytes, &content);
    assert_eq!(path(), cached(&content, ".pallet"));
    let store = Store::open(Arc::clone(&disk) as Arc<_>, Options::new("empty")).unwrap();
    store.set_given(vec!["mods".to_owned()]);
    assert_eq!(store.resolve(&content).found.unwrap().path, "mods/a.pallet");
}

/// MR-147, MR-148
#[test]
fn a_lookup_costs_one_header_a_candidate() {
    let (disk, store) = store();
    for seed in 0..100 {
        disk.put(&format!("mods/{seed}.pallet"), &pallet_of("m", 70_000, seed, xxh128).0);
    }
    store.set_given(vec!["mods".to_owned()]);
    disk.tally();
    assert!(!store.have(&pallet(1).1));
    let tally = disk.tally();
    assert_eq!((tally.opened, tally.read_bytes), (100, 100 * 128));
}

/// MR-149, MR-150
#[test]
fn a_second_miss_reads_only_headers_that_changed_or_are_new() {
    let (disk, store) = store();
    let [(one, _), (two, _), (three, third)] = [1, 2, 3].map(pallet);
    disk.put("mods/one.pallet", &one);
    disk.put("mods/two.pallet", &two);
    store.set_given(vec!["mods".to_owned()]);
    let headers = || {
        let had = store.have(&third);
        (had, disk.tally().read_bytes / 128)
    };
    disk.tally();
    assert_eq!(headers(), (false, 2));
    assert_eq!(headers(), (false, 0));
    disk.put("mods/two.pallet", &two);
    assert_eq!(headers(), (false, 1));
    disk.put("mods/three.pallet", &three);
    assert_eq!(headers(), (true, 1));
}

/// MR-149: the clock of a disk may be coarse.
#[test]
fn a_file_of_another_length_is_looked_at_again_although_its_time_is_that_of_before() {
    let (disk, store) = store();
    let (bytes, content) = pallet(1);
    disk.put("mods/a.pallet", &bytes[..bytes.len() - 1]);
    store.set_given(vec!["mods".to_owned()]);
    assert!(!store.have(&content));
    disk.replace_at_once("mods/a.pallet", &bytes);
    assert!(store.have(&content));
}

#[test]
fn a_given_file_keeps_its_time_when_it_is_opened_and_one_of_the_cache_is_used_just_now() {
    let (disk, store) = store();
    let [(given, first), (mine, second)] = [1, 2].map(pallet);
    disk.put("mods/a.pallet", &given);
    store.set_given(vec!["mods".to_owned()]);
    let path = fetch(&store, &mine, &second);
    let time = |path: &str| disk.metadata(path).unwrap().modified;
    let before = (time("mods/a.pallet"), time(&path));
    assert!(store.pallet(&first).unwrap().is_some() && store.pallet(&second).unwrap().is_some());
    assert_eq!(time("mods/a.pallet"), before.0);
    assert!(time(&path) > before.1);
}

/// MR-20
#[test]
fn a_candidate_with_the_fingerprint_and_another_root_is_passed_over_by_name() {
    let disk = Arc::new(MemoryDisk::default());
    let [(one, first), (other, second)] = twins();
    assert_eq!(first.fingerprint, second.fingerprint);
    let options = Options { digest: short, ..Options::new(CACHE) };
    let store = Store::open(Arc::clone(&disk) as Arc<_>, options).unwrap();
    disk.put("mods/one.pallet", &one);
    store.set_given(vec!["mods".to_owned()]);
    disk.tally();
    let resolved = store.resolve(&second);
    assert_eq!((resolved.found, resolved.twins), (None, vec!["mods/one.pallet".to_owned()]));
    assert_eq!(disk.tally().read_bytes, 128, "its body is left unread");
    // Both can be cached, and each asker gets the one he asked for.
    fetch(&store, &other, &second);
    fetch(&store, &one, &first);
    for (content, bytes) in [(first, &one), (second, &other)] {
        let found = store.resolve(&content).found.unwrap();
        assert_eq!((found.place, disk.bytes(&found.path).as_ref()), (Place::Cache, Some(bytes)));
        assert_eq!(store.pallet(&content).unwrap().map(|pallet| pallet.content()), Some(content));
    }
}

#[test]
fn a_bad_cache_file_is_deleted_and_a_bad_given_one_is_left_and_passed_over() {
    let (disk, store) = store();
    let (bytes, content) = pallet(1);
    fetch(&store, &bytes, &content);
    disk.put("mods/a.pallet", &bytes);
    store.set_given(vec!["mods".to_owned()]);
    // In the group table, which opening checks.
    disk.flip(&cached(&content, ".pallet"), 130);
    disk.flip("mods/a.pallet", 130);
    assert!(store.pallet(&content).unwrap().is_none());
    assert_eq!(disk.names(), ["mods/a.pallet"]);
    assert!(!store.have(&content));
    // A later one of the same name counts again.
    disk.put("mods/a.pallet", &bytes);
    assert!(store.pallet(&content).unwrap().is_some());
}

#[test]
fn a_cache_file_that_is_not_what_its_name_says_is_deleted_by_the_lookup() {
    let [(bytes, content), (other, _)] = [1, 2].map(pallet);
    let mut version = bytes.clone();
    version[8] = 1;
    let bad = [&other, &bytes[..bytes.len() - 1], &bytes[..100], b"", &version];
    for bad in bad.map(<[u8]>::to_vec) {
        let (disk, store) = store();
        disk.put(&cached(&content, ".pallet"), &bad);
        assert!(!store.have(&content));
        assert_eq!(disk.names(), Vec::<String>::new());
    }
}

#[test]
fn a_bad_group_found_while_reading_rejects_the_file() {
    let (disk, store) = store();
    let (bytes, content) = pallet(1);
    let path = fetch(&store, &bytes, &content);
    disk.flip(&path, bytes.len() - 100);
    let opened = store.pallet(&content).unwrap().expect("header and table are good");
    assert!(opened.read("assets/noise", 1 << 20).is_err());
    let found = store.resolve(&content).found.unwrap();
    let error = store.verify(&found, &mut |_, _| {}).unwrap_err();
    assert!(matches!(error, StoreError::Pallet(_)), "{error}");
    assert!(!store.have(&content));
    assert_eq!(disk.names(), Vec::<String>::new());
}

/// MR-33
#[test]
fn given_files_that_are_not_used_are_told_by_name_with_the_reason() {
    let (disk, store) = store();
    let [(one, content), (mut old, _)] = [1, 2].map(pallet);
    old[8] = 1;
    disk.put("mods/old.pallet", &old);
    disk.put("mods/one.pallet", &one);
    disk.put("mods/short.pallet", &one[..one.len() - 1]);
    store.set_given(vec!["mods".to_owned(), "gone.pallet".to_owned()]);
    let told = || {
        let refused = store.refused().into_iter();
        refused.map(|(path, why)| format!("{path}: {why}")).collect::<Vec<_>>()
    };
    let first = told();
    assert_eq!(first.len(), 3, "{first:?}");
    assert!(first[0].starts_with("mods/old.pallet: Pallet format v1 cannot be read"));
    assert!(first[1].starts_with("mods/short.pallet: the pallet ends too early"));
    assert!(first[2].ends_with("no such file"));
    let found = store.resolve(&content).found.unwrap();
    store.reject(&found, PalletError::BadGroup { group: 7 });
    assert_eq!(told()[1], "mods/one.pallet: group 7 of the body is damaged");
}

#[test]
fn pallets_are_found_by_the_id_they_claim_and_each_is_asked_once() {
    let (disk, store) = store();
    for (name, id, seed) in [("a", "museum", 1), ("b", "park", 2), ("c", "museum", 3)] {
        disk.put(&format!("mods/{name}.pallet"), &pallet_of(id, 70_000, seed, xxh128).0);
    }
    disk.put("mods/d.pallet", b"not one");
    disk.put("mods/readme", b"nor this");
    store.set_given(vec!["mods".to_owned(), "mods/readme".to_owned(), "gone".to_owned()]);
    let paths = |id| store.by_id(id).into_iter().map(|found| found.path).collect::<Vec<_>>();
    assert_eq!(paths("museum"), ["mods/a.pallet", "mods/c.pallet"]);
    assert!(disk.tally().read_bytes < 5 * 512);
    assert_eq!(paths("park"), ["mods/b.pallet"]);
    assert_eq!(paths("zoo"), Vec::<String>::new());
    assert_eq!(store.ids(), ["museum", "park"]);
    assert_eq!(disk.tally().read_bytes, 0);
}
