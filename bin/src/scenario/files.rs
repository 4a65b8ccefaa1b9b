//! The files of scenarios: found, read within a bound, and written only where nothing is.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use dh_scenario::Script;
use dh_scenario::script::limit::FILE_MAX;

use crate::exit::{Exit, Failure};

/// A scenario to start from.
pub(super) const TEMPLATE: &str = include_str!("template.rhai");
/// What scenarios end in.
const EXTENSION: &str = "rhai";
/// Scenarios of one command, at most.
const FILES_MAX: usize = 10_000;

/// One scenario, and where it lies.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) path: String,
    pub(super) script: Script,
}

/// The scenarios of these files and folders, in the order of their names.
pub(super) fn find(paths: &[PathBuf]) -> Result<Vec<Found>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        let missing = |error: io::Error| {
            Failure::new(Exit::Missing, format!("{}: {error}", path.display()))
                .remedy("dh scenario new NAME writes one to start from")
        };
        if !fs::metadata(path).map_err(missing)?.is_dir() {
            files.push(path.clone());
            continue;
        }
        let mut inside = Vec::new();
        for entry in fs::read_dir(path).map_err(missing)? {
            let file = entry.map_err(missing)?.path();
            if file.extension().is_some_and(|it| it == EXTENSION) {
                inside.push(file);
            }
            if FILES_MAX < inside.len() {
                let cause = format!("{}: more than {FILES_MAX} scenarios", path.display());
                return Err(Failure::new(Exit::Usage, cause));
            }
        }
        if inside.is_empty() {
            let cause = format!("{}: no file in it ends in .{EXTENSION}", path.display());
            return Err(Failure::new(Exit::Missing, cause));
        }
        inside.sort();
        files.extend(inside);
    }
    files.iter().map(|path| read(path)).collect()
}

/// The lines of a file of keys.
pub(super) fn keys(path: &Path) -> Result<Vec<String>, Failure> {
    let text = text(path)?;
    Ok(text.lines().filter(|line| !line.starts_with("//")).map(str::to_owned).collect())
}

/// Write a file that is not there yet.
pub(super) fn create(path: &Path, text: &str) -> Result<(), Failure> {
    let made = OpenOptions::new().write(true).create_new(true).open(path);
    made.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
        Failure::new(Exit::CannotCreate, format!("{}: {error}", path.display()))
            .remedy("another name, or another folder")
    })
}

fn read(path: &Path) -> Result<Found, Failure> {
    let text = text(path)?;
    let path = path.display().to_string();
    Ok(Found { script: Script::new(path.clone(), text), path })
}

fn text(path: &Path) -> Result<String, Failure> {
    let shown = path.display();
    let failed = |error: io::Error| Failure::new(Exit::Missing, format!("{shown}: {error}"));
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(Failure::new(Exit::Missing, format!("{shown}: it is no file")));
    }
    file.take(FILE_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    if FILE_MAX < u64::try_from(bytes.len()).unwrap_or(u64::MAX) {
        let cause = format!("{shown}: more than {FILE_MAX} bytes, expected a scenario");
        return Err(Failure::new(Exit::Damaged, cause));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::new(Exit::Damaged, format!("{shown}: byte {at} is not UTF-8, expected text"))
    })
}
