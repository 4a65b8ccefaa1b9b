//! Preferences that are set through the inspector: in each role, and what whoever asks is told.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::get;
use crate::process::Process;

/// A process that can be asked.
struct Asked {
    process: Process,
    address: String,
    token: String,
}

impl Asked {
    /// Start one and wait until it can be asked.
    fn start(words: &[&str]) -> Self {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap().to_string();
        drop(free);
        let process = Process::start(&[words, &["--inspect", &address]].concat());
        let begun = Instant::now();
        while !get_quietly(&address).is_some_and(|answer| answer.contains(" 200 ")) {
            assert!(begun.elapsed() < Duration::from_secs(60), "{words:?} is never ready");
            std::thread::sleep(Duration::from_millis(50));
        }
        let token = std::fs::read_to_string(process.home().join("inspect.token")).unwrap();
        Self { process, address, token: token.trim().to_owned() }
    }

    /// Set a preference: the status, and the line.
    fn set(&self, key: &str, value: &str) -> (u16, String) {
        let body = serde_json::json!({ "do": "set", "key": key, "value": value }).to_string();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let head = format!(
            "POST /control HTTP/1.0\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.token,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        let told: Value = serde_json::from_str(answer.lines().last().unwrap()).unwrap();
        let line = told["done"].as_str().or_else(|| told["error"].as_str()).unwrap();
        (status, line.to_owned())
    }

    /// The same, once the process has come so far that it answers.
    fn set_soon(&self, key: &str, value: &str) -> (u16, String) {
        let begun = Instant::now();
        loop {
            let answer = self.set(key, value);
            if answer.0 != 504 || begun.elapsed() > Duration::from_secs(60) {
                return answer;
            }
        }
    }

    fn get(&self, path: &str) -> String {
        let answer = get(&self.address, path, &format!("authorization: Bearer {}\r\n", self.token));
        answer.split_once("\r\n\r\n").unwrap().1.to_owned()
    }

    fn snapshot(&self) -> Value {
        serde_json::from_str(&self.get("/snapshot")).unwrap()
    }

    fn refuses(&self, key: &str, value: &str, status: u16, part: &str) {
        let (found, line) = self.set(key, value);
        assert!(found == status && line.contains(part), "{key} {value}: {found} {line}");
    }
}

fn get_quietly(address: &str) -> Option<String> {
    TcpStream::connect(address).ok()?;
    Some(get(address, "/readyz", ""))
}

fn bound(snapshot: &Value, limit: &str) -> Value {
    let rows = snapshot["limits"].as_array().unwrap();
    rows.iter().find(|row| row["limit"] == limit).unwrap()["max"].clone()
}

#[test]
fn a_server_and_its_client_set_what_is_theirs_and_say_what_the_console_answered() {
    let mut server = Asked::start(&["server", "--listen", "127.0.0.1:0", "--json"]);
    let ready: Value = serde_json::from_str(&server.process.line_with("\"ready\"")).unwrap();
    assert_eq!(server.set("server.maxPlayers", " 3 "), (200, "server.maxPlayers = 3".to_owned()));
    assert_eq!(bound(&server.snapshot(), "server.players"), 3, "it holds");
    server.refuses("server.maxPlayers", "65", 400, "from 1 to 64");
    server.refuses("server.maxPlayers", "", 400, "expected a whole number");
    server.refuses("server.maxPlayer", "3", 404, "server.maxPlayers");
    server.refuses("server.name", "x", 409, "needs a restart");
    server.refuses("client.interp", "0.2", 409, "this process is a server");
    assert_eq!(bound(&server.snapshot(), "server.players"), 3);

    let at = ready["address"].as_str().unwrap();
    let words = ["client", "--connect", at, "--headless", "--seconds", "60", "--json"];
    let mut client = Asked::start(&words);
    client.process.line_with("\"spawned\"");
    assert_eq!(client.set("client.interp", "0.25"), (200, "client.interp = 0.25".to_owned()));
    client.refuses("client.interp", "soon", 400, "a number");
    client.refuses(
        "client.name",
        "Eve",
        409,
        "only at the next join; keep it with dh prefs set client.name",
    );
    // The server's own console has the last word, and does not listen to this player.
    client.refuses("server.maxPlayers", "9", 409, "server.maxPlayers");
    assert_eq!(bound(&server.snapshot(), "server.players"), 3);
}

#[test]
fn whoever_plays_alone_sets_what_belongs_to_either_side() {
    let words = ["play", "--headless", "--peers", "1", "--seconds", "40", "--picture", "p.png"];
    let play = Asked::start(&words);
    assert_eq!(play.set_soon("client.interp", "0.25"), (200, "client.interp = 0.25".to_owned()));
    assert_eq!(play.set("server.maxPlayers", "40"), (200, "server.maxPlayers = 40".to_owned()));
    assert_eq!(bound(&play.snapshot(), "server.players"), 40);
    play.refuses("client.interp", "9", 400, "from 0 to 1");
}

/// Both ends of each link are in one process, and one link leads nowhere outside.
#[test]
fn whoever_plays_alone_is_told_of_each_end_for_itself_and_of_no_round_trip_that_was_not_measured() {
    let words = ["play", "--headless", "--peers", "2", "--seconds", "40", "--picture", "p.png"];
    let play = Asked::start(&words);
    let begun = Instant::now();
    let metrics = loop {
        let metrics = play.get("/metrics");
        let is_there = |end| metrics.contains(&format!("dh_links_live{{end=\"{end}\"}} 3\n"));
        if is_there("server") && is_there("client") {
            break metrics;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{metrics}");
        std::thread::sleep(Duration::from_millis(100));
    };
    let trips: Vec<&str> =
        metrics.lines().filter(|it| it.starts_with("dh_link_rtt_seconds{")).collect();
    assert!(trips.len() == 6 && trips.iter().all(|it| !it.ends_with(" 0.000000000")), "{trips:?}");
    let snapshot = play.snapshot();
    let inside: Vec<&Value> = snapshot["links"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|link| link["peer"] == "loopback")
        .collect();
    assert_eq!(inside.len(), 2, "{snapshot}");
    assert!(inside.iter().all(|link| link["rttUs"].is_null()), "{inside:?}");
    assert_eq!(inside[0]["player"], inside[1]["player"]);
}
