//! Requests over sockets: who is let in, and what a hostile one can do.

mod crowd;
mod refused;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::numbers::{expected, told};
use crate::inspect::http::{CONNECTIONS_MAX, STREAMS_MAX};
use crate::inspect::{Change, Hooks, Inspect, InspectOptions, Snapshot, Token, Undone};
use crate::probe::{Log, Order, Probe, ProbeMsg};
use crate::{Place, RealOptions, Runtime};

/// How long the inspector's thread stands still where it is asked to.
const ASLEEP: Duration = Duration::from_millis(800);

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
            hooks: Hooks {
                set: Some(Box::new(|(key, value), answer| match key.as_str() {
                    "known" => answer.tell(Ok(format!("known is {value}"))),
                    "stiff" => answer.tell(Err(Undone::Refused("it stays".to_owned()))),
                    "gone" => drop(answer),
                    "asleep" => {
                        std::thread::sleep(ASLEEP);
                        answer.tell(Ok("awake".to_owned()));
                    }
                    "silent" => drop(Box::leak(Box::new(answer))),
                    "broken" => panic!("injected"),
                    _ => answer.tell(Err(Undone::Missing(format!("there is no {key}")))),
                })),
                log_level: Some(Box::new(|_| panic!("injected"))),
                dump_flight: None,
            },
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

    /// What an order came to: the status, and the line.
    fn order(&self, order: &str) -> (u16, String) {
        let mut stream = self.connect();
        let text = format!(
            "POST /control HTTP/1.0\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{order}",
            self.secret,
            order.len()
        );
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        (status(&answer), body(&answer).to_owned())
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

/// What who has no token is told, whatever was asked for.
fn is_turned_away(answer: &str) -> bool {
    let head = "HTTP/1.1 401 Unauthorized\r\ncontent-type: text/plain; charset=utf-8\r\n\
                connection: close\r\ncontent-length: 167\r\n\r\n";
    let line = "only who has the token may look: dh inspect --url prints a link that has it; \
                programs send what inspect.token in the data folder holds, as authorization: \
                Bearer TOKEN\n";
    answer == format!("{head}{line}")
}

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
                let answer = stage.ask(method, path, headers);
                assert!(is_turned_away(&answer), "{method} {path}: {answer}");
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
fn a_process_whose_actors_have_failed_lives_on_and_is_not_ready() {
    let stage = Stage::new();
    stage.inspect.ready();
    let scope = stage.runtime.root().child("server");
    let bad = scope.spawn(Place::Control, "bad", Probe::new("bad", &Log::default()));
    let patience = std::time::Instant::now() + Duration::from_secs(20);
    while stage.runtime.failure().is_none() {
        assert!(std::time::Instant::now() < patience);
        drop(bad.offer(ProbeMsg::Order(Order::Panic("injected"))));
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(status(&stage.ask("GET", "/readyz", "")), 503);
    assert_eq!(status(&stage.ask("GET", "/healthz", "")), 200);
}

#[test]
fn an_inspector_that_was_made_anew_gives_no_seq_a_second_time() {
    let stage = Stage::new();
    let look = || stage.snapshot("/snapshot?actor=inspect/inspector");
    let mut last = look().seq;
    assert_eq!(stage.order(r#"{"do":"restart","path":"inspect/inspector"}"#).0, 200);
    let patience = std::time::Instant::now() + Duration::from_secs(20);
    loop {
        let taken = look();
        assert!(last < taken.seq, "{last} and then {}", taken.seq);
        last = taken.seq;
        if taken.at("inspect/inspector").unwrap().restarts == 1 {
            break;
        }
        assert!(std::time::Instant::now() < patience);
    }
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
    let mut silent: Vec<TcpStream> = (0..CONNECTIONS_MAX * 3)
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
fn whoever_holds_every_place_with_the_token_keeps_nobody_from_health_and_idles_only_so_long() {
    let stage = Stage::new();
    let ask = |path: &str| {
        let mut stream = stage.connect();
        let text = format!(
            "GET {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\r\n",
            stage.secret
        );
        stream.write_all(text.as_bytes()).unwrap();
        let mut some = [0; 12];
        stream.read_exact(&mut some).unwrap();
        (stream, status(std::str::from_utf8(&some).unwrap()))
    };
    let streams: Vec<_> = (0..STREAMS_MAX).map(|_| ask("/events?hz=1")).collect();
    let (_, beyond) = ask("/events");
    let idle: Vec<_> = (STREAMS_MAX..CONNECTIONS_MAX).map(|_| ask("/metrics")).collect();
    assert!(streams.iter().all(|(_, status)| *status == 200) && beyond == 503);
    assert!(idle.iter().all(|(_, status)| *status == 200));
    for _ in 0..3 {
        let silent: Vec<_> = (0..20).map(|_| stage.connect()).collect();
        assert_eq!(status(&stage.ask("GET", "/healthz", "")), 200);
        assert_eq!(status(&stage.ask("GET", "/readyz", "")), 503);
        drop(silent);
    }
    let told = stage.trusted("GET", "/snapshot");
    assert_eq!(status(&told), 503, "{told}");
    assert!(body(&told).contains("all 32 connections"), "{told}");
    assert!(is_turned_away(&stage.ask("GET", "/snapshot", "")));
    for (mut stream, _) in idle {
        // It ends, well before this reader's patience does.
        stream.read_to_end(&mut Vec::new()).unwrap();
    }
    assert_eq!(status(&stage.trusted("GET", "/snapshot")), 200);
}

#[test]
fn a_query_that_makes_no_sense_is_answered_as_everything_else_that_is_wrong() {
    let stage = Stage::new();
    for (method, path, expected) in [
        ("GET", "/snapshot?seq=x", 400),
        ("GET", "/snapshot?sq=7", 400),
        ("GET", "/metrics?seq=-1", 400),
        ("GET", "/events?hz=fast", 400),
        ("GET", "/nowhere", 404),
        ("GET", "/control", 405),
        ("POST", "/snapshot", 405),
    ] {
        let answer = stage.trusted(method, path);
        assert_eq!(status(&answer), expected, "{answer}");
        let told: serde_json::Value = serde_json::from_str(body(&answer)).unwrap();
        assert!(told["error"].as_str().is_some_and(|why| !why.is_empty()), "{answer}");
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

#[test]
fn a_page_swaps_its_token_for_a_cookie_and_asks_nobody_else_for_anything() {
    let stage = Stage::new();
    let swapped = stage.ask("GET", &format!("/?token={}", stage.secret), "");
    assert_eq!(status(&swapped), 303);
    let (_, cookie) = swapped.split_once("set-cookie: ").unwrap();
    let (cookie, how) = cookie.lines().next().unwrap().split_once(';').unwrap();
    assert_eq!(how, " Path=/; HttpOnly; SameSite=Strict");
    let port = stage.inspect.address().port();
    assert!(cookie.starts_with(&format!("dh-inspect-{port}=")), "{cookie}");
    assert!(!swapped.contains(&stage.secret) && swapped.contains("location: /\r\n"), "{swapped}");
    for path in ["/?token=00", &format!("/snapshot?token={}", stage.secret)] {
        assert!(is_turned_away(&stage.ask("GET", path, "")));
    }
    let cookie = format!("cookie: {cookie}\r\n");
    for (headers, status) in [
        ("origin: http://127.0.0.1:1\r\n", 403),
        ("sec-fetch-site: same-site\r\n", 403),
        ("origin: http://127.0.0.1\r\nsec-fetch-site: same-origin\r\n", 415),
    ] {
        let answer = stage.ask("POST", "/control", &format!("{cookie}{headers}"));
        assert!(answer.contains(&format!(" {status} ")), "{headers}: {answer}");
    }
    let page = stage.ask("GET", "/", &cookie);
    assert_eq!(status(&page), 200);
    assert!(page.contains("default-src 'none'"));
    for outside in ["http://", "https://", "src=\"", "@import"] {
        assert!(!body(&page).contains(outside), "the page names {outside}");
    }
}

#[test]
fn whoever_calls_by_a_name_that_is_not_ours_gets_no_cookie_for_a_token() {
    let stage = Stage::new();
    let mut stream = stage.connect();
    let text = format!(
        "GET /?token={} HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n",
        stage.secret
    );
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(is_turned_away(&answer), "{answer}");
}

#[test]
fn orders_are_done_or_answered_with_one_line_that_says_why_not() {
    let stage = Stage::new();
    let log = Log::default();
    let scope = stage.runtime.root().contained("probes");
    let probe = scope.spawn(Place::Control, "p", Probe::<0, false>::with("p", &log));
    let bound = |max: usize| {
        stage.order(&format!(r#"{{"do":"bound","path":"probes/p","lane":"data","max":{max}}}"#))
    };
    (0..4).for_each(|n| probe.offer(ProbeMsg::Refuse(n)).unwrap());
    assert_eq!(bound(3).0, 409);
    assert_eq!(bound(4).0, 200);
    assert!(probe.offer(ProbeMsg::Refuse(4)).is_err());
    assert_eq!(bound(5).0, 200);
    assert!(probe.offer(ProbeMsg::Refuse(5)).is_ok());
    let stats = probe.stats();
    assert!(stats.balanced());
    assert_eq!((stats.data.depth, stats.data.peak, stats.data.max), (5, 5, 5));
    assert_eq!(stage.order(r#"{"do":"restart","path":"probes/p"}"#).0, 200);
    let patience = std::time::Instant::now() + Duration::from_secs(20);
    while log.restarts("p") == 0 {
        assert!(std::time::Instant::now() < patience);
        std::thread::sleep(Duration::from_millis(1));
    }
    let set = stage.order(r#"{"do":"set","key":"known","value":"7"}"#);
    assert_eq!(set, (200, r#"{"done":"known is 7"}"#.to_owned()));
    for (order, status, part) in [
        (r#"{"do":"restart","path":"no/where"}"#, 404, "no/where"),
        (r#"{"do":"set","key":"x","value":""}"#, 404, "there is no x"),
        (r#"{"do":"set","key":"stiff","value":"1"}"#, 409, "it stays"),
        (r#"{"do":"set","key":"gone","value":"1"}"#, 503, "has gone"),
        (r#"{"do":"set","key":"broken","value":"1"}"#, 503, "has gone"),
        (r#"{"do":"set","key":"silent","value":"1"}"#, 504, "no answer in 3s"),
        (r#"{"do":"dumpFlight"}"#, 503, "no flight recorder"),
        (r#"{"do":"dumpFlight","x":1}"#, 400, "unknown field"),
        (r#"{"do":"restart","path":"a","x":1}"#, 400, "unknown field"),
        (r#"{"do":"logLevel","path":"a","level":"b"}"#, 400, "injected"),
        (r#"{"do":"nonsense"}"#, 400, "nonsense"),
        (r#"{"do":"restart"}"#, 400, "path"),
        ("{", 400, "no order"),
        (&"x".repeat(20_000), 413, "at most 8192 bytes"),
    ] {
        let (found, line) = stage.order(order);
        assert_eq!(found, status, "{order}: {line}");
        assert!(line.contains(part) && !line.contains('\n'), "{line}");
    }
    drop(Order::Finish);
}

#[test]
fn all_renderings_of_one_seq_say_the_same_numbers() {
    let stage = Stage::new();
    let log = Log::default();
    for round in 0..5 {
        let probe = stage.runtime.root().spawn(Place::Io, "p", Probe::new("p", &log));
        (0..30).for_each(|n| drop(probe.offer(ProbeMsg::Refuse(n))));
        if round < 3 {
            probe.offer(ProbeMsg::Order(Order::Finish)).unwrap();
        }
    }
    let taken = stage.snapshot("/snapshot");
    let at = format!("?seq={}", taken.seq);
    let metrics = stage.trusted("GET", &format!("/metrics{at}"));
    let (told, expected) = (told(body(&metrics)), expected(&taken));
    assert_eq!(told, expected);
    assert!(told.len() > 60, "{}", told.len());
    for kind in &taken.kinds {
        let rows = taken.actors.iter().filter(|row| row.kind == kind.kind);
        assert!(rows.map(|row| row.total.handled).sum::<u64>() <= kind.total.handled);
    }
    let mut stream = stage.connect();
    let text = format!(
        "GET /events{at} HTTP/1.0\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\r\n",
        stage.secret
    );
    stream.write_all(text.as_bytes()).unwrap();
    let lines = std::io::BufRead::lines(std::io::BufReader::new(stream));
    let first = lines.map_while(Result::ok).find_map(|line| {
        line.strip_prefix("data: ").map(|data| serde_json::from_str::<Snapshot>(data).unwrap())
    });
    let mut of_page = first.unwrap();
    for (row, whole) in of_page.actors.iter_mut().zip(&taken.actors) {
        assert!(row.messages.is_empty());
        row.messages.clone_from(&whole.messages);
    }
    assert_eq!(of_page, taken);
}
