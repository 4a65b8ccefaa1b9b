//! A folder, a disk over it that can be made to fail, and a pallet to bring in.

use std::fs;
use std::sync::Arc;

use dh_host::disk::{FaultyDisk, RealDisk};
use dh_pallet::{About, Writer, pack, xxh128};
use dh_store::{Options, Store, StoreError};
use dh_tests::noise;
use dh_wire::Content;
use tempfile::TempDir;

/// A folder of its own with a cache in it.
pub(crate) struct Stage {
    folder: TempDir,
    pub(crate) disk: FaultyDisk,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, disk: FaultyDisk::over(Arc::new(RealDisk)) }
    }

    /// A path in the folder.
    pub(crate) fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn store(&self) -> Result<Store, StoreError> {
        Store::open(Arc::new(self.disk.clone()), Options::new(&self.path("cache")))
    }

    /// Names and bytes of the files in the cache, read past the faulty disk.
    pub(crate) fn cached(&self) -> Vec<(String, Vec<u8>)> {
        let Ok(listed) = fs::read_dir(self.path("cache")) else { return Vec::new() };
        listed
            .map(|entry| {
                let entry = entry.unwrap();
                (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())
            })
            .collect()
    }
}

/// A pallet of four groups with a map, a text that is compressed and noise.
pub(crate) fn pallet() -> (Vec<u8>, Content) {
    let mut writer = Writer::new(About { id: "museum".to_owned(), ..About::default() }).unwrap();
    for (path, file) in files() {
        writer.put(path, pack(&file).in_memory()).unwrap();
    }
    let mut out = Vec::new();
    let content = writer.write(&mut out, xxh128, &mut |_, _| {}).unwrap();
    (out, content)
}

/// What is in it.
pub(crate) fn files() -> [(&'static str, Vec<u8>); 3] {
    let text = b"rooms and plinths ".repeat(100);
    [("assets/a.dh-map", b"{}".to_vec()), ("assets/noise", noise(200_000)), ("readme.txt", text)]
}
