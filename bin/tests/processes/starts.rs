//! Starts that come to nothing: each ends at once, with its exit code, a cause and a remedy.

use std::process::{Command, Output, Stdio};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::Value;

/// `dh` with these words in a folder of its own, where `prepare` has been.
fn run(words: &[&str], prepare: impl FnOnce(&std::path::Path)) -> Output {
    let home = tempfile::tempdir().unwrap();
    prepare(home.path());
    Command::new(env!("CARGO_BIN_EXE_dh"))
        .args(words)
        .args(["--data", "."])
        .current_dir(home.path())
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn preferences_that_are_no_file_end_every_role_at_once_with_exit_78() {
    for words in [&["server"][..], &["client", "--connect", "127.0.0.1"], &["prefs", "list"]] {
        let output = run(words, |home| {
            let path = home.join("config.toml");
            mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        });
        assert_eq!(output.status.code(), Some(78), "{words:?}: {output:?}");
        assert!(told(&output).contains("\n  try: "), "{words:?}: {output:?}");
    }
}

#[test]
fn an_address_of_another_machine_is_a_wrong_configuration() {
    // Set aside for documentation: no machine has it. Those after it belong to many.
    for address in ["192.0.2.1:27015", "239.1.2.3:27015", "255.255.255.255:27015"] {
        for role in [&["server"][..], &["play", "--headless"]] {
            let output = run(&[role, &["--listen", address]].concat(), |_| ());
            assert_eq!(output.status.code(), Some(78), "{output:?}");
            assert!(told(&output).contains("0.0.0.0:27015"), "{output:?}");
        }
    }
}

#[test]
fn programs_are_told_every_failure_as_one_object_on_stderr() {
    for (words, code) in [
        (&["servr", "--json"][..], 2),
        (&["prefs", "get", "server.nmae", "--json"], 78),
        (&["server", "--config", "none.toml", "--json"], 66),
    ] {
        let output = run(words, |_| ());
        let told: Value = serde_json::from_slice(&output.stderr).unwrap();
        assert_eq!((output.status.code(), &told["code"]), (Some(code), &Value::from(code)));
        assert!(told["error"].is_string() && told["try"].is_string(), "{told}");
        assert!(output.stdout.is_empty(), "{output:?}");
    }
}

#[test]
fn the_doctor_makes_nothing() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    let mut doctor = Command::new(env!("CARGO_BIN_EXE_dh"));
    let output = doctor.args(["doctor", "--data"]).arg(&data).output().unwrap();
    assert!(output.status.success() && !data.exists(), "{output:?}");
}

#[test]
fn preferences_that_are_set_at_once_are_all_kept() {
    let home = tempfile::tempdir().unwrap();
    let set = |key: &str, value: &str| {
        let mut dh = Command::new(env!("CARGO_BIN_EXE_dh"));
        dh.args(["prefs", "set", key, value, "--data"]).arg(home.path());
        dh.stdout(Stdio::null()).spawn().unwrap()
    };
    let values = [("server.maxPlayers", "9"), ("world.timeScale", "2"), ("client.name", "ada")];
    for mut writer in values.map(|(key, value)| set(key, value)) {
        assert!(writer.wait().unwrap().success());
    }
    let written = std::fs::read_to_string(home.path().join("config.toml")).unwrap();
    for line in ["maxPlayers = 9", "timeScale = 2", "name = \"ada\""] {
        assert!(written.contains(line), "{line} in {written}");
    }
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 1, "nothing else is left");
}

#[test]
fn what_would_be_kept_nowhere_is_refused_with_exit_73() {
    for words in [
        &["prefs", "set", "client.name", "ada"][..],
        &["prefs", "reset"],
        &["identity", "export", "x"],
    ] {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("file"), "").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_dh"))
            .args(words)
            .current_dir(home.path())
            .env_remove("DH_DATA")
            .env("XDG_DATA_HOME", home.path().join("file"))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(73), "{words:?}: {output:?}");
        assert!(told(&output).contains("\n  try: dh --data DIR"), "{words:?}: {output:?}");
        assert!(output.stdout.is_empty() && !home.path().join("x").exists(), "{output:?}");
    }
}
