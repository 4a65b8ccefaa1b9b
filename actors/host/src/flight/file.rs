//! The files of a record: numbered on, written beside and put in place when whole, the oldest
//! removed.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::{Flight, FlightError};
use crate::net::replace_with;

/// Bytes of a cause that its file's name tells.
const CAUSE_MAX: usize = 40;

/// Write one record; the path of its trace.
pub(super) fn write(
    folder: &Path,
    cause: &str,
    journals: &[(String, Vec<u8>)],
    trace: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<PathBuf, FlightError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| FlightError::Io { path, error }
    };
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed(folder))?;
    let numbers = numbers(folder).map_err(failed(folder))?;
    let number = numbers.last().map_or(1, |last| last.saturating_add(1));
    let stem = format!("flight-{number:06}-{}", plain(cause));
    for (name, bytes) in journals {
        let path = folder.join(format!("{stem}.{}.journal", plain(name)));
        replace_with(&path, |file| file.write_all(bytes)).map_err(failed(&path))?;
    }
    let path = folder.join(format!("{stem}.json"));
    let written = replace_with(&path, |file| {
        let mut out = BufWriter::with_capacity(1 << 16, file);
        trace(&mut out)?;
        out.flush()
    });
    written.map_err(failed(&path))?;
    let keep = Flight::FILES_MAX - 1;
    let old: BTreeSet<u64> = numbers.into_iter().rev().skip(keep).collect();
    remove(folder, &old).map_err(failed(folder))?;
    Ok(path)
}

/// The journals of the record with this trace, by their names.
pub(super) fn journals_of(trace: &Path) -> Vec<PathBuf> {
    let Some(stem) = trace.file_stem().and_then(|stem| stem.to_str()) else { return Vec::new() };
    let folder = match trace.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let is_its = |name: &str| {
        let rest = name.strip_prefix(stem).and_then(|rest| rest.strip_prefix('.'));
        number_of(Path::new(name)).is_some()
            && rest
                .and_then(|rest| rest.strip_suffix(".journal"))
                .is_some_and(|it| !it.contains('.'))
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut journals: Vec<PathBuf> =
        names.filter(|name| is_its(name)).map(|name| trace.with_file_name(name)).collect();
    journals.sort();
    journals
}

/// The numbers of the records that are there.
fn numbers(folder: &Path) -> io::Result<BTreeSet<u64>> {
    let entries = fs::read_dir(folder)?.filter_map(Result::ok);
    Ok(entries.filter_map(|entry| number_of(&entry.path())).collect())
}

fn remove(folder: &Path, old: &BTreeSet<u64>) -> io::Result<()> {
    for entry in fs::read_dir(folder)?.filter_map(Result::ok) {
        if number_of(&entry.path()).is_some_and(|number| old.contains(&number)) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn number_of(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?.strip_prefix("flight-")?;
    name.split_once('-')?.0.parse().ok()
}

/// A text with nothing in it that a file's name should not have.
fn plain(text: &str) -> String {
    let letters = text.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '-' });
    letters.take(CAUSE_MAX).collect()
}
