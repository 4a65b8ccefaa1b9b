//! Disk: files as a core sees them, so that one store runs on a real disk and on a faulty one.
//!
//! Used by `pallet` and `store`; the twins lie in `host`. Paths are UTF-8 with `/` between names.
//! Never: opens a file itself.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::time::Micros;

/// A disk. Calls block and are made where blocking is allowed.
pub trait Disk: fmt::Debug + Send + Sync {
    /// Open a file for reading. What is no file, such as a pipe, is refused and not waited for.
    fn open(&self, path: &str) -> Result<Box<dyn DiskFile>, DiskError>;

    /// Make a file, or empty the one there is, for reading and writing.
    fn create(&self, path: &str) -> Result<Box<dyn DiskFile>, DiskError>;

    /// Open a file for reading and writing as it is; an empty one is made if there is none.
    fn append_to(&self, path: &str) -> Result<Box<dyn DiskFile>, DiskError>;

    /// The regular files of a folder, in the order of their names.
    fn list(&self, dir: &str) -> Result<Vec<DirEntry>, DiskError>;

    /// What is at `path`.
    fn metadata(&self, path: &str) -> Result<Metadata, DiskError>;

    /// Give a file another name, in place of what has that name.
    fn rename(&self, from: &str, to: &str) -> Result<(), DiskError>;

    /// Remove a file.
    fn remove(&self, path: &str) -> Result<(), DiskError>;

    /// Note that a file was used just now: its time of modification becomes the present.
    fn touch(&self, path: &str) -> Result<(), DiskError>;

    /// Make a folder and those above it; one that exists is left as it is.
    fn make_dir(&self, dir: &str) -> Result<(), DiskError>;

    /// Make the names in a folder survive a loss of power.
    fn sync_dir(&self, dir: &str) -> Result<(), DiskError>;

    /// Bytes that may still be written into a folder.
    fn free_space(&self, dir: &str) -> Result<u64, DiskError>;
}

/// An open file; it closes when it is dropped.
pub trait DiskFile: fmt::Debug + Send + Sync {
    /// Bytes of the file.
    fn len(&self) -> Result<u64, DiskError>;

    /// Whether the file has no byte.
    fn is_empty(&self) -> Result<bool, DiskError> {
        self.len().map(|len| len == 0)
    }

    /// Read at `offset`; fewer bytes than `buf` holds may come, and none only at the end.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, DiskError>;

    /// Write all of `bytes` at `offset`; after an error any part of them may be there.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), DiskError>;

    /// Cut the file, or lengthen it with zeros.
    fn set_len(&mut self, len: u64) -> Result<(), DiskError>;

    /// Make the bytes survive a loss of power.
    fn sync(&mut self) -> Result<(), DiskError>;
}

/// A file in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirEntry {
    /// Its name, without the folder.
    pub name: String,
    /// Its bytes.
    pub len: u64,
    /// When it was last written, since 1970.
    pub modified: Micros,
}

/// What is known of a path without opening it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// Bytes of the file.
    pub len: u64,
    /// When it was last written, since 1970.
    pub modified: Micros,
    /// Whether it is a folder.
    pub is_dir: bool,
}

/// A call that failed, and on what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskError {
    /// Why.
    pub kind: DiskErrorKind,
    /// The file or folder.
    pub path: String,
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiskErrorKind {
    /// There is no such file or folder.
    NotFound,
    /// The system does not let us.
    Denied,
    /// No room is left.
    Full,
    /// It is there already.
    Exists,
    /// Anything else, in the system's words.
    Io(String),
}

impl DiskError {
    /// An error of `kind` about `path`.
    pub fn new(kind: DiskErrorKind, path: impl Into<String>) -> Self {
        Self { kind, path: path.into() }
    }

    /// Whether there is no such file.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.kind == DiskErrorKind::NotFound
    }
}

impl fmt::Display for DiskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match &self.kind {
            DiskErrorKind::NotFound => "no such file",
            DiskErrorKind::Denied => "permission denied",
            DiskErrorKind::Full => "the disk is full",
            DiskErrorKind::Exists => "it exists already",
            DiskErrorKind::Io(why) => why,
        };
        write!(f, "{}: {why}", self.path)
    }
}

impl core::error::Error for DiskError {}
