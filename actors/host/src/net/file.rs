//! Small files of the user's: read only if they are files, written whole or not at all.
//!
//! Used by `identity` and `known_hosts`. Whatever stands at a path, reading it neither waits nor
//! takes more memory than the limit named.

use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::{fmt, io};

use rustix::fs::OFlags;

/// Why a file was not read.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileError {
    /// Something else stands there.
    NoFile {
        /// Where.
        path: PathBuf,
        /// What it is, after all links.
        found: &'static str,
    },
    /// It is larger than such a file can be.
    TooLarge {
        /// Where.
        path: PathBuf,
        /// Bytes it may have.
        bytes_max: u64,
        /// Bytes it has, at least.
        bytes: u64,
    },
    /// Its mode lets others read it.
    OpenToOthers {
        /// Where.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The system failed.
    Io {
        /// Where.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
}

/// Read a file of at most `bytes_max` bytes that only its owner may read; `None` if there is none.
///
/// # Errors
/// When what stands there is no such file, larger, readable by others, or cannot be read.
pub fn read_private(path: &Path, bytes_max: u64) -> Result<Option<Vec<u8>>, FileError> {
    read_if(path, bytes_max, |facts| match facts.mode() & 0o777 {
        mode if mode & 0o077 != 0 => Err(FileError::OpenToOthers { path: path.to_owned(), mode }),
        _ => Ok(()),
    })
}

/// Read a file of at most `bytes_max` bytes; `None` if there is none.
pub(crate) fn read(path: &Path, bytes_max: u64) -> Result<Option<Vec<u8>>, FileError> {
    read_if(path, bytes_max, |_| Ok(()))
}

/// Write a new file of mode 0600, whole or not at all; refused when something stands there.
pub(crate) fn create_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = draft(path, |file| file.write_all(bytes))?;
    // A link refuses to replace, where a rename would.
    let linked = fs::hard_link(&draft, path);
    fs::remove_file(&draft)?;
    linked?;
    sync_folder(path)
}

/// Replace a file, or make it, with mode 0600.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_with(path, |file| file.write_all(bytes))
}

/// The same with what `write` writes.
pub(crate) fn replace_with(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let draft = draft(path, write)?;
    fs::rename(&draft, path).inspect_err(|_| drop(fs::remove_file(&draft)))?;
    sync_folder(path)
}

/// Make the folder of a file, for its owner alone, if there is none.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder_of(path))
}

fn read_if(
    path: &Path,
    bytes_max: u64,
    allowed: impl FnOnce(&Metadata) -> Result<(), FileError>,
) -> Result<Option<Vec<u8>>, FileError> {
    let failed = |error| FileError::Io { path: path.to_owned(), error };
    let no_file = |found| FileError::NoFile { path: path.to_owned(), found };
    let too_large = |bytes| FileError::TooLarge { path: path.to_owned(), bytes_max, bytes };
    let is_file = |facts: &Metadata| match kind(facts.file_type()) {
        Some(found) => Err(no_file(found)),
        None => Ok(()),
    };
    match fs::metadata(path) {
        Ok(facts) => is_file(&facts)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return match fs::symlink_metadata(path) {
                Ok(_) => Err(no_file("a link to nothing")),
                Err(_) => Ok(None),
            };
        }
        Err(error) => return Err(failed(error)),
    }
    // Something else may stand there by now: opening it must not wait, and what was opened counts.
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let file = opened.map_err(failed)?;
    let facts = file.metadata().map_err(failed)?;
    is_file(&facts)?;
    allowed(&facts)?;
    if facts.len() > bytes_max {
        return Err(too_large(facts.len()));
    }
    let mut bytes = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(failed)?;
    match u64::try_from(bytes.len()) {
        Ok(have) if have <= bytes_max => Ok(Some(bytes)),
        _ => Err(too_large(bytes_max + 1)),
    }
}

/// What stands there, if it is no file.
fn kind(found: FileType) -> Option<&'static str> {
    match found {
        found if found.is_file() => None,
        found if found.is_dir() => Some("a folder"),
        found if found.is_fifo() => Some("a pipe"),
        found if found.is_socket() => Some("a socket"),
        _ => Some("a device"),
    }
}

