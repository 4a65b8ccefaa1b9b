//! A disk in memory: it outlives the actors that write to it, and is the same in every run.
//!
//! Kept by a scenario, which hands clones to a server or peer, kills it, and starts the next one
//! on what is there. Its clock is a count of changes, so that later means newer in any run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dh_machine::{DirEntry, Disk, DiskError, DiskErrorKind, DiskFile, Metadata, Micros};

/// Files in memory. Clones are the same disk. It keeps what was written without a sync, as the
/// disk of a process that died does.
#[derive(Clone, Debug, Default)]
pub struct MemoryDisk {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    /// What is where: as on other disks, an open file lives on without its name.
    names: BTreeMap<String, u64>,
    folders: BTreeSet<String>,
    files: BTreeMap<u64, Content>,
    next_file: u64,
    changes: u64,
}

#[derive(Debug, Default)]
struct Content {
    bytes: Vec<u8>,
    modified: Micros,
    /// Names and handles.
    users: usize,
}

#[derive(Debug)]
struct MemoryFile {
    shared: Arc<Mutex<Shared>>,
    number: u64,
    path: String,
    may_write: bool,
}

impl MemoryDisk {
    /// Bytes of all files.
    #[must_use]
    pub fn used(&self) -> u64 {
        lock(&self.shared).used()
    }

    fn handle(&self, shared: &mut Shared, path: &str, may_write: bool) -> Option<MemoryFile> {
        let number = *shared.names.get(path)?;
        shared.content(number).users += 1;
        let shared = Arc::clone(&self.shared);
        Some(MemoryFile { shared, number, path: path.to_owned(), may_write })
    }

    /// Open for writing; made where there is none.
    fn made(&self, path: &str, is_emptied: bool) -> Result<Box<dyn DiskFile>, DiskError> {
        let path = plain(path);
        let mut shared = lock(&self.shared);
        if shared.folders.contains(path) {
            return Err(DiskError::new(DiskErrorKind::Io("it is no file".to_owned()), path));
        }
        if !shared.has_folder(parent(path)) {
            return Err(DiskError::new(DiskErrorKind::NotFound, path));
        }
        if !shared.names.contains_key(path) {
            let number = shared.next_file;
            shared.next_file += 1;
            shared.names.insert(path.to_owned(), number);
            shared.content(number).users += 1;
            shared.change(number, |_| ());
        }
        let file = self.handle(&mut shared, path, true);
        let file = file.ok_or_else(|| DiskError::new(DiskErrorKind::NotFound, path))?;
        if is_emptied {
            shared.change(file.number, Vec::clear);
        }
        drop(shared);
        Ok(Box::new(file))
    }
}

impl Disk for MemoryDisk {
    fn open(&self, path: &str) -> Result<Box<dyn DiskFile>, DiskError> {
        let path = plain(path);
        let mut shared = lock(&self.shared);
        if shared.folders.contains(path) {
            return Err(DiskError::new(DiskErrorKind::Io("it is no file".to_owned()), path));
        }
        let file = self.handle(&mut shared, path, false);
        drop(shared);
        Ok(Box::new(file.ok_or_else(|| DiskError::new(DiskErrorKind::NotFound, path))?))
    }

    fn create(&self, path: &str) -> Result<Box<dyn DiskFile>, DiskError> {
        self.made(path, true)
    }

    fn append_to(&self, path: &str) -> Result<Box<dyn DiskFile>, DiskError> {
        self.made(path, false)
    }

    fn list(&self, dir: &str) -> Result<Vec<DirEntry>, DiskError> {
        let dir = plain(dir);
        let shared = lock(&self.shared);
        if !shared.has_folder(dir) {
            return Err(DiskError::new(DiskErrorKind::NotFound, dir));
        }
        let within = shared.names.iter().filter(|(path, _)| parent(path) == dir);
        let entry = |(path, number): (&String, &u64)| {
            let file = shared.files.get(number)?;
            let name = path.rsplit('/').next().unwrap_or(path).to_owned();
            Some(DirEntry { name, len: count(file.bytes.len()), modified: file.modified })
        };
        Ok(within.filter_map(entry).collect())
    }

    fn metadata(&self, path: &str) -> Result<Metadata, DiskError> {
        let path = plain(path);
        let shared = lock(&self.shared);
        if shared.has_folder(path) {
            return Ok(Metadata { len: 0, modified: Micros(0), is_dir: true });
        }
        let file = shared.names.get(path).and_then(|number| shared.files.get(number));
        let file = file.ok_or_else(|| DiskError::new(DiskErrorKind::NotFound, path))?;
        Ok(Metadata { len: count(file.bytes.len()), modified: file.modified, is_dir: false })
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), DiskError> {
        let (from, to) = (plain(from), plain(to));
        let mut shared = lock(&self.shared);
        if !shared.names.contains_key(from) || !shared.has_folder(parent(to)) {
            return Err(DiskError::new(DiskErrorKind::NotFound, from));
        }
        if let Some(number) = shared.names.remove(from)
            && let Some(replaced) = shared.names.insert(to.to_owned(), number)
        {
            shared.let_go(replaced);
        }
        Ok(())
    }

