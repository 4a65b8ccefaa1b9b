//! The verbs around content: a folder is begun, built, looked into, unpacked and cached.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus, Output, Stdio};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// `dh` with these words, in this folder and with a data folder in it.
fn dh(home: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dh"))
        .args(words)
        .current_dir(home)
        .env("DH_DATA", home.join("data"))
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// What it answered, having ended well.
fn answer(home: &Path, words: &[&str]) -> String {
    let output = dh(home, words);
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(home: &Path, words: &[&str]) -> Value {
    serde_json::from_str(&answer(home, &[words, &["--json"]].concat())).unwrap()
}

/// Its exit code, and what it said on stderr, a line each.
fn refusal(home: &Path, words: &[&str]) -> (i32, Vec<String>) {
    let output = dh(home, words);
    let said = String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), said.lines().map(str::to_owned).collect())
}

/// The names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let listed = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        listed.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A folder with `yard`, as `dh new` makes it, and `yard.pallet`.
fn yard() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    answer(home.path(), &["new", "yard"]);
    answer(home.path(), &["build", "yard"]);
    home
}

/// Bytes that do not compress.
pub(crate) fn noise(count: usize) -> Vec<u8> {
    let mut word = 1_u32;
    let next = || {
        word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        word.to_le_bytes()[3]
    };
    std::iter::repeat_with(next).take(count).collect()
}

#[test]
fn a_new_folder_is_built_and_its_pallet_tells_the_same_of_itself_everywhere() {
    let home = tempfile::tempdir().unwrap();
    let made = answer(home.path(), &["new", "yard"]);
    assert!(made.contains("dh build yard") && made.contains("yard:assets/main.dh-map"), "{made}");
    let built = json(home.path(), &["build", "yard", "--schema", "schemas"]);
    assert_eq!(names(&home.path().join("schemas")).len(), 2);
    let info = json(home.path(), &["pallet", "info", "yard.pallet"]);
    for key in ["palletId", "fingerprint", "root", "entries", "bytes"] {
        assert!(!info[key].is_null(), "{key}");
        assert_eq!(built[key], info[key], "{key}");
    }
    assert_eq!((&info["format"], &info["palletId"]), (&2.into(), &"yard".into()));
    assert_eq!(info["dependencies"], serde_json::json!([]));
    assert_eq!(info["maps"], serde_json::json!(["yard:assets/main.dh-map"]));
    let bytes = fs::metadata(home.path().join("yard.pallet")).unwrap().len();
    assert_eq!(info["bytes"], bytes);
    let listed = json(home.path(), &["pallet", "list", "yard.pallet"]);
    assert_eq!(listed[0]["path"], "assets/main.dh-map");
    assert!(answer(home.path(), &["pallet", "list", "yard.pallet"]).contains("main.dh-map"));
    let whole = answer(home.path(), &["pallet", "verify", "yard.pallet", "yard.pallet"]);
    assert_eq!(whole.matches(info["fingerprint"].as_str().unwrap()).count(), 2);
    // Another folder, the same bytes.
    answer(home.path(), &["build", "yard", "--out", "again.pallet"]);
    let [one, other] = ["yard.pallet", "again.pallet"].map(|it| fs::read(home.path().join(it)));
    assert!(one.unwrap() == other.unwrap());
}

#[test]
fn a_folder_in_use_is_not_begun_anew() {
    let home = yard();
    let (code, said) = refusal(home.path(), &["new", "yard"]);
    assert_eq!((code, said[0].contains("not empty")), (73, true), "{said:?}");
}

