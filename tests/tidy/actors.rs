//! Actors: each is a shell with a passport, a core and a test of the core, under matching names.

use crate::architecture::{Ring, document, ranks, ring_of};
use crate::tree::{Source, holds, passes, sees};

/// What the header of an actor's shell tells.
const PASSPORT: [&str; 3] = ["Owned by:", "Talks to:", "Never:"];
/// Where actors live whose restarts others notice.
const HOMES: [&str; 2] = ["actors/server/", "actors/client/"];

#[test]
fn every_actor_has_a_passport_a_spec_a_core_and_a_test_of_the_core() {
    let shell =
        "//! Peer actor. Owned by: x. Talks to: y.\n//!\n//! Never: z.\nconst SPEC: Spec = 1;";
    let whole =
        [("render/peer.rs", shell), ("render/peer/state.rs", ""), ("render/peer/tests.rs", "")];
    passes(faulty_actors, &whole);
    sees(faulty_actors, &whole[..2]);
    sees(faulty_actors, &whole[1..]);
    let late = shell.replace("//! Never", "// Never");
    sees(faulty_actors, &[("render/peer.rs", &late), whole[1], whole[2]]);
    let plain = shell.replace("const SPEC", "const BOUND");
    sees(faulty_actors, &[("render/peer.rs", &plain), whole[1], whole[2]]);
    holds(faulty_actors);
}

#[test]
fn every_spec_of_a_server_or_client_actor_stands_beside_a_core() {
    sees(coreless_specs, &[("actors/server/src/peer.rs", "const SPEC: Spec = 1;")]);
    holds(coreless_specs);
}

#[test]
fn every_passport_of_server_and_client_says_what_a_panic_means() {
    let shell = "//! Peer actor.\n//! After a panic: it goes on.\nconst SPEC: Spec = 1;";
    passes(fearless_passports, &[("actors/server/src/peer.rs", shell)]);
    let silent = shell.replace("After a panic:", "Never:");
    sees(fearless_passports, &[("actors/client/src/peer.rs", &silent)]);
    holds(fearless_passports);
}

fn fearless_passports(sources: &[Source]) -> Vec<String> {
    let specified = sources.iter().filter(|source| {
        let home = HOMES.iter().any(|home| source.path.starts_with(home));
        home && source.code.contains("const SPEC: Spec") && !source.is_test()
    });
    let silent = specified.filter(|source| {
        let header = source.text.lines().take_while(|line| line.starts_with("//!"));
        !header.collect::<String>().contains("After a panic:")
    });
    silent.map(|it| format!("{}: its header does not say \"After a panic:\"", it.path)).collect()
}

fn faulty_actors(sources: &[Source]) -> Vec<String> {
    let mut faults = Vec::new();
    let find = |path: &str| sources.iter().find(|source| source.path == path);
    let ranks = ranks(document());
    let runs =
        |source: &&Source| matches!(ring_of(&ranks, source), Some(Ring::Shell | Ring::Runtime));
    let cores = sources.iter().filter(runs);
    for core in cores.filter_map(|source| source.path.strip_suffix("/state.rs")) {
        let Some(shell) = find(&format!("{core}.rs")) else {
            faults.push(format!("{core}/state.rs has no shell {core}.rs"));
            continue;
        };
        let header: String =
            shell.text.lines().take_while(|line| line.starts_with("//!")).collect();
        for word in PASSPORT.iter().filter(|word| !header.contains(**word)) {
            faults.push(format!("{core}.rs: its header does not say \"{word}\""));
        }
        if !shell.code.contains("const SPEC") {
            faults.push(format!("{core}.rs: no const SPEC"));
        }
        if find(&format!("{core}/tests.rs")).is_none() {
            faults.push(format!("{core}/tests.rs is missing"));
        }
    }
    faults
}

fn coreless_specs(sources: &[Source]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources.iter().filter(|source| HOMES.iter().any(|h| source.path.starts_with(h))) {
        let core = format!("{}/state.rs", source.path.trim_end_matches(".rs"));
        let specified = source.code.contains("const SPEC: Spec") && !source.is_test();
        if specified && !sources.iter().any(|other| other.path == core) {
            faults.push(format!("{} has a SPEC and no {core}", source.path));
        }
    }
    faults
}
