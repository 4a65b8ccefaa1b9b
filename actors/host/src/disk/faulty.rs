//! A disk that fails on purpose, and counts what is asked of it.

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use dh_machine::{DirEntry, Disk, DiskError, DiskErrorKind, DiskFile, Metadata};

/// Which calls of a [`FaultyDisk`] fail. The default is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// The call of this number fails, counted from 1 over all calls of the disk and its files.
    pub nth: Option<u64>,
    /// How it fails.
    pub failure: Failure,
    /// Bytes that may be written before the disk is full; a write that goes over it writes what
    /// fits. What is removed or cut gives no room back: give a new budget.
    pub room: Option<u64>,
    /// A bit of the byte at this offset is read wrongly, in files whose path ends so.
    pub flip: Option<(u64, &'static str)>,
}

/// How a call fails that was made to. By name: `io`, `full`, `denied`, `missing`, `exists`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Failure {
    /// The disk is at fault.
    #[default]
    Io,
    /// No room is left.
    Full,
    /// The system does not let us.
    Denied,
    /// There is no such file.
    Missing,
    /// It is there already.
    Exists,
}

/// A name that is no failure's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoFailure(String);

/// What was asked of a [`FaultyDisk`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Calls of the disk and its files.
    pub calls: u64,
    /// Calls that were made to fail.
    pub failed: u64,
    /// Files opened or made.
    pub opened: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes of the largest read.
    pub read_bytes_max: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Files that got another name.
    pub renames: u64,
    /// Files removed.
    pub removes: u64,
    /// Files and folders made to survive a loss of power.
    pub syncs: u64,
}

/// Another disk, with failures and a tally. Clones are the same disk: one goes to whoever uses it,
/// another is kept to play with it meanwhile.
#[derive(Clone, Debug)]
pub struct FaultyDisk {
    under: Arc<dyn Disk>,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    faults: Faults,
    tally: Tally,
}

impl FaultyDisk {
    /// A disk over `under` that does not fail yet.
    #[must_use]
    pub fn over(under: Arc<dyn Disk>) -> Self {
        Self { under, shared: Arc::default() }
    }

    /// From now on these calls fail; the tally starts anew.
    pub fn set(&self, faults: Faults) {
        *lock(&self.shared) = Shared { faults, tally: Tally::default() };
    }

    /// Have the `nth` call from now on fail, 1 for the next; the other faults and the tally stay.
    /// Returns its number among all calls.
    pub fn fail_nth(&self, nth: u64, failure: Failure) -> u64 {
        let mut shared = lock(&self.shared);
        let nth = shared.tally.calls.saturating_add(nth);
        (shared.faults.nth, shared.faults.failure) = (Some(nth), failure);
        nth
    }

    /// The call of this number is not to fail after all.
    pub fn forgive(&self, number: u64) {
        let faults = &mut lock(&self.shared).faults;
        faults.nth = faults.nth.filter(|nth| *nth != number);
    }

    /// Fill the disk but for so many bytes.
    pub fn fill(&self, room: u64) {
        lock(&self.shared).faults.room = Some(room);
    }

    /// Make room again: as much as the disk below has.
    pub fn make_room(&self) {
        lock(&self.shared).faults.room = None;
    }

    /// What was asked since the faults were set.
    #[must_use]
    pub fn tally(&self) -> Tally {
        lock(&self.shared).tally
    }

    fn call(&self, path: &str, note: impl FnOnce(&mut Tally)) -> Result<(), DiskError> {
        call(&self.shared, path, note)
    }

    fn file(&self, path: &str, under: Box<dyn DiskFile>) -> Box<dyn DiskFile> {
        Box::new(FaultyFile { under, path: path.to_owned(), shared: Arc::clone(&self.shared) })
    }
}

impl Disk for FaultyDisk {
    fn open(&self, path: &str) -> Result<Box<dyn DiskFile>, DiskError> {
        self.call(path, |tally| tally.opened += 1)?;
        Ok(self.file(path, self.under.open(path)?))
    }

    fn create(&self, path: &str) -> Result<Box<dyn DiskFile>, DiskError> {
        self.call(path, |tally| tally.opened += 1)?;
        Ok(self.file(path, self.under.create(path)?))
    }

    fn append_to(&self, path: &str) -> Result<Box<dyn DiskFile>, DiskError> {
        self.call(path, |tally| tally.opened += 1)?;
        Ok(self.file(path, self.under.append_to(path)?))
    }

    fn list(&self, dir: &str) -> Result<Vec<DirEntry>, DiskError> {
        self.call(dir, |_| ())?;
        self.under.list(dir)
    }

    fn metadata(&self, path: &str) -> Result<Metadata, DiskError> {
        self.call(path, |_| ())?;
        self.under.metadata(path)
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), DiskError> {
        self.call(from, |tally| tally.renames += 1)?;
        self.under.rename(from, to)
    }

