//! `dh scenario` as its users run it: from a first file to a hunt, from a failure to its replay.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// What a `dh scenario` with these words printed, run in a folder.
fn dh(folder: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dh"))
        .arg("scenario")
        .args(words)
        .args(["--data", folder.join("data").to_str().unwrap()])
        .current_dir(folder)
        .output()
        .unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn folder(scripts: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in scripts {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

const BUSY: &str = "
scenario(#{ seconds: 15, transport: \"quic\",
    links: #{ bad: #{ latency: 40, jitter: 10, loss: 4, burst: 3 } },
    pallets: #{ hill: #{ floor: 5, bytes: 100000 } } });
let main = server(\"main\");
let crowd = spawn(4, \"jumper\", 1, #{ link: \"bad\" });
at(3, || main.map(\"hill\"));
every(1.5, || pick(crowd).cut());
every(1.1, || { for peer in crowd { peer.heal(); } });
at(6, || main.panic(\"roster\", 40 + dice(20)));
eventually(\"somebody plays\", || now() > 11 && crowd.some(|it| it.playing));
";

/// Fails for every seed, for one of many reasons that it does not need.
const BROKEN: &str = "
scenario(#{ seconds: 25 });
let main = server(\"main\");
let crowd = spawn(5, \"walker\", 1);
every(0.5, || pick(crowd).look(dice(90), 0));
every(0.7, || pick(crowd).cut());
every(0.9, || pick(crowd).heal());
at(5, || crowd[2].kill());
never(\"somebody is killed\", || main.left.contains(\"Timeout\"));
";

#[test]
fn a_scenario_that_was_just_written_is_listed_checked_and_passes_in_both_runtimes() {
    let folder = folder(&[]);
    let path = folder.path();
    let name = "nobody_is_left_out.rhai";
    assert!(out(&dh(path, &["new", "nobody is left out"])).contains(name));
    assert_eq!(
        dh(path, &["new", "nobody is left out"]).status.code(),
        Some(73),
        "not written over"
    );
    assert!(
        out(&dh(path, &["list", "."])).contains("small    20 s    2 peers  nobody is left out")
    );
    assert!(out(&dh(path, &["check", name])).starts_with("ok  nobody_is_left_out.rhai"));
    let ran = dh(path, &["run", name]);
    let said = out(&ran);
    assert!(ran.status.success(), "{said} {}", err(&ran));
    let head = said.lines().next().unwrap();
    assert!(head.starts_with("seed 1 - scenario ") && head.contains(" - build 0.1.0-"), "{head}");
    assert!(said.contains("ok    nobody is left out - seed 1 - 20 s in"), "{said}");
    let real = dh(path, &["run", name, "--runtime", "loopback"]);
    assert!(real.status.success(), "{} {}", out(&real), err(&real));
}

#[test]
fn what_is_wrong_with_a_script_is_told_with_its_place_and_a_code_and_nothing_runs_on() {
    let cases = [
        ("loop.rhai", "scenario(#{ seconds: 2 });\nat(1, || { loop { } });", 65, "loop.rhai:2:1:"),
        (
            "map.rhai",
            "scenario(#{ seconds: 2, servers: #{ main: #{ map: \"nowhere\" } } });",
            66,
            "map.rhai:1:1: there is no map \"nowhere\"",
        ),
        (
            "event.rhai",
            "scenario(#{ seconds: 2, peers: #{ a: #{} } });\non(peer(\"a\"), \"playin\", || 1);",
            65,
            "event.rhai:2:1: no event is called \"playin\"; did you mean \"playing\"?",
        ),
        (
            "twins.rhai",
            "scenario(#{ seconds: 2, peers: #{ ada: #{} } });\npeer(\"ada\", #{});",
            65,
            "twins.rhai:2:1: two peers are called \"ada\"",
        ),
        (
            "late.rhai",
            "scenario(#{ seconds: 2 });\nexpect_within(5, \"x\", || true);",
            65,
            "late.rhai:2:1: expect_within: the scenario ends at 2 s",
        ),
        (
            "deep.rhai",
            &format!("let a = {}1{};", "(".repeat(500), ")".repeat(500)),
            65,
            "deep.rhai:1:",
        ),
    ];
    let folder = folder(&cases.map(|(name, text, ..)| (name, text)));
    for (name, _, code, told) in cases {
        let ran = dh(folder.path(), &["run", name]);
        assert_eq!(ran.status.code(), Some(code), "{name}: {}", err(&ran));
        assert!(err(&ran).contains(told), "{name}: {}", err(&ran));
    }
    let missing = dh(folder.path(), &["run", "nothing.rhai"]);
    assert_eq!(missing.status.code(), Some(66));
    let all = dh(folder.path(), &["check", "."]);
    assert_eq!(all.status.code(), Some(65), "that of the first: {}", err(&all));
    assert!(err(&all).contains("twins.rhai:2:1") && err(&all).contains("map.rhai:1:1"));
}

/// One object a run.
fn runs(output: &Output) -> Vec<Value> {
    out(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_hunt_gives_the_same_hashes_however_many_worlds_run_side_by_side_and_in_every_process() {
    let folder = folder(&[("busy.rhai", BUSY)]);
    let hunt = |jobs: &str| {
        let ran =
            dh(folder.path(), &["run", "busy.rhai", "--seeds", "1..6", "--jobs", jobs, "--json"]);
        assert!(ran.status.success(), "{} {}", out(&ran), err(&ran));
        let mut runs = runs(&ran);
        for run in &mut runs {
            run.as_object_mut().unwrap().remove("cpuSeconds");
        }
        runs
    };
    let alone = hunt("1");
    assert_eq!(alone.len(), 6);
    assert_eq!(alone, hunt("2"));
    assert_eq!(alone, hunt("6"), "a third process, with more threads than cores");
    let hashes: std::collections::BTreeSet<_> =
        alone.iter().map(|run| run["packetHash"].as_str().unwrap()).collect();
    assert_eq!(hashes.len(), 6, "each seed is a course of its own");
    for key in ["scenario", "seed", "build", "passed", "simSeconds", "eventHash", "worldHash"] {
        assert!(!alone[0][key].is_null(), "{key}");
    }
}

#[test]
fn a_failure_names_the_command_that_replays_it_and_is_reported_and_shrunk() {
    let folder = folder(&[("broken.rhai", BROKEN)]);
    let path = folder.path();
    let words =
        ["run", "broken.rhai", "--seeds", "3..3", "--report", "out.html", "--junit", "out.xml"];
    let ran = dh(path, &[&words[..], &["--shrink"]].concat());
    let said = out(&ran);
    assert_eq!(ran.status.code(), Some(70), "{said} {}", err(&ran));
    assert!(said.contains("expected never: somebody is killed (line 9)"), "{said}");
    assert!(said.contains("again: dh scenario run broken.rhai --seed 3"), "{said}");
    let html = fs::read_to_string(path.join("out.html")).unwrap();
    assert!(html.contains("0 passed") && html.contains("dh scenario run broken.rhai --seed 3"));
    let xml = fs::read_to_string(path.join("out.xml")).unwrap();
    assert!(xml.contains("<testsuite name=\"scenarios\" tests=\"1\" failures=\"1\""), "{xml}");
    let shrunk = said.lines().find(|line| line.starts_with("shrunk to")).unwrap();
    assert!(shrunk.contains("1 of 5 peers, 1 of "), "{said}");
    let again = said.lines().rfind(|line| line.contains("--without")).unwrap();
    let file = again.split_whitespace().last().unwrap();
    let replayed = dh(path, &["run", "broken.rhai", "--seed", "3", "--without", file, "--json"]);
    let run = &runs(&replayed)[0];
    assert_eq!(run["passed"], false);
    assert!(run["failures"][0].as_str().unwrap().contains("somebody is killed"), "{run}");
}