#[test]
fn all_that_is_wrong_with_a_folder_is_told_in_one_run_and_nothing_is_written() {
    let home = yard();
    fs::remove_file(home.path().join("yard.pallet")).unwrap();
    let map = "{ \"objects\": [\n  { \"id\": \"a\", \"naem\": \"x\" },\n  { \"id\": \"a\" }\n] }";
    fs::write(home.path().join("yard/assets/main.dh-map"), map).unwrap();
    fs::write(home.path().join("yard/assets/bad.png"), "no picture").unwrap();
    let before = names(home.path());
    let (code, said) = refusal(home.path(), &["build", "yard"]);
    assert_eq!(code, 65, "{said:?}");
    let starts = |start: &str| said.iter().any(|line| line.starts_with(start));
    let map = "yard/assets/main.dh-map";
    assert!(starts(&format!("{map}:2:")) && starts(&format!("{map}:3:")), "{said:?}");
    assert!(starts("yard/assets/bad.png: "), "{said:?}");
    let count = format!("dh: {} problems in yard; nothing is built", said.len() - 1);
    assert_eq!(said.last(), Some(&count));
    let (code, told) = refusal(home.path(), &["build", "yard", "--json"]);
    let told: Vec<Value> = told.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((code, told.len()), (65, said.len()));
    assert_eq!(told.iter().filter(|it| it["line"] == 2).count(), 1, "{told:?}");
    let bad = told.iter().find(|it| it["file"] == "assets/bad.png").unwrap();
    assert!(bad["line"].is_null() && bad["column"].is_null() && bad["remedy"].is_string());
    assert_eq!(told.last().unwrap()["code"], 65);
    assert_eq!(names(home.path()), before);
}

#[test]
fn a_build_tells_a_missing_source_from_a_place_it_cannot_write_and_from_a_disk_that_fails() {
    let home = yard();
    let before = names(home.path());
    let code = |words: &[&str]| refusal(home.path(), words).0;
    assert_eq!(code(&["build", "none"]), 66);
    assert_eq!(code(&["build", "yard", "--out", "no/such/place.pallet"]), 73);
    assert_eq!(code(&["build", "yard", "--out", "/dev/null"]), 73);
    // Files of 512 bytes at most.
    let limited = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" build yard --out out.pallet"])
        .arg(env!("CARGO_BIN_EXE_dh"))
        .current_dir(home.path())
        .env("DH_DATA", home.path().join("data"))
        .output()
        .unwrap();
    assert_eq!(limited.status.code(), Some(74), "{limited:?}");
    assert_eq!(names(home.path()), before);
}

