//! Notes: what nothing is made of, and what a map lacks.

use super::samples::{ABOUT, map, png};
use crate::build;
use std::fs;
use std::path::Path;

fn notes(folder: &Path) -> Vec<String> {
    let built = build(folder, &folder.with_extension("pallet"), &|_| {}).unwrap();
    built.notes.iter().map(ToString::to_string).collect()
}

#[test]
fn what_is_left_out_and_what_a_map_lacks_is_noted() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("src");
    fs::create_dir_all(folder.join("assets/main.dh-map")).unwrap();
    let about = ABOUT.replace("}", ", \"files\": [ \"assets/read.me\" ] }");
    fs::write(folder.join("pallet.dh"), about).unwrap();
    let good = map(r#"{ "id": "a", "components": { "dh.spawn": {} } }"#);
    let (bare, empty) = (map(r#"{ "id": "a" }"#), map(""));
    for (path, bytes) in [
        ("good.dh-map", good.as_bytes()),
        ("bare.dh-map", bare.as_bytes()),
        ("empty.dh-map", empty.as_bytes()),
        ("old.map", b""),
        ("tree.obj", b""),
        ("check.tga", b""),
        ("note.txt", b""),
        ("tree.dh-mesh", b""),
        ("read.me", b""),
        ("part.bin", b""),
    ] {
        fs::write(folder.join("assets").join(path), bytes).unwrap();
    }
    fs::write(folder.join("outside.txt"), b"").unwrap();
    let starts = [
        "bare.dh-map: no object has a dh.spawn",
        "check.tga: is left out: it is no map, model, PNG or JPEG; save it as PNG or JPEG",
        "empty.dh-map: has no objects",
        "main.dh-map: is a folder that is named as a file",
        "note.txt: is left out: it is no map, model, PNG or JPEG; list it under \"files\"",
        "old.map: is left out: it is no map, model, PNG or JPEG; a map is called NAME.dh-map",
        "tree.dh-mesh: is left out: it is no map, model, PNG or JPEG; the build makes it",
        "tree.obj: is left out: it is no map, model, PNG or JPEG; export it as .glb",
    ];
    let notes = notes(&folder);
    assert_eq!(notes.len(), starts.len(), "{notes:#?}");
    for (note, start) in notes.iter().zip(starts) {
        assert!(note.starts_with(&format!("assets/{start}")), "{note}\n{start}");
    }
}

#[test]
fn a_pallet_without_a_map_says_so() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("src");
    fs::create_dir_all(folder.join("assets")).unwrap();
    fs::write(folder.join("pallet.dh"), ABOUT).unwrap();
    fs::write(folder.join("assets/a.png"), png(1)).unwrap();
    let told = "assets: no map, so that nobody can play in this pallet; add assets/NAME.dh-map";
    assert_eq!(notes(&folder), [told]);
}
