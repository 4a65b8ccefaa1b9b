//! The cook cache: cooked collision by what it was cooked from, shared by server and client.

use std::sync::Arc;

use dh_cook::Cooked;
use dh_machine::{Disk, DiskError};
use dh_pallet::{Barcode, closure_hash, fill_part};
use dh_wire::Content;

/// Bytes of a cooked file that are read at most.
const COOKED_BYTES_MAX: u64 = 1 << 30;

/// A folder of cooked collision. Nothing in it is needed: what is damaged or missing is cooked.
#[derive(Clone, Debug)]
pub struct CookCache {
    disk: Arc<dyn Disk>,
    dir: String,
}

impl CookCache {
    /// The cache in `dir`, which is made with the first file.
    #[must_use]
    pub fn new(disk: Arc<dyn Disk>, dir: impl Into<String>) -> Self {
        Self { disk, dir: dir.into() }
    }

    /// What was cooked from this map of this content, if it is here and whole.
    pub(super) fn find(&self, map: &Barcode, content: &Content) -> Option<Cooked> {
        let file = self.disk.open(&self.path(map, content)).ok()?;
        let len = file.len().ok().filter(|len| *len <= COOKED_BYTES_MAX)?;
        let mut bytes = vec![0; usize::try_from(len).ok()?];
        let read = fill_part(&file, 0, &mut bytes).ok()?;
        Cooked::decode(&bytes[..read]).ok()
    }

    /// Keep what was cooked. A disk that fails only costs the next load its time.
    pub(super) fn keep(&self, map: &Barcode, content: &Content, cooked: &Cooked) {
        let path = self.path(map, content);
        if self.write(&path, &cooked.encode()).is_err() {
            // What is half written lies under another name, and goes if it can.
            drop(self.disk.remove(&draft(&path)));
        }
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), DiskError> {
        self.disk.make_dir(&self.dir)?;
        let mut file = self.disk.create(&draft(path))?;
        file.write_at(0, bytes)?;
        file.sync()?;
        drop(file);
        self.disk.rename(&draft(path), path)
    }

    fn path(&self, map: &Barcode, content: &Content) -> String {
        let name = closure_hash(&map.to_string(), content, &[]);
        format!("{}/{name}-v{}.cook", self.dir, Cooked::VERSION)
    }
}

fn draft(path: &str) -> String {
    format!("{path}.part")
}
