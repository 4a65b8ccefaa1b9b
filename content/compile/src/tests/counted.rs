//! A tree that counts what is read of it: every file once, and none that is too much.

use super::samples::{ABOUT, gltf, png, square};
use crate::compile::compile;
use crate::spool::Spool;
use crate::{Found, Listing, Tree};
use dh_map::Problem;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Files that are others at each reading, and how often each was read.
struct Counted {
    files: BTreeMap<&'static str, Vec<u8>>,
    /// What files say of their lengths, where it is not true.
    lengths: BTreeMap<&'static str, u64>,
    reads: Mutex<BTreeMap<String, usize>>,
}

impl Counted {
    fn of(files: &[(&'static str, Vec<u8>)]) -> Self {
        let about = ("pallet.dh", ABOUT.as_bytes().to_vec());
        let files = files.iter().cloned().chain([about]).collect();
        Self { files, lengths: BTreeMap::new(), reads: Mutex::default() }
    }

    fn refusal(&self) -> Vec<String> {
        let refused = compile(self, &Spool::in_memory(), &|_| {}).unwrap_err();
        refused.iter().map(ToString::to_string).collect()
    }

    fn reads(&self, path: &str) -> usize {
        self.reads.lock().unwrap().get(path).copied().unwrap_or_default()
    }
}

impl Tree for Counted {
    fn list(&self) -> Result<Listing, Vec<Problem>> {
        let bytes = |path: &str, bytes: &[u8]| {
            let told = self.lengths.get(path).copied();
            told.unwrap_or_else(|| u64::try_from(bytes.len()).unwrap())
        };
        let found = self.files.iter();
        let files = found.map(|(path, it)| Found { path: (*path).into(), bytes: bytes(path, it) });
        Ok(Listing { files: files.collect(), folders: Vec::new() })
    }

    fn read(&self, path: &str, most: u64) -> Result<Vec<u8>, Problem> {
        *self.reads.lock().unwrap().entry(path.to_owned()).or_default() += 1;
        let bytes = self.files[path].clone();
        assert!(u64::try_from(bytes.len()).unwrap() <= most, "{path}: {most}");
        Ok(bytes)
    }
}

#[test]
fn a_picture_is_read_once_so_that_what_was_checked_is_what_is_stored() {
    let tree = Counted::of(&[("assets/a.png", png(1)), ("assets/b.png", png(1))]);
    let spool = Spool::in_memory();
    compile(&tree, &spool, &|_| {}).unwrap();
    assert_eq!((tree.reads("assets/a.png"), tree.reads("assets/b.png")), (1, 1));
    let entries: Vec<String> = spool.entries().into_iter().map(|(path, _)| path).collect();
    assert_eq!(entries, ["assets/a.png"]);
}

#[test]
fn a_file_that_many_buffers_name_is_read_once() {
    let buffers = vec![r#"{ "byteLength": 66, "uri": "square.bin" }"#; 100].join(",");
    let model = gltf("", "square.bin");
    let model = model.replace("\"buffers\": [", &format!("\"buffers\": [{buffers},"));
    let files = [("assets/a.gltf", model.into_bytes()), ("assets/square.bin", square())];
    let tree = Counted::of(&files);
    compile(&tree, &Spool::in_memory(), &|_| {}).unwrap();
    assert_eq!(tree.reads("assets/square.bin"), 1);
}

#[test]
fn buffers_that_are_too_much_together_are_told_before_they_are_read() {
    let model = gltf("", "square.bin")
        .replace("\"buffers\": [", r#""buffers": [ { "byteLength": 66, "uri": "other.bin" }, "#);
    let files = [
        ("assets/a.gltf", model.into_bytes()),
        ("assets/other.bin", square()),
        ("assets/square.bin", square()),
    ];
    let mut tree = Counted::of(&files);
    tree.lengths = [("assets/square.bin", (1 << 30) - 65)].into();
    let told = tree.refusal();
    assert_eq!(told.len(), 1, "{told:?}");
    let text = "buffers[1].uri: with assets/square.bin the model's buffers have over 1024 MiB";
    assert!(told[0].contains(text), "{told:?}");
    assert_eq!((tree.reads("assets/other.bin"), tree.reads("assets/square.bin")), (1, 0));
}