/// What `write` writes, on disk under a name of this process beside `path`; nothing if it fails.
fn draft(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = folder_of(path).join(format!(".{name}.{}", std::process::id()));
    let _ = fs::remove_file(&draft);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    let written = write(&mut file).and_then(|()| file.sync_all());
    written.inspect_err(|_| drop(fs::remove_file(&draft)))?;
    Ok(draft)
}

fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(folder_of(path))?.sync_all()
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFile { path, found } => {
                write!(f, "{}: expected a file, found {found}; move it away", path.display())
            }
            Self::TooLarge { path, bytes_max, bytes } => write!(
                f,
                "{}: expected at most {bytes_max} bytes, found {bytes}; move it away",
                path.display()
            ),
            Self::OpenToOthers { path, mode } => write!(
                f,
                "{0}: expected a file only its owner can read, found mode {mode:o}; \
                 run: chmod 600 {0}",
                path.display()
            ),
            Self::Io { path, error } => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for FileError {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    /// Something else than a file at each of these paths, and what it is called.
    fn others(folder: &Path) -> Vec<(PathBuf, &'static str)> {
        let at = |name: &str| folder.join(name);
        fs::create_dir(at("folder")).unwrap();
        let fifo = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), fifo, 0o600.into(), 0).unwrap();
        drop(UnixListener::bind(at("socket")).unwrap());
        symlink("nowhere", at("dangling")).unwrap();
        symlink("pipe", at("linked")).unwrap();
        vec![
            (at("folder"), "a folder"),
            (at("pipe"), "a pipe"),
            (at("linked"), "a pipe"),
            (at("socket"), "a socket"),
            (at("dangling"), "a link to nothing"),
            ("/dev/null".into(), "a device"),
            ("/dev/zero".into(), "a device"),
        ]
    }

    #[test]
    fn what_is_no_file_is_refused_by_its_kind_without_waiting() {
        let home = tempfile::tempdir().unwrap();
        for (path, kind) in others(home.path()) {
            for refused in [read(&path, 9).unwrap_err(), read_private(&path, 9).unwrap_err()] {
                assert!(matches!(refused, FileError::NoFile { found, .. } if found == kind));
                let told = format!("{}: expected a file, found {kind}; ", path.display());
                assert!(refused.to_string().starts_with(&told), "{refused}");
            }
        }
        let knot = home.path().join("knot");
        symlink("knot", &knot).unwrap();
        assert!(matches!(read(&knot, 9), Err(FileError::Io { .. })));
    }

    #[test]
    fn a_file_is_read_up_to_its_limit_through_links_and_one_of_a_gigabyte_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let (path, link) = (home.path().join("file"), home.path().join("link"));
        symlink("file", &link).unwrap();
        assert!(read(&path, 9).unwrap().is_none());
        fs::write(&path, "123456789").unwrap();
        assert_eq!(read(&link, 9).unwrap().unwrap(), b"123456789");
        assert!(matches!(read(&path, 8), Err(FileError::TooLarge { bytes: 9, .. })));
        File::create(&path).unwrap().set_len(1 << 30).unwrap();
        let refused = read(&path, 16).unwrap_err().to_string();
        assert!(refused.contains("expected at most 16 bytes, found 1073741824"), "{refused}");
    }

    #[test]
    fn a_file_that_says_nothing_of_its_size_is_held_to_its_limit_too() {
        let path = Path::new("/proc/self/status");
        assert!(matches!(read(path, 16), Err(FileError::TooLarge { bytes: 17, .. })));
    }

    #[test]
    fn a_write_that_fails_half_way_leaves_nothing() {
        let home = tempfile::tempdir().unwrap();
        let full = |file: &mut File| {
            file.write_all(b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        };
        let failed = draft(&home.path().join("file"), full).unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_new_file_takes_nobodys_place_and_a_replacement_that_cannot_be_leaves_no_draft() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("file");
        create_private(&path, b"first").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        // As a process of the same number would leave it that was killed half way.
        fs::write(home.path().join(format!(".file.{}", std::process::id())), "half").unwrap();
        let taken = create_private(&path, b"second").unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"first");
        replace(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        let folder = home.path().join("folder");
        fs::create_dir(&folder).unwrap();
        assert!(replace(&folder, b"third").is_err());
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2, "no draft is left");
    }
}
