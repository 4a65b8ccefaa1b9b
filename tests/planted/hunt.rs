//! The hunt: one general scenario, one bug at a time. Each bug is found by the check that is there
//! for it, and shrinking leaves at most a tenth of the faults of the storm.

use dh_machine::planted::{self, Bug};
use dh_scenario::script::DeedKind;
use dh_scenario::{Conditions, Ran, Script, shrink};

const FILE: &str = "tests/hunts/whatever_breaks_nothing_breaks_with_it.rhai";
const TEXT: &str = include_str!("../hunts/whatever_breaks_nothing_breaks_with_it.rhai");
/// Seeds that a hunt tries.
const SEEDS: u64 = 200;
/// Seeds under which nothing is wrong while no bug is on.
const QUIET_SEEDS: u64 = 60;
/// Runs of one shrinking, at most.
const RUNS_MAX: usize = 250;

fn script() -> Script {
    Script::new(FILE, TEXT)
}

fn conditions(seed: u64, hasty: bool) -> Conditions {
    Conditions { seed, hasty, ..Conditions::default() }
}

fn run(seed: u64) -> Ran {
    let ran = script().simulate(&conditions(seed, true)).unwrap();
    assert_eq!(ran.mistake, None, "seed {seed}");
    ran
}

/// Find a bug, by the check whose words are given, and shrink what finds it.
fn finds(bug: Bug, check: &str) {
    let (seed, failure) = planted::with(bug, || {
        let failure = |seed| Some((seed, run(seed).report.failures.first()?.what.clone()));
        (1..=SEEDS).find_map(failure).unwrap_or_else(|| panic!("{bug:?} stays hidden"))
    });
    assert!(failure.contains(check), "{bug:?} shows as: {failure}");
    let storm = script().simulate(&conditions(seed, false)).unwrap().deeds;
    let storm = storm.iter().filter(|deed| deed.kind == DeedKind::Fault).count();
    let shrunk =
        planted::with(bug, || shrink(&script(), &conditions(seed, true), &failure, RUNS_MAX));
    let shrunk = shrunk.expect("a failure comes again");
    let (kept, _) = shrunk.count(DeedKind::Fault);
    let (peers, _) = shrunk.count(DeedKind::Peer);
    println!(
        "{bug:?}: seed {seed}: {failure}: {kept} of {storm} faults, {peers} of 8 peers, {} runs",
        shrunk.runs
    );
    assert!(kept * 10 <= storm, "{bug:?}: {kept} of {storm} faults are left");
}

#[test]
fn an_ack_one_too_high_is_found_as_an_input_that_was_not_simulated() {
    finds(Bug::AckOneTooHigh, "was simulated when");
}

#[test]
fn a_fragment_of_an_old_tick_is_found_as_a_tick_that_was_not_published() {
    finds(Bug::OldFragment, "than its server published");
}

#[test]
fn a_chunk_one_off_is_found_as_peers_who_are_thrown_out() {
    finds(Bug::ChunkOneOff, "nobody is thrown out when nothing is wrong");
}

#[test]
fn a_restart_that_loses_a_slot_is_found_as_a_peer_left_behind() {
    finds(Bug::RestartLosesSlot, "is left behind");
}

#[test]
fn a_lane_without_a_bound_is_found_by_its_peak() {
    finds(Bug::LaneWithoutBound, "a lane of");
}

#[test]
fn a_clock_that_never_retargets_is_found_by_the_inputs_that_wait() {
    finds(Bug::ClockNeverRetargets, "its clock does not follow");
}

#[test]
fn a_leaver_whose_pawn_stays_is_found_as_a_pawn_without_a_session() {
    finds(Bug::LeaverStays, "pawns and");
}

#[test]
fn a_stale_snapshot_that_passes_for_the_newest_is_found_by_the_order_of_ticks() {
    finds(Bug::StaleSnapshot, "is shown tick");
}

#[test]
fn a_message_counted_twice_is_found_by_the_accounting() {
    finds(Bug::CountedTwice, "the accounting of its port does not add up");
}

#[test]
fn a_snapshot_of_a_map_not_loaded_is_found_as_torn() {
    finds(Bug::TornMap, "torn");
}

#[test]
fn with_no_bug_on_the_hunt_finds_nothing() {
    for seed in 1..=QUIET_SEEDS {
        let Some(failure) = run(seed).report.failures.first().cloned() else { continue };
        let shrunk = shrink(&script(), &conditions(seed, true), &failure.what, RUNS_MAX);
        let kept = shrunk.iter().flat_map(|it| it.kept().map(|deed| &deed.key));
        panic!("seed {seed}: {}: {:?}", failure.what, kept.collect::<Vec<_>>());
    }
}