#[test]
fn whatever_is_no_good_pallet_is_told_in_one_line_by_every_verb() {
    let home = yard();
    let good = fs::read(home.path().join("yard.pallet")).unwrap();
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        bytes
    };
    let long = [&good[..], b"more"].concat();
    for (name, bytes) in [
        ("magic", with(0, b'X')),
        ("v1", with(8, 1)),
        ("lying", with(24, !good[24])),
        ("root", with(48, !good[48])),
        ("short", good[..good.len() - 1].to_vec()),
        ("header", good[..100].to_vec()),
        ("empty", Vec::new()),
        ("long", long),
    ] {
        fs::write(home.path().join(name), bytes).unwrap();
    }
    fs::create_dir(home.path().join("folder")).unwrap();
    mknodat(CWD, home.path().join("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let bad =
        ["magic", "v1", "lying", "root", "short", "header", "empty", "long", "folder", "pipe"];
    for verb in ["info", "verify", "list", "extract"] {
        for name in bad {
            let (code, said) = refusal(home.path(), &["pallet", verb, name]);
            assert_eq!((code, said.len()), (65, 1), "{verb} {name}: {said:?}");
            assert!(said[0].starts_with(&format!("dh: {name}: ")), "{verb} {name}: {said:?}");
        }
        assert_eq!(refusal(home.path(), &["pallet", verb, "none"]).0, 66, "{verb}");
    }
    let (_, said) = refusal(home.path(), &["pallet", "info", "v1"]);
    let told = "dh: v1: Pallet format v1 cannot be read by this build (expected v2) - \
                recompile the pallet with 'dh build'";
    assert_eq!(said, [told]);
    let verify = ["pallet", "verify", "magic", "yard.pallet", "none", "short"];
    let (code, said) = refusal(home.path(), &verify);
    assert_eq!((code, said.len()), (66, 3), "{said:?}");
    let output = dh(home.path(), &[&verify[..], &["--json"]].concat());
    let records = String::from_utf8(output.stdout).unwrap();
    let records: Vec<Value> = records.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(output.status.code(), Some(66));
    let told: Vec<_> = records.iter().map(|it| (&it["path"], &it["ok"], &it["code"])).collect();
    assert_eq!(
        told,
        [
            (&"magic".into(), &false.into(), &65.into()),
            (&"yard.pallet".into(), &true.into(), &Value::Null),
            (&"none".into(), &false.into(), &66.into()),
            (&"short".into(), &false.into(), &65.into()),
        ]
    );
    assert!(records[0]["error"].as_str().unwrap().contains("not a pallet"), "{records:?}");
}

#[test]
fn a_pallet_is_unpacked_whole_over_nothing_that_is_there_and_never_elsewhere() {
    let home = yard();
    let extract = ["pallet", "extract", "yard.pallet", "--out", "out"];
    answer(home.path(), &extract);
    let map = home.path().join("out/assets/main.dh-map");
    let unpacked = fs::read(&map).unwrap();
    assert!(unpacked.starts_with(b"{\"materials\""));
    fs::write(&map, "mine").unwrap();
    assert_eq!(refusal(home.path(), &extract).0, 73);
    assert_eq!(fs::read(&map).unwrap(), b"mine");
    answer(home.path(), &[&extract[..], &["--force"]].concat());
    assert_eq!(fs::read(&map).unwrap(), unpacked);
    assert_eq!(names(&home.path().join("out")), ["assets"]);
    // A link that leads out of the folder.
    fs::create_dir_all(home.path().join("trap")).unwrap();
    fs::create_dir_all(home.path().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink("../elsewhere", home.path().join("trap/assets")).unwrap();
    let trapped = ["pallet", "extract", "yard.pallet", "--out", "trap", "--force"];
    assert_eq!(refusal(home.path(), &trapped).0, 73);
    assert_eq!(names(&home.path().join("elsewhere")).len(), 0);
}

#[test]
fn a_damaged_entry_is_named_and_leaves_nothing() {
    let home = yard();
    // An entry of several groups, so that the manifest lies in another one than its end.
    let about = home.path().join("yard/pallet.dh");
    let text = fs::read_to_string(&about).unwrap().replace("[]\n}", "[\"noise\"]\n}");
    fs::write(&about, text).unwrap();
    fs::write(home.path().join("yard/noise"), noise(200_000)).unwrap();
    answer(home.path(), &["build", "yard"]);
    let path = home.path().join("yard.pallet");
    let mut bytes = fs::read(&path).unwrap();
    let entry = bytes.len() - 40;
    bytes[entry] ^= 1;
    fs::write(&path, bytes).unwrap();
    let (code, said) = refusal(home.path(), &["pallet", "verify", "yard.pallet"]);
    assert_eq!((code, said.len()), (65, 1), "{said:?}");
    assert!(said[0].contains("group 3"), "{said:?}");
    assert_eq!(refusal(home.path(), &["pallet", "extract", "yard.pallet", "--out", "o"]).0, 65);
    assert!(!home.path().join("o").exists());
}

#[test]
fn the_store_is_listed_checked_repaired_and_pruned() {
    let home = yard();
    let info = json(home.path(), &["pallet", "info", "yard.pallet"]);
    let [fingerprint, root] = ["fingerprint", "root"].map(|key| info[key].as_str().unwrap());
    let cached = home.path().join(format!("data/cache/maps/{fingerprint}-{}.pallet", &root[..16]));
    assert_eq!(json(home.path(), &["store", "list"]), serde_json::json!([]));
    let (code, said) = refusal(home.path(), &["store", "list", "--data", "dtaa"]);
    assert!(code == 66 && !home.path().join("dtaa").exists(), "{said:?}");
    fs::copy(home.path().join("yard.pallet"), &cached).unwrap();
    let listed = json(home.path(), &["store", "list"]);
    assert_eq!((&listed[0]["palletId"], &listed[0]["bytes"]), (&"yard".into(), &info["bytes"]));
    assert!(answer(home.path(), &["store", "verify"]).starts_with("ok "));
    assert!(answer(home.path(), &["store", "prune"]).starts_with("freed 0 bytes"));
    let mut bytes = fs::read(&cached).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&cached, &bytes).unwrap();
    let (code, said) = refusal(home.path(), &["store", "verify"]);
    assert_eq!((code, cached.exists()), (65, true), "{said:?}");
    assert!(answer(home.path(), &["store", "verify", "--repair"]).starts_with("GONE "));
    assert!(!cached.exists());
    fs::copy(home.path().join("yard.pallet"), &cached).unwrap();
    let pruned = json(home.path(), &["store", "prune", "--set", "client.cache.maxBytes=0"]);
    assert_eq!(pruned["freed"], info["bytes"]);
    assert!(!cached.exists());
}

#[test]
fn a_role_names_each_pallet_that_it_was_given_and_passes_over() {
    let home = yard();
    fs::create_dir(home.path().join("pallets")).unwrap();
    let good = fs::read(home.path().join("yard.pallet")).unwrap();
    fs::write(home.path().join("pallets/a.pallet"), &good[..good.len() - 1]).unwrap();
    fs::write(home.path().join("pallets/b.pallet"), &good).unwrap();
    let words = ["--listen", "127.0.0.1:0", "--seconds", "0"];
    let server = [&["server", "--content", "pallets"], &words[..]].concat();
    let output = dh(home.path(), &server);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.success() && said.contains("pallets/a.pallet: the pallet ends too early")
    );
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("map yard:assets/main.dh-map"), "{told}");
    // With nothing but the damaged one there is no map to run.
    fs::remove_file(home.path().join("pallets/b.pallet")).unwrap();
    let (code, _) = refusal(home.path(), &[&server[..], &["--map", "yard"]].concat());
    assert_eq!(code, 65);
    let (code, said) = refusal(home.path(), &["server", "--content", "yard", "--seconds", "0"]);
    assert!(code == 66 && said.iter().any(|line| line.contains("dh build yard")), "{said:?}");
}

