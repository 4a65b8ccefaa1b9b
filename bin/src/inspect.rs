//! Inspect: looks at running processes, and lets the roles of this program be looked at.
//!
//! Without an address it finds the processes of this user by what they left in the runtime folder.

mod notice;
mod screen;
mod setting;
mod shown;
mod table;
mod target;

use dh_host::inspect::Snapshot;

pub(crate) use self::setting::{Setting, Waiting};
pub(crate) use self::shown::Shown;
use self::target::Target;
use crate::command::{Inspect, Shared};
use crate::exit::{Failure, say};
use crate::output;

/// Looks at the process that was named, or at those that are found.
pub(crate) fn run(flags: &Inspect, shared: &Shared) -> Result<(), Failure> {
    let targets = match &flags.connect {
        Some(to) => vec![Target::named(to, shared.data.as_deref())?],
        None => Target::found()?,
    };
    if flags.seq.is_none() && !shared.json && screen::is_possible() {
        return screen::run(targets);
    }
    let query = flags.seq.map_or_else(String::new, |seq| format!("?seq={seq}"));
    let mut failed = None;
    for target in &targets {
        match target.snapshot(&query) {
            Ok(snapshot) => print(&snapshot, shared)?,
            // It may have ended since it was found; the others are shown.
            Err(failure) if targets.len() > 1 => say(&failure.cause),
            Err(failure) => failed = Some(failure),
        }
    }
    failed.map_or(Ok(()), Err)
}

fn print(snapshot: &Snapshot, shared: &Shared) -> Result<(), Failure> {
    if shared.json {
        return output::line(&serde_json::to_string(snapshot).map_err(|error| {
            Failure::new(crate::exit::Exit::Internal, format!("a snapshot is no JSON: {error}"))
        })?);
    }
    output::line(&table::text(snapshot))
}
