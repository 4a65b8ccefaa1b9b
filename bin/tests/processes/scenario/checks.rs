//! Checks that a run does not come to, and mistakes that show before anything runs.

use std::io::{BufRead as _, BufReader};

use super::*;

/// The first check is reached with some seeds only, the second with none.
const RARE: &str = "
scenario(#{ seconds: 2, peers: #{ ada: #{} } });
let ada = peer(\"ada\");
at(1, || { if random() < 0.5 { expect(\"odd\", ada.playing); } });
on(ada, \"ended\", |why| { if why == \"<kick>\" { expect(\"kicked\", false); } });
eventually(\"ada plays\", || ada.playing);
";

#[test]
fn checks_that_no_run_reached_are_told_with_their_places_and_fail_nothing() {
    let folder = folder(&[("rare.rhai", RARE)]);
    let words = ["run", "rare.rhai", "--seeds", "1..9", "--junit", "a.xml", "--report", "a.html"];
    let ran = dh(folder.path(), &words);
    let said = err(&ran);
    assert!(ran.status.success(), "{said}");
    let place = "rare.rhai:5:47: expect(\"kicked\", false)";
    let lines: Vec<&str> = said.lines().filter(|line| line.contains("no run reached")).collect();
    assert_eq!(lines.len(), 1, "{said}");
    assert!(lines[0].ends_with(place), "{said}");
    let page = fs::read_to_string(folder.path().join("a.html")).unwrap();
    assert!(page.contains("Checks that no run reached</h2><ul><li>rare.rhai:5:47: "), "{page}");
    let xml = fs::read_to_string(folder.path().join("a.xml")).unwrap();
    assert_eq!(xml.matches("not reached: rare.rhai:5:47: ").count(), 9, "{xml}");
    let odd = xml.matches("not reached: rare.rhai:4:32: ").count();
    assert!(0 < odd && odd < 9, "{xml}");
    let all = runs(&dh(folder.path(), &[&words[..4], &["--json"]].concat()));
    for run in all {
        let last = run["unreached"].as_array().unwrap().last().unwrap().clone();
        let told = serde_json::json!(
            { "line": 5, "column": 47, "check": "expect(\"kicked\", false)" });
        assert_eq!(last, told);
        assert_eq!(run["passed"], true);
    }
}

#[test]
fn what_refuses_a_run_before_its_time_begins_refuses_a_check_with_the_same_words_and_code() {
    let top = "scenario(#{ seconds: 35, pallets: #{ hill: #{}, hall: #{} },\n\
               servers: #{ main: #{ pallets: [\"hill\"] } }, peers: #{ ada: #{} } });\n";
    let cases = [
        ("syntax.rhai", "at(1, || {", 65),
        ("late.rhai", "at(99, || 1);", 65),
        ("late_inside.rhai", "at(1, || every(40, || 1));", 65),
        ("late_check.rhai", "at(1, || expect_within(40, \"x\", || true));", 65),
        ("gray.rhai", "at(1, || server(\"main\").map(\"\"));", 65),
        ("elsewhere.rhai", "at(1, || server(\"main\").map(\"hall\"));", 66),
        ("nowhere.rhai", "server(\"main\").map(\"none\");", 66),
        ("runs.rhai", "server(\"main\").start();", 65),
        ("word.rhai", "at(1, || peer(\"ada\").jmp());\nat(2, || main);", 65),
        ("hidden.rhai", "const NO = false; at(1, || if NO { expect(\"x\", true) });", 65),
    ];
    let texts: Vec<String> = cases.iter().map(|(_, text, _)| format!("{top}{text}")).collect();
    let files: Vec<(&str, &str)> =
        cases.iter().zip(&texts).map(|((name, ..), text)| (*name, text.as_str())).collect();
    let folder = folder(&files);
    for (name, text, code) in cases {
        let (checked, ran) =
            (dh(folder.path(), &["check", name]), dh(folder.path(), &["run", name]));
        assert_eq!(checked.status.code(), Some(code), "{text}: {}", err(&checked));
        assert_eq!(ran.status.code(), Some(code), "{text}: {}", err(&ran));
        let (checked, ran) = (err(&checked), err(&ran));
        let first = checked.lines().next().unwrap();
        assert!(first.starts_with(&format!("dh: {name}:3:")), "{checked}");
        assert!(ran.contains(first), "{text}: {first}\n{ran}");
    }
}

#[test]
fn a_file_that_is_no_text_hides_no_other() {
    let folder = folder(&[("fine.rhai", RARE), ("late.rhai", "let a = 1;")]);
    fs::write(folder.path().join("broken.rhai"), b"let a = \xff;").unwrap();
    for verb in ["check", "list", "run"] {
        let ran = dh(folder.path(), &[verb, "."]);
        let said = format!("{}{}", out(&ran), err(&ran));
        assert_eq!(ran.status.code(), Some(65), "{verb}: {said}");
        assert!(said.contains("./broken.rhai: byte 8 is not UTF-8, expected text"), "{said}");
        assert!(said.contains("./late.rhai: expected `scenario(#{ seconds: N })`"), "{said}");
        assert!(said.contains("fine"), "{verb}: {said}");
    }
}

#[test]
fn a_mistake_is_told_once_and_a_scenario_that_checks_nothing_is_told_of() {
    let top = "scenario(#{ seconds: 1 });";
    let wrong = format!("{top} at(0.5, || throw \"no\");");
    let folder = folder(&[("idle.rhai", top), ("wrong.rhai", &wrong)]);
    let ran = dh(folder.path(), &["run", "wrong.rhai"]);
    let said = format!("{}{}", out(&ran), err(&ran));
    assert_eq!(
        (said.matches("wrong.rhai:1:").count(), said.contains("again:")),
        (1, false),
        "{said}"
    );
    let ran = dh(folder.path(), &["run", "idle.rhai", "--seeds", "1..3"]);
    assert!(ran.status.success(), "{}", err(&ran));
    assert_eq!(err(&ran).matches("idle.rhai: it checks nothing itself; expected").count(), 1);
}

#[test]
fn a_hunt_that_is_interrupted_sums_up_what_ran_and_writes_its_reports() {
    let folder = folder(&[("rare.rhai", RARE)]);
    let words = ["run", "rare.rhai", "--seeds", "1..100000", "--junit", "a.xml"];
    let mut hunt = command(folder.path(), &words);
    let mut hunt = hunt.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(hunt.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    let pid = rustix::process::Pid::from_child(&hunt);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let last = lines.last().unwrap().unwrap();
    assert!(last.ends_with(" passed, 0 failed"), "{last}");
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&hunt.wait().unwrap()), Some(2));
    let xml = fs::read_to_string(folder.path().join("a.xml")).unwrap();
    assert!(xml.contains("<testcase") && xml.ends_with("</testsuite>\n"), "{xml}");
}
