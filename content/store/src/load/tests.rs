//! Loading: what a map is made of, what is kept of the work, and what is too much.

use std::sync::Arc;

use dh_map::{Mesh, mesh};
use dh_pallet::{About, Writer, pack, xxh128};

use super::*;
use crate::tests::MemoryDisk;

const MAP: &str = r#"{ "objects": [
{ "id": "stone", "components": { "dh.model": { "model": "assets/stone.dh-mesh" } } } ] }"#;

/// A picture of one pixel.
const PIXEL: &[u8] = b"\
    \x89PNG\x0d\x0a\x1a\x0a\x00\x00\x00\x0dIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\
    \x00\x00\x1f\x15\xc4\x89\x00\x00\x00\x0dIDATx\x9cchhh\xf8\x0f\x00\x05\x84\x02\x80\x8c\
    \xcdf&\x00\x00\x00\x00IEND\xaeB`\x82";

/// `MAP` one metre up.
fn raised() -> String {
    MAP.replace("\"stone\",", "\"stone\", \"transform\": { \"position\": [0,1,0] },")
}

/// A mesh of one triangle that shows this picture of its pallet.
fn stone(image: Option<&str>) -> Vec<u8> {
    let part = mesh::Part { name: "part".to_owned(), first: 0, count: 3, material: 0 };
    let base_image = image.map(str::to_owned);
    let stone = Mesh {
        positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
        normals: vec![[0.0, 1.0, 0.0]; 3],
        indices: vec![0, 1, 2],
        parts: vec![part],
        materials: vec![mesh::Surface { base_image, ..mesh::Surface::default() }],
        ..Mesh::default()
    };
    stone.encode()
}

/// A pallet with two maps of one triangle, `a` at the origin, `b` one metre up.
fn pallet() -> Pallet<AnySource> {
    packed(
        "p",
        &[
            ("assets/a.dh-map", MAP.as_bytes()),
            ("assets/b.dh-map", raised().as_bytes()),
            ("assets/stone.dh-mesh", &stone(None)),
        ],
    )
}

fn packed(id: &str, files: &[(&str, &[u8])]) -> Pallet<AnySource> {
    let mut writer = Writer::new(About { id: id.to_owned(), ..About::default() }).unwrap();
    for (path, file) in files {
        writer.put(path, pack(file).in_memory()).unwrap();
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

/// The map `a` of the first of these pallets, with its pictures.
fn loading_of(pallets: Vec<Pallet<AnySource>>, cache: Option<CookCache>) -> Loading {
    let map = Barcode::parse("p:assets/a.dh-map").unwrap();
    Loading::new(Request { map, pallets, picture_side_max: Some(64), cache })
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

/// MR-157: a pallet that was built anew has other collision under the same name.
#[test]
fn what_was_cooked_from_other_content_is_not_used_for_a_map_of_the_same_name() {
    let (_, cache) = cache();
    let mesh = stone(None);
    let cooked = |map: &str| {
        let files = [("assets/a.dh-map", map.as_bytes()), ("assets/stone.dh-mesh", &mesh)];
        let loading = loading_of(vec![packed("p", &files)], Some(cache.clone()));
        finish(loading).unwrap().triangles.unwrap().encode()
    };
    let (before, after) = (cooked(MAP), cooked(&raised()));
    assert_ne!(before, after);
    assert_eq!((cooked(MAP), cooked(&raised())), (before, after));
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
fn meshes_and_pictures_count_against_their_bounds_together_and_exactly_so_much_is_loaded() {
    let map = r##"{ "materials": { "a": { "texture": "assets/a.png" },
            "b": { "texture": "assets/b.png" } },
        "objects": [
            { "id": "a", "components": { "dh.model": { "model": "assets/a.dh-mesh" } } },
            { "id": "b", "components": { "dh.model": { "model": "assets/b.dh-mesh" } } } ] }"##;
    let mesh = stone(None);
    let files = [
        ("assets/a.dh-map", map.as_bytes()),
        ("assets/a.dh-mesh", &mesh),
        ("assets/a.png", PIXEL),
        ("assets/b.dh-mesh", &mesh),
        ("assets/b.png", PIXEL),
    ];
    let bytes = mesh.len() as u64;
    let load = |meshes_left: u64, pixels_left: u64| {
        let loading = loading_of(vec![packed("p", &files)], None);
        finish(Loading { meshes_left, pixels_left, ..loading }).map(|loaded| loaded.pictures.len())
    };
    assert_eq!(load(2 * bytes, 8), Ok(2));
    let refused = |what, bytes_max| Err(LoadError::TooMuch { what, bytes_max });
    assert_eq!(load(2 * bytes - 1, 8), refused("meshes", MESHES_BYTES_MAX));
    assert_eq!(load(2 * bytes, 7), refused("pictures", PIXELS_BYTES_MAX));
}

#[test]
fn a_mesh_of_another_pallet_shows_the_pictures_of_its_own() {
    let map = MAP.replace("assets/stone", "core:assets/stone");
    let core =
        [("assets/rock.png", PIXEL), ("assets/stone.dh-mesh", &stone(Some("assets/rock.png")))];
    let pallets = vec![packed("p", &[("assets/a.dh-map", map.as_bytes())]), packed("core", &core)];
    let loaded = finish(loading_of(pallets, None)).unwrap();
    assert_eq!(loaded.pictures.keys().collect::<Vec<_>>(), ["core:assets/rock.png"]);
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
