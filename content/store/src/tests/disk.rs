//! A disk in memory that counts what is asked of it. Its clock goes on by a second a write.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use dh_machine::{DirEntry, Disk, DiskError, DiskErrorKind, DiskFile, Metadata, Micros};

/// What was asked of a disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) opened: u64,
    pub(crate) read_bytes: u64,
    pub(crate) read_bytes_max: u64,
    pub(crate) written_bytes: u64,
    pub(crate) renames: u64,
}

#[derive(Debug, Default)]
pub(crate) struct MemoryDisk(Arc<Mutex<Files>>);

#[derive(Debug)]
struct Files {
    /// Bytes and time of each file, by number: names may change while a file is open.
    files: Vec<(Vec<u8>, Micros)>,
    names: BTreeMap<String, usize>,
    now: Micros,
    tally: Tally,
    free: u64,
}

impl Default for Files {
    fn default() -> Self {
        let (names, tally) = (BTreeMap::new(), Tally::default());
        Self { files: Vec::new(), names, now: Micros(0), tally, free: u64::MAX }
    }
}

impl MemoryDisk {
    pub(crate) fn put(&self, path: &str, bytes: &[u8]) {
        let mut files = self.files();
        let number = files.make(path);
        files.write(number, |file| *file = bytes.to_vec());
    }

    pub(crate) fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        let files = self.files();
        files.names.get(path).map(|number| files.files[*number].0.clone())
    }

    pub(crate) fn flip(&self, path: &str, at: usize) {
        let mut files = self.files();
        let number = files.names[path];
        // As a disk does it: nobody is told.
        files.files[number].0[at] ^= 1;
    }

    /// Replace a file within the moment it was written in: its time stays.
    pub(crate) fn replace_at_once(&self, path: &str, bytes: &[u8]) {
        let mut files = self.files();
        let number = files.names[path];
        files.files[number].0 = bytes.to_vec();
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.files().names.keys().cloned().collect()
    }

    pub(crate) fn set_free(&self, bytes: u64) {
        self.files().free = bytes;
    }

    /// What was asked since this was called last.
    pub(crate) fn tally(&self) -> Tally {
        std::mem::take(&mut self.files().tally)
    }

    pub(crate) fn now(&self) -> Micros {
        self.files().now
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        self.0.lock().unwrap()
    }

    fn opened(&self, path: &str, number: usize) -> Box<dyn DiskFile> {
        self.files().tally.opened += 1;
        Box::new(MemoryFile { disk: Self(Arc::clone(&self.0)), path: path.to_owned(), number })
    }
}

impl Files {
    fn number(&self, path: &str) -> Result<usize, DiskError> {
        let gone = || DiskError::new(DiskErrorKind::NotFound, path);
        self.names.get(path).copied().ok_or_else(gone)
    }

    fn make(&mut self, path: &str) -> usize {
        if let Ok(number) = self.number(path) {
            return number;
        }
        self.files.push((Vec::new(), self.now));
        self.names.insert(path.to_owned(), self.files.len() - 1);
        self.files.len() - 1
    }

    fn write(&mut self, number: usize, change: impl FnOnce(&mut Vec<u8>)) {
        self.now = self.now + Micros::from_secs(1);
        let file = &mut self.files[number];
        change(&mut file.0);
        file.1 = self.now;
    }
}

impl Disk for MemoryDisk {
    fn open(&self, path: &str) -> Result<Box<dyn DiskFile>, DiskError> {
        let number = self.files().number(path)?;
        Ok(self.opened(path, number))
    }

    fn create(&self, path: &str) -> Result<Box<dyn DiskFile>, DiskError> {
        self.put(path, b"");
        self.open(path)
    }

    fn append_to(&self, path: &str) -> Result<Box<dyn DiskFile>, DiskError> {
        let number = self.files().make(path);
        Ok(self.opened(path, number))
    }

    fn list(&self, dir: &str) -> Result<Vec<DirEntry>, DiskError> {
        let files = self.files();
        let inside = files.names.iter().filter_map(|(path, number)| {
            let name = path.strip_prefix(dir)?.strip_prefix('/')?;
            let (bytes, modified) = &files.files[*number];
            let entry = DirEntry { name: name.to_owned(), len: count(bytes), modified: *modified };
            (!name.contains('/')).then_some(entry)
        });
        Ok(inside.collect())
    }

    fn metadata(&self, path: &str) -> Result<Metadata, DiskError> {
        let is_dir = !self.list(path)?.is_empty();
        let files = self.files();
        if is_dir {
            return Ok(Metadata { len: 0, modified: files.now, is_dir });
        }
        let (bytes, modified) = &files.files[files.number(path)?];
        Ok(Metadata { len: count(bytes), modified: *modified, is_dir })
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), DiskError> {
        let mut files = self.files();
        let number = files.number(from)?;
        files.names.remove(from);
        files.names.insert(to.to_owned(), number);
        files.tally.renames += 1;
        Ok(())
    }

    fn remove(&self, path: &str) -> Result<(), DiskError> {
        let mut files = self.files();
        files.number(path)?;
        files.names.remove(path);
        Ok(())
    }

    fn touch(&self, path: &str) -> Result<(), DiskError> {
        let mut files = self.files();
        let number = files.number(path)?;
        files.write(number, |_| ());
        Ok(())
    }

    fn make_dir(&self, _: &str) -> Result<(), DiskError> {
        Ok(())
    }

    fn sync_dir(&self, _: &str) -> Result<(), DiskError> {
        Ok(())
    }

    fn free_space(&self, _: &str) -> Result<u64, DiskError> {
        Ok(self.files().free)
    }
}

#[derive(Debug)]
struct MemoryFile {
    disk: MemoryDisk,
    path: String,
    number: usize,
}

impl DiskFile for MemoryFile {
    fn len(&self) -> Result<u64, DiskError> {
        Ok(count(&self.disk.files().files[self.number].0))
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, DiskError> {
        let mut files = self.disk.files();
        let bytes = &files.files[self.number].0;
        let rest = bytes.get(usize::try_from(offset).unwrap()..).unwrap_or_default();
        let read = rest.len().min(buf.len());
        buf[..read].copy_from_slice(&rest[..read]);
        files.tally.read_bytes += read as u64;
        files.tally.read_bytes_max = files.tally.read_bytes_max.max(read as u64);
        Ok(read)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), DiskError> {
        let mut files = self.disk.files();
        let free = files.free;
        if free < bytes.len() as u64 {
            return Err(DiskError::new(DiskErrorKind::Full, self.path.as_str()));
        }
        files.free = if free == u64::MAX { free } else { free - bytes.len() as u64 };
        files.tally.written_bytes += bytes.len() as u64;
        let start = usize::try_from(offset).unwrap();
        files.write(self.number, |file| {
            file.resize(file.len().max(start + bytes.len()), 0);
            file[start..start + bytes.len()].copy_from_slice(bytes);
        });
        Ok(())
    }

    fn set_len(&mut self, len: u64) -> Result<(), DiskError> {
        let len = usize::try_from(len).unwrap();
        self.disk.files().write(self.number, |file| file.resize(len, 0));
        Ok(())
    }

    fn sync(&mut self) -> Result<(), DiskError> {
        Ok(())
    }
}

fn count(bytes: &[u8]) -> u64 {
    bytes.len() as u64
}