    fn remove(&self, path: &str) -> Result<(), DiskError> {
        let path = plain(path);
        let mut shared = lock(&self.shared);
        let number = shared.names.remove(path);
        let number = number.ok_or_else(|| DiskError::new(DiskErrorKind::NotFound, path))?;
        shared.let_go(number);
        Ok(())
    }

    fn touch(&self, path: &str) -> Result<(), DiskError> {
        let path = plain(path);
        let mut shared = lock(&self.shared);
        let number = shared.names.get(path).copied();
        let number = number.ok_or_else(|| DiskError::new(DiskErrorKind::NotFound, path))?;
        shared.change(number, |_| ());
        Ok(())
    }

    fn make_dir(&self, dir: &str) -> Result<(), DiskError> {
        let mut dir = plain(dir);
        let mut shared = lock(&self.shared);
        while !shared.has_folder(dir) {
            if shared.names.contains_key(dir) {
                return Err(DiskError::new(DiskErrorKind::Exists, dir));
            }
            shared.folders.insert(dir.to_owned());
            dir = parent(dir);
        }
        Ok(())
    }

    fn sync_dir(&self, dir: &str) -> Result<(), DiskError> {
        let has_folder = lock(&self.shared).has_folder(plain(dir));
        if has_folder { Ok(()) } else { Err(DiskError::new(DiskErrorKind::NotFound, dir)) }
    }

    fn free_space(&self, _dir: &str) -> Result<u64, DiskError> {
        Ok(SIZE.saturating_sub(self.used()))
    }
}

impl MemoryFile {
    fn write(&self, change: impl FnOnce(&mut Vec<u8>), len: u64) -> Result<(), DiskError> {
        let mut shared = lock(&self.shared);
        if !self.may_write {
            return Err(DiskError::new(DiskErrorKind::Denied, self.path.as_str()));
        }
        let had = count(shared.content(self.number).bytes.len());
        if shared.used().saturating_add(len.saturating_sub(had)) > SIZE {
            return Err(DiskError::new(DiskErrorKind::Full, self.path.as_str()));
        }
        shared.change(self.number, change);
        Ok(())
    }
}

impl DiskFile for MemoryFile {
    fn len(&self) -> Result<u64, DiskError> {
        Ok(count(lock(&self.shared).content(self.number).bytes.len()))
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, DiskError> {
        let mut shared = lock(&self.shared);
        let bytes = &shared.content(self.number).bytes;
        let from = bytes.get(place(offset)..).unwrap_or_default();
        let read = from.len().min(buf.len());
        buf[..read].copy_from_slice(&from[..read]);
        Ok(read)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), DiskError> {
        let end = offset.saturating_add(count(bytes.len()));
        let change = |file: &mut Vec<u8>| {
            let (from, to) = (place(offset), place(end));
            file.resize(file.len().max(to), 0);
            file[from..to].copy_from_slice(bytes);
        };
        self.write(change, end)
    }

    fn set_len(&mut self, len: u64) -> Result<(), DiskError> {
        self.write(|file| file.resize(place(len), 0), len)
    }

    fn sync(&mut self) -> Result<(), DiskError> {
        Ok(())
    }
}

impl Drop for MemoryFile {
    fn drop(&mut self) {
        lock(&self.shared).let_go(self.number);
    }
}

impl Shared {
    fn content(&mut self, number: u64) -> &mut Content {
        self.files.entry(number).or_default()
    }

    fn change(&mut self, number: u64, change: impl FnOnce(&mut Vec<u8>)) {
        self.changes += 1;
        let modified = Micros::from_secs(self.changes);
        let content = self.content(number);
        change(&mut content.bytes);
        content.modified = modified;
    }

    /// A name or a handle is gone; with the last one the bytes go.
    fn let_go(&mut self, number: u64) {
        let content = self.content(number);
        content.users = content.users.saturating_sub(1);
        if content.users == 0 {
            self.files.remove(&number);
        }
    }

    fn has_folder(&self, dir: &str) -> bool {
        dir.is_empty() || self.folders.contains(dir)
    }

    fn used(&self) -> u64 {
        self.files.values().map(|file| count(file.bytes.len())).sum()
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A path without the slash that may end it; the root is empty.
fn plain(path: &str) -> &str {
    path.trim_end_matches('/')
}

/// The folder that a path lies in; that of a bare name is the root.
fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

fn place(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

fn count(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

/// Bytes of the disk.
const SIZE: u64 = 1 << 30;
