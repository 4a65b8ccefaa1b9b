//! Telling: what runs, what each run came to, and what all of them have in common.

use std::collections::{BTreeMap, BTreeSet};

use dh_scenario::Script;

use super::outcome::{self, First, Outcome, refused, unreached};
use crate::command::Shared;
use crate::exit::{Exit, Failure, say};
use crate::output::{self, one_line};

/// What was done and happened before a failure, as far as a terminal is told.
const LINES_SHOWN: usize = 20;
/// Kinds of failures that a summary names.
const KINDS_SHOWN: usize = 12;

/// The first line: what names exactly what runs.
pub(super) fn head(script: &Script, seed: u64, shared: &Shared) {
    let line = Outcome::head(script, seed);
    if shared.json {
        say(&line);
    } else {
        // A reader who is gone is told of at the end.
        let _ = output::line(&line);
    }
}

/// What one of so many runs came to.
pub(super) fn of(outcome: &Outcome, shared: &Shared, runs: usize) -> Result<(), Failure> {
    if runs == 1 {
        let prints = outcome.prints.iter();
        prints.for_each(|(at, text)| say(&format!("{at:>9.3} s  {}", one_line(text))));
    }
    if shared.json {
        return output::json(&outcome.json());
    }
    let Outcome { scenario, seed, sim_seconds, cpu_seconds, checks, .. } = outcome;
    if outcome.passed() {
        let broken = if outcome.is_broken_off { "broken off, " } else { "" };
        let checks = counted(*checks, "check");
        let cost = format!("{broken}{checks}, {sim_seconds:.0} s in {cpu_seconds:.2} s of a core");
        output::line(&format!("ok    {scenario} - seed {seed} - {cost}"))?;
    } else if runs == 1 {
        output::line(&format!("FAIL  {scenario} - seed {seed}"))?;
        // A mistake of the script is the last word of the command.
        let mistake = outcome.mistake.as_ref().map(ToString::to_string);
        let failures = outcome.failures.iter().filter(|it| Some(*it) != mistake.as_ref());
        for (nth, failure) in failures.clone().enumerate() {
            output::line(&format!("      {}", one_line(failure)))?;
            if nth == 0 {
                before(outcome)?;
            }
        }
        if mistake.is_some() && failures.count() == 0 {
            before(outcome)?;
        } else {
            output::line(&format!("      again: {}", outcome.again()))?;
        }
        if outcome.runtime != "sim" {
            output::line("      (in real time, so it may come otherwise)")?;
        }
    } else {
        let first = outcome.failures.first().map(|it| one_line(it)).unwrap_or_default();
        let more = match outcome.failures.len() {
            0 | 1 => String::new(),
            all => format!(", and {} more", all - 1),
        };
        output::line(&format!("FAIL  {scenario} - seed {seed} - {first}{more}"))?;
    }
    let record = outcome.record.iter().map(|path| format!("      record: {path}"));
    let journals = outcome
        .journals
        .iter()
        .map(|path| format!("      journal: {path}, for dh scenario replay"));
    let pallets = outcome.pallets.iter().map(|path| format!("      its content: {path}"));
    record.chain(journals).chain(pallets).try_for_each(|line| output::line(&line))
}

/// What led to the first failure.
fn before(outcome: &Outcome) -> Result<(), Failure> {
    let end = outcome.first.as_ref().map_or(f64::INFINITY, |first| first.at);
    let until = outcome.course.partition_point(|line| line.at <= end);
    let lines = &outcome.course[until.saturating_sub(LINES_SHOWN)..until];
    if !lines.is_empty() {
        output::line("      before it:")?;
    }
    lines.iter().try_for_each(|line| output::line(&format!("      {}", line.shown())))
}

/// Keys that were to be left out and that nothing was done by in any run.
pub(super) fn unknown(without: &BTreeSet<String>, outcomes: &[Outcome]) {
    let met: BTreeSet<&String> = outcomes.iter().flat_map(|it| &it.left_out).collect();
    for key in without.iter().filter(|key| !met.contains(key)) {
        say(&format!("dh: --without: `{}` is not done here, so it is not left out", one_line(key)));
    }
}

/// How the command ends: 65 or 66 for a script that is at fault, 1 for what failed.
pub(super) fn verdict(outcomes: &[Outcome], shared: &Shared) -> Result<(), Failure> {
    let failed = outcomes.iter().filter(|outcome| !outcome.passed()).count();
    if !shared.json && outcomes.len() > 1 {
        kinds(outcomes)?;
        let passed = outcomes.len() - failed;
        output::line(&format!("{passed} passed, {failed} failed"))?;
    }
    for place in unreached(outcomes) {
        let place = one_line(&place.to_string());
        say(&format!("dh: no run reached a check, so nothing is known of it: {place}"));
    }
    for file in outcome::unchecked(outcomes) {
        say(&format!(
            "dh: {}: it checks nothing itself; expected expect(), never() or eventually()",
            one_line(file)
        ));
    }
    if let Some(mistake) = outcomes.iter().find_map(|outcome| outcome.mistake.as_ref()) {
        return Err(refused(mistake));
    }
    match outcomes.iter().find(|outcome| !outcome.passed()) {
        None => Ok(()),
        Some(first) => {
            let cause = format!("{failed} of {} runs failed", outcomes.len());
            Err(Failure::new(Exit::Failed, cause).remedy(first.again()))
        }
    }
}

/// What the runs that failed have in common: each kind of failure once, the commonest first, by the
/// run where it shows soonest.
fn kinds(outcomes: &[Outcome]) -> Result<(), Failure> {
    let mut kinds: BTreeMap<(&str, &str), Vec<(f64, &Outcome)>> = BTreeMap::new();
    for outcome in outcomes {
        if let Some(First { at, kind, .. }) = &outcome.first {
            kinds.entry((&outcome.scenario, kind)).or_default().push((*at, outcome));
        }
    }
    let mut kinds: Vec<_> = kinds.into_values().collect();
    kinds.sort_by_key(|runs| std::cmp::Reverse(runs.len()));
    for runs in kinds.iter().take(KINDS_SHOWN) {
        let Some((_, soonest)) = runs.iter().min_by(|a, b| a.0.total_cmp(&b.0)) else { continue };
        let told = soonest.failures.first().map(|it| one_line(it)).unwrap_or_default();
        let often = counted(runs.len(), "run");
        output::line(&format!("{often} of {}: soonest {told}", soonest.scenario))?;
        output::line(&format!("      again: {}", soonest.again()))?;
    }
    match kinds.len().saturating_sub(KINDS_SHOWN) {
        0 => Ok(()),
        more => output::line(&format!("and {more} more that are like none of these")),
    }
}

pub(super) fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
