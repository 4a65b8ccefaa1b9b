//! A disk in memory: what a simulated process keeps its content on.
//!
//! It outlives the actors that use it, so a server that is killed and started again finds what it
//! had written. Times are the number of the change, so that one course of calls gives one disk.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dh_machine::{DirEntry, Disk, DiskError, DiskErrorKind, DiskFile, Metadata, Micros};

/// Bytes a disk in memory claims to have left; a full one is a [`FaultyDisk`](super::FaultyDisk)'s.
const ROOM: u64 = 1 << 40;

/// Files in memory. Clones are the same disk.
#[derive(Clone, Debug, Default)]
pub struct MemoryDisk {
    tree: Arc<Mutex<Tree>>,
}

#[derive(Debug, Default)]
struct Tree {
    files: BTreeMap<String, Kept>,
    dirs: BTreeSet<String>,
    changes: u64,
}

#[derive(Clone, Debug, Default)]
struct Kept {
    bytes: Arc<Mutex<Vec<u8>>>,
    modified: Micros,
}

impl MemoryDisk {
    /// Put a whole file there, in folders made for it.
    pub fn put(&self, path: &str, bytes: Vec<u8>) {
        let mut tree = lock(&self.tree);
        if let Some((dir, _)) = path.rsplit_once('/') {
            tree.make_dir(dir);
        }
        let modified = tree.now();
        let bytes = Arc::new(Mutex::new(bytes));
        tree.files.insert(path.to_owned(), Kept { bytes, modified });
    }

    fn opened(&self, path: &str, how: How) -> Result<Box<dyn DiskFile>, DiskError> {
        let mut tree = lock(&self.tree);
        let fails = |kind| Err(DiskError::new(kind, path));
        if tree.dirs.contains(path) {
            return fails(DiskErrorKind::Io("it is a folder".to_owned()));
        }
        if how == How::Read && !tree.files.contains_key(path) {
            return fails(DiskErrorKind::NotFound);
        }
        if path.rsplit_once('/').is_some_and(|(dir, _)| !tree.dirs.contains(dir)) {
            return fails(DiskErrorKind::NotFound);
        }
        let now = tree.now();
        let kept = tree.files.entry(path.to_owned()).or_default();
        if how != How::Read {
            kept.modified = now;
        }
        if how == How::Create {
            kept.bytes = Arc::default();
        }
        let bytes = Arc::clone(&kept.bytes);
        Ok(Box::new(OpenFile { bytes, path: path.to_owned(), may_write: how != How::Read }))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Read,
    Create,
    Append,
}

impl Tree {
    fn now(&mut self) -> Micros {
        self.changes += 1;
        Micros(self.changes)
    }

    fn make_dir(&mut self, dir: &str) {
        let mut at = dir;
        while !at.is_empty() && self.dirs.insert(at.to_owned()) {
            at = at.rsplit_once('/').map_or("", |(above, _)| above);
        }
    }
}

impl Disk for MemoryDisk {
    fn open(&self, path: &str) -> Result<Box<dyn DiskFile>, DiskError> {
        self.opened(path, How::Read)
    }

    fn create(&self, path: &str) -> Result<Box<dyn DiskFile>, DiskError> {
        self.opened(path, How::Create)
    }

    fn append_to(&self, path: &str) -> Result<Box<dyn DiskFile>, DiskError> {
        self.opened(path, How::Append)
    }

    fn list(&self, dir: &str) -> Result<Vec<DirEntry>, DiskError> {
        let tree = lock(&self.tree);
        if !tree.dirs.contains(dir) {
            return Err(DiskError::new(DiskErrorKind::NotFound, dir));
        }
        let inside = |path: &str| {
            let name = path.strip_prefix(dir)?.strip_prefix('/')?;
            (!name.contains('/')).then(|| name.to_owned())
        };
        let entries = tree.files.iter().filter_map(|(path, kept)| {
            let (len, modified) = (len_of(&kept.bytes), kept.modified);
            Some(DirEntry { name: inside(path)?, len, modified })
        });
        Ok(entries.collect())
    }

    fn metadata(&self, path: &str) -> Result<Metadata, DiskError> {
        let tree = lock(&self.tree);
        if let Some(kept) = tree.files.get(path) {
            let (len, modified) = (len_of(&kept.bytes), kept.modified);
            return Ok(Metadata { len, modified, is_dir: false });
        }
        if tree.dirs.contains(path) {
            return Ok(Metadata { len: 0, modified: Micros(0), is_dir: true });
        }
        Err(DiskError::new(DiskErrorKind::NotFound, path))
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), DiskError> {
        let mut tree = lock(&self.tree);
        let kept = tree.files.remove(from);
        let kept = kept.ok_or_else(|| DiskError::new(DiskErrorKind::NotFound, from))?;
        tree.files.insert(to.to_owned(), kept);
        Ok(())
    }

    fn remove(&self, path: &str) -> Result<(), DiskError> {
        let removed = lock(&self.tree).files.remove(path);
        removed.map(drop).ok_or_else(|| DiskError::new(DiskErrorKind::NotFound, path))
    }

    fn touch(&self, path: &str) -> Result<(), DiskError> {
        let mut tree = lock(&self.tree);
        let now = tree.now();
        let kept = tree.files.get_mut(path);
        kept.ok_or_else(|| DiskError::new(DiskErrorKind::NotFound, path))?.modified = now;
        Ok(())
    }

    fn make_dir(&self, dir: &str) -> Result<(), DiskError> {
        lock(&self.tree).make_dir(dir);
        Ok(())
    }

    fn sync_dir(&self, _dir: &str) -> Result<(), DiskError> {
        Ok(())
    }

    fn free_space(&self, _dir: &str) -> Result<u64, DiskError> {
        Ok(ROOM)
    }
}

/// An open file; it stays readable when its name is gone.
#[derive(Debug)]
struct OpenFile {
    bytes: Arc<Mutex<Vec<u8>>>,
    path: String,
    may_write: bool,
}

impl OpenFile {
    fn writable(&self) -> Result<MutexGuard<'_, Vec<u8>>, DiskError> {
        if self.may_write {
            Ok(lock(&self.bytes))
        } else {
            Err(DiskError::new(DiskErrorKind::Denied, self.path.as_str()))
        }
    }

    fn place(&self, offset: u64) -> Result<usize, DiskError> {
        let far = |_| {
            let why = format!("offset {offset} does not fit into memory");
            DiskError::new(DiskErrorKind::Io(why), self.path.as_str())
        };
        usize::try_from(offset).map_err(far)
    }
}

impl DiskFile for OpenFile {
    fn len(&self) -> Result<u64, DiskError> {
        Ok(len_of(&self.bytes))
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, DiskError> {
        let bytes = lock(&self.bytes);
        let from = self.place(offset)?.min(bytes.len());
        let len = buf.len().min(bytes.len() - from);
        buf[..len].copy_from_slice(&bytes[from..from + len]);
        Ok(len)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), DiskError> {
        let from = self.place(offset)?;
        let mut kept = self.writable()?;
        if kept.len() < from + bytes.len() {
            kept.resize(from + bytes.len(), 0);
        }
        kept[from..from + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn set_len(&mut self, len: u64) -> Result<(), DiskError> {
        let len = self.place(len)?;
        self.writable()?.resize(len, 0);
        Ok(())
    }

    fn sync(&mut self) -> Result<(), DiskError> {
        Ok(())
    }
}

fn len_of(bytes: &Mutex<Vec<u8>>) -> u64 {
    u64::try_from(lock(bytes).len()).unwrap_or(u64::MAX)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