#[test]
fn a_build_replaces_neither_its_sources_nor_anything_but_a_pallet() {
    let home = yard();
    fs::write(home.path().join("mine.txt"), "mine").unwrap();
    fs::create_dir_all(home.path().join("out/yard.pallet")).unwrap();
    for (out, named) in [
        ("yard/pallet.dh", "yard/pallet.dh is a source of this build"),
        ("yard/assets/main.dh-map", "yard/assets/main.dh-map is a source of this build"),
        ("mine.txt", "mine.txt is there and no pallet"),
        ("out", "out/yard.pallet is a folder"),
    ] {
        let (code, said) = refusal(home.path(), &["build", "yard", "--out", out]);
        assert_eq!(code, 73, "{said:?}");
        assert!(said[0].contains(named) && said[1].contains("try: dh build"), "{said:?}");
    }
    assert_eq!(fs::read(home.path().join("mine.txt")).unwrap(), b"mine");
    answer(home.path(), &["build", "yard"]);
}

#[test]
fn the_id_of_the_built_in_pallet_is_given_to_no_other() {
    let home = yard();
    let (code, said) = refusal(home.path(), &["new", "core"]);
    let told = "\"core\" is the id of the built-in pallet; choose another";
    assert_eq!((code, said[0].contains(told)), (73, true), "{said:?}");
    assert!(!home.path().join("core").exists());
    let about = home.path().join("yard/pallet.dh");
    let text = fs::read_to_string(&about).unwrap().replace("\"yard\"", "\"core\"");
    fs::write(&about, text).unwrap();
    let (code, said) = refusal(home.path(), &["build", "yard"]);
    assert_eq!((code, said[0].contains(told)), (65, true), "{said:?}");
}

#[test]
fn what_is_told_after_a_new_folder_can_be_typed_whatever_its_name_is() {
    let home = tempfile::tempdir().unwrap();
    for (name, id) in [("My Yard", "my-yard"), ("it's \u{dc}n\u{ef}code", "it-s--n-code")] {
        let made = answer(home.path(), &["new", name]);
        let command = made.lines().find(|line| line.contains("dh build")).unwrap();
        let command = command.trim().replacen("dh", env!("CARGO_BIN_EXE_dh"), 1);
        let built =
            Command::new("sh").args(["-c", &command]).current_dir(home.path()).output().unwrap();
        assert!(built.status.success(), "{command}: {built:?}");
        let info = json(home.path(), &["pallet", "info", &format!("{id}.pallet")]);
        assert_eq!((&info["name"], &info["palletId"]), (&name.into(), &id.into()));
    }
}

