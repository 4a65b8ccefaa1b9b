//! The cook cache: cooked collision by what it was cooked from, shared by server and client.

use std::sync::Arc;

use dh_cook::Cooked;
use dh_machine::{DirEntry, Disk, DiskError};
use dh_pallet::{Barcode, closure_hash, fill_part};
use dh_wire::{Content, Hash128};

/// Bytes of a cooked file that are read at most.
const COOKED_BYTES_MAX: u64 = 1 << 30;
/// The end of a cooked file's name.
const SUFFIX: &str = ".cook";
/// The end of the name of one that is being written.
const DRAFT: &str = ".part";

/// A folder of cooked collision. Nothing in it is needed: what is damaged or missing is cooked.
///
/// A file begins with the 16 bytes of its key, so that one under another's name is none; then come
/// those of [`Cooked::encode`].
#[derive(Clone, Debug)]
pub struct CookCache {
    disk: Arc<dyn Disk>,
    dir: String,
}

/// What a cook cache holds, or got rid of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CookedFiles {
    /// How many files.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
}

impl CookCache {
    /// The cache in `dir`, which is made with the first file.
    #[must_use]
    pub fn new(disk: Arc<dyn Disk>, dir: impl Into<String>) -> Self {
        Self { disk, dir: dir.into() }
    }

    /// What is in it.
    ///
    /// # Errors
    /// When the folder cannot be read; one that is not there holds nothing.
    pub fn held(&self) -> Result<CookedFiles, DiskError> {
        Ok(self.list()?.iter().fold(CookedFiles::default(), CookedFiles::and))
    }

    /// Remove what was written longest ago until at most `bytes_max` bytes are left; what went.
    ///
    /// # Errors
    /// When the folder cannot be read, or a file not be removed.
    pub fn prune(&self, bytes_max: u64) -> Result<CookedFiles, DiskError> {
        let mut listed = self.list()?;
        listed.sort_by_key(|entry| entry.modified);
        let mut left: u64 = listed.iter().map(|entry| entry.len).sum();
        let mut gone = CookedFiles::default();
        for entry in &listed {
            if left <= bytes_max {
                break;
            }
            self.disk.remove(&format!("{}/{}", self.dir, entry.name))?;
            left -= entry.len;
            gone = gone.and(entry);
        }
        Ok(gone)
    }

    /// What was cooked from this map of this content, if it is here and whole.
    pub(super) fn find(&self, map: &Barcode, content: &Content) -> Option<Cooked> {
        let key = key(map, content);
        let file = self.disk.open(&self.path(&key)).ok()?;
        let mut told = [0; 16];
        fill_part(&file, 0, &mut told).ok().filter(|read| *read == told.len())?;
        let len = file.len().ok().filter(|len| *len <= COOKED_BYTES_MAX)?.checked_sub(16)?;
        if told != key.0 {
            return None;
        }
        let mut bytes = vec![0; usize::try_from(len).ok()?];
        let read = fill_part(&file, 16, &mut bytes).ok()?;
        Cooked::decode(&bytes[..read]).ok()
    }

    /// Keep what was cooked. A disk that fails only costs the next load its time.
    pub(super) fn keep(&self, map: &Barcode, content: &Content, cooked: &Cooked) {
        let key = key(map, content);
        let path = self.path(&key);
        if self.write(&path, &key, &cooked.encode()).is_err() {
            // What is half written lies under another name, and goes if it can.
            drop(self.disk.remove(&draft(&path)));
        }
    }

    fn write(&self, path: &str, key: &Hash128, cooked: &[u8]) -> Result<(), DiskError> {
        self.disk.make_dir(&self.dir)?;
        let mut file = self.disk.create(&draft(path))?;
        file.write_at(0, &key.0)?;
        file.write_at(16, cooked)?;
        file.sync()?;
        drop(file);
        self.disk.rename(&draft(path), path)
    }

    fn path(&self, key: &Hash128) -> String {
        format!("{}/{key}-v{}{SUFFIX}", self.dir, Cooked::VERSION)
    }

    /// The files that are ours.
    fn list(&self) -> Result<Vec<DirEntry>, DiskError> {
        let listed = match self.disk.list(&self.dir) {
            Err(error) if error.is_not_found() => Vec::new(),
            listed => listed?,
        };
        let ours = |name: &str| name.strip_suffix(DRAFT).unwrap_or(name).ends_with(SUFFIX);
        Ok(listed.into_iter().filter(|entry| ours(&entry.name)).collect())
    }
}

impl CookedFiles {
    fn and(self, entry: &DirEntry) -> Self {
        Self { files: self.files + 1, bytes: self.bytes + entry.len }
    }
}

fn key(map: &Barcode, content: &Content) -> Hash128 {
    closure_hash(&map.to_string(), content, &[])
}

fn draft(path: &str) -> String {
    format!("{path}{DRAFT}")
}
