//! Streams that nobody reads, that are full, or that bring more than can be done at once.

use std::fs::File;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::process::{Process, Unread};
use crate::session::{client, server_with};

/// Far below what an end may take that waits for a reader.
const SOON: Duration = Duration::from_secs(10);

/// Lines that no pipe holds; nor do a pipe and the queue before it hold their answers.
const FLOOD: u32 = 20_000;

#[test]
fn a_server_whose_answers_nobody_reads_still_ends_in_order() {
    let mut server = Process::start_unread(&["server", "--listen", "127.0.0.1:0"], Unread::Stdout);
    (0..FLOOD).for_each(|_| server.type_line("help"));
    let asked = Instant::now();
    server.signal(Signal::TERM);
    let ended = server.end();
    assert!(ended.status.success(), "{ended:?}");
    assert!(asked.elapsed() < SOON, "{:?}", asked.elapsed());
}

#[test]
fn a_client_whose_words_nobody_reads_still_leaves() {
    let (_server, address) = server_with(&[]);
    let words = ["client", "--connect", &address, "--headless"];
    let mut client = Process::start_unread(&words, Unread::Stdout);
    (0..FLOOD).for_each(|_| client.type_line("help"));
    let asked = Instant::now();
    client.signal(Signal::INT);
    let ended = client.end();
    assert!(ended.status.success(), "{ended:?}");
    assert!(asked.elapsed() < SOON, "{:?}", asked.elapsed());
}

#[test]
fn a_log_that_nobody_reads_stops_no_server() {
    let words = ["server", "--listen", "127.0.0.1:0", "-vvv"];
    let mut server = Process::start_unread(&words, Unread::Stderr);
    let address = server.address();
    for name in ["ada", "bob"] {
        let mut client = client(&address, name);
        client.line_with("playing as ");
        client.type_line("quit");
        assert!(client.end().status.success());
    }
    server.signal(Signal::TERM);
    assert!(server.end().status.success());
}

#[test]
fn twenty_thousand_lines_at_once_are_all_answered_and_the_last_one_stops_the_server() {
    let (mut server, _) = server_with(&[]);
    (0..20_000).for_each(|_| server.type_line("players"));
    server.type_line("stop");
    let ended = server.end();
    assert!(ended.status.success(), "{:?}", ended.status);
    let answered = ended.out.iter().filter(|line| line.starts_with("players: ")).count();
    assert_eq!((answered, ended.err.len()), (20_000, 0), "{:?}", ended.err);
    assert_eq!(ended.out.last().unwrap(), "stopped: asked by the console");
}

/// `dh` with these words, its stdout a file that takes nothing; its exit code and its stderr.
fn on_a_full_disk(words: &[&str]) -> (Option<i32>, String) {
    let home = tempfile::tempdir().unwrap();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_dh"))
        .args(words)
        .env("DH_DATA", home.path())
        // Or a graphics library speaks up.
        .env("XDG_RUNTIME_DIR", home.path())
        .stdin(Stdio::null())
        .stdout(full)
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_result_that_cannot_be_written_is_exit_74_with_one_line() {
    for words in [
        &["--help"][..],
        &["server", "--help"],
        &["--version"],
        &["doctor"],
        &["prefs", "list", "--json"],
        &["identity", "show"],
        &["completions", "bash"],
        &["man"],
        &["server", "--listen", "127.0.0.1:0", "--seconds", "0"],
    ] {
        let (code, told) = on_a_full_disk(words);
        assert_eq!(code, Some(74), "{words:?}: {told}");
        assert_eq!(told.lines().count(), 1, "{words:?}: {told}");
    }
}

#[test]
fn a_reader_that_went_away_is_not_told_and_changes_no_exit_code() {
    for words in [&["prefs", "list"][..], &["server", "--listen", "127.0.0.1:0", "--seconds", "0"]]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let home = tempfile::tempdir().unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_dh"))
            .args(words)
            .env("DH_DATA", home.path())
            .stdin(Stdio::null())
            .stdout(writer)
            .output()
            .unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        assert!(output.stderr.is_empty(), "{words:?}: {output:?}");
    }
}
