//! Data folder: where this user's identity, known hosts and preferences live.
//!
//! Used by every role that keeps something. `--data`, else `DH_DATA`, else the platform's folder,
//! else a temporary one, told in one line and removed at the end. What is created here is closed to
//! other users.

use crate::exit::{Exit, Failure, say};
use etcetera::BaseStrategy as _;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// What helps where the folder cannot be written.
pub(crate) const REMEDY: &str = "dh --data DIR, with a folder you may write to";
/// Who may use a folder of ours: its owner, for everything.
const OWNER_ONLY: u32 = 0o700;

/// The folder that is in use.
#[derive(Debug)]
pub(crate) struct DataFolder {
    path: PathBuf,
    origin: Origin,
}

/// Why it is this folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// `--data` says so.
    Flag,
    /// `DH_DATA` says so.
    Environment,
    /// The platform's folder for a user's data.
    Platform,
    /// There was no other.
    Temporary,
}

impl DataFolder {
    /// Opens the folder that the flag, the environment or the platform names, making it if needed.
    pub(crate) fn open(flag: Option<&Path>) -> Result<Self, Failure> {
        Self::choose(Self::look(flag))
    }

    /// The same for what is of no use once it is gone: no temporary folder takes its place.
    pub(crate) fn open_lasting(flag: Option<&Path>) -> Result<Self, Failure> {
        Self::choose_lasting(Self::look(flag))
    }

    /// The same for whoever only looks: a folder that the flag names is not made, so that a
    /// mistyped name is told.
    pub(crate) fn open_existing(flag: Option<&Path>) -> Result<Self, Failure> {
        match Self::look(flag) {
            Some((path, Origin::Flag)) if !path.is_dir() => {
                let cause = format!("no data folder {}", path.display());
                Err(Failure::new(Exit::Missing, cause)
                    .remedy("--data DIR, with one that dh has used"))
            }
            _ => Self::open(flag),
        }
    }

    /// The folder that would be opened and why, without making it; none where there is no home.
    pub(crate) fn look(flag: Option<&Path>) -> Option<(PathBuf, Origin)> {
        let platform = etcetera::choose_base_strategy().ok().map(|base| base.data_dir());
        Self::wanted(flag, std::env::var_os("DH_DATA"), platform)
    }

    fn wanted(
        flag: Option<&Path>,
        variable: Option<OsString>,
        platform: Option<PathBuf>,
    ) -> Option<(PathBuf, Origin)> {
        let variable = variable.filter(|value| !value.is_empty()).map(PathBuf::from);
        let named = flag.map(|path| (path.to_owned(), Origin::Flag));
        let named = named.or_else(|| variable.map(|path| (path, Origin::Environment)));
        named.or_else(|| platform.map(|path| (path.join("driftholm"), Origin::Platform)))
    }

    /// A folder that was named is used or refused; the platform's can be replaced.
    fn choose(wanted: Option<(PathBuf, Origin)>) -> Result<Self, Failure> {
        let is_named = matches!(wanted, Some((_, Origin::Flag | Origin::Environment)));
        match Self::choose_lasting(wanted) {
            Err(failure) if !is_named => Self::temporary(&failure.cause),
            chosen => chosen,
        }
    }

    fn choose_lasting(wanted: Option<(PathBuf, Origin)>) -> Result<Self, Failure> {
        let Some((path, origin)) = wanted else {
            let cause = "this user has no home folder";
            return Err(Failure::new(Exit::CannotCreate, cause).remedy(REMEDY));
        };
        make(&path).map_err(|error| cannot_make(&path, &error))?;
        Ok(Self { path, origin })
    }

    /// A folder that lasts as long as this run.
    fn temporary(why: &str) -> Result<Self, Failure> {
        let place = std::env::temp_dir();
        let names = (0..100).map(|n| place.join(format!("driftholm-{}-{n}", std::process::id())));
        // Creating must make something new: a folder that somebody else put there is not ours.
        let fresh = |path: &PathBuf| DirBuilder::new().mode(OWNER_ONLY).create(path).is_ok();
        let Some(path) = names.into_iter().find(fresh) else {
            let cause =
                format!("no data folder can be made: {why}, and none in {}", place.display());
            return Err(Failure::new(Exit::CannotCreate, cause).remedy("dh --data DIR"));
        };
        say(&format!("{why}; this run keeps its data in {} only", path.display()));
        Ok(Self { path, origin: Origin::Temporary })
    }

    /// A file in it.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for DataFolder {
    fn drop(&mut self) {
        if self.origin == Origin::Temporary {
            drop(fs::remove_dir_all(&self.path));
        }
    }
}

/// Makes the folder, closed to others; one that exists must be a folder and stays as it is.
fn make(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(OWNER_ONLY).create(path)?;
    fs::set_permissions(path, Permissions::from_mode(OWNER_ONLY))
}

fn cannot_make(path: &Path, error: &io::Error) -> Failure {
    let cause = format!("cannot make the data folder {}: {error}", path.display());
    Failure::new(Exit::CannotCreate, cause).remedy(REMEDY)
}

#[cfg(test)]
mod tests;