    fn remove(&self, path: &str) -> Result<(), DiskError> {
        self.call(path, |tally| tally.removes += 1)?;
        self.under.remove(path)
    }

    fn touch(&self, path: &str) -> Result<(), DiskError> {
        self.call(path, |_| ())?;
        self.under.touch(path)
    }

    fn make_dir(&self, dir: &str) -> Result<(), DiskError> {
        self.call(dir, |_| ())?;
        self.under.make_dir(dir)
    }

    fn sync_dir(&self, dir: &str) -> Result<(), DiskError> {
        self.call(dir, |tally| tally.syncs += 1)?;
        self.under.sync_dir(dir)
    }

    /// What the disk below has, and no more than may still be written.
    fn free_space(&self, dir: &str) -> Result<u64, DiskError> {
        self.call(dir, |_| ())?;
        let room = lock(&self.shared).faults.room.unwrap_or(u64::MAX);
        self.under.free_space(dir).map(|free| free.min(room))
    }
}

#[derive(Debug)]
struct FaultyFile {
    under: Box<dyn DiskFile>,
    path: String,
    shared: Arc<Mutex<Shared>>,
}

impl FaultyFile {
    /// Where in the `len` bytes from `offset` on a bit is to be flipped.
    fn flipped(&self, offset: u64, len: usize) -> Option<usize> {
        let (at, suffix) = lock(&self.shared).faults.flip?;
        let at = usize::try_from(at.checked_sub(offset)?).ok()?;
        (at < len && self.path.ends_with(suffix)).then_some(at)
    }
}

impl DiskFile for FaultyFile {
    fn len(&self) -> Result<u64, DiskError> {
        call(&self.shared, &self.path, |_| ())?;
        self.under.len()
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, DiskError> {
        call(&self.shared, &self.path, |_| ())?;
        let read = self.under.read_at(offset, buf)?;
        let mut shared = lock(&self.shared);
        shared.tally.read_bytes += count(read);
        shared.tally.read_bytes_max = shared.tally.read_bytes_max.max(count(read));
        drop(shared);
        if let Some(at) = self.flipped(offset, read) {
            buf[at] ^= 1;
        }
        Ok(read)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), DiskError> {
        call(&self.shared, &self.path, |_| ())?;
        let fits = {
            let mut shared = lock(&self.shared);
            let room = shared.faults.room.unwrap_or(u64::MAX);
            let fits = bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX));
            shared.faults.room = shared.faults.room.map(|room| room - count(fits));
            shared.tally.written_bytes += count(fits);
            shared.tally.failed += u64::from(fits < bytes.len());
            fits
        };
        self.under.write_at(offset, &bytes[..fits])?;
        if fits < bytes.len() {
            return Err(DiskError::new(DiskErrorKind::Full, self.path.as_str()));
        }
        Ok(())
    }

    fn set_len(&mut self, len: u64) -> Result<(), DiskError> {
        call(&self.shared, &self.path, |_| ())?;
        self.under.set_len(len)
    }

    fn sync(&mut self) -> Result<(), DiskError> {
        call(&self.shared, &self.path, |tally| tally.syncs += 1)?;
        self.under.sync()
    }
}

/// Count a call, and fail it if it is its turn.
fn call(
    shared: &Mutex<Shared>,
    path: &str,
    note: impl FnOnce(&mut Tally),
) -> Result<(), DiskError> {
    let mut shared = lock(shared);
    shared.tally.calls += 1;
    if shared.faults.nth == Some(shared.tally.calls) {
        shared.tally.failed += 1;
        let kind = shared.faults.failure.kind(shared.tally.calls);
        return Err(DiskError::new(kind, path));
    }
    note(&mut shared.tally);
    Ok(())
}

fn lock(shared: &Mutex<Shared>) -> std::sync::MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn count(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

impl Failure {
    fn kind(self, call: u64) -> DiskErrorKind {
        match self {
            Self::Io => DiskErrorKind::Io(format!("call {call} was made to fail")),
            Self::Full => DiskErrorKind::Full,
            Self::Denied => DiskErrorKind::Denied,
            Self::Missing => DiskErrorKind::NotFound,
            Self::Exists => DiskErrorKind::Exists,
        }
    }
}

impl FromStr for Failure {
    type Err = NoFailure;

    fn from_str(name: &str) -> Result<Self, NoFailure> {
        Ok(match name {
            "io" => Self::Io,
            "full" => Self::Full,
            "denied" => Self::Denied,
            "missing" => Self::Missing,
            "exists" => Self::Exists,
            _ => return Err(NoFailure(name.to_owned())),
        })
    }
}

impl fmt::Display for NoFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(name) = self;
        write!(f, "no disk fails as {name:?}: expected io, full, denied, missing or exists")
    }
}

impl std::error::Error for NoFailure {}
