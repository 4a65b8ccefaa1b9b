//! Stage: a pallet to fetch, and folders for those who fetch it.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use dh_client::ClientContent;
use dh_host::disk::RealDisk;
use dh_pallet::{About, Writer, pack, xxh128};
use dh_store::{Options, Shelf, Store};
use tempfile::TempDir;

use super::failed;
use crate::bench::random::Random;
use crate::exit::Failure;

/// A floor to stand on.
const MAP: &str = r#"{"objects":[{"id":"floor","transform":{"position":[0,-0.5,0]},
"components":{"dh.box":{"size":[40,1,40]}}},{"id":"spawn","components":{"dh.spawn":{}}}]}"#;

/// One pallet in a folder of its own, which goes with it.
pub(super) struct Stage {
    folder: TempDir,
    /// Caches handed out so far.
    caches: AtomicU32,
}

impl Stage {
    /// A pallet of about so many bytes, none of which can be compressed.
    pub(super) fn new(bytes: usize) -> Result<Self, Failure> {
        let folder = tempfile::tempdir().map_err(|error| failed(&error))?;
        let stage = Self { folder, caches: AtomicU32::new(0) };
        let writer = Writer::new(About { id: "bench".to_owned(), ..About::default() });
        let mut writer = writer.map_err(|error| failed(&error))?;
        for (path, file) in [
            ("assets/main.dh-map", MAP.as_bytes().to_vec()),
            ("files/noise", Random::new().bytes(bytes)),
        ] {
            let stored = pack(&file).in_memory();
            writer.put(path, stored).map_err(|error| failed(&error))?;
        }
        let mut pallet = Vec::new();
        let written = writer.write(&mut pallet, xxh128, &mut |_, _| {});
        written.map_err(|error| failed(&error))?;
        fs::write(stage.path(), pallet).map_err(|error| failed(&error))?;
        Ok(stage)
    }

    /// The barcode of its map.
    pub(super) fn map(&self) -> String {
        "bench:assets/main.dh-map".to_owned()
    }

    /// Where the pallet lies.
    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join("bench.pallet")
    }

    /// A folder that nobody has used.
    pub(super) fn fresh(&self) -> PathBuf {
        let number = self.caches.fetch_add(1, Ordering::Relaxed);
        self.folder.path().join(format!("data-{number}"))
    }

    /// What a server runs the map from.
    pub(super) fn shelf(&self) -> Result<Shelf, Failure> {
        let shelf = self.empty()?;
        shelf.store.set_given(vec![self.path().display().to_string()]);
        Ok(shelf)
    }

    /// What a client begins with: nothing.
    pub(super) fn kept(&self) -> Result<ClientContent, Failure> {
        Ok(ClientContent { shelf: self.empty()?, picture_side_max: None })
    }

    fn empty(&self) -> Result<Shelf, Failure> {
        let cache = self.fresh().display().to_string();
        let store = Store::open(Arc::new(RealDisk), Options::new(&cache));
        store.map(Shelf::of).map_err(|error| failed(&error))
    }
}
