//! Shrinking a failing run: what it needs is told, what it needs not goes to a file that
//! `--without` takes.

use std::fmt::Write as _;
use std::path::Path;

use dh_machine::Micros;
use dh_scenario::script::DeedKind;
use dh_scenario::{Conditions, RUNS_MAX, Script, Shrunk, shrink};

use super::files;
use super::outcome::Outcome;
use super::tell::counted;
use crate::command::Shared;
use crate::exit::{Exit, Failure, say};
use crate::output::{self, one_line, whole};

/// Shrink one failing run, and write what it needs not to a file that `--without` takes.
pub(super) fn run(
    script: &Script,
    outcome: &Outcome,
    conditions: &Conditions,
    shared: &Shared,
) -> Result<(), Failure> {
    if outcome.mistake.is_some() {
        say("dh: the script itself is at fault, so there is nothing to shrink");
        return Ok(());
    }
    let conditions = Conditions { seed: outcome.seed, ..conditions.clone() };
    let failure = outcome.failures.first().map(String::as_str).unwrap_or_default();
    let Some(shrunk) = shrink(script, &conditions, failure, RUNS_MAX) else {
        let cause = format!("{}: the failure did not come again", outcome.scenario);
        return Err(Failure::new(Exit::Internal, cause).remedy(outcome.again()));
    };
    tell(&shrunk, outcome, shared)
}

fn tell(shrunk: &Shrunk, outcome: &Outcome, shared: &Shared) -> Result<(), Failure> {
    let path = format!("{}.{}.without", outcome.scenario.replace(' ', "_"), outcome.seed);
    let mut text = format!("// {}: what seed {} fails without\n", outcome.scenario, outcome.seed);
    for key in &shrunk.conditions.without {
        let _ = writeln!(text, "{}", files::as_line(key));
    }
    whole::write(Path::new(&path), text.as_bytes())?;
    let aside = outcome.failures.len().saturating_sub(1);
    let what = outcome.first.as_ref().map(|first| one_line(&first.what)).unwrap_or_default();
    let at = outcome.first.as_ref().map(|first| first.at);
    if shared.json {
        let kept: Vec<_> = shrunk.kept().map(|deed| (deed.kind.name(), &deed.key)).collect();
        return output::json(&serde_json::json!({
            "shrunk": outcome.scenario, "seed": outcome.seed, "runs": shrunk.runs,
            "all": shrunk.deeds.len(), "kept": kept, "file": path,
            "failure": what, "at": at, "leftAside": aside,
        }));
    }
    let others = match aside {
        0 => String::new(),
        aside => format!("; {} left aside", counted(aside, "other failure")),
    };
    output::line(&format!("shrunk for: \"{what}\" at {:.3} s{others}", at.unwrap_or_default()))?;
    let counts = [DeedKind::Peer, DeedKind::Fault, DeedKind::Event].map(|kind| {
        let (kept, all) = shrunk.count(kind);
        format!("{kept} of {all} {}s", kind.name())
    });
    output::line(&format!("shrunk to {} in {} runs:", counts.join(", "), shrunk.runs))?;
    for deed in shrunk.kept() {
        output::line(&format!("      {:>8.3} s  {}", deed.at.as_secs_f64(), deed.key))?;
    }
    if shrunk.kept().next().is_none() {
        output::line("      it fails with nobody there")?;
    }
    let until = shrunk.conditions.until.map(Micros::as_secs_f64);
    let again = Outcome { without: Some(path), until, ..outcome.clone() }.again();
    output::line(&format!("      again: {again}"))
}
