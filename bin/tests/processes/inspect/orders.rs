//! What `dh inspect` has done by a process, and whom it shows the token to.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Output;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use super::{inspect, server};

fn out(output: &Output) -> (Option<i32>, String) {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

#[test]
fn each_control_is_a_verb_that_says_what_was_done_or_why_not() {
    let runtime = tempfile::tempdir().unwrap();
    let runtime = runtime.path().to_str().unwrap();
    let (server, address, _token) = server(runtime);
    let act = |words: &[&str]| out(&inspect(words, runtime));
    for (words, part) in [
        (&["restart", "server/chat"][..], "server/chat is made anew"),
        (&["bound", "server/roster", "data", "60000"], "at most 60000 messages wait in the data"),
        (&["log", "server/roster", "debug"], "dh_server::roster is logged at debug"),
        (&["log"], "changed since: dh_server::roster=debug"),
        (&["log", "server/roster", "reset"], "changed since: nothing"),
        (&["set", "server.maxPlayers", "5"], "server.maxPlayers = 5"),
        (&["dump", "--connect", &address], ".json; for dh scenario replay: "),
    ] {
        let (code, told) = act(words);
        assert_eq!(code, Some(0), "{words:?}: {told}");
        assert!(told.contains(part) && told.lines().count() == 1, "{words:?}: {told}");
    }
    let flight = server.home().join("flight");
    assert!(flight.is_dir());
    let done = inspect(&["set", "server.maxPlayers", "6", "--json"], runtime);
    let done: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(done, serde_json::json!({ "done": "server.maxPlayers = 6" }));
    for (words, code, part) in [
        (&["restart", "no/where"][..], 66, "no/where"),
        (&["bound", "server/roster", "data", "0"], 2, "expected 1 to"),
        (&["bound", "server/roster", "left", "9"], 2, "left"),
        (&["restart", "server/rostr"], 66, "try: server/roster, which is nearest"),
        (&["log", "dh_nonsense", "debug"], 2, "dh inspect log alone lists all"),
        (&["log", "dh_host", "loud"], 2, "one of off"),
        (&["log", "dh_host"], 2, "LEVEL"),
        (&["set", "server.maxPlayers", "500"], 78, "from 1 to 64"),
        (&["set", "no.such", "1"], 78, "no.such"),
        (&["set", "server.name", "x"], 78, "needs a restart"),
        (&["set", "client.interp", "0.2"], 78, "this process is a server"),
        (&["--token-file", "x"], 2, "--connect"),
    ] {
        let (found, told) = act(words);
        assert!(found == Some(code) && told.contains(part), "{words:?}: {found:?} {told}");
    }
    // What stands in its way is told with what can be done about it.
    std::fs::remove_dir_all(&flight).unwrap();
    std::fs::write(&flight, "").unwrap();
    let (code, told) = act(&["dump"]);
    let place = flight.canonicalize().unwrap();
    assert!(code == Some(74) && told.contains("; move away what stands there"), "{told}");
    assert!(told.contains(&*place.to_string_lossy()), "{told}");
    // The same verbs end the same where no process is asked.
    for (key, value) in [("server.maxPlayers", "500"), ("no.such", "1")] {
        let mut dh = std::process::Command::new(env!("CARGO_BIN_EXE_dh"));
        let own = dh.args(["prefs", "set", key, value, "--data"]).arg(server.home());
        assert_eq!(own.output().unwrap().status.code(), Some(78), "{key}");
    }
    let (other, other_address, _token) = super::server(runtime);
    let (code, told) = act(&["dump"]);
    assert!(code == Some(2) && told.contains("2 processes run: server "), "{told}");
    for (process, address) in [(&server, &address), (&other, &other_address)] {
        let name = format!("server {} at {address}", process.id());
        assert!(told.contains(&name), "{name}: {told}");
    }
}

/// Ask for something to be done: who asked, and the answer.
fn order(address: &str, headers: &str, body: &str) -> (SocketAddr, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let head = format!("POST /control HTTP/1.0\r\nhost: localhost\r\n{headers}");
    let text = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    (stream.local_addr().unwrap(), answer)
}

#[test]
fn what_is_refused_is_logged_with_who_asked_and_why_and_never_with_the_token() {
    let runtime = tempfile::tempdir().unwrap();
    let (mut server, address, token) = server(runtime.path().to_str().unwrap());
    let allowed = format!("authorization: Bearer {token}\r\n");
    let json = format!("{allowed}content-type: application/json\r\n");
    let foreign = format!("{json}origin: http://evil.example\r\n");
    let senseless = r#"{"do":"bound","path":"server/chat","lane":"data","max":0}"#;
    let asked: Vec<_> = [
        (&json, senseless, 400, "max: expected 1 to 65536, found 0"),
        (&json, r#"{"do":"restart","path":"no/where"}"#, 404, "there is no actor at"),
        (&json, &format!(r#"{{"do":"{token}"}}"#), 400, "no order: it makes no sense at line 1"),
        (&allowed, "{}", 415, "content-type: expected application/json"),
        (&foreign, "{}", 403, "a page of another origin"),
    ]
    .into_iter()
    .map(|(headers, body, status, why)| {
        let (by, answer) = order(&address, headers, body);
        assert!(answer.contains(&format!(" {status} ")), "{body}: {answer}");
        (by.to_string(), why)
    })
    .collect();
    server.signal(Signal::TERM);
    let said = server.end().err;
    for (by, why) in asked {
        let parts = ["refused through the inspector", &by, why];
        let is_told = said.iter().any(|line| parts.iter().all(|part| line.contains(part)));
        assert!(is_told, "{parts:?}: {said:?}");
    }
    assert!(said.iter().all(|line| !line.contains(&token)));
}

/// Somebody who takes connections, tells what came, and answers with `answer` for ever.
fn listener(at: &str, answer: &'static [u8], rest: Duration) -> (String, Receiver<String>) {
    let listener = TcpListener::bind(at).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (tell, told) = channel();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let mut some = [0; 4_096];
            let read = stream.read(&mut some).unwrap();
            let _ = tell.send(String::from_utf8_lossy(&some[..read]).into_owned());
            while !answer.is_empty() && stream.write_all(answer).is_ok() {
                std::thread::sleep(rest);
            }
            if answer.is_empty() {
                std::thread::sleep(Duration::from_secs(30));
            }
        }
    });
    (address, told)
}

#[test]
fn a_token_is_shown_to_nobody_who_is_not_known_unless_it_is_asked_for() {
    let runtime = tempfile::tempdir().unwrap();
    let runtime = runtime.path().to_str().unwrap();
    let (server, _address, token) = server(runtime);
    let (data, file) = (server.home(), server.home().join("inspect.token"));
    let (data, file) = (data.to_str().unwrap(), file.to_str().unwrap());
    let (near, heard_near) = listener("127.0.0.2:0", b"HTTP/1.0 404 No\r\n\r\n", Duration::ZERO);
    let refused = out(&inspect(&["--json", "--connect", &near], runtime));
    assert!(refused.0 == Some(77) && refused.1.contains("--token-file FILE"), "{refused:?}");
    let far = out(&inspect(&["--json", "--connect", "192.0.2.1:9", "--data", data], runtime));
    assert!(far.0 == Some(77) && far.1.contains("shown to nobody"), "{far:?}");
    assert!(heard_near.try_recv().is_err(), "nothing was sent");
    inspect(&["--json", "--connect", &near, "--token-file", file], runtime);
    let heard = heard_near.recv_timeout(Duration::from_secs(20)).unwrap();
    assert!(heard.contains(&token), "{heard}");
}

#[test]
fn whoever_answers_without_end_or_not_at_all_is_given_up() {
    let runtime = tempfile::tempdir().unwrap();
    let runtime = runtime.path().to_str().unwrap();
    let (server, ..) = server(runtime);
    let file = server.home().join("inspect.token");
    let file = file.to_str().unwrap();
    let second = Duration::from_secs(1);
    for (answer, rest, part) in [
        (&b"x: y\r\n"[..], Duration::ZERO, "a head of at most"),
        (b"HTTP/1.0 200", Duration::ZERO, "a head of at most"),
        (b"x: y\r\n", second, "took longer than 15s"),
        (b"\r\n\r\n", second, "does not speak HTTP"),
        (b"", second, "did not answer within 5s"),
    ] {
        let (address, _told) = listener("127.0.0.1:0", answer, rest);
        let begun = Instant::now();
        let words = ["--json", "--connect", &address, "--token-file", file];
        let (code, told) = out(&inspect(&words, runtime));
        assert!(begun.elapsed() < Duration::from_secs(25), "{:?}", begun.elapsed());
        assert!(told.contains(part) && told.lines().count() <= 2, "{code:?}: {told}");
        assert!(code == Some(69) || part.contains("HTTP"), "{code:?}: {told}");
    }
}
