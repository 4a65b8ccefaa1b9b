//! Records of runs, and what is played again of them.

use super::*;

#[test]
fn a_run_is_recorded_as_a_trace_and_journals_that_replay() {
    let folder = folder(&[("early.rhai", EARLY)]);
    let plain = dh(folder.path(), &["run", "early.rhai", "--until", "2", "--json"]);
    let ran =
        dh(folder.path(), &["run", "early.rhai", "--until", "2", "--json", "--record", "rec"]);
    let run = &runs(&ran)[0];
    assert_eq!(run["eventHash"], runs(&plain)[0]["eventHash"], "watching changes nothing");
    let trace = fs::read(folder.path().join(run["record"].as_str().unwrap())).unwrap();
    let trace: Value = serde_json::from_slice(&trace).unwrap();
    assert!(trace["traceEvents"].as_array().unwrap().len() > 100);
    let [journal] = run["journals"].as_array().unwrap().as_slice() else { panic!("{run}") };
    let journal = journal.as_str().unwrap();
    let replayed = dh(folder.path(), &["replay", journal]);
    assert!(replayed.status.success(), "{}", err(&replayed));
    let trace = dh(folder.path(), &["replay", run["record"].as_str().unwrap()]);
    assert_eq!(trace.status.code(), Some(65), "{}", err(&trace));
    assert!(err(&trace).contains(&format!("dh scenario replay {journal}")), "{}", err(&trace));
    let told = out(&dh(folder.path(), &["run", "early.rhai", "--record", "told"]));
    let lines = ["      record: told/flight-000001-", "      journal: told/flight-000001-"];
    assert!(lines.iter().all(|it| told.lines().any(|line| line.starts_with(it))), "{told}");
    let many = dh(folder.path(), &["run", "early.rhai", "early.rhai", "--record", "rec"]);
    assert_eq!(many.status.code(), Some(2), "{}", err(&many));
}

/// Everybody stands on a floor that was made up from the third second on.
const HALL: &str = "
scenario(#{ seconds: 8, pallets: #{ hall: #{ floor: 1.0, bytes: 100000 } },
    peers: #{ ada: #{ role: \"jumper\" } } });
at(3, || server(\"main\").map(\"hall\"));
";

/// What came of playing a journal again.
fn replayed(folder: &Path, journal: &str, more: &[&str]) -> (Option<i32>, String) {
    let ran = dh(folder, &[&["replay", journal], more].concat());
    (ran.status.code(), format!("{}{}", out(&ran), err(&ran)))
}

#[test]
fn a_record_holds_the_pallets_that_were_made_up_and_is_played_again_with_nothing_else() {
    let folder = folder(&[("hall.rhai", HALL)]);
    let path = folder.path();
    let ran = dh(path, &["run", "hall.rhai", "--record", "rec", "--json"]);
    let run = &runs(&ran)[0];
    let text = |key: &str| run[key][0].as_str().unwrap().to_owned();
    let (journal, pallet) = (text("journals"), text("pallets"));
    assert!(pallet.starts_with("rec/hall.") && pallet.ends_with(".pallet"), "{pallet}");
    // Another pallet of that id lies beside it, as that of another run does.
    let other = HALL.replace("1.0", "2.0").replace("jumper", "walker");
    fs::write(path.join("other.rhai"), other).unwrap();
    let other = dh(path, &["run", "other.rhai", "--record", "rec"]);
    assert!(out(&other).contains("      its content: rec/hall."), "{}", out(&other));
    let (code, said) = replayed(path, &journal, &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("every digest is equal"), "{said}");
    // Elsewhere, it needs the pallet, and says so.
    fs::create_dir(path.join("away")).unwrap();
    fs::rename(path.join(&journal), path.join("away/it.journal")).unwrap();
    let (code, said) = replayed(path, "away/it.journal", &[]);
    assert_eq!(code, Some(66), "{said}");
    assert!(said.contains("no pallet 'hall' with root ") && said.contains("--content"), "{said}");
    let (code, said) = replayed(path, "away/it.journal", &["--content", &pallet]);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn a_pallet_of_a_record_that_was_altered_is_not_used() {
    let folder = folder(&[("hall.rhai", HALL)]);
    let path = folder.path();
    let ran = dh(path, &["run", "hall.rhai", "--record", "rec", "--json"]);
    let run = &runs(&ran)[0];
    let text = |key: &str| run[key][0].as_str().unwrap().to_owned();
    let (journal, pallet) = (text("journals"), path.join(text("pallets")));
    let whole = fs::read(&pallet).unwrap();
    let cut = whole[..1_000].to_vec();
    let mut altered = whole.clone();
    altered[150] ^= 1;
    let none = Vec::new();
    for bad in [cut, altered, none] {
        fs::write(&pallet, bad).unwrap();
        let (code, said) = replayed(path, &journal, &[]);
        assert_eq!(code, Some(65), "{said}");
        assert!(said.contains("hall:assets/main.dh-map: ") && said.contains(".pallet: "), "{said}");
    }
    // Nor is one waited for that is no file.
    fs::remove_file(&pallet).unwrap();
    let made = Command::new("mkfifo").arg(&pallet).status().unwrap();
    assert!(made.success());
    let (code, said) = replayed(path, &journal, &[]);
    assert!(matches!(code, Some(65 | 66)), "{said}");
    // One that was put in its place is written anew, and a folder is not.
    fs::remove_file(&pallet).unwrap();
    fs::create_dir(&pallet).unwrap();
    let ran = dh(path, &["run", "hall.rhai", "--record", "rec"]);
    assert_eq!(ran.status.code(), Some(73), "{}", err(&ran));
    fs::remove_dir(&pallet).unwrap();
    fs::write(&pallet, "no pallet").unwrap();
    assert!(dh(path, &["run", "hall.rhai", "--record", "rec"]).status.success());
    assert_eq!(fs::read(&pallet).unwrap(), whole);
}
