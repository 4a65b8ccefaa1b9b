//! The hunt: general scenarios, one bug at a time. Each bug is found by the invariant or the
//! check that is there for it, and shrinking leaves at most a tenth of the faults of the storm.

use std::collections::BTreeSet;

use dh_machine::planted::{self, Bug};
use dh_scenario::script::DeedKind;
use dh_scenario::{Conditions, Failure, Invariant, Ran, Script, shrink};

/// A general scenario: its file and its text.
type Hunt = (&'static str, &'static str);

macro_rules! hunt {
    ($name:literal) => {
        (
            concat!("tests/hunts/", $name, ".rhai"),
            include_str!(concat!("../hunts/", $name, ".rhai")),
        )
    };
}

const STORM: Hunt = hunt!("whatever_breaks_nothing_breaks_with_it");
const PIECES: Hunt = hunt!("what_comes_in_pieces_comes_whole");

/// Seeds that a hunt tries.
const SEEDS: u64 = 200;
/// Seeds under which nothing is wrong while no bug is on.
const QUIET_SEEDS: u64 = 60;
/// Runs of one shrinking, at most.
const RUNS_MAX: usize = 250;

/// What a bug breaks before it breaks anything else; nothing where only a check of the hunt's own
/// finds it.
fn broken_by(bug: Bug) -> Option<Invariant> {
    match bug {
        Bug::AckOneTooHigh => Some(Invariant::Acknowledged),
        Bug::OldFragment => Some(Invariant::AsPublished),
        Bug::ChunkOneOff | Bug::PeersCountedAnew => None,
        Bug::RestartLosesSlot | Bug::SlotTakenLate | Bug::FragmentsOfBefore => {
            Some(Invariant::KeepsUp)
        }
        Bug::LaneWithoutBound => Some(Invariant::Bound),
        Bug::ClockNeverRetargets => Some(Invariant::Clock),
        Bug::LeaverStays => Some(Invariant::Owned),
        Bug::StaleSnapshot => Some(Invariant::Order),
        Bug::CountedTwice => Some(Invariant::Accounting),
        Bug::TornMap => Some(Invariant::WholeMap),
        Bug::AskedAgainGoesOn => Some(Invariant::GetsOn),
        Bug::TurnsUnsorted => Some(Invariant::Used),
        Bug::StarvedForGood => Some(Invariant::InTime),
        Bug::TypedIntoNothing => Some(Invariant::Heard),
    }
}

/// Where a bug is hunted.
fn hunt_of(bug: Bug) -> Hunt {
    if bug == Bug::FragmentsOfBefore { PIECES } else { STORM }
}

fn script((file, text): Hunt) -> Script {
    Script::new(file, text)
}

fn conditions(seed: u64, hasty: bool) -> Conditions {
    Conditions { seed, hasty, ..Conditions::default() }
}

fn run(hunt: Hunt, seed: u64) -> Ran {
    let ran = script(hunt).simulate(&conditions(seed, true)).unwrap();
    assert_eq!(ran.mistake, None, "seed {seed}");
    ran
}

/// The first seed under which a bug shows, and all that it shows as at that moment.
fn first(bug: Bug) -> (u64, Vec<Failure>) {
    planted::with(bug, || {
        let hunt = hunt_of(bug);
        let seeds = (1..=SEEDS).map(|seed| (seed, run(hunt, seed).report.failures));
        let mut found = seeds.filter(|(_, failures)| !failures.is_empty());
        found.next().unwrap_or_else(|| panic!("{bug:?} stays hidden"))
    })
}

/// Find a bug by what is there to find it and by nothing else, and shrink what finds it.
fn finds(bug: Bug) {
    let (seed, failures) = first(bug);
    let expected = broken_by(bug);
    assert!(failures.iter().all(|it| it.broken == expected), "{bug:?} shows as: {failures:?}");
    let failure = &failures[0].what;
    let script = script(hunt_of(bug));
    let storm = script.simulate(&conditions(seed, false)).unwrap().deeds;
    let storm = storm.iter().filter(|deed| deed.kind == DeedKind::Fault).count();
    let shrunk = planted::with(bug, || shrink(&script, &conditions(seed, true), failure, RUNS_MAX));
    let shrunk = shrunk.expect("a failure comes again");
    let (kept, _) = shrunk.count(DeedKind::Fault);
    let (peers, _) = shrunk.count(DeedKind::Peer);
    println!(
        "{bug:?}: seed {seed}: {failure}: {kept} of {storm} faults, {peers} of 8 peers, {} runs",
        shrunk.runs
    );
    let faults = shrunk.kept().filter(|deed| deed.kind == DeedKind::Fault);
    let faults: Vec<&str> = faults.map(|deed| deed.key.as_str()).collect();
    assert!(kept * 10 <= storm, "{bug:?}: {kept} of {storm} faults are left: {faults:?}");
}

