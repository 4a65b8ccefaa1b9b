//! Playing a journal of the flight recorder again, with the pallets that lie beside it.

use std::fs;
use std::path::{Path, PathBuf};

use dh_host::flight::Flight;
use dh_scenario::replay::{ReplayError, replay};
use dh_server::MapError;
use dh_server::tick::JOURNAL_FILE_MAX;
use serde_json::json;

use super::outcome::quoted;
use crate::command::Shared;
use crate::content;
use crate::data::DataFolder;
use crate::exit::{Exit, Failure};
use crate::input;
use crate::output;

/// What the files of pallets end in.
const PALLET: &str = "pallet";

/// Plays a journal again; a tick that comes out otherwise is a mismatch.
pub(super) fn run(file: &Path, given: &[PathBuf], shared: &Shared) -> Result<(), Failure> {
    let max = u64::try_from(JOURNAL_FILE_MAX).unwrap_or(u64::MAX);
    let beside = |failure: Failure| match Flight::journals_beside(file).first() {
        Some(journal) => {
            let remedy = format!("dh scenario replay {}", quoted(&journal.display().to_string()));
            failure.remedy(remedy)
        }
        None => failure,
    };
    let bytes = input::bytes(file, max, "a journal").map_err(beside)?;
    let folder = DataFolder::open(shared.data.as_deref())?;
    let shelf = content::shelf(&with_beside(given, file), &folder)?;
    let replayed = replay(&bytes, Some(&shelf)).map_err(|error| {
        let cause = format!("{}: {error}", file.display());
        let of_map = |exit| {
            let failure = Failure::new(exit, &cause);
            failure.remedy("--content FILE, with the pallet of that map")
        };
        match error {
            ReplayError::Journal(_) => beside(Failure::new(Exit::Damaged, &cause)),
            ReplayError::Map { error: MapError::Damaged(_), .. } => of_map(Exit::Damaged),
            ReplayError::Map { .. } => of_map(Exit::Missing),
        }
    })?;
    let first = replayed.first_difference;
    if shared.json {
        output::json(&json!({
            "file": file, "ticks": replayed.ticks, "spans": replayed.spans,
            "faults": replayed.faults, "equal": first.is_none(),
            "firstDifference": first.map(|first| first.tick.0),
        }))?;
    } else if first.is_none() {
        output::line(&replayed.to_string())?;
    }
    match first {
        None => Ok(()),
        Some(_) => Err(Failure::new(Exit::Mismatch, replayed)
            .remedy("dh --version, which must be that of the program that wrote the journal")),
    }
}

/// What was given, and the pallets in the folder of a journal: a record holds those it needs.
fn with_beside(given: &[PathBuf], journal: &Path) -> Vec<PathBuf> {
    let folder = journal.parent().filter(|folder| !folder.as_os_str().is_empty());
    let listed = fs::read_dir(folder.unwrap_or_else(|| Path::new(".")));
    let files = listed.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut pallets: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|it| it == PALLET)).collect();
    pallets.sort();
    given.iter().cloned().chain(pallets).collect()
}
