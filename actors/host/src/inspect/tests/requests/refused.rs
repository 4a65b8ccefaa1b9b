//! Whoever is refused keeps no place.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use super::{Stage, status};
use crate::inspect::http::{CONNECTIONS_MAX, STREAMS_MAX};

#[test]
fn whoever_is_refused_is_hung_up_on_and_its_place_is_free_at_once() {
    let stage = Stage::new();
    let used = || {
        let limits = stage.snapshot("/snapshot").limits;
        limits.iter().find(|row| row.limit == "inspect.connections").unwrap().used.unwrap()
    };
    let ask = |path: &str, secret: &str| {
        let mut stream = stage.connect();
        let text = format!(
            "GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {secret}\r\n\r\n"
        );
        stream.write_all(text.as_bytes()).unwrap();
        stream
    };
    let streams: Vec<TcpStream> = (0..STREAMS_MAX)
        .map(|_| {
            let mut stream = ask("/events", &stage.secret);
            stream.read_exact(&mut [0; 12]).unwrap();
            stream
        })
        .collect();
    for _ in 0..CONNECTIONS_MAX * 2 {
        for (path, secret, code) in [
            ("/events", stage.secret.as_str(), 503),
            ("/events", "0", 401),
            ("/events?hz=x", &stage.secret, 400),
        ] {
            // It is not asked to close, and this end stays open until it does.
            let mut answer = String::new();
            ask(path, secret).read_to_string(&mut answer).unwrap();
            assert_eq!(status(&answer), code);
            assert!(answer.contains("\r\nconnection: close\r\n"), "{answer}");
        }
    }
    // The streams, and who asks: well before whoever says nothing is given up.
    let begun = std::time::Instant::now();
    while used() != STREAMS_MAX as u64 + 1 {
        assert!(begun.elapsed() < Duration::from_secs(3), "{}", used());
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(streams);
}
