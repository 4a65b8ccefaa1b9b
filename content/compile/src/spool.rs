//! Compiled entries on their way into a pallet: bytes in a temporary file, a row each in memory.
//!
//! Filled by the passes from several threads in any order; read once by the writer, in order of
//! path. The file goes away with the spool.

use dh_machine::{DiskError, DiskErrorKind};
use dh_pallet::{Packed, Source, Stored, pack};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Entries put so far.
#[derive(Debug)]
pub(crate) struct Spool {
    store: Mutex<Store>,
    rows: Mutex<BTreeMap<String, Row>>,
    /// What the disk failed with first.
    failure: Mutex<Option<io::Error>>,
}

#[derive(Debug)]
enum Store {
    File { file: File, end: u64 },
    Memory(Vec<u8>),
}

/// An entry that the disk did not take.
#[derive(Debug)]
pub(crate) struct Unkept;

/// A place in the spool; its packing holds no bytes.
#[derive(Debug)]
pub(crate) struct Row {
    at: u64,
    bytes: u64,
    packed: Packed<'static>,
}

impl Spool {
    /// A spool in a temporary file of a folder.
    pub(crate) fn in_folder(folder: &Path) -> io::Result<Self> {
        let file = tempfile::tempfile_in(folder)?;
        Ok(Self::of(Store::File { file, end: 0 }))
    }

    /// A spool in memory.
    pub(crate) fn in_memory() -> Self {
        Self::of(Store::Memory(Vec::new()))
    }

    fn of(store: Store) -> Self {
        Self { store: Mutex::new(store), rows: Mutex::default(), failure: Mutex::default() }
    }

    /// Packs and keeps an entry.
    pub(crate) fn put(&self, path: &str, raw: &[u8]) -> Result<(), Unkept> {
        self.keep(raw).map(|row| self.name(path, row))
    }

    /// Gives what was kept the path of its entry.
    pub(crate) fn name(&self, path: &str, row: Row) {
        locked(&self.rows).insert(path.to_owned(), row);
    }

    /// Packs and keeps bytes that have no path yet; those that never get one are in no pallet.
    /// That the disk failed is told by [`failure`](Self::failure) too.
    pub(crate) fn keep(&self, raw: &[u8]) -> Result<Row, Unkept> {
        let packed = pack(raw);
        let bytes = u64::try_from(packed.bytes.len()).unwrap_or(u64::MAX);
        let at = locked(&self.store).append(&packed.bytes).map_err(|error| {
            locked(&self.failure).get_or_insert(error);
            Unkept
        })?;
        let Packed { encoding, raw_bytes, checksum, .. } = packed;
        let packed = Packed { encoding, raw_bytes, checksum, bytes: (&[]).into() };
        Ok(Row { at, bytes, packed })
    }

    /// What the disk failed with, if it did: then no mistake of the sources counts.
    pub(crate) fn failure(&self) -> Option<io::Error> {
        locked(&self.failure).take()
    }

    /// The entries by path, for the writer.
    pub(crate) fn entries(&self) -> Vec<(String, Stored<'_>)> {
        let entry = |(path, row): (&String, &Row)| {
            let slice = Slice { store: &self.store, at: row.at, bytes: row.bytes };
            (path.clone(), row.packed.stored_at(Box::new(slice)))
        };
        locked(&self.rows).iter().map(entry).collect()
    }
}

/// The stored bytes of one entry.
#[derive(Debug)]
struct Slice<'a> {
    store: &'a Mutex<Store>,
    at: u64,
    bytes: u64,
}

impl Source for Slice<'_> {
    fn len(&self) -> Result<u64, DiskError> {
        Ok(self.bytes)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, DiskError> {
        let left = self.bytes.saturating_sub(offset);
        let length = usize::try_from(left).unwrap_or(usize::MAX).min(buf.len());
        let read = locked(self.store).read_at(self.at + offset, &mut buf[..length]);
        read.map_err(|error| disk_error("the spool", &error))
    }
}

impl Store {
    fn append(&mut self, bytes: &[u8]) -> io::Result<u64> {
        match self {
            Self::File { file, end } => {
                let at = *end;
                file.seek(SeekFrom::Start(at))?;
                file.write_all(bytes)?;
                *end += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
                Ok(at)
            }
            Self::Memory(all) => {
                let at = u64::try_from(all.len()).unwrap_or(u64::MAX);
                all.extend(bytes);
                Ok(at)
            }
        }
    }

    fn read_at(&mut self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File { file, .. } => {
                file.seek(SeekFrom::Start(at))?;
                file.read(buf)
            }
            Self::Memory(all) => {
                let start = usize::try_from(at).unwrap_or(usize::MAX);
                let mut rest = all.get(start..).unwrap_or_default();
                rest.read(buf)
            }
        }
    }
}

/// An error of the system as the pallet crate knows it.
pub(crate) fn disk_error(path: &str, error: &io::Error) -> DiskError {
    let kind = match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => DiskErrorKind::NotFound,
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            DiskErrorKind::Denied
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => DiskErrorKind::Full,
        io::ErrorKind::AlreadyExists | io::ErrorKind::IsADirectory => DiskErrorKind::Exists,
        _ => DiskErrorKind::Io(error.to_string()),
    };
    DiskError { kind, path: path.to_owned() }
}

/// A panic while holding the lock left whole rows behind: they are only ever added.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
