//! Checks that a run does not come to, and mistakes that show before anything runs.

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
