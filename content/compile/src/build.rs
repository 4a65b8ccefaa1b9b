//! A folder into a pallet file, published whole or not at all.
//!
//! Used by the program. Everything is made in temporary files beside the result; only a rename
//! gives it its name.

use crate::about::FILE;
use crate::compile::{Compiled, compile};
use crate::progress::{Progress, Stage};
use crate::spool::{Spool, disk_error};
use crate::tree::{Bundled, Folder};
use dh_machine::DiskError;
use dh_map::Problem;
use dh_pallet::{MAGIC, Output, PalletError, Source, Writer, xxh128};
use dh_wire::Content;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// So many bytes tell a pallet from other files.
const HEAD: u64 = MAGIC.len() as u64;

/// A pallet that was built.
#[derive(Debug)]
pub struct Built {
    /// The file.
    pub path: PathBuf,
    /// Its id.
    pub id: String,
    /// What names its content.
    pub content: Content,
    /// How many entries it holds.
    pub entries: usize,
    /// Its length.
    pub bytes: u64,
    /// What was left out of it, by source file.
    pub notes: Vec<Problem>,
}

/// Why nothing was built.
#[derive(Debug)]
pub enum BuildError {
    /// Mistakes in the sources, all of them, by file and place.
    Content(Vec<Problem>),
    /// The source folder cannot be opened.
    Missing(PathBuf, io::Error),
    /// The result cannot be written there.
    Output(DiskError),
    /// Something stands there that is not replaced; what it is.
    Taken(PathBuf, &'static str),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Content(problems) => {
                let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
                f.write_str(&lines.join("\n"))
            }
            Self::Missing(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Output(error) => error.fmt(f),
            Self::Taken(path, why) => write!(f, "{} {why}", path.display()),
        }
    }
}

impl std::error::Error for BuildError {}

/// Builds a folder into `out`: a file, or a folder that gets `ID.pallet`. Only a pallet or an empty
/// file is replaced, and none that the build itself reads.
///
/// A process that is ended meanwhile should call [`abandon`] first.
pub fn build(
    folder: &Path,
    out: &Path,
    tell: &(dyn Fn(Progress) + Sync),
) -> Result<Built, BuildError> {
    let tree = Folder::open(folder).map_err(|error| BuildError::Missing(folder.into(), error))?;
    let failed = |error: io::Error| BuildError::Output(disk_error(&shown(out), &error));
    if out.exists() && !out.is_dir() && !out.is_file() {
        return Err(failed(io::ErrorKind::AlreadyExists.into()));
    }
    let home = home_of(out);
    let spool = Spool::in_folder(home).map_err(failed)?;
    let compiled = compile(&tree, &spool, tell);
    let compiled = match spool.failure() {
        Some(error) => return Err(failed(error)),
        None => compiled.map_err(BuildError::Content)?,
    };
    let id = compiled.about.id.clone();
    let path = if out.is_dir() { out.join(format!("{id}.pallet")) } else { out.to_owned() };
    free(&path, &tree, &compiled)?;
    let prefix = unfinished();
    let file = tempfile::Builder::new().prefix(&prefix).tempfile_in(home).map_err(failed)?;
    let mut output = FileOutput(Mutex::new(file.reopen().map_err(failed)?));
    let (content, entries) = write(&compiled, &spool, &mut output, tell, out)?;
    let written = output.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    written.sync_all().map_err(failed)?;
    let bytes = written.metadata().map_err(failed)?.len();
    readable(file.as_file()).map_err(failed)?;
    let published = file.persist(&path);
    published.map_err(|fault| BuildError::Output(disk_error(&shown(&path), &fault.error)))?;
    Ok(Built { path, id, content, entries, bytes, notes: compiled.notes })
}

