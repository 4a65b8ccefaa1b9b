//! Small private files: read with their mode checked, written whole or not at all.
//!
//! Used by `identity` and `known_hosts`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Why a file was not read.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// Its permission bits let others read it.
    OpenToOthers(u32),
    /// What the system said; too large is `InvalidData`.
    Io(io::Error),
}

/// Read a file that only its owner may read. The mode is that of the file that is then read.
pub(crate) fn read_private(path: &Path, bytes_max: u64) -> Result<Vec<u8>, ReadError> {
    let file = File::open(path).map_err(ReadError::Io)?;
    let mode = file.metadata().map_err(ReadError::Io)?.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(ReadError::OpenToOthers(mode));
    }
    read_bounded(file, bytes_max).map_err(ReadError::Io)
}

/// Read a file of at most `bytes_max` bytes.
pub(crate) fn read(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    read_bounded(File::open(path)?, bytes_max)
}

/// Write a new file of mode 0600; refused when there is one already.
pub(crate) fn create_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = write_draft(path, bytes)?;
    // A link refuses to replace, where a rename would.
    let linked = fs::hard_link(&draft, path);
    fs::remove_file(&draft)?;
    linked?;
    sync_folder(path)
}

/// Replace a file, or make it, with mode 0600.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = write_draft(path, bytes)?;
    fs::rename(&draft, path).inspect_err(|_| drop(fs::remove_file(&draft)))?;
    sync_folder(path)
}

fn read_bounded(file: File, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|have| have <= bytes_max) {
        Ok(bytes)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidData, "larger than such a file can be"))
    }
}

/// The bytes on disk, under a name of this process beside `path`.
fn write_draft(path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    let folder = folder_of(path);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = folder.join(format!(".{name}.{}", std::process::id()));
    let _ = fs::remove_file(&draft);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    written.inspect_err(|_| drop(fs::remove_file(&draft)))?;
    Ok(draft)
}

fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(folder_of(path))?.sync_all()
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}
