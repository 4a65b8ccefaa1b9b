//! Shrinking: from a failing run to one that fails the same way with few peers, faults and events.
//!
//! Deeds are left out in ever smaller parts, first peers, then faults, then the rest, for as long as
//! the run goes on failing: delta debugging (Zeller and Hildebrandt, 2002) over the keys of deeds.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use dh_scenario::script::{Deed, DeedKind};
use dh_scenario::{Conditions, Script};

use super::outcome::Outcome;
use crate::command::Shared;
use crate::exit::{Exit, Failure, say};
use crate::output;

/// Runs of one shrinking, at most.
const RUNS_MAX: usize = 400;

/// What is left out so far, and what it takes to try more.
struct Shrinking<'a> {
    script: &'a Script,
    conditions: Conditions,
    /// What the run failed with: the first failure without its time.
    failure: String,
    runs: usize,
}

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
    let conditions = Conditions { seed: outcome.seed, hasty: true, ..conditions.clone() };
    let failure = outcome.failures.first().map(|it| kind_of(it)).unwrap_or_default();
    let mut shrinking = Shrinking { script, conditions, failure, runs: 0 };
    let Some(deeds) = shrinking.deeds() else {
        let cause = format!("{}: the failure did not come again", outcome.scenario);
        return Err(Failure::new(Exit::Internal, cause).remedy(outcome.again()));
    };
    for kind in [DeedKind::Peer, DeedKind::Fault, DeedKind::Event] {
        let mut keys: Vec<String> =
            deeds.iter().filter(|deed| deed.kind == kind).map(|deed| deed.key.clone()).collect();
        keys.dedup();
        shrinking.reduce(keys);
    }
    tell(&shrinking, &deeds, outcome, shared)
}

impl Shrinking<'_> {
    /// The deeds of the run as it is now, if it fails the same way.
    fn deeds(&mut self) -> Option<Vec<Deed>> {
        self.runs += 1;
        let ran = self.script.simulate(&self.conditions).ok()?;
        let mut failures = ran.report.failures.iter();
        let same = ran.mistake.is_none() && failures.any(|it| kind_of(&it.what) == self.failure);
        same.then_some(ran.deeds)
    }

    /// Leave out as many of these as the failure does not need.
    fn reduce(&mut self, keys: Vec<String>) {
        let mut kept = keys;
        let mut parts = 1;
        while !kept.is_empty() && self.runs < RUNS_MAX {
            let size = kept.len().div_ceil(parts);
            let found = kept.chunks(size).position(|part| self.goes_without(part));
            match found {
                Some(at) => {
                    let from = at * size;
                    let to = (from + size).min(kept.len());
                    kept.drain(from..to);
                    parts = parts.saturating_sub(1).max(1);
                }
                None if size == 1 => break,
                None => parts = (parts * 2).min(kept.len()),
            }
        }
    }

    fn goes_without(&mut self, part: &[String]) -> bool {
        if RUNS_MAX <= self.runs {
            return false;
        }
        let before: BTreeSet<String> = self.conditions.without.clone();
        self.conditions.without.extend(part.iter().cloned());
        let fails = self.deeds().is_some();
        if !fails {
            self.conditions.without = before;
        }
        fails
    }
}

fn tell(
    shrunk: &Shrinking<'_>,
    deeds: &[Deed],
    outcome: &Outcome,
    shared: &Shared,
) -> Result<(), Failure> {
    let without = &shrunk.conditions.without;
    let left = |kind| {
        let of_kind = deeds.iter().filter(move |deed| deed.kind == kind);
        let (all, kept) = of_kind.fold((0, 0), |(all, kept), deed| {
            (all + 1, kept + usize::from(!without.contains(&deed.key)))
        });
        format!("{kept} of {all} {}s", kind.name())
    };
    let counts = [DeedKind::Peer, DeedKind::Fault, DeedKind::Event].map(left).join(", ");
    let path = format!("{}.{}.without", outcome.scenario.replace(' ', "_"), outcome.seed);
    let mut text = format!("// {}: what seed {} fails without\n", outcome.scenario, outcome.seed);
    for key in without {
        let _ = writeln!(text, "{key}");
    }
    std::fs::write(Path::new(&path), text)
        .map_err(|error| Failure::new(Exit::CannotCreate, format!("{path}: {error}")))?;
    if shared.json {
        let kept = deeds.iter().filter(|deed| !without.contains(&deed.key));
        let kept: Vec<_> = kept.map(|deed| (deed.kind.name(), &deed.key)).collect();
        return output::json(&serde_json::json!({
            "shrunk": outcome.scenario, "seed": outcome.seed, "runs": shrunk.runs,
            "all": deeds.len(), "kept": kept, "file": path,
        }));
    }
    output::line(&format!("shrunk to {counts} in {} runs:", shrunk.runs))?;
    for deed in deeds.iter().filter(|deed| !without.contains(&deed.key)) {
        output::line(&format!("      {:>8.3} s  {}", deed.at.as_secs_f64(), deed.key))?;
    }
    let again = Outcome { without: Some(path), ..outcome.clone() }.again();
    output::line(&format!("      again: {again}"))
}

/// A failure without the time and the figures that change with what else happens.
fn kind_of(failure: &str) -> String {
    let told = failure.split_once(" s ").filter(|_| failure.starts_with("at "));
    let text = told.map_or(failure, |(_, text)| text);
    text.chars().filter(|it| !it.is_ascii_digit()).collect()
}
