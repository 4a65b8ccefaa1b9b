//! Holds: what is asked of the scenarios, and of which of them.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use dh_scenario::script::Size;
use dh_scenario::{Script, Transport};

use crate::course::{self, Run, alone};
use crate::shelf::{self, Shelved};

/// Scenarios there are at least.
const SCENARIOS_MIN: usize = 30;
/// What is run on real sockets each time: play, a cut path, content, chat and a panic.
const ON_SOCKETS: [&str; 5] = [
    "a_peer_that_is_cut_off_for_two_seconds_plays_on",
    "a_map_changes_under_walking_peers_and_nobody_falls",
    "packets_that_come_twice_change_nothing",
    "a_flood_of_chat_drowns_nobody_out",
    "a_session_that_panics_keeps_its_peer_in_play",
];
/// What is run again and again with one seed: paths, content, crowds, and restarts.
const REPEATED: [&str; 4] = [
    "losses_that_come_in_bursts_leave_everybody_in_play",
    "a_map_that_changes_twice_in_a_row_leaves_everybody_on_the_second",
    "joiners_and_leavers_for_a_minute_leave_nothing_behind",
    "a_server_that_is_killed_and_started_again_has_everybody_back",
];
/// Simulated time beyond which a scenario runs at night only, and whenever an optimised program
/// is asked to: a build for tests needs minutes for it.
const LONG_SECONDS: f64 = 120.0;

#[test]
fn every_scenario_says_in_its_name_what_holds_and_in_its_head_why() {
    let shelved = shelf::all();
    assert!(shelved.len() >= SCENARIOS_MIN, "{} scenarios", shelved.len());
    for Shelved { stem, text, .. } in &shelved {
        let letters = stem.bytes().all(|it| matches!(it, b'a'..=b'z' | b'0'..=b'9' | b'_'));
        assert!(letters && stem.split('_').count() >= 5, "{stem} is no sentence");
        let head: Vec<&str> = text.lines().take_while(|line| line.starts_with("// ")).collect();
        assert!(head.len() >= 2, "{stem}: two lines at the top say what it shows and why");
    }
}

#[test]
fn every_scenario_is_listed_with_its_size_and_small_ones_are_small() {
    for Shelved { stem, text, plan, .. } in shelf::all() {
        let (size, seconds) = (plan.size, plan.span.as_secs_f64());
        println!("{:5}  {seconds:5} s  {stem}", size.name());
        assert!(text.contains("size: \""), "{stem} leaves its size to chance");
        // Those that come while it runs are counted by the language.
        let peers = plan.peers.len();
        let is_small = seconds <= 60.0 && peers <= 8;
        assert!(is_small || size == Size::Large, "{stem}: {peers} peers, {seconds} s");
    }
}

#[test]
fn every_small_scenario_holds() {
    course::hold(runs(Size::Small, 1..=3));
}

#[test]
fn every_large_scenario_holds() {
    course::hold(runs(Size::Large, 1..=1));
}

#[test]
fn scenarios_hold_on_real_sockets_and_in_real_time() {
    let _alone = alone();
    let mut left: BTreeSet<&str> = ON_SOCKETS.into();
    let mut failed = Vec::new();
    for Shelved { stem, script, .. } in shelf::all() {
        if left.remove(stem.as_str()) {
            failed.extend(course::perform(&script, Transport::Quic));
        }
    }
    assert_eq!((left.len(), failed.len()), (0, 0), "{left:?}\n{}", failed.join("\n"));
}

#[test]
fn a_seed_gives_the_same_packets_events_and_worlds_alone_and_beside_others() {
    let scripts = named(&REPEATED);
    let run = |script: &Script| Run { script: script.clone(), seed: 7 };
    let tasks: Vec<Run> = scripts.iter().map(run).collect();
    let alone = course::hashes(&tasks, 1);
    assert_eq!(course::hashes(&tasks, 1), alone, "the same again");
    assert_eq!(course::hashes(&tasks, 2), alone, "two side by side");
    let kinds: BTreeSet<_> = alone.iter().map(|it| format!("{it:?}")).collect();
    assert_eq!(kinds.len(), scripts.len(), "the hashes tell scenarios apart");
}

fn runs(size: Size, seeds: RangeInclusive<u64>) -> Vec<Run> {
    let fits = |it: &Shelved| it.plan.size == size && it.plan.span.as_secs_f64() <= LONG_SECONDS;
    let of_size = shelf::all().into_iter().filter(fits);
    let scripts: Vec<Script> = of_size.map(|it| it.script).collect();
    let of = |seed| scripts.iter().map(move |it| Run { script: it.clone(), seed });
    seeds.flat_map(of).collect()
}

fn named(stems: &[&str]) -> Vec<Script> {
    let all = shelf::all();
    let find = |stem: &&str| {
        let found = all.iter().find(|it| it.stem == *stem);
        found.unwrap_or_else(|| panic!("no scenario {stem}")).script.clone()
    };
    stems.iter().map(find).collect()
}
