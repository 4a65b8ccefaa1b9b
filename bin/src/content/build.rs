//! `dh build`: a folder of content into a pallet, or everything that is wrong with it.

use std::io::{Write as _, stderr};
use std::path::Path;

use dh_compile::{BuildError, Built, Progress, Stage};
use dh_machine::{DiskError, DiskErrorKind};
use dh_map::Problem;
use dh_pallet::clipped;
use serde_json::{Value, json};

use super::interrupt::{self, Pieces};
use crate::command::{Build, Shared};
use crate::exit::{Exit, Failure, say};
use crate::output;
use crate::output::bar::{Bar, Unit};

/// Builds, and tells what came of it.
pub(super) fn run(flags: &Build, shared: &Shared) -> Result<(), Failure> {
    if let Some(folder) = &flags.schema {
        let written = dh_compile::schema(folder);
        written.map_err(|error| {
            let cause = format!("cannot write schemas to {}: {error}", folder.display());
            Failure::new(Exit::CannotCreate, cause).remedy("dh build SOURCE_DIR --schema DIR")
        })?;
    }
    let out = flags.out.as_deref().unwrap_or_else(|| Path::new("."));
    let place = out.to_owned();
    interrupt::cleared(&Pieces::default(), move || dh_compile::abandon(&place))?;
    let bar = Bar::new();
    let built = dh_compile::build(&flags.source, out, &|progress| show(&bar, progress));
    drop(bar);
    let built = built.map_err(|error| failure(error, &flags.source, shared.json))?;
    if shared.json {
        return output::json(&facts(&built));
    }
    match built.notes.len() {
        0 => {}
        _ if shared.verbosity() > 0 => tell(&built.notes, &flags.source, false),
        1 => say("dh: 1 note on this content; -v tells it"),
        notes => say(&format!("dh: {notes} notes on this content; -v tells them")),
    }
    let Built { path, id, content, entries, bytes, .. } = &built;
    let path = path.strip_prefix(".").unwrap_or(path);
    output::line(&format!("built        {}", path.display()))?;
    output::line(&format!("id           {id}"))?;
    output::line(&format!("fingerprint  {}", content.fingerprint))?;
    output::line(&format!("root         {}", content.root))?;
    output::line(&format!("entries      {entries}"))?;
    output::line(&format!("bytes        {bytes}"))
}

fn show(bar: &Bar, Progress { stage, done, total }: Progress) {
    let (work, unit) = match stage {
        Stage::Images => ("pictures", Unit::Files),
        Stage::Models => ("models", Unit::Files),
        Stage::Maps => ("maps", Unit::Files),
        Stage::Writing => ("writing", Unit::Bytes),
    };
    bar.told(work, unit, done, total);
}

fn facts(built: &Built) -> Value {
    json!({
        "path": built.path.display().to_string(),
        "palletId": built.id,
        "fingerprint": built.content.fingerprint.to_string(),
        "root": built.content.root.to_string(),
        "entries": built.entries,
        "bytes": built.bytes,
        "notes": built.notes.iter().map(problem).collect::<Value>(),
    })
}

/// Why nothing was built; mistakes of the content are told here, one a line.
fn failure(error: BuildError, source: &Path, as_json: bool) -> Failure {
    match error {
        BuildError::Content(problems) => {
            tell(&problems, source, as_json);
            let count = problems.iter().filter(|problem| !problem.is_more()).count();
            let many = if count == 1 { "problem" } else { "problems" };
            let more = if count < problems.len() { " and more" } else { "" };
            let cause = format!("{count} {many}{more} in {}; nothing is built", source.display());
            Failure::new(Exit::Damaged, cause)
        }
        BuildError::Missing(path, error) => {
            let cause = format!("no content folder {}: {error}", path.display());
            Failure::new(Exit::Missing, cause).remedy("dh new DIR, for one to start from")
        }
        BuildError::Output(error) => output_failure(&error),
        BuildError::Taken(path, why) => {
            let cause = format!("{} {why} and is not replaced", path.display());
            let remedy = "dh build SOURCE_DIR --out FILE, with a new name or that of a pallet";
            Failure::new(Exit::CannotCreate, cause).remedy(remedy)
        }
    }
}

/// What a fault of the place that is written to means to the user.
fn output_failure(error: &DiskError) -> Failure {
    let (exit, remedy) = match &error.kind {
        DiskErrorKind::Full => (Exit::Io, "dh build SOURCE_DIR --out FILE, on another disk"),
        DiskErrorKind::Io(_) => (Exit::Io, "dh build SOURCE_DIR --out FILE, in another place"),
        _ => (Exit::CannotCreate, "dh build SOURCE_DIR --out FILE, where you may write"),
    };
    Failure::new(exit, format!("cannot write {error}")).remedy(remedy)
}

/// All of them, however many: unlike events, they wait for whoever reads them.
fn tell(problems: &[Problem], source: &Path, as_json: bool) {
    let line = |it: &Problem| if as_json { problem(it).to_string() } else { from_here(source, it) };
    let lines = problems.iter().map(|it| line(it) + "\n");
    // A stderr that is closed is nobody's fault.
    let _ = stderr().lock().write_all(lines.collect::<String>().as_bytes());
}

/// A problem by the path of its file from where the command was typed, which can be clicked on.
fn from_here(source: &Path, problem: &Problem) -> String {
    let file = source.join(&problem.file);
    let file = file.strip_prefix(".").unwrap_or(&file).display().to_string();
    Problem { file, ..problem.clone() }.to_string()
}

/// A problem as JSON, by the path of its file in the source folder.
fn problem(problem: &Problem) -> Value {
    let Problem { file, line, column, text, remedy } = problem;
    let place = |number: &u32| (*number > 0).then_some(*number);
    let remedy = (!remedy.is_empty()).then(|| clipped(remedy));
    json!({
        "file": clipped(file), "line": place(line), "column": place(column),
        "text": clipped(text), "remedy": remedy,
    })
}
