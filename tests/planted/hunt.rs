//! The hunt: one general scenario, one bug at a time.

use std::time::Instant;

use dh_machine::planted::{self, Bug};
use dh_scenario::script::DeedKind;
use dh_scenario::{Conditions, Ran, Script, Shrunk, shrink};

/// Seeds that a hunt tries.
const SEEDS: u64 = 200;
/// Seeds under which nothing is wrong while no bug is on.
const QUIET_SEEDS: u64 = 60;
/// Runs of one shrinking, at most.
const RUNS_MAX: usize = 120;

fn script() -> Script {
    let file = "tests/hunts/whatever_breaks_nothing_breaks_with_it.rhai";
    Script::new(file, include_str!("../hunts/whatever_breaks_nothing_breaks_with_it.rhai"))
}

fn conditions(seed: u64) -> Conditions {
    Conditions { seed, hasty: true, ..Conditions::default() }
}

fn run(seed: u64) -> Ran {
    let ran = script().simulate(&conditions(seed)).unwrap();
    assert_eq!(ran.mistake, None, "seed {seed}");
    ran
}

#[test]
fn explore() {
    let only = std::env::var("BUG").unwrap_or_default();
    for bug in Bug::ALL {
        if !only.is_empty() && format!("{bug:?}") != only { continue; }
        planted::with(bug, || {
            let begin = Instant::now();
            let found = (1..=20).find_map(|seed| {
                let ran = run(seed);
                let failure = ran.report.failures.first()?;
                Some((seed, failure.what.clone(), failure.at))
            });
            eprintln!("{bug:?}: {found:?} in {:?}", begin.elapsed());
            if let Some((seed, failure, _)) = found {
                let begin = Instant::now();
                let shrunk = shrink(&script(), &conditions(seed), &failure, RUNS_MAX).unwrap();
                let all = planted::with(bug, || shrunk.deeds.len());
                eprintln!("   {:?} peers {:?} faults {:?} events of {all} in {} runs {:?}", shrunk.count(DeedKind::Peer), shrunk.count(DeedKind::Fault), shrunk.count(DeedKind::Event), shrunk.runs, begin.elapsed());
                for deed in shrunk.kept() { eprintln!("      {} {}", deed.at.as_secs_f64(), deed.key); }
            }
        });
    }
}

#[test]
fn quiet() {
    let from: u64 = std::env::var("FROM").ok().and_then(|it| it.parse().ok()).unwrap_or(1);
    let to: u64 = std::env::var("TO").ok().and_then(|it| it.parse().ok()).unwrap_or(QUIET_SEEDS);
    for seed in from..=to {
        let begin = Instant::now();
        let ran = run(seed);
        eprintln!("{seed}: {:?} cpu {:?} wall {:?} deeds {}", ran.report.failures, ran.report.cpu, begin.elapsed(), ran.deeds.len());
    }
}
