//! Inspect: looks at running processes, and lets the roles of this program be looked at.
//!
//! Without an address it finds the processes of this user by what they left in the runtime folder.

mod act;
mod notice;
mod patient;
mod screen;
mod setting;
mod shown;
mod table;
mod target;

use dh_host::inspect::Snapshot;
use serde_json::json;

pub(crate) use self::setting::{Setting, Waiting};
pub(crate) use self::shown::Shown;
use self::target::{Secret, Target};
use crate::command::{Inspect, Shared};
use crate::exit::{Exit, Failure, say};
use crate::output;

/// Looks at the process that was named, or at those that are found; or has something done there.
pub(crate) fn run(flags: &Inspect, shared: &Shared) -> Result<(), Failure> {
    if flags.token_file.is_some() && flags.connect.is_none() {
        let cause = "--token-file is shown to nobody without --connect";
        return Err(Failure::new(Exit::Usage, cause).remedy("--connect ADDR:PORT"));
    }
    let targets = match &flags.connect {
        Some(to) => vec![Target::named(to, secret(flags, shared))?],
        None => Target::found()?,
    };
    if let Some(act) = &flags.act {
        return act::run(act, only(&targets)?, shared);
    }
    if flags.url {
        return targets.iter().try_for_each(|target| link(target, shared));
    }
    let query = match flags.seq {
        Some(seq) => return print(&only(&targets)?.snapshot(&format!("?seq={seq}"))?, shared),
        None if !shared.json && screen::is_possible() => {
            return screen::run(targets, flags.connect.is_none());
        }
        None => "",
    };
    let mut failed = None;
    for target in &targets {
        match target.snapshot(query) {
            Ok(snapshot) => print(&snapshot, shared)?,
            // It may have ended since it was found; the others are shown.
            Err(failure) if targets.len() > 1 => say(&failure.cause),
            Err(failure) => failed = Some(failure),
        }
    }
    failed.map_or(Ok(()), Err)
}

/// The one process that is meant.
fn only(targets: &[Target]) -> Result<&Target, Failure> {
    match targets {
        [target] => Ok(target),
        several => {
            let names: Vec<String> = several.iter().map(Target::name).collect();
            let cause = format!("{} processes run: {}", several.len(), names.join(", "));
            Err(Failure::new(Exit::Usage, cause).remedy("--connect ADDR:PORT, for one of them"))
        }
    }
}

fn link(target: &Target, shared: &Shared) -> Result<(), Failure> {
    let url = target.url();
    match shared.json {
        true => output::json(&json!({ "url": url })),
        false => output::line(&url),
    }
}

/// Whose token is shown.
fn secret<'a>(flags: &'a Inspect, shared: &'a Shared) -> Secret<'a> {
    match (&flags.token_file, &shared.data) {
        (Some(file), _) => Secret::File(file),
        (None, Some(folder)) => Secret::Folder(folder),
        (None, None) => Secret::Notice,
    }
}

fn print(snapshot: &Snapshot, shared: &Shared) -> Result<(), Failure> {
    if shared.json {
        return output::line(&serde_json::to_string(snapshot).map_err(|error| {
            Failure::new(Exit::Internal, format!("a snapshot is no JSON: {error}"))
        })?);
    }
    output::line(&table::text(snapshot))
}
