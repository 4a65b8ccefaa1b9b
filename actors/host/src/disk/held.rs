//! Held folder: one writer at a time among the processes that share a user's folder.
//!
//! Used where a small file is read, changed and replaced. It is the folder itself that is locked,
//! so no file of a lock is ever left behind.

use std::fs::File;
use std::io;
use std::path::Path;

/// A folder that nobody else holds while this lives.
#[derive(Debug)]
pub struct HeldFolder {
    _folder: File,
}

impl HeldFolder {
    /// Hold the folder that `path` lies in; waits for whoever holds it, which is never for long.
    /// A disk that knows no locks is written without one.
    ///
    /// # Errors
    /// When the folder cannot be opened.
    pub fn of(path: &Path) -> io::Result<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = File::open(folder.unwrap_or_else(|| Path::new(".")))?;
        // A folder on another machine often cannot be locked, and its user must still be served.
        drop(folder.lock());
        Ok(Self { _folder: folder })
    }
}
