//! Opened: a pallet file that the user named, and what is wrong with it in one line.

use std::fs;
use std::path::Path;

use dh_host::disk::RealDisk;
use dh_machine::{Disk as _, DiskError, DiskErrorKind, DiskFile};
use dh_pallet::{Pallet, PalletError};

use super::shelf::text;
use crate::exit::{Exit, Failure};

/// A pallet in a file.
pub(super) type FilePallet = Pallet<Box<dyn DiskFile>>;

/// The file, whatever it holds.
pub(super) fn file(path: &Path) -> Result<Box<dyn DiskFile>, Failure> {
    let told = |error| damaged(path, &PalletError::Disk(error));
    match fs::metadata(path) {
        Ok(facts) if !facts.is_file() => {
            let what = if facts.is_dir() { "a folder" } else { "no file" };
            let cause = format!("{}: {what}, not a pallet", path.display());
            return Err(Failure::new(Exit::Damaged, cause));
        }
        _ => {}
    }
    RealDisk.open(&text(path)?).map_err(told)
}

/// The pallet in the file: its header, group table and manifest are proved.
pub(super) fn pallet(path: &Path) -> Result<FilePallet, Failure> {
    Pallet::open(file(path)?, None).map_err(|error| damaged(path, &error))
}

/// What is wrong with a file, by its name.
pub(super) fn damaged(path: &Path, error: &PalletError) -> Failure {
    match error {
        PalletError::Disk(error) => {
            let exit = match error.kind {
                DiskErrorKind::NotFound => Exit::Missing,
                _ => Exit::Io,
            };
            Failure::new(exit, DiskError { path: path.display().to_string(), ..error.clone() })
        }
        error => Failure::new(Exit::Damaged, format!("{}: {error}", path.display())),
    }
}
