//! Where sources come from: a folder, or files that are part of the program.
//!
//! Used by every pass. Paths are relative, with forward slashes. A link that leaves the folder is
//! never followed.

use dh_map::Problem;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A content folder may hold so many files.
pub(crate) const FILES_MAX: usize = 100_000;
/// Folders may lie so deep in each other.
pub(crate) const DEPTH_MAX: usize = 32;

/// Sources by path.
pub trait Tree: Sync {
    /// Everything except what is hidden.
    fn list(&self) -> Result<Listing, Vec<Problem>>;
    /// The bytes of a file, if there are at most `most`.
    fn read(&self, path: &str, most: u64) -> Result<Vec<u8>, Problem>;
}

/// What is in a tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// The files, by path.
    pub files: Vec<Found>,
    /// The paths of the folders.
    pub folders: Vec<String>,
}

/// A file of a tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// Its path from the root.
    pub path: String,
    /// Its length.
    pub bytes: u64,
}

/// Files that are part of the program: path and bytes.
#[derive(Debug, Clone, Copy)]
pub struct Bundled<'a>(pub &'a [(&'a str, &'a [u8])]);

impl Tree for Bundled<'_> {
    fn list(&self) -> Result<Listing, Vec<Problem>> {
        let found = |(path, bytes): &(&str, &[u8])| Found {
            path: (*path).to_owned(),
            bytes: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        };
        let mut all: Vec<Found> = self.0.iter().map(found).collect();
        all.sort();
        Ok(Listing { files: all, folders: Vec::new() })
    }

    fn read(&self, path: &str, _: u64) -> Result<Vec<u8>, Problem> {
        let found = self.0.iter().find(|(name, _)| *name == path);
        let bytes = found.map(|(_, bytes)| bytes.to_vec());
        bytes.ok_or_else(|| Problem::of_file(path, "is not there", ""))
    }
}

/// A folder on disk.
#[derive(Debug)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    /// A folder that exists.
    pub fn open(root: &Path) -> std::io::Result<Self> {
        let root = root.canonicalize()?;
        if root.is_dir() {
            Ok(Self { root })
        } else {
            Err(std::io::ErrorKind::NotADirectory.into())
        }
    }

    /// The path from the root of a file that lies in the folder, whatever it is called by.
    pub(crate) fn path_of(&self, file: &Path) -> Option<String> {
        let real = file.canonicalize().ok()?;
        let parts = real.strip_prefix(&self.root).ok()?.components();
        let names: Option<Vec<&str>> = parts.map(|part| part.as_os_str().to_str()).collect();
        names.map(|names| names.join("/"))
    }

    /// Where a file really lies, if that is inside.
    fn real(&self, path: &str) -> Result<PathBuf, Problem> {
        let real = self.root.join(path).canonicalize().map_err(|error| unread(path, &error))?;
        if real.starts_with(&self.root) {
            return Ok(real);
        }
        Err(Problem::of_file(path, "is a link that leaves the folder", "copy the file into it"))
    }

    fn walk(&self, walk: &mut Walk, folder: &str, depth: usize) {
        let entries = fs::read_dir(self.root.join(folder)).and_then(Iterator::collect);
        let mut entries: Vec<fs::DirEntry> = match entries {
            Ok(entries) => entries,
            Err(error) => return walk.problems.push(unread(folder, &error)),
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            let shown = name.to_string_lossy();
            let path =
                if folder.is_empty() { shown.to_string() } else { format!("{folder}/{shown}") };
            if shown.starts_with('.') {
                continue;
            }
            if name.to_str().is_none() {
                let text = "has a name that is no UTF-8";
                walk.problems.push(Problem::of_file(&path, text, "rename it"));
            } else if walk.found.files.len() >= FILES_MAX || depth >= DEPTH_MAX {
                let text = format!("over {FILES_MAX} files, or {DEPTH_MAX} folders deep");
                return walk.problems.push(Problem::of_file(&path, text, "split the content"));
            } else {
                self.step(walk, path, &entry, depth);
            }
        }
    }

    fn step(&self, walk: &mut Walk, path: String, entry: &fs::DirEntry, depth: usize) {
        let meta = self.real(&path).and_then(|real| {
            let meta = fs::metadata(real).map_err(|error| unread(&path, &error))?;
            let kind = entry.file_type().map_err(|error| unread(&path, &error))?;
            Ok((meta, kind.is_symlink()))
        });
        match meta {
            Err(problem) => walk.problems.push(problem),
            Ok((meta, true)) if meta.is_dir() => {
                let text = "is a link to a folder";
                walk.problems.push(Problem::of_file(&path, text, "copy the folder here"));
            }
            Ok((meta, _)) if meta.is_dir() => {
                self.walk(walk, &path, depth + 1);
                walk.found.folders.push(path);
            }
            Ok((meta, _)) if meta.is_file() => {
                walk.found.files.push(Found { path, bytes: meta.len() });
            }
            Ok(_) => {
                let text = "is neither file nor folder";
                walk.problems.push(Problem::of_file(&path, text, "remove it"));
            }
        }
    }
}

#[derive(Default)]
struct Walk {
    found: Listing,
    problems: Vec<Problem>,
}

impl Tree for Folder {
    fn list(&self) -> Result<Listing, Vec<Problem>> {
        let mut walk = Walk::default();
        self.walk(&mut walk, "", 0);
        walk.found.files.sort();
        walk.found.folders.sort();
        if walk.problems.is_empty() { Ok(walk.found) } else { Err(walk.problems) }
    }

    fn read(&self, path: &str, most: u64) -> Result<Vec<u8>, Problem> {
        let file = fs::File::open(self.real(path)?).map_err(|error| unread(path, &error))?;
        let mut bytes = Vec::new();
        let read = file.take(most.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|error| unread(path, &error))?;
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > most {
            let text = format!("is over {} MiB", most >> 20);
            return Err(Problem::of_file(path, text, "make it smaller"));
        }
        Ok(bytes)
    }
}

fn unread(path: &str, error: &std::io::Error) -> Problem {
    Problem::of_file(path, format!("cannot be read: {error}"), "")
}
