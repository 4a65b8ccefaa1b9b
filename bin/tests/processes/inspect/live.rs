//! The live screen on a terminal: pages, keys, sizes, and what is left behind.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::pty::Pty;
use crate::process::Process;

/// A server that can be found, once it is ready, and the folder it is found by.
fn server() -> (Process, tempfile::TempDir) {
    let (mut server, runtime) = starting();
    server.line_with("ready on ");
    (server, runtime)
}

/// The same, on its way.
pub(crate) fn starting() -> (Process, tempfile::TempDir) {
    let runtime = tempfile::tempdir().unwrap();
    let folder = [("XDG_RUNTIME_DIR", runtime.path().to_str().unwrap())];
    (Process::start_with(&["server", "--listen", "127.0.0.1:0"], &folder), runtime)
}

/// The screen in a terminal of 80 by 24, once it shows the server's actors.
fn inspect(runtime: &tempfile::TempDir, with: &[(&str, &str)]) -> Pty {
    let folder = [("XDG_RUNTIME_DIR", runtime.path().to_str().unwrap())];
    let pty = Pty::start(&["inspect"], (80, 24), &[&folder[..], with].concat());
    pty.lines_when("the first screen", |lines| {
        lines[0].starts_with("[1 actors ") && lines.iter().any(|line| line.contains("roster"))
    });
    pty
}

#[test]
fn the_screen_is_sorted_filtered_opened_resized_and_left_as_it_was_found() {
    let (_server, runtime) = server();
    let mut pty = inspect(&runtime, &[]);
    assert!(pty.screen().alternate_screen() && !pty.is_given_back());

    pty.press("D");
    pty.lines_with("Depth\u{25bc}");
    pty.press("D");
    pty.lines_with("Depth\u{25b2}");
    pty.press("/roster");
    let is_alone = |lines: &[String]| lines[2].contains("roster") && lines[3].trim().is_empty();
    pty.lines_when("the roster alone", is_alone);
    pty.lines_with("filter: roster_");
    // Keys that come at once are all heard.
    pty.press("\r\u{1b}[B\r");
    let lines = pty.lines_with("kind roster");
    assert!(lines[1].ends_with("/roster"), "{lines:#?}");
    pty.lines_when("its messages", |lines| lines[7].starts_with(|c: char| c.is_uppercase()));
    pty.lines_with("control [");

    pty.resize(200, 60);
    pty.lines_when("a larger screen", |lines| lines[59].contains("of snapshot"));
    pty.press("\u{1b}");
    pty.lines_when("all columns", |lines| lines[1].contains("pLace"));
    pty.resize(60, 12);
    pty.lines_when("a smaller screen", |lines| lines[11].contains("of snapshot"));

    for (key, page) in [
        ("2", "[2 ticks"),
        ("3", "[3 links"),
        ("\t", "[4 waits"),
        ("5", "[5 limits"),
        ("6", "[6 process"),
        ("?", "Left Right"),
    ] {
        pty.press(key);
        pty.lines_with(page);
    }
    pty.press("qq");
    assert!(pty.end().success());
    assert!(pty.is_given_back());
}

#[test]
fn the_numbers_move_and_the_first_screen_comes_at_once() {
    let (_server, runtime) = server();
    let begun = Instant::now();
    let mut pty = inspect(&runtime, &[]);
    // Starting a process on a busy machine is most of it.
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    let has_rate = |line: &String| {
        let is_it = line.contains("inspector");
        is_it && !line.split_whitespace().any(|cell| cell == "-")
    };
    pty.lines_when("rates", |lines| lines.iter().any(has_rate));
    pty.press("p");
    pty.lines_with("PAUSED");
    pty.press("p");
    pty.lines_when("no pause", |lines| !lines[0].contains("PAUSED"));
    pty.press("\u{3}");
    assert!(pty.end().success());
}

#[test]
fn an_order_is_asked_back_about_and_its_answer_shown() {
    let (_server, runtime) = server();
    let mut pty = inspect(&runtime, &[]);
    pty.press("/roster\r\u{1b}[B");
    pty.press("r");
    pty.lines_with("y or n: restart ");
    pty.press("n");
    pty.lines_with("nothing was done");
    pty.press("ry");
    pty.lines_when("an answer", |lines| {
        let told = &lines[22];
        told.starts_with("done: ") || told.starts_with("NOT DONE: ")
    });
    pty.press("q");
    assert!(pty.end().success());
}

#[test]
fn whatever_signal_ends_it_the_terminal_is_given_back() {
    let (_server, runtime) = server();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut pty = inspect(&runtime, &[]);
        pty.signal(signal);
        assert!(pty.end().success(), "{signal:?}");
        assert!(pty.is_given_back(), "{signal:?}");
    }
}

#[test]
fn a_terminal_that_goes_away_ends_it_soon() {
    let (_server, runtime) = server();
    let pty = inspect(&runtime, &[]);
    let begun = Instant::now();
    pty.hang_up();
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
}

#[test]
fn a_process_that_goes_is_told_and_one_that_was_never_there_is_exit_69() {
    let (mut server, runtime) = server();
    let mut pty = inspect(&runtime, &[]);
    server.signal(Signal::KILL);
    server.end();
    pty.lines_with("CONNECTION LOST: server ");
    pty.lines_with("no process of this user runs");
    // One that starts is shown, as is one more.
    let folder = [("XDG_RUNTIME_DIR", runtime.path().to_str().unwrap())];
    let words = ["server", "--listen", "127.0.0.1:0"];
    let _one = Process::start_with(&words, &folder);
    pty.lines_when("the first", |lines| lines[23].starts_with("server "));
    let _two = Process::start_with(&words, &folder);
    pty.lines_with(" and 1 more");
    pty.press("q");
    assert!(pty.end().success() && pty.is_given_back());

    let data = server.home().to_str().unwrap();
    let words = ["inspect", "--connect", "127.0.0.1:1", "--data", data];
    let mut pty = Pty::start(&words, (80, 24), &[]);
    assert_eq!(pty.end().code(), Some(69));
    pty.lines_with("dh: nothing can be inspected at 127.0.0.1:1");
    assert!(pty.is_given_back() && !pty.bytes().windows(8).any(|bytes| bytes == b"\x1b[?1049h"));
}

#[test]
fn without_colours_and_unicode_there_is_neither() {
    let (_server, runtime) = server();
    let mut pty = inspect(&runtime, &[("NO_COLOR", "1"), ("LANG", "C")]);
    pty.press("D234");
    pty.lines_with("[4 waits");
    pty.press("q");
    assert!(pty.end().success());
    let bytes = pty.bytes();
    assert!(bytes.is_ascii());
    let text = String::from_utf8(bytes).unwrap();
    assert!(!text.contains("38;5;") && !text.contains("48;5;"), "{text:?}");
}
