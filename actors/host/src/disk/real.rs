//! The real disk: each call is one of the system's.

use std::fs::{self, File, FileTimes, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt, OpenOptionsExt as _};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use dh_machine::{DirEntry, Disk, DiskError, DiskErrorKind, DiskFile, Metadata, Micros};
use rustix::fs::OFlags;

/// The files of this machine. Relative paths are those of the process.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn open(&self, path: &str) -> Result<Box<dyn DiskFile>, DiskError> {
        // A pipe or a device may stand there: opening must not wait for its other end.
        let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path);
        let file = file.map_err(told(path))?;
        if !file.metadata().map_err(told(path))?.is_file() {
            return Err(DiskError::new(DiskErrorKind::Io("it is no file".to_owned()), path));
        }
        Ok(Box::new(RealFile { file, path: path.to_owned() }))
    }

    fn create(&self, path: &str) -> Result<Box<dyn DiskFile>, DiskError> {
        opened(path, OpenOptions::new().read(true).write(true).create(true).truncate(true))
    }

    fn append_to(&self, path: &str) -> Result<Box<dyn DiskFile>, DiskError> {
        opened(path, OpenOptions::new().read(true).write(true).create(true).truncate(false))
    }

    fn list(&self, dir: &str) -> Result<Vec<DirEntry>, DiskError> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(dir).map_err(told(dir))? {
            let entry = entry.map_err(told(dir))?;
            // A link is followed; a file that vanishes meanwhile, or whose name no path can say, is
            // not listed.
            let (Ok(name), Ok(known)) =
                (entry.file_name().into_string(), fs::metadata(entry.path()))
            else {
                continue;
            };
            if known.is_file() {
                entries.push(DirEntry { name, len: known.len(), modified: modified(&known) });
            }
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    fn metadata(&self, path: &str) -> Result<Metadata, DiskError> {
        let known = fs::metadata(path).map_err(told(path))?;
        Ok(Metadata { len: known.len(), modified: modified(&known), is_dir: known.is_dir() })
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), DiskError> {
        fs::rename(from, to).map_err(told(from))
    }

    fn remove(&self, path: &str) -> Result<(), DiskError> {
        fs::remove_file(path).map_err(told(path))
    }

    fn touch(&self, path: &str) -> Result<(), DiskError> {
        let file = OpenOptions::new().write(true).open(path).map_err(told(path))?;
        file.set_times(FileTimes::new().set_modified(SystemTime::now())).map_err(told(path))
    }

    fn make_dir(&self, dir: &str) -> Result<(), DiskError> {
        fs::create_dir_all(dir).map_err(told(dir))
    }

    fn sync_dir(&self, dir: &str) -> Result<(), DiskError> {
        File::open(dir).and_then(|dir| dir.sync_all()).map_err(told(dir))
    }

    fn free_space(&self, dir: &str) -> Result<u64, DiskError> {
        free_space(Path::new(dir)).map_err(told(dir))
    }
}

/// Bytes that this process may still write to the disk of a folder or file.
///
/// # Errors
/// When the system does not tell.
pub fn free_space(path: &Path) -> io::Result<u64> {
    let known = rustix::fs::statvfs(path)?;
    Ok(known.f_bavail.saturating_mul(known.f_frsize))
}

/// An open file and the name it is told by.
#[derive(Debug)]
struct RealFile {
    file: File,
    path: String,
}

impl DiskFile for RealFile {
    fn len(&self) -> Result<u64, DiskError> {
        self.file.metadata().map(|known| known.len()).map_err(told(&self.path))
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, DiskError> {
        loop {
            match self.file.read_at(buf, offset) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => return read.map_err(told(&self.path)),
            }
        }
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), DiskError> {
        self.file.write_all_at(bytes, offset).map_err(told(&self.path))
    }

    fn set_len(&mut self, len: u64) -> Result<(), DiskError> {
        self.file.set_len(len).map_err(told(&self.path))
    }

    fn sync(&mut self) -> Result<(), DiskError> {
        self.file.sync_all().map_err(told(&self.path))
    }
}

fn opened(path: &str, how: &OpenOptions) -> Result<Box<dyn DiskFile>, DiskError> {
    let file = how.open(path).map_err(told(path))?;
    Ok(Box::new(RealFile { file, path: path.to_owned() }))
}

/// The system's error as ours.
fn told(path: &str) -> impl Fn(io::Error) -> DiskError + '_ {
    move |error| {
        let kind = match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => DiskErrorKind::NotFound,
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => DiskErrorKind::Denied,
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => DiskErrorKind::Full,
            ErrorKind::AlreadyExists => DiskErrorKind::Exists,
            _ => DiskErrorKind::Io(error.to_string()),
        };
        DiskError::new(kind, path)
    }
}

/// When it was last written; what the system does not tell, or lies before 1970, is 0.
fn modified(known: &fs::Metadata) -> Micros {
    let since = known.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    Micros(since.map_or(0, |since| u64::try_from(since.as_micros()).unwrap_or(u64::MAX)))
}