/// Removes what builds of this process into `out` have not finished: for a process that is about
/// to be ended. The entries on their way lie in a file without a name, which goes by itself.
pub fn abandon(out: &Path) {
    let prefix = unfinished();
    let Ok(inside) = std::fs::read_dir(home_of(out)) else { return };
    for entry in inside.filter_map(Result::ok) {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            // Whoever was faster has removed or published it.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// What the names of this process's unfinished pallets begin with.
fn unfinished() -> String {
    format!(".pallet-{}-", std::process::id())
}

/// The folder that a result comes to.
fn home_of(out: &Path) -> &Path {
    let home = if out.is_dir() { out } else { out.parent().unwrap_or_else(|| Path::new("")) };
    if home.as_os_str().is_empty() { Path::new(".") } else { home }
}

/// Whether a pallet may come to this place.
fn free(path: &Path, tree: &Folder, compiled: &Compiled) -> Result<(), BuildError> {
    let taken = |why| Err(BuildError::Taken(path.to_owned(), why));
    if path.is_dir() {
        return taken("is a folder");
    }
    if tree.path_of(path).is_some_and(|source| compiled.reads(&source)) {
        return taken("is a source of this build");
    }
    let mut start = Vec::new();
    match File::open(path).map(|file| file.take(HEAD).read_to_end(&mut start)) {
        Ok(Ok(_)) if start.is_empty() || start == MAGIC => Ok(()),
        Ok(Ok(_)) => taken("is there and no pallet"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Ok(Err(error)) | Err(error) => Err(BuildError::Output(disk_error(&shown(path), &error))),
    }
}

/// Builds files that are part of the program into the bytes of a pallet.
pub fn build_bundled(files: Bundled<'_>) -> Result<Vec<u8>, BuildError> {
    let spool = Spool::in_memory();
    let compiled = compile(&files, &spool, &|_| {}).map_err(BuildError::Content)?;
    let mut bytes = Vec::new();
    write(&compiled, &spool, &mut bytes, &|_| {}, Path::new("the built-in pallet"))?;
    Ok(bytes)
}

fn write(
    compiled: &Compiled,
    spool: &Spool,
    output: &mut dyn Output,
    tell: &(dyn Fn(Progress) + Sync),
    out: &Path,
) -> Result<(Content, usize), BuildError> {
    let refused = |error: PalletError| match error {
        PalletError::Disk(error) => BuildError::Output(DiskError { path: shown(out), ..error }),
        PalletError::Twins { one, other } => {
            // The author knows the sources, not what is made of them.
            let [one, other] = [one, other].map(|it| compiled.plan.source_of(&it).to_owned());
            let file = other.clone();
            let text = PalletError::Twins { one, other }.to_string();
            BuildError::Content(vec![Problem::of_file(&file, text, "")])
        }
        error => BuildError::Content(vec![Problem::of_file(FILE, error.to_string(), "")]),
    };
    let mut writer = Writer::new(compiled.about.clone()).map_err(refused)?;
    let entries = spool.entries();
    let count = entries.len();
    for (path, stored) in entries {
        writer.put(&path, stored).map_err(refused)?;
    }
    let mut progress =
        |done: u64, total: u64| tell(Progress { stage: Stage::Writing, done, total });
    let content = writer.write(output, xxh128, &mut progress).map_err(refused)?;
    Ok((content, count))
}

/// A path as an error tells it.
fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Temporary files are closed to others; a pallet is content, as readable as any file made anew.
#[cfg(unix)]
fn readable(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

/// Other systems give temporary files the rights of their folder.
#[cfg(not(unix))]
fn readable(_: &File) -> io::Result<()> {
    Ok(())
}

/// A file that is written and read back at offsets.
#[derive(Debug)]
struct FileOutput(Mutex<File>);

impl Source for FileOutput {
    fn len(&self) -> Result<u64, DiskError> {
        let file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.metadata().map(|meta| meta.len()).map_err(|error| disk_error("the pallet", &error))
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, DiskError> {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let read = file.seek(SeekFrom::Start(offset)).and_then(|_| file.read(buf));
        read.map_err(|error| disk_error("the pallet", &error))
    }
}

impl Output for FileOutput {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), DiskError> {
        let file = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        let written = file.seek(SeekFrom::Start(offset)).and_then(|_| file.write_all(bytes));
        written.map_err(|error| disk_error("the pallet", &error))
    }
}
