//! `dh scenario` as its users run it: from a first file to a hunt, from a failure to its replay.

mod checks;
mod records;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// What a `dh scenario` with these words printed, run in a folder.
fn dh(folder: &Path, words: &[&str]) -> Output {
    command(folder, words).output().unwrap()
}

fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dh"));
    command.arg("scenario").args(words).current_dir(folder);
    command.args(["--data", folder.join("data").to_str().unwrap()]);
    command
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
at(6, || main.panic(\"roster\", main.metric(\"roster\", \"handled\") + dice(20)));
eventually(\"somebody plays\", || now() > 11 && crowd.some(|it| it.playing));
";

/// Fails for every seed, for one of many reasons that it does not need.
const BROKEN: &str = "
scenario(#{ seconds: 25 });
let main = server(\"main\");
let crowd = spawn(5, \"walker\", 1);
every(0.5, || pick(crowd.filter(|it| it.state != \"gone\")).look(dice(90), 0));
every(0.7, || pick(crowd.filter(|it| it.state != \"gone\")).cut());
every(0.9, || pick(crowd.filter(|it| it.state != \"gone\")).heal());
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
    assert!(said.contains("ok    nobody is left out - seed 1 - 4 checks, 20 s in"), "{said}");
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
            "map.rhai:1:46: servers.main.map: there is no map \"nowhere\"",
        ),
        (
            "hill.rhai",
            "scenario(#{ seconds: 2, pallets: #{ hill: #{} } });\nlet map = \"hill:no.dh-map\";\n\
             at(1, || server(\"main\").map(map));",
            66,
            "hill.rhai:3:25: there is no map \"hill:no.dh-map\": pallet \"hill\" holds hill:assets",
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
    refused(folder.path(), &cases);
    let missing = dh(folder.path(), &["run", "nothing.rhai"]);
    assert_eq!(missing.status.code(), Some(66));
    let all = dh(folder.path(), &["check", "."]);
    assert_eq!(all.status.code(), Some(65), "that of the first: {}", err(&all));
    assert!(err(&all).contains("twins.rhai:2:1") && err(&all).contains("map.rhai:1:46"));
}

/// Each of these files is run and ends with its code and what is told of it.
fn refused(folder: &Path, cases: &[(&str, &str, i32, &str)]) {
    for (name, _, code, told) in cases {
        let ran = dh(folder, &["run", name]);
        assert_eq!(ran.status.code(), Some(*code), "{name}: {}", err(&ran));
        assert!(err(&ran).contains(told), "{name}: {}", err(&ran));
    }
}

#[test]
fn a_check_that_no_run_can_evaluate_is_told_with_its_place() {
    let cases = [
        (
            "behind.rhai",
            "scenario(#{ seconds: 2 });\nat(1, || {\n return;\n expect(\"x\", false); });",
            65,
            "behind.rhai:4:2: this check can never be evaluated: a `return`, `throw`, `break`,",
        ),
        (
            "uncalled.rhai",
            "scenario(#{ seconds: 2 });\nfn f() {\n never(\"x\", || true); }",
            65,
            "uncalled.rhai:3:2: this check can never be evaluated: nothing calls f; expected",
        ),
        (
            "method.rhai",
            "scenario(#{ seconds: 2 });\nat(1, || \"x\".expect(false));",
            65,
            "method.rhai:2:14: expect is called as a method; expected expect(\"name\", condition)",
        ),
        (
            "pointer.rhai",
            "scenario(#{ seconds: 2 });\nlet f = Fn(\"expect\");",
            65,
            "pointer.rhai:2:9: expect is called through a function pointer; expected expect(",
        ),
    ];
    let folder = folder(&cases.map(|(name, text, ..)| (name, text)));
    refused(folder.path(), &cases);
}

#[test]
fn every_mistake_of_every_file_is_told_and_those_that_are_whole_run() {
    let folder = folder(&[
        (
            "a.rhai",
            "scenario(#{ seconds: 1, peers: #{ a: #{} } });\nat(1, || { peer(\"a\").jmp();\n\
                    server(\"mian\"); });",
        ),
        ("b.rhai", "scenario(#{ seconds: 1, size: \"huge\" });"),
        ("c.rhai", "scenario(#{ seconds: 1 });"),
    ]);
    let checked = dh(folder.path(), &["check", "."]);
    let said = err(&checked);
    assert_eq!(checked.status.code(), Some(65), "{said}");
    for told in [
        "a.rhai:2:22: no word is called \"jmp\"",
        "a.rhai:3:8: no server is called \"mian\"",
        "b.rhai:1:25: size: no size is called \"huge\"",
        "3 mistakes in all",
    ] {
        assert!(said.contains(told), "{told}: {said}");
    }
    assert_eq!(out(&checked), "ok  ./c.rhai\n");
    let told = runs(&dh(folder.path(), &["check", ".", "--json"]));
    let oks: Vec<_> = told.iter().map(|it| it["ok"].as_bool().unwrap()).collect();
    assert_eq!(oks, [false, false, true]);
    assert_eq!(told[0]["mistakes"][1]["line"], 3);
    let ran = dh(folder.path(), &["run", "."]);
    assert_eq!(ran.status.code(), Some(65), "{}", err(&ran));
    assert!(out(&ran).contains("FAIL  b - seed 1 - ./b.rhai:1:25"), "{}", out(&ran));
    assert!(out(&ran).contains("ok    c - seed 1"), "{}", out(&ran));
}

#[test]
fn what_a_script_prints_is_shown_and_preferences_of_the_command_line_hold() {
    let text = "scenario(#{ seconds: 1 });\nat(0.5, || { print(\"so \" + \
                server(\"main\").pref(\"server.maxPlayers\")); debug(1); \
                expect(\"no\", false); });";
    let folder = folder(&[("it.rhai", text)]);
    let set = ["run", "it.rhai", "--set", "server.maxPlayers=3", "--json"];
    let ran = dh(folder.path(), &set);
    let said = err(&ran);
    assert!(said.contains("0.500 s  so 3\n"), "{said}");
    assert!(said.contains("0.500 s  it.rhai:2:"), "{said}");
    let run = &runs(&ran)[0];
    assert_eq!((&run["prints"][0]["text"], &run["prints"][0]["at"]), (&"so 3".into(), &0.5.into()));
    assert!(run["again"].as_str().unwrap().ends_with("--set 'server.maxPlayers=3'"), "{run}");
    let wrong = dh(folder.path(), &["run", "it.rhai", "--set", "server.maxPlayer=3"]);
    assert_eq!(wrong.status.code(), Some(78), "{}", err(&wrong));
    assert!(err(&wrong).contains("did you mean server.maxPlayers?"));
}

#[test]
fn the_command_that_replays_a_run_says_all_that_the_run_was_asked_for_with() {
    let text = "scenario(#{ seconds: 2 });\nat(0.5, || expect(\"no\", false));";
    let folder = folder(&[("it.rhai", text)]);
    let given = "run it.rhai --seed 7 --runtime loopback --transport quic --until 1.5";
    let words: Vec<&str> = given.split(' ').collect();
    let set = ["--set", "server.maxPlayers=3", "--json"];
    let run = &runs(&dh(folder.path(), &[&words[..], &set].concat()))[0];
    assert_eq!(run["again"], format!("dh scenario {given} --set 'server.maxPlayers=3'"));
}

#[test]
fn the_documents_hold_every_word_every_table_and_an_example_for_each_group() {
    let folder = folder(&[]);
    let said = out(&dh(folder.path(), &["docs"]));
    for told in
        ["starts ", "floor ", "inside ", "peer-N/session ", "map-loader", "late_ms", "ServerFull"]
    {
        assert!(said.contains(told), "{told}");
    }
    let docs = &runs(&dh(folder.path(), &["docs", "--json"]))[0];
    assert!(docs["words"].as_array().unwrap().len() > 60);
    assert!(docs["tables"].as_array().unwrap().len() > 10);
    assert!(!docs["examples"][0]["text"].as_str().unwrap().is_empty());
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
    assert_eq!(ran.status.code(), Some(1), "{said} {}", err(&ran));
    assert!(said.contains("expected never: somebody is killed [broken.rhai:9:1: never("), "{said}");
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

/// Fails at 3 s whatever else there is; what it does at 6 s is another failure.
const EARLY: &str = "
scenario(#{ seconds: 10, peers: #{ ada: #{}, bob: #{} } });
let main = server(\"main\");
at(2, || peer(\"ada\").rebind());
at(6, || main.delay_tick(0.5));
eventually(\"both play\", || peer(\"ada\").playing && peer(\"bob\").playing);
at(3, || expect(\"ada is gone\", !peer(\"ada\").playing));
";

#[test]
fn a_shrunk_run_ends_where_it_fails_and_its_command_says_so() {
    let folder = folder(&[("early.rhai", EARLY)]);
    let ran = dh(folder.path(), &["run", "early.rhai", "--shrink"]);
    let said = out(&ran);
    assert!(said.contains("shrunk to 1 of 2 peers, 0 of 1 faults, 1 of 2 events"), "{said}");
    let again = said.lines().last().unwrap().trim();
    let words: Vec<&str> = again.strip_prefix("again: dh scenario ").unwrap().split(' ').collect();
    assert!(words.contains(&"--until"), "{again}");
    let ran = dh(folder.path(), &[&words[..], &["--json"]].concat());
    let run = &runs(&ran)[0];
    let first = run["failures"][0].as_str().unwrap();
    assert!(first.starts_with("at 3.000 s expected: ada is gone"), "{run}");
    assert!(run["simSeconds"].as_f64().unwrap() < 4.0, "{run}");
}

#[test]
fn of_several_failures_the_first_is_shrunk_and_told_with_what_led_to_it() {
    let script = "
        scenario(#{ seconds: 3, peers: #{ ada: #{} } });
        let main = server(\"main\");
        at(1, || expect(\"this\", false));
        at(2, || expect(\"that\", false));
    ";
    let folder = folder(&[("both.rhai", script)]);
    let said = out(&dh(folder.path(), &["run", "both.rhai", "--shrink"]));
    let lines: Vec<&str> = said.lines().map(str::trim).collect();
    let at = |part: &str| lines.iter().position(|line| line.starts_with(part)).unwrap();
    let first = at("at 1.000 s expected: this");
    assert_eq!(at("before it:"), first + 1, "{said}");
    assert!(at("at 2.000 s expected: that") > first + 2, "{said}");
    let told = at("shrunk for: \"expected: this\" at 1.000 s; 1 other failure left aside");
    assert!(lines[told + 1].starts_with("shrunk to 0 of 1 peers, 0 of 0 faults"), "{said}");
    assert_eq!(lines[told + 2], "it fails with nobody there", "{said}");
    let json = runs(&dh(folder.path(), &["run", "both.rhai", "--shrink", "--json"])).remove(1);
    let shown = [&json["failure"], &json["at"], &json["leftAside"], &json["kept"]];
    assert_eq!(shown, [&"expected: this".into(), &1.0.into(), &1.into(), &serde_json::json!([])]);
}

#[test]
fn what_led_to_a_failure_is_told_by_the_names_of_the_script_and_up_to_it() {
    let folder = folder(&[("early.rhai", EARLY)]);
    let ran = dh(folder.path(), &["run", "early.rhai", "--report", "out.html"]);
    let said = out(&ran);
    assert!(said.contains("0.000 s  done   bob joins main"), "{said}");
    assert!(said.contains("2.000 s  fault  ada gets another address"), "{said}");
    assert!(said.contains("main joined: bob"), "{said}");
    assert!(!said.contains("6.000 s"), "what came later led to nothing: {said}");
    let page = fs::read_to_string(folder.path().join("out.html")).unwrap();
    assert!(page.contains("6.000 s  fault  main ticks 0.5 s late"), "{page}");
}

#[test]
fn many_runs_are_summed_up_by_what_failed_in_them_and_by_the_run_where_it_shows_soonest() {
    let script = "
        scenario(#{ seconds: 6 });
        at(1 + random(), || expect(\"odd \" + dice(1000), false));
        if random() < 0.5 { at(0.5, || expect(\"sometimes\", false)); }
    ";
    let folder = folder(&[("two.rhai", script)]);
    let ran = dh(folder.path(), &["run", "two.rhai", "--seeds", "1..12"]);
    let said = out(&ran);
    assert_eq!(ran.status.code(), Some(1), "{said}");
    let sums: Vec<&str> = said.lines().filter(|line| line.contains(" of two: soonest")).collect();
    assert_eq!(sums.len(), 2, "{said}");
    assert!(sums.iter().any(|sum| sum.contains("soonest at 0.500 s expected: sometimes")));
    let counts = sums.iter().map(|sum| sum.split(' ').next().unwrap().parse::<u32>().unwrap());
    assert_eq!(counts.sum::<u32>(), 12, "{said}");
    assert!(said.ends_with("0 passed, 12 failed\n"), "{said}");
}

#[test]
fn a_run_that_is_broken_off_says_so_and_its_hashes_are_those_of_a_hunt() {
    let folder = folder(&[("early.rhai", EARLY)]);
    let until = dh(folder.path(), &["run", "early.rhai", "--until", "2.5"]);
    assert!(out(&until).contains("ok    early - seed 1 - broken off, 1 check, "), "{until:?}");
    for wrong in ["nan", "0", "-5", "1e-9", "inf"] {
        let ran = dh(folder.path(), &["run", "early.rhai", &format!("--until={wrong}")]);
        assert_eq!(ran.status.code(), Some(2), "{wrong}: {}", err(&ran));
    }
    let one = dh(folder.path(), &["run", "early.rhai", "--seed", "4", "--json"]);
    let hunt = dh(folder.path(), &["run", "early.rhai", "--seeds", "4..4", "--json"]);
    for hash in ["packetHash", "eventHash", "worldHash", "simSeconds"] {
        assert_eq!(runs(&one)[0][hash], runs(&hunt)[0][hash], "{hash}");
    }
}

#[test]
fn reports_are_refused_before_anything_runs_or_are_written_whatever_comes() {
    let sometimes = "scenario(#{ seconds: 1 }); if random() < 0.3 { throw \"no\"; }";
    let folder = folder(&[("early.rhai", EARLY), ("wrong.rhai", sometimes)]);
    for (flag, path) in [("--report", "none/a.html"), ("--junit", "."), ("--report", "early.rhai")]
    {
        let ran = dh(folder.path(), &["run", "early.rhai", flag, path]);
        assert_eq!((ran.status.code(), out(&ran).as_str()), (Some(73), ""), "{}", err(&ran));
    }
    assert_eq!(fs::read_to_string(folder.path().join("early.rhai")).unwrap(), EARLY);
    let ran = dh(folder.path(), &["run", "wrong.rhai", "--seeds", "1..9", "--junit", "a.xml"]);
    assert_eq!(ran.status.code(), Some(65), "{}", err(&ran));
    let xml = fs::read_to_string(folder.path().join("a.xml")).unwrap();
    assert!(xml.contains("tests=\"9\"") && xml.contains("classname=\"wrong\""), "{xml}");
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut unheard = command(folder.path(), &["run", "early.rhai", "--junit", "b.xml"]);
    assert_eq!(unheard.stdout(full).status().unwrap().code(), Some(74));
    assert!(folder.path().join("b.xml").exists());
}

#[test]
fn what_a_script_says_steers_no_terminal_and_breaks_no_document() {
    let script = "
        scenario(#{ seconds: 1 });
        at(0.5, || expect(\"\\x1b]0;pwn\\x07\\u202e\\n      again: rm -rf\\uffff<b>\", false));
    ";
    let folder = folder(&[("wild.rhai", script)]);
    let ran = dh(folder.path(), &["run", "wild.rhai", "--junit", "a.xml", "--report", "a.html"]);
    let said = out(&ran);
    assert_eq!(ran.status.code(), Some(1), "{said}{}", err(&ran));
    assert!(!said.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{said:?}");
    let again = said.lines().filter(|line| line.trim().starts_with("again:")).count();
    assert_eq!(again, 1, "{said}");
    let xml = fs::read_to_string(folder.path().join("a.xml")).unwrap();
    assert!(!xml.contains(['\u{1b}', '\u{ffff}']) && xml.contains("&lt;b&gt;"), "{xml}");
}

#[test]
fn a_hunt_ends_once_nobody_reads_what_it_says() {
    let folder = folder(&[("early.rhai", EARLY)]);
    let words = ["run", "early.rhai", "--seeds", "1..100000", "--jobs", "2"];
    let mut hunt = command(folder.path(), &words);
    let mut hunt = hunt.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    drop(hunt.stdout.take());
    let until = Instant::now() + Duration::from_secs(60);
    while hunt.try_wait().unwrap().is_none() {
        if until < Instant::now() {
            hunt.kill().unwrap();
            panic!("it runs on");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
