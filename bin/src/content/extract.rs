//! `dh pallet extract`: the files of a pallet, all of them or none, and never outside the folder.
//!
//! Everything is unpacked and proved in a folder beside its places first, of which no signal leaves
//! anything. A link that lies on the way to a place is not followed, and nothing comes into a
//! folder that a pallet is built from.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process;

use dh_compile::ABOUT_FILE;
use dh_host::disk::free_space;
use dh_machine::{DiskError, DiskErrorKind};
use dh_pallet::{Entry, PalletError};
use serde_json::json;

use super::interrupt::{self, Pieces};
use super::opened::{self, FilePallet};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::output::bar::{Bar, Unit};

/// Unpacks the pallet at `path` into `out`, or into a folder that is named after the pallet's id.
pub(super) fn run(
    path: &Path,
    out: Option<&Path>,
    force: bool,
    as_json: bool,
) -> Result<(), Failure> {
    let pallet = opened::pallet(path)?;
    let named = || PathBuf::from(format!("{}.extracted", pallet.manifest().about.id));
    let out = out.map_or_else(named, Path::to_owned);
    refuse_sources(&out)?;
    let entries = &pallet.manifest().entries;
    let taken: Vec<Failure> =
        entries.iter().filter_map(|entry| free(&out, &entry.path, force).err()).collect();
    super::pallet::together(taken)?;
    let is_new = !out.exists();
    let pieces = Pieces::default();
    let place = out.clone();
    interrupt::cleared(&pieces, move || clear(&place, is_new))?;
    let written = unpack(&pallet, path, &out, &pieces);
    if written.is_err() {
        clear(&out, is_new);
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

/// What a pallet is built from is never overwritten with what came of it.
fn refuse_sources(out: &Path) -> Result<(), Failure> {
    if fs::symlink_metadata(out.join(ABOUT_FILE)).is_err() {
        return Ok(());
    }
    let why = "is a content folder: compiled files would replace its sources";
    let failure = Failure::new(Exit::CannotCreate, format!("{} {why}", out.display()));
    Err(failure.remedy("dh pallet extract FILE --out DIR, with another folder"))
}

/// What the names of this process's folders of unfinished work begin with.
fn unfinished() -> String {
    format!(".extract-{}-", process::id())
}

/// Removes what is unfinished, and the folder itself if it is new and nothing else is in it.
fn clear(out: &Path, is_new: bool) {
    let prefix = unfinished();
    for entry in fs::read_dir(out).into_iter().flatten().filter_map(Result::ok) {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    if is_new {
        let _ = fs::remove_dir(out);
    }
}

/// Whether so many bytes fit, where the system tells it.
fn fits(out: &Path, bytes: u64) -> Result<(), Failure> {
    if free_space(out).is_ok_and(|free| free < bytes) {
        return Err(unwritten(out, &ErrorKind::StorageFull.into()));
    }
    Ok(())
}

fn unpack(pallet: &FilePallet, path: &Path, out: &Path, pieces: &Pieces) -> Result<(), Failure> {
    let failed = |error: io::Error| unwritten(out, &error);
    let made = pieces.one(|| {
        fs::create_dir_all(out)?;
        tempfile::Builder::new().prefix(&unfinished()).tempdir_in(out)
    });
    let bench = made.map_err(failed)?;
    let bar = Bar::new();
    let entries = &pallet.manifest().entries;
    let total = entries.iter().map(|entry| entry.raw_bytes).fold(0, u64::saturating_add);
    fits(out, total)?;
    let mut done = 0;
    for entry in entries {
        let mut tell = |bytes| {
            done += bytes;
            bar.told("unpacking", Unit::Bytes, done, total);
        };
        write(pallet, path, entry, bench.path(), pieces, &mut tell)?;
    }
    let publish = |Entry { path, .. }: &Entry| {
        let place = out.join(path);
        place.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::rename(bench.path().join(path), place)
    };
    pieces.one(|| entries.iter().try_for_each(publish)).map_err(failed)
}

/// One file, in a place that is ours alone.
fn write(
    pallet: &FilePallet,
    path: &Path,
    entry: &Entry,
    bench: &Path,
    pieces: &Pieces,
    tell: &mut dyn FnMut(u64),
) -> Result<(), Failure> {
    let place = bench.join(&entry.path);
    let made = pieces.one(|| {
        place.parent().map_or(Ok(()), fs::create_dir_all)?;
        File::create(&place)
    });
    let mut file = made.map_err(|error| unwritten(&place, &error))?;
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