#[test]
fn a_pallet_is_not_unpacked_over_the_sources_it_was_built_from() {
    let home = yard();
    let map = fs::read(home.path().join("yard/assets/main.dh-map")).unwrap();
    let out = ["pallet", "extract", "yard.pallet", "--out", "yard", "--force"];
    let (code, said) = refusal(home.path(), &out);
    assert_eq!((code, said[0].contains("is a content folder")), (73, true), "{said:?}");
    assert_eq!(fs::read(home.path().join("yard/assets/main.dh-map")).unwrap(), map);
    let told = answer(home.path(), &["pallet", "extract", "yard.pallet"]);
    assert!(told.contains("1 file in yard.extracted"), "{told}");
    assert!(home.path().join("yard.extracted/assets/main.dh-map").exists());
}

#[test]
fn what_a_folder_lacks_is_noted_and_a_flood_of_mistakes_is_cut_and_told_to_be() {
    let home = yard();
    let map = home.path().join("yard/assets/main.dh-map");
    fs::write(home.path().join("yard/assets/tree.obj"), "").unwrap();
    let (_, said) = refusal(home.path(), &["build", "yard"]);
    assert_eq!(said, ["dh: 1 note on this content; -v tells it"]);
    let (_, said) = refusal(home.path(), &["build", "yard", "-v"]);
    assert!(said.iter().any(|it| it.starts_with("yard/assets/tree.obj: is left out")), "{said:?}");
    let wrong = vec!["{ \"id\": \"\\u001b[2J\" }"; 200].join(",\n");
    fs::write(&map, format!("{{ \"objects\": [ {wrong} ] }}")).unwrap();
    let (code, said) = refusal(home.path(), &["build", "yard"]);
    assert_eq!((code, said.len()), (65, 102), "{said:?}");
    assert_eq!(said[101], "dh: 100 problems and more in yard; nothing is built");
    assert!(!said.iter().any(|line| line.contains('\u{1b}')));
}

#[test]
fn a_build_or_unpacking_that_a_signal_ends_leaves_nothing() {
    let home = yard();
    fs::write(home.path().join("yard/noise"), noise(60_000_000)).unwrap();
    let about = home.path().join("yard/pallet.dh");
    let text = fs::read_to_string(&about).unwrap().replace("[]\n}", "[\"noise\"]\n}");
    fs::write(&about, text).unwrap();
    fs::create_dir(home.path().join("out")).unwrap();
    answer(home.path(), &["build", "yard"]);
    for (words, signal) in [
        (vec!["build", "yard", "--out", "out"], Signal::INT),
        (vec!["build", "yard", "--out", "out"], Signal::TERM),
        (vec!["pallet", "extract", "yard.pallet", "--out", "out"], Signal::INT),
    ] {
        // On a busy machine it may be done before the signal comes.
        let was_in_time = (0..10).any(|_| {
            let ended = ended_by(home.path(), &words, signal);
            let left = names(&home.path().join("out"));
            fs::remove_dir_all(home.path().join("out")).unwrap();
            fs::create_dir(home.path().join("out")).unwrap();
            assert!(ended.success() || left.is_empty(), "{words:?}: {left:?}");
            ended.signal() == Some(signal.as_raw())
        });
        assert!(was_in_time, "{words:?}");
    }
}

/// How `dh` ends with these words, and with this signal as soon as anything lies in `out`.
fn ended_by(home: &Path, words: &[&str], signal: Signal) -> ExitStatus {
    let mut child = Command::new(env!("CARGO_BIN_EXE_dh"))
        .args(words)
        .current_dir(home)
        .env("DH_DATA", home.join("data"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while names(&home.join("out")).is_empty() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    // It may have ended meanwhile.
    let _ = kill_process(Pid::from_child(&child), signal);
    child.wait().unwrap()
}
