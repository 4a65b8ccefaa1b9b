//! Purity: cores know no clock, thread, socket, file or log, and only few crates open files.

use crate::architecture::{Ranked, Ring, document, packages, ranks, ring_of};
use crate::scan;
use crate::tree::{Source, assert_clean, tree};

/// What no core may name.
const IMPURE: [&str; 16] = [
    "std::time",
    "std::thread",
    "std::fs",
    "std::process",
    "std::env",
    "UdpSocket",
    "TcpStream",
    "TcpListener",
    "HashMap",
    "HashSet",
    "async ",
    ".await",
    "tracing::",
    "println!",
    "thread_local!",
    "static mut",
];

/// Switches that only tests are built with; `tests` alone turns them on.
const SWITCHES: &str = "actors/machine/src/planted.rs";

/// How a file is opened.
const OPENINGS: [&str; 4] = ["std::fs", "fs::", "File::", "OpenOptions"];

#[test]
fn no_core_names_a_clock_thread_socket_file_or_log() {
    let core = [ranked("a", Ring::Core), ranked("b", Ring::Shell)];
    let impure = "use std::time::Instant;";
    assert_eq!(impurities(&core, &[Source::new("a/src/x.rs", impure)]).len(), 1);
    assert_eq!(impurities(&core, &[Source::new("b/src/peer/state.rs", impure)]).len(), 1);
    assert_eq!(impurities(&core, &[Source::new("b/src/peer/state/phase.rs", impure)]).len(), 1);
    assert_eq!(impurities(&core, &[Source::new("b/src/peer.rs", impure)]).len(), 0);
    assert_eq!(impurities(&core, &[Source::new("a/src/x.rs", "// std::time")]).len(), 0);
    assert_clean(&impurities(&ranks(document()), tree()));
}

#[test]
fn only_the_tests_are_built_with_planted_bugs() {
    assert_eq!(planters("dh-server", &[("dh-machine", &["planted"])], &[]).len(), 1);
    assert_eq!(planters("dh", &[], &["planted"]).len(), 1);
    assert_eq!(planters("dh-tests", &[("dh-machine", &["planted"])], &[]).len(), 0);
    assert_eq!(planters("dh-machine", &[], &["planted"]).len(), 0);
    let mut faults = Vec::new();
    for package in packages() {
        let used = package.dependencies.iter();
        let used = used.map(|it| (it.name.as_str(), it.features.iter().map(String::as_str)));
        let used: Vec<(&str, Vec<&str>)> = used.map(|(name, it)| (name, it.collect())).collect();
        let used: Vec<(&str, &[&str])> = used.iter().map(|(name, it)| (*name, &it[..])).collect();
        let own: Vec<&str> = package.features.keys().map(String::as_str).collect();
        let on = package.features.get("default").into_iter().flatten();
        faults.extend(on.map(|it| format!("{} is built with {it}", package.name)));
        faults.extend(planters(&package.name, &used, &own));
    }
    assert_clean(&faults);
}

#[test]
fn the_bare_cores_are_built_without_the_standard_library() {
    let bare = [ranked("a", Ring::Bare)];
    assert_eq!(with_std(&bare, &[Source::new("a/src/lib.rs", "//! X.\n")]).len(), 1);
    assert_eq!(with_std(&bare, &[Source::new("a/src/lib.rs", "//! X.\n#![no_std]\n")]).len(), 0);
    assert_clean(&with_std(&ranks(document()), tree()));
}

#[test]
fn files_are_opened_only_by_the_runtime_the_program_and_the_tests() {
    let table = [ranked("a", Ring::Shell), ranked("b", Ring::Runtime)];
    let opens = "let text = std::fs::read(path);";
    assert_eq!(file_users(&table, &[Source::new("a/src/x.rs", opens)]).len(), 1);
    assert_eq!(file_users(&table, &[Source::new("b/src/x.rs", opens)]).len(), 0);
    assert_eq!(file_users(&table, &[Source::new("a/src/x.rs", "dh_prefs::Key")]).len(), 0);
    assert_clean(&file_users(&ranks(document()), tree()));
}

fn impurities(ranks: &[Ranked], sources: &[Source]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources.iter().filter(|source| source.is_rust() && !source.is_test()) {
        let pure = match ring_of(ranks, source) {
            Some(Ring::Bare | Ring::Core) => true,
            Some(Ring::Shell) => {
                source.path.contains("/state.rs") || source.path.contains("/state/")
            }
            Some(Ring::Runtime | Ring::Wiring) | None => false,
        };
        if pure && source.path != SWITCHES {
            let code = scan::without_tests(&source.code);
            let named = IMPURE.iter().filter(|name| scan::names(&code, name));
            faults.extend(named.map(|name| format!("{} names {name}", source.path)));
        }
    }
    faults
}

/// Whether a package asks for planted bugs, or can be asked for them, and may not.
fn planters(package: &str, used: &[(&str, &[&str])], own: &[&str]) -> Vec<String> {
    let asks = used.iter().any(|(_, features)| features.contains(&"planted"));
    let can = own.contains(&"planted");
    let may_ask = package == "dh-tests";
    let may_be_asked = package == "dh-machine";
    let fault = asks && !may_ask || can && !may_be_asked;
    fault.then(|| format!("{package} can be built with planted bugs")).into_iter().collect()
}

fn with_std(ranks: &[Ranked], sources: &[Source]) -> Vec<String> {
    let mut faults = Vec::new();
    for ranked in ranks.iter().filter(|ranked| ranked.ring == Ring::Bare) {
        let path = format!("{}/src/lib.rs", ranked.folder);
        let lib = sources.iter().find(|source| source.path == path);
        if !lib.is_some_and(|lib| lib.code.contains("#![no_std]")) {
            faults.push(format!("{path} does not say no_std"));
        }
    }
    faults
}

fn file_users(ranks: &[Ranked], sources: &[Source]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources.iter().filter(|source| source.is_rust() && !source.is_test()) {
        let ring = ring_of(ranks, source);
        let may = matches!(ring, Some(Ring::Runtime | Ring::Wiring));
        let code = scan::without_tests(&source.code);
        if !may && OPENINGS.iter().any(|opening| scan::names(&code, opening)) {
            faults.push(format!("{} opens files", source.path));
        }
    }
    faults
}

fn ranked(folder: &str, ring: Ring) -> Ranked {
    Ranked { rank: 0, folder: folder.to_owned(), ring }
}
