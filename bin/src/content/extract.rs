//! `dh pallet extract`: the files of a pallet, all of them or none, and never outside the folder.
//!
//! Everything is unpacked and proved in a folder beside its places first. A link that lies on the
//! way to a place is not followed.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use dh_machine::{DiskError, DiskErrorKind};
use dh_pallet::{Entry, PalletError};
use serde_json::json;

use super::opened::{self, FilePallet};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::output::bar::{Bar, Unit};

/// Unpacks the pallet at `path` into `out`, or into a folder that has the pallet's id.
pub(super) fn run(
    path: &Path,
    out: Option<&Path>,
    force: bool,
    as_json: bool,
) -> Result<(), Failure> {
    let pallet = opened::pallet(path)?;
    let out = out.map_or_else(|| PathBuf::from(&pallet.manifest().about.id), Path::to_owned);
    let entries = &pallet.manifest().entries;
    let taken: Vec<Failure> =
        entries.iter().filter_map(|entry| free(&out, &entry.path, force).err()).collect();
    super::pallet::together(taken)?;
    let is_new = !out.exists();
    let written = unpack(&pallet, path, &out);
    if written.is_err() && is_new {
        // Only if nothing is in it.
        let _ = fs::remove_dir(&out);
    }
    written?;
    if as_json {
        let path = out.display().to_string();
        return output::json(&json!({ "path": path, "entries": entries.len() }));
    }
    let files = if entries.len() == 1 { "file" } else { "files" };
    output::line(&format!("{} {files} in {}", entries.len(), out.display()))
}

/// Whether a file may come to this place: nothing but folders lies on the way to it, and nothing,
/// or a file that may be replaced, in its place.
fn free(out: &Path, entry: &str, force: bool) -> Result<(), Failure> {
    let mut place = out.to_owned();
    let mut parts = entry.split('/').peekable();
    while let Some(part) = parts.next() {
        place.push(part);
        let is_last = parts.peek().is_none();
        let Ok(there) = fs::symlink_metadata(&place) else { return Ok(()) };
        let why = match is_last {
            false if there.is_dir() => continue,
            false => "is in the way: it is no folder",
            true if there.is_dir() => "is in the way: it is a folder",
            true if force => continue,
            true => "is there already",
        };
        let failure = Failure::new(Exit::CannotCreate, format!("{} {why}", place.display()));
        return Err(
            failure.remedy("dh pallet extract FILE --out DIR, with a new folder, or --force")
        );
    }
    Ok(())
}

fn unpack(pallet: &FilePallet, path: &Path, out: &Path) -> Result<(), Failure> {
    let failed = |error: io::Error| unwritten(out, &error);
    fs::create_dir_all(out).map_err(failed)?;
    let bench = tempfile::Builder::new().prefix(".extract").tempdir_in(out).map_err(failed)?;
    let bar = Bar::new();
    let entries = &pallet.manifest().entries;
    let total = entries.iter().map(|entry| entry.raw_bytes).sum();
    let mut done = 0;
    for entry in entries {
        let mut tell = |bytes| {
            done += bytes;
            bar.told("unpacking", Unit::Bytes, done, total);
        };
        write(pallet, path, entry, bench.path(), &mut tell)?;
    }
    for Entry { path, .. } in entries {
        let place = out.join(path);
        place.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
        fs::rename(bench.path().join(path), place).map_err(failed)?;
    }
    Ok(())
}

/// One file, in a place that is ours alone.
fn write(
    pallet: &FilePallet,
    path: &Path,
    entry: &Entry,
    bench: &Path,
    tell: &mut dyn FnMut(u64),
) -> Result<(), Failure> {
    let place = bench.join(&entry.path);
    let made = place.parent().map_or(Ok(()), fs::create_dir_all);
    let mut file = made.and_then(|()| File::create(&place)).map_err(|e| unwritten(&place, &e))?;
    let mut broken = None;
    let copied = pallet.copy(&entry.path, entry.raw_bytes, &mut |piece| {
        tell(u64::try_from(piece.len()).unwrap_or(u64::MAX));
        file.write_all(piece).map_err(|error| {
            let refused = DiskError::new(DiskErrorKind::Full, entry.path.as_str());
            broken = Some(error);
            PalletError::Disk(refused)
        })
    });
    match (broken, copied) {
        (Some(error), _) => Err(unwritten(&place, &error)),
        (None, copied) => copied.map_err(|error| opened::damaged(path, &error)),
    }
}

/// What a fault of the place that is written to means to the user.
fn unwritten(place: &Path, error: &io::Error) -> Failure {
    let exit = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => Exit::Io,
        _ => Exit::CannotCreate,
    };
    let failure = Failure::new(exit, format!("cannot write {}: {error}", place.display()));
    failure.remedy("dh pallet extract FILE --out DIR, with a folder you may write to")
}
