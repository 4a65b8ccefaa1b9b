//! A server and its clients as separate processes.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::process::Process;

fn server() -> (Process, String) {
    server_with(&[])
}

/// A server with more words on its command line, and its address.
pub(crate) fn server_with(words: &[&str]) -> (Process, String) {
    let words = [&["server", "--listen", "127.0.0.1:0"], words].concat();
    let mut server = Process::start(&words);
    let address = server.address();
    (server, address)
}

/// A client of that name, on its way in.
pub(crate) fn client(address: &str, name: &str) -> Process {
    let words = ["client", "--connect", address, "--name", name, "--headless", "--seconds", "20"];
    Process::start(&words)
}

/// What `players` answers: its lines after the header, and the header.
fn players(server: &mut Process, count: usize) -> Vec<String> {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        server.type_line("players");
        let header = server.line_with("players: ");
        let present: usize = header
            .trim_start_matches("players: ")
            .split('/')
            .next()
            .and_then(|count| count.parse().ok())
            .unwrap();
        let lines: Vec<String> = (0..present).map(|_| server.line_with("identity=")).collect();
        if present == count && lines.iter().all(|line| line.contains("state=playing")) {
            return lines;
        }
        assert!(Instant::now() < deadline, "{header}: {lines:?}, expected {count}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// WHO-05, WHO-09
#[test]
fn players_is_right_while_clients_come_are_killed_leave_and_stay() {
    let (mut server, address) = server();
    let [mut killed, mut leaving, mut staying] =
        ["ada", "bob", "cyd"].map(|name| client(&address, name));
    for client in [&mut killed, &mut leaving, &mut staying] {
        client.line_with("playing as ");
    }
    let lines = players(&mut server, 3);
    for name in ["ada", "bob", "cyd"] {
        assert!(lines.iter().any(|line| line.contains(name)), "{lines:?}");
    }
    assert!(lines.iter().all(|line| line.contains("addr=127.0.0.1:")), "{lines:?}");

    leaving.type_line("quit");
    assert!(leaving.end().status.success());
    assert!(!players(&mut server, 2).iter().any(|line| line.contains("bob")));

    killed.signal(Signal::KILL);
    let lines = players(&mut server, 1);
    assert!(lines[0].contains("cyd"), "{lines:?}");

    server.type_line("say still here");
    staying.line_with("[server] still here");
    server.signal(Signal::TERM);
    let ended = server.end();
    assert!(ended.status.success(), "{ended:?}");
    assert!(ended.out.iter().any(|line| line == "stopped: SIGTERM"), "{ended:?}");
    let ended = staying.end();
    assert!(ended.status.success(), "{ended:?}");
    assert!(ended.out.iter().any(|line| line.contains("server stopped (SIGTERM)")), "{ended:?}");
}

/// SES-08
#[test]
fn a_server_that_is_not_there_is_told_in_one_line_with_exit_69() {
    let taken = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    drop(taken);
    let ended = client(&address, "ada").end();
    assert_eq!(ended.status.code(), Some(69), "{ended:?}");
    let told = format!("connect: could not reach {address} (");
    let lines = ended.out.iter().chain(&ended.err).filter(|line| line.contains(&told));
    assert_eq!(lines.count(), 1, "{ended:?}");
    assert!(ended.err.iter().any(|line| line.starts_with("  try: ")), "{ended:?}");
}

/// Whoever played on a server that was killed need not wait until it is too quiet.
#[test]
fn a_server_that_starts_again_after_a_crash_ends_those_who_played_on_it_at_once() {
    let (server, address) = server();
    let mut client = client(&address, "ada");
    client.line_with("playing as ");
    let mut server = server.again(&["server", "--listen", &address]);
    assert_eq!(server.address(), address);
    let since = Instant::now();
    let ended = client.end();
    assert_eq!(ended.status.code(), Some(69), "{ended:?}");
    assert!(since.elapsed() < Duration::from_secs(4), "{:?}", since.elapsed());
}

#[test]
fn a_server_that_vanishes_ends_its_clients_with_exit_69_and_one_that_stops_with_0() {
    let (vanishing, address) = server();
    let mut client = Process::start(&["client", "--connect", &address, "--headless", "--json"]);
    client.line_with("spawned");
    vanishing.signal(Signal::KILL);
    let ended = client.end();
    assert_eq!(ended.status.code(), Some(69), "{ended:?}");
    let told: Value = serde_json::from_str(ended.err.last().unwrap()).unwrap();
    assert_eq!(told["error"], "disconnected: The server closed the connection.");
    assert!(told["code"] == 69 && told["try"].is_string(), "{told}");

    let (mut stopping, address) = server();
    let mut client = self::client(&address, "ada");
    client.line_with("playing as ");
    stopping.type_line("stop");
    let ended = client.end();
    assert!(
        ended.status.success() && !ended.err.iter().any(|line| line.starts_with("dh:")),
        "{ended:?}"
    );
    assert_eq!(ended.out.iter().filter(|line| line.contains("server stopped")).count(), 1);
}

#[test]
fn a_client_that_was_halted_for_too_long_ends_with_exit_69() {
    let (_server, address) = server();
    let mut client = client(&address, "ada");
    client.line_with("playing as ");
    client.signal(Signal::STOP);
    std::thread::sleep(Duration::from_secs(16));
    client.signal(Signal::CONT);
    assert_eq!(client.end().status.code(), Some(69));
}

/// SES-08: whoever typed it is still there, and goes where somebody answers.
#[test]
fn a_failed_connect_at_the_console_is_one_line_and_the_client_stays() {
    let (mut server, address) = server();
    let taken = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let nobody = taken.local_addr().unwrap().to_string();
    drop(taken);
    let mut ada = client(&address, "ada");
    ada.line_with("playing as ");
    ada.type_line(&format!("connect {nobody}"));
    ada.line_with(&format!("disconnected from {address}"));
    ada.line_with(&format!("connect: could not reach {nobody} ("));
    server.line_with("ada left");
    ada.type_line("disconnect");
    ada.line_with("not connected");
    ada.type_line(&format!("connect {address}"));
    ada.line_with("playing as ");
    ada.type_line("disconnect");
    ada.line_with(&format!("disconnected from {address}"));
    ada.type_line("quit");
    let ended = ada.end();
    assert!(ended.status.success(), "{ended:?}");
    let failed = ended.out.iter().filter(|line| line.starts_with("connect: could not reach"));
    assert_eq!(failed.count(), 1, "{ended:?}");
    let left = ended.out.iter().filter(|line| line.starts_with("disconnected from "));
    assert_eq!(left.count(), 2, "once for each server that was left: {ended:?}");
}

#[test]
fn a_taken_port_is_told_with_exit_75() {
    let (_server, address) = server();
    let ended = Process::start(&["server", "--listen", &address]).end();
    assert_eq!(ended.status.code(), Some(75), "{ended:?}");
}

/// WHO-24
#[test]
fn a_full_server_says_so_with_exit_75() {
    let (_server, address) = server_with(&["--set", "server.maxPlayers=1"]);
    let mut ada = client(&address, "ada");
    ada.line_with("playing as ");
    let ended = client(&address, "bob").end();
    assert_eq!(ended.status.code(), Some(75), "{ended:?}");
    let full = |line: &&String| line.contains("server is full (1 player)");
    assert_eq!(ended.out.iter().chain(&ended.err).filter(full).count(), 1, "{ended:?}");
}

#[test]
fn a_world_that_is_played_in_and_open_says_where_and_lets_others_in() {
    let words = ["play", "--headless", "--listen", "127.0.0.1:0", "--seconds", "60"];
    let mut host = Process::start(&[&words[..], &["--peers", "0"]].concat());
    let address = host.address();
    let mut ada = client(&address, "ada");
    ada.line_with("joined Driftholm, map core:assets/demo.dh-map");
    ada.line_with("playing as ");
    for guest in [&mut ada, &mut host] {
        guest.signal(Signal::TERM);
        assert!(guest.end().status.success());
    }
}

/// CHAT-23, WHO-06, sessions OQ-11: and an operator still is one after a restart.
#[test]
fn a_person_at_a_client_chats_and_commands_the_server_once_it_may() {
    let (mut server, address) = server();
    let mut ada = client(&address, "ada");
    ada.line_with("playing as ");
    ada.type_line("chat hello there");
    ada.line_with("ada: hello there");
    server.line_with("ada: hello there");
    ada.type_line("players");
    assert_eq!(ada.line_with("players: "), "players: only an operator can do that on this server");
    server.type_line("op #0");
    let identity = server.line_with("is an operator").split(' ').nth(1).unwrap().to_owned();
    ada.type_line("players");
    assert_eq!(ada.line_with("players: "), "players: 1/16 connected");
    assert!(ada.line_with("identity=").ends_with("  op"));
    ada.type_line("server.maxPlayers 3");
    ada.line_with("server.maxPlayers = 3");
    ada.type_line("stop");
    ada.line_with("stopping");
    assert!(server.end().status.success());
    let kept = std::fs::read_to_string(server.home().join("config.toml")).unwrap();
    assert_eq!(kept.trim(), format!("[server]\noperators = \"{identity}\""));
}
