//! Requests over sockets: who is let in, and what a hostile one can do.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::inspect::{Change, Inspect, InspectOptions, Snapshot, Token};
use crate::{RealOptions, Runtime};

/// A process that is looked at.
struct Stage {
    runtime: Runtime,
    inspect: Inspect,
    secret: String,
}

impl Stage {
    fn new() -> Self {
        let runtime = Runtime::real(RealOptions { sessions: 1, records: false }).unwrap();
        let secret = "0123456789abcdef".repeat(4);
        let options = InspectOptions {
            address: "127.0.0.1:0".parse().unwrap(),
            token: Token::parse(&secret).unwrap(),
            role: "server",
            version: "1.2.3",
        };
        let inspect = Inspect::start(&runtime, options).unwrap();
        Self { runtime, inspect, secret }
    }

    fn connect(&self) -> TcpStream {
        connect(self.inspect.address())
    }

    /// The whole answer to a request without a body.
    fn ask(&self, method: &str, path: &str, headers: &str) -> String {
        let mut stream = self.connect();
        let text = format!(
            "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n{headers}\r\n"
        );
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8(answer).unwrap()
    }

    /// The same by somebody who has the token.
    fn trusted(&self, method: &str, path: &str) -> String {
        self.ask(method, path, &format!("authorization: Bearer {}\r\n", self.secret))
    }

    fn snapshot(&self, path: &str) -> Snapshot {
        serde_json::from_str(body(&self.trusted("GET", path))).unwrap()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.runtime.stop().unwrap();
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").unwrap().1
}

fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

const NOTHING_MORE: &str =
    "HTTP/1.1 401 Unauthorized\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

#[test]
fn without_the_token_every_path_answers_401_and_nothing_else() {
    let stage = Stage::new();
    let wrong = [
        String::new(),
        "authorization: Bearer 00\r\n".to_owned(),
        format!("authorization: Basic {}\r\n", stage.secret),
        format!("authorization: Bearer {}x\r\n", stage.secret),
        format!("cookie: other={}\r\n", stage.secret),
        format!("authorization: Bearer {}\r\n", "f".repeat(64)),
    ];
    for path in ["/", "/snapshot", "/events", "/metrics", "/control", "/nowhere", "/snapshot?seq=1"]
    {
        for headers in &wrong {
            for method in ["GET", "POST"] {
                assert_eq!(stage.ask(method, path, headers), NOTHING_MORE, "{method} {path}");
            }
        }
    }
}

#[test]
fn health_is_told_to_everybody_as_a_status_alone() {
    let stage = Stage::new();
    let bare = |answer: String| (status(&answer), body(&answer).to_owned());
    assert_eq!(bare(stage.ask("GET", "/healthz", "")), (200, String::new()));
    assert_eq!(bare(stage.ask("GET", "/readyz", "")), (503, String::new()));
    stage.inspect.ready();
    assert_eq!(bare(stage.ask("GET", "/readyz", "")), (200, String::new()));
}

#[test]
fn a_snapshot_is_kept_under_its_seq() {
    let stage = Stage::new();
    let first = stage.snapshot("/snapshot");
    assert_eq!((first.process.role.as_ref(), first.process.version.as_ref()), ("server", "1.2.3"));
    assert!(first.at("inspect/inspector").is_some() && first.at("supervisor").is_some());
    let detailed = stage.snapshot("/snapshot?actor=inspect/inspector");
    assert!(detailed.seq > first.seq);
    assert_eq!(stage.snapshot(&format!("/snapshot?seq={}", first.seq)), first);
    let gone = stage.trusted("GET", "/snapshot?seq=99999");
    assert_eq!(status(&gone), 404);
    assert!(body(&gone).contains("seq 99999"), "{gone}");
}

#[test]
fn a_stream_begins_with_a_snapshot_and_its_changes_apply() {
    let stage = Stage::new();
    let mut stream = stage.connect();
    let text = format!(
        "GET /events?hz=10 HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\r\n",
        stage.secret
    );
    stream.write_all(text.as_bytes()).unwrap();
    let mut told = String::new();
    while told.matches("event: change").count() < 3 {
        let mut some = [0; 4096];
        let read = stream.read(&mut some).unwrap();
        assert!(read > 0, "{told}");
        told.push_str(std::str::from_utf8(&some[..read]).unwrap());
    }
    assert!(told.contains("content-type: text/event-stream"), "{told}");
    let data = |name: &str| {
        let begin = format!("event: {name}\ndata: ");
        told.split(&begin).skip(1).map(|rest| rest.lines().next().unwrap()).collect::<Vec<_>>()
    };
    let mut held: Snapshot = serde_json::from_str(data("snapshot")[0]).unwrap();
    let changes: Vec<Change> =
        data("change")[..2].iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    for (change, step) in changes.into_iter().zip(1..) {
        assert_eq!(change.step, step);
        held.apply(change).unwrap();
    }
    assert!(held.now_us > stage.snapshot(&format!("/snapshot?seq={}", held.seq)).now_us);
}

#[test]
fn a_request_that_is_too_long_or_makes_no_sense_is_answered_and_closed() {
    let stage = Stage::new();
    let long = format!("x-long: {}\r\n", "x".repeat(10_000));
    assert_eq!(status(&stage.ask("GET", "/healthz", &long)), 431);
    let many: String = (0..100).map(|n| format!("x-{n}: 1\r\n")).collect();
    assert_eq!(status(&stage.ask("GET", "/healthz", &many)), 431);
    for garbage in ["\r\n\r\n\0\0\0", "GET / HTTP/9.9\r\n\r\n", "\u{16}\u{3}\u{1}\0"] {
        let mut stream = stage.connect();
        stream.write_all(garbage.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 4"), "{answer:?}");
    }
    assert_eq!(status(&stage.ask("GET", "/healthz", "")), 200);
}

#[test]
fn many_who_say_nothing_keep_nobody_out_and_are_dropped() {
    let stage = Stage::new();
    let mut silent: Vec<TcpStream> = (0..crate::inspect::http::CONNECTIONS_MAX * 3)
        .map(|_| {
            let mut stream = stage.connect();
            stream.write_all(b"GET /snapshot HTTP/1.1\r\nhost: ").unwrap();
            stream
        })
        .collect();
    assert_eq!(status(&stage.trusted("GET", "/snapshot")), 200);
    for stream in &mut silent {
        let mut answer = Vec::new();
        // Either way it is over: dropped for a newer one, or too slow.
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.len() < 1_000);
    }
}

#[test]
fn a_reader_who_stops_reading_is_dropped() {
    let stage = Stage::new();
    let mut stream = stage.connect();
    let asks = format!(
        "GET /snapshot HTTP/1.1\r\nhost: [::1]\r\nauthorization: Bearer {}\r\n\r\n",
        stage.secret
    );
    // Answers fill every buffer on the way; whoever does not read them is given up.
    stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
    let begun = std::time::Instant::now();
    let failed = loop {
        if let Err(error) = stream.write_all(asks.as_bytes()) {
            break error;
        }
        assert!(begun.elapsed() < Duration::from_secs(60));
    };
    use std::io::ErrorKind::{BrokenPipe, ConnectionReset};
    assert!(matches!(failed.kind(), BrokenPipe | ConnectionReset), "{failed}");
}