/// A test for each bug, so that they are hunted side by side, and the list of all that have one.
macro_rules! hunts {
    ($($name:ident: $bug:ident,)+) => {
        $(#[test]
        fn $name() {
            finds(Bug::$bug);
        })+

        const HUNTED: &[Bug] = &[$(Bug::$bug,)+];
    };
}

hunts! {
    an_ack_one_too_high_is_found: AckOneTooHigh,
    a_fragment_of_an_old_tick_is_found: OldFragment,
    a_chunk_one_off_is_found: ChunkOneOff,
    a_restart_that_loses_a_slot_is_found: RestartLosesSlot,
    a_lane_without_a_bound_is_found: LaneWithoutBound,
    a_clock_that_never_retargets_is_found: ClockNeverRetargets,
    a_leaver_whose_pawn_stays_is_found: LeaverStays,
    a_stale_snapshot_that_passes_for_the_newest_is_found: StaleSnapshot,
    a_message_counted_twice_is_found: CountedTwice,
    a_snapshot_of_a_map_not_loaded_is_found: TornMap,
    a_blob_that_is_asked_for_again_and_goes_on_is_found: AskedAgainGoesOn,
    a_slot_that_is_taken_too_late_is_found: SlotTakenLate,
    turns_that_are_not_sorted_are_found: TurnsUnsorted,
    a_queue_that_starves_for_good_is_found: StarvedForGood,
    peers_that_are_counted_anew_are_found: PeersCountedAnew,
    a_line_that_is_typed_into_nothing_is_found: TypedIntoNothing,
    fragments_compared_with_ticks_of_a_lost_session_are_found: FragmentsOfBefore,
}

#[test]
fn a_lane_of_either_kind_that_holds_too_much_is_told() {
    let script = Script::new(
        "lanes.rhai",
        "scenario(#{ seconds: 3, peers: #{ ada: #{} } });
         at(2, || {
             for n in 0..100 { peer(\"ada\").say(\"hi\"); }
             for n in 0..300 { server(\"main\").console(\"say hi\"); }
         });",
    );
    let run = || script.simulate(&conditions(1, false)).unwrap().report.failures;
    let failures = planted::with(Bug::LaneWithoutBound, run);
    for lane in ["peer-ada/connection: a lane of 64 held", "server-main/roster: a lane of 256 held"]
    {
        let told = failures.iter().any(|it| it.what.starts_with(lane));
        assert!(told, "{lane}: {failures:?}");
    }
}

#[test]
fn each_bug_is_hunted() {
    assert_eq!(HUNTED, Bug::ALL);
}

#[test]
fn each_invariant_is_broken_by_a_bug_of_its_own() {
    let broken: BTreeSet<Invariant> = Bug::ALL.iter().copied().filter_map(broken_by).collect();
    assert!(Invariant::ALL.iter().copied().eq(broken), "an invariant that no planted bug breaks");
}

#[test]
fn with_no_bug_on_the_hunts_find_nothing() {
    for (hunt, seed) in
        [STORM, PIECES].into_iter().flat_map(|it| (1..=QUIET_SEEDS).map(move |seed| (it, seed)))
    {
        let Some(failure) = run(hunt, seed).report.failures.first().cloned() else { continue };
        let shrunk = shrink(&script(hunt), &conditions(seed, true), &failure.what, RUNS_MAX);
        let kept = shrunk.iter().flat_map(|it| it.kept().map(|deed| &deed.key));
        panic!("seed {seed}: {}: {:?}", failure.what, kept.collect::<Vec<_>>());
    }
}
