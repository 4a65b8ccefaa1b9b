//! Loading: what a map is made of, what is kept of the work, and what is too much.

use std::sync::Arc;

use dh_map::{Mesh, mesh};
use dh_pallet::{About, Writer, pack, xxh128};

use super::*;
use crate::tests::MemoryDisk;

const MAP: &str = r#"{ "objects": [
{ "id": "stone", "components": { "dh.model": { "model": "assets/stone.dh-mesh" } } } ] }"#;

/// A pallet with two maps of one triangle, `a` at the origin, `b` one metre up.
fn pallet() -> Pallet<AnySource> {
    let mut writer = Writer::new(About { id: "p".to_owned(), ..About::default() }).unwrap();
    let raised = MAP.replace("\"stone\",", "\"stone\", \"transform\": { \"position\": [0,1,0] },");
    let part = mesh::Part { name: "part".to_owned(), first: 0, count: 3, material: 0 };
    let stone = Mesh {
        positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
        normals: vec![[0.0, 1.0, 0.0]; 3],
        indices: vec![0, 1, 2],
        parts: vec![part],
        materials: vec![mesh::Surface::default()],
        ..Mesh::default()
    };
    for (path, file) in [
        ("assets/a.dh-map", MAP.as_bytes().to_vec()),
        ("assets/b.dh-map", raised.into_bytes()),
        ("assets/stone.dh-mesh", stone.encode()),
    ] {
        writer.put(path, pack(&file).in_memory()).unwrap();
    }
    let mut bytes = Vec::new();
    writer.write(&mut bytes, xxh128, &mut |_, _| {}).unwrap();
    Pallet::open(Box::new(bytes) as AnySource, None).unwrap()
}

fn loading(map: &str, cache: Option<&CookCache>) -> Loading {
    let map = Barcode::parse(&format!("p:assets/{map}.dh-map")).unwrap();
    let cache = cache.cloned();
    Loading::new(Request { map, pallets: vec![pallet()], picture_side_max: None, cache })
}

fn finish(mut loading: Loading) -> Result<LoadedMap, LoadError> {
    loop {
        if let Step::Done(loaded) = loading.step()? {
            return Ok(*loaded);
        }
    }
}

fn cooked(map: &str, cache: &CookCache) -> Vec<u8> {
    finish(loading(map, Some(cache))).unwrap().triangles.unwrap().encode()
}

fn cache() -> (Arc<MemoryDisk>, CookCache) {
    let disk = Arc::new(MemoryDisk::default());
    (Arc::clone(&disk), CookCache::new(disk, "cook"))
}

/// MR-156, MR-157
#[test]
fn what_was_cooked_once_is_read_the_next_time_by_whoever_shares_the_folder() {
    let (disk, cache) = cache();
    let fresh = finish(loading("a", None)).unwrap().triangles.unwrap().encode();
    assert_eq!(cooked("a", &cache), fresh);
    let written = disk.tally().written_bytes;
    assert!(written > 0);
    assert_eq!(cooked("a", &cache.clone()), fresh);
    let again = disk.tally();
    assert_eq!((again.written_bytes, again.read_bytes > 0), (0, true), "read and not cooked");
    assert_ne!(cooked("b", &cache), fresh, "another map of the same content");
    assert_eq!(disk.names().len(), 2);
}

#[test]
fn a_cooked_file_that_is_damaged_or_another_maps_is_cooked_anew() {
    let (disk, cache) = cache();
    let right = ["a", "b"].map(|map| cooked(map, &cache));
    let [one, other] = <[String; 2]>::try_from(disk.names()).unwrap();
    let [good, swapped] = [&one, &other].map(|path| disk.bytes(path).unwrap());
    let damaged = [&good[..good.len() - 1], &[!good[good.len() - 1]]].concat();
    for bad in [&swapped, &damaged, &good[..10].to_vec(), &Vec::new()] {
        disk.put(&one, bad);
        assert_eq!(["a", "b"].map(|map| cooked(map, &cache)), right);
        assert!(disk.bytes(&one) == Some(good.clone()), "it is whole again");
    }
}

#[test]
fn cooked_files_are_counted_and_go_the_oldest_first_and_nothing_else_does() {
    let (disk, cache) = cache();
    assert_eq!(cache.held(), Ok(CookedFiles::default()));
    ["a", "b"].iter().for_each(|map| drop(cooked(map, &cache)));
    disk.put("cook/readme.txt", b"mine");
    let held = cache.held().unwrap();
    assert_eq!(held.files, 2);
    assert_eq!(cache.prune(held.bytes), Ok(CookedFiles::default()));
    let gone = cache.prune(held.bytes - 1).unwrap();
    assert_eq!((gone.files, cache.held().unwrap().files), (1, 1));
    let before = disk.tally();
    cooked("b", &cache);
    assert_eq!((before.renames, disk.tally().written_bytes), (2, 0), "the newer one is there");
    assert_eq!(cache.prune(0).unwrap().files, 1);
    assert_eq!(disk.names(), ["cook/readme.txt"]);
}

#[test]
fn meshes_that_are_more_together_than_a_map_may_have_are_refused_before_they_are_read() {
    let mut loading = loading("a", None);
    let bytes = pallet().manifest().entry("assets/stone.dh-mesh").unwrap().raw_bytes;
    loading.meshes_left = bytes - 1;
    let refused = finish(loading).unwrap_err();
    assert!(matches!(refused, LoadError::TooMuch { what: "meshes", .. }), "{refused}");
    let told = refused.to_string();
    assert_eq!(told, "its meshes are more than 1024 MiB together: use fewer or smaller");
}

#[test]
fn what_content_says_of_itself_is_one_line_of_a_bounded_length_without_controls() {
    let evil = format!("assets/\u{1b}]0;pwned\u{7}\n{}", "x".repeat(100_000));
    let maps = vec![evil.clone(), evil.clone()];
    for error in [
        LoadError::NoPallet(evil.clone()),
        LoadError::NoMap { map: evil.clone(), maps },
        LoadError::Entry { path: evil.clone(), why: "no mesh".to_owned() },
        LoadError::Pallet(PalletError::NoEntry(evil)),
    ] {
        let told = error.to_string();
        assert!(told.chars().count() < 1_200 && !told.contains(char::is_control), "{told}");
    }
}
