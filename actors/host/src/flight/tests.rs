//! What a record holds, and when one is written.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

mod trace;

use super::*;
use crate::probe::{Log, Order, Probe, ProbeMsg, Seen};
use crate::{Place, RealOptions, Runtime, Simulation};

struct Kept(&'static [u8]);

impl Journal for Kept {
    fn to_file(&self) -> Option<Vec<u8>> {
        Some(self.0.to_vec())
    }
}

fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_record_names_each_message_with_its_sender_each_packet_and_each_tick() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("flight");
    let text = Simulation::new(7).recording(true).run(async |runtime| {
        runtime.flight().keep_in(&folder);
        let log = Log::default();
        let a = runtime.root().spawn(Place::Net, "a", Probe::new("a", &log));
        let tick = Probe::<0, false>::with("tick", &log);
        let tick = runtime.root().spawn(Place::Thread("tick"), "tick", tick);
        a.offer(ProbeMsg::Order(Order::Forward(tick.clone(), 2))).unwrap();
        a.offer(ProbeMsg::Order(Order::Panic("bad"))).unwrap();
        let wakes = vec![Micros::from_millis(10), Micros::from_millis(20)];
        tick.offer(ProbeMsg::Order(Order::TellWoken(a.clone()))).unwrap();
        tick.offer(ProbeMsg::Order(Order::WakeAt(wakes))).unwrap();
        runtime.sleep_until(Micros::from_millis(30)).await;
        let remote = "10.0.0.7:9".parse().unwrap();
        runtime.flight().packet(Way::Out, 27_015, remote, &[0x40; 99]);
        let path = runtime.dump_flight("asked for").unwrap();
        assert_eq!(path, folder.join("flight-000001-asked-for.json"));
        assert_eq!(runtime.registry().ticks("tick", 0).unwrap().1, 2);
        fs::read_to_string(path).unwrap()
    });
    let found = trace::check(&text);
    // Two messages to the tick and word of the panic from `a`; one back from each deadline, of
    // which the first is served at the moment when those messages are handled.
    assert_eq!((found.flows, found.of_ticks), (5, 1), "{text}");
    let with = |parts: &[&str]| text.lines().any(|line| parts.iter().all(|it| line.contains(it)));
    assert!(with(&["thread_name", "\"name\":\"tick\""]), "{text}");
    assert!(with(&["\"ph\":\"X\"", "\"name\":\"Waits\"", "\"from\":\"a\""]), "{text}");
    assert!(with(&["\"ph\":\"X\"", "\"name\":\"Order\"", "\"panicked\":true"]), "{text}");
    assert!(with(&["\"ph\":\"X\"", "\"name\":\"tick 0\"", "\"ts\":20000.000"]), "{text}");
    assert!(with(&["\"ph\":\"i\"", "out short", "\"remote\":\"10.0.0.7:9\""]), "{text}");
    assert!(text.ends_with("\"}}\n") && text.starts_with("{\"traceEvents\":["), "{text}");
    let mode = fs::metadata(&folder).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "nobody else reads it");
}

#[test]
fn a_record_leaves_out_what_happened_more_than_thirty_seconds_ago() {
    let home = tempfile::tempdir().unwrap();
    let text = Simulation::new(7).recording(true).run(async |runtime| {
        runtime.flight().keep_in(home.path());
        let probe = Probe::<0, false>::with("tick", &Log::default());
        let tick = runtime.root().spawn(Place::Thread("tick"), "tick", probe);
        for begin in [Micros(0), Flight::SPAN + Micros::from_millis(30)] {
            runtime.sleep_until(begin).await;
            let due = begin + Micros::from_millis(10);
            tick.offer(ProbeMsg::Order(Order::WakeAt(vec![due]))).unwrap();
            let remote = "10.0.0.7:9".parse().unwrap();
            runtime.flight().packet(Way::Out, 27_015, remote, &[0x40; 99]);
            runtime.sleep_until(due + Micros::from_millis(10)).await;
        }
        fs::read_to_string(runtime.dump_flight("x").unwrap()).unwrap()
    });
    trace::check(&text);
    for what in ["\"name\":\"Order\"", "\"name\":\"tick 0\"", "\"name\":\"out short\""] {
        assert_eq!(text.matches(what).count(), 1, "{what}: {text}");
    }
}

#[test]
fn records_are_numbered_on_carry_their_journals_and_only_the_newest_are_kept() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("notes.txt"), "mine").unwrap();
    Simulation::new(7).recording(true).run(async |runtime| {
        let flight = runtime.flight();
        flight.keep_in(home.path());
        let journal = Arc::new(Kept(b"inputs"));
        flight.attach("server/tick", &journal);
        (0..5).for_each(|_| drop(runtime.dump_flight("x").unwrap()));
        let trace = runtime.dump_flight("x").unwrap();
        let own = home.path().join("flight-000006-x.server-tick.journal");
        assert_eq!(Flight::journals_beside(&trace), std::slice::from_ref(&own));
        assert!(Flight::journals_beside(&own).is_empty(), "a journal is no trace");
        drop(journal);
        let trace = runtime.dump_flight("x").unwrap();
        assert!(Flight::journals_beside(&trace).is_empty());
    });
    let kept = [4, 5, 6]
        .map(|at| [format!("00000{at}-x.json"), format!("00000{at}-x.server-tick.journal")]);
    let mut expected: Vec<String> = kept.into_iter().flatten().collect();
    expected.push("000007-x.json".to_owned());
    let mut expected: Vec<String> = expected.iter().map(|it| format!("flight-{it}")).collect();
    expected.push("notes.txt".to_owned());
    assert_eq!(files(home.path()), expected);
    let journal = home.path().join("flight-000006-x.server-tick.journal");
    assert_eq!(fs::read(journal).unwrap(), b"inputs");
}

#[test]
fn what_was_handled_back_to_back_is_written_without_overlaps() {
    let home = tempfile::tempdir().unwrap();
    let runtime = Runtime::real(RealOptions::default()).unwrap();
    runtime.flight().keep_in(home.path());
    let log = Log::default();
    let [a, b] = ["a", "b"].map(|name| {
        let probe = Probe::<0, false>::with(name, &log);
        runtime.root().spawn(Place::Thread("own"), name, probe)
    });
    let start = Instant::now();
    while log.of("a").len() < 2_000 || log.of("b").len() < 2_000 {
        assert!(start.elapsed() < Duration::from_secs(20), "they do not keep up");
        for port in [&a, &b] {
            // What finds no place comes again.
            (0..16).for_each(|n| drop(port.offer(ProbeMsg::Newest(n))));
            drop(port.offer(ProbeMsg::Order(Order::WakeAt(vec![runtime.now()]))));
        }
    }
    runtime.flight().packet(Way::In, 27_015, "[::1]:9".parse().unwrap(), &[0xc0; 1_200]);
    let path = runtime.dump_flight("x").unwrap();
    runtime.stop().unwrap();
    let found = trace::check(&fs::read_to_string(path).unwrap());
    assert!(found.events > 1_000, "{found:?}");
    assert_eq!(found.flows, 0, "no actor sent anything");
}

#[test]
fn what_actors_and_their_deadlines_sent_leads_from_there_to_where_it_was_handled() {
    let home = tempfile::tempdir().unwrap();
    let runtime = Runtime::real(RealOptions::default()).unwrap();
    runtime.flight().keep_in(home.path());
    let log = Log::default();
    let own = Place::Thread("own");
    let [a, b] = ["a", "b"].map(|name| runtime.root().spawn(own, name, Probe::new(name, &log)));
    let tick = Probe::<0, false>::with("tick", &log);
    let tick = runtime.root().spawn(Place::Thread("tick"), "tick", tick);
    tick.offer(ProbeMsg::Order(Order::TellWoken(b.clone()))).unwrap();
    let start = Instant::now();
    for round in 1..=100 {
        let due = runtime.now() + Micros::from_millis(1);
        tick.offer(ProbeMsg::Order(Order::WakeAt(vec![due]))).unwrap();
        a.offer(ProbeMsg::Order(Order::Forward(b.clone(), 3))).unwrap();
        while log.of("b").len() < 1 + 4 * round {
            assert!(start.elapsed() < Duration::from_secs(30), "{:?}", log.of("b"));
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    let path = runtime.dump_flight("x").unwrap();
    runtime.stop().unwrap();
    let found = trace::check(&fs::read_to_string(path).unwrap());
    // A thread may be held up between two looks at the clock.
    let [flows, of_ticks] = [found.flows, found.of_ticks];
    assert!((390..=400).contains(&flows) && (98..=100).contains(&of_ticks), "{found:?}");
}

#[test]
fn a_panic_has_a_record_written_and_many_panics_have_one() {
    let home = tempfile::tempdir().unwrap();
    let runtime = Runtime::real(RealOptions::default()).unwrap();
    runtime.flight().keep_in(home.path());
    let log = Log::default();
    let probe = runtime.root().spawn(Place::Net, "probe", Probe::new("probe", &log));
    for _ in 0..3 {
        probe.offer(ProbeMsg::Order(Order::Panic("bad"))).unwrap();
    }
    let start = Instant::now();
    while files(home.path()).is_empty() || log.restarts("probe") < 3 {
        assert!(start.elapsed() < Duration::from_secs(20), "no record of a panic");
        std::thread::sleep(Duration::from_millis(5));
    }
    runtime.stop().unwrap();
    assert_eq!(files(home.path()), ["flight-000001-panic.json"]);
}

/// A tick that is told this has one record written: of its overrun.
fn overruns(told: impl FnOnce(Order) -> [Order; 2]) {
    let home = tempfile::tempdir().unwrap();
    let runtime = Runtime::real(RealOptions::default()).unwrap();
    runtime.flight().keep_in(home.path());
    let log = Log::default();
    let probe = Probe::<0, false>::with("tick", &log);
    let tick = runtime.root().spawn(Place::Thread("tick"), "tick", probe);
    let due = runtime.now() + Micros::from_millis(50);
    for order in told(Order::WakeAt(vec![due])) {
        tick.offer(ProbeMsg::Order(order)).unwrap();
    }
    let start = Instant::now();
    while !log.of("tick").iter().any(|seen| matches!(seen, Seen::Woken(_))) {
        assert!(start.elapsed() < Duration::from_secs(20), "the deadline was never served");
        std::thread::sleep(Duration::from_millis(5));
    }
    runtime.stop().unwrap();
    assert_eq!(files(home.path()), ["flight-000001-overrun.json"]);
}

#[test]
fn a_turn_that_overruns_its_deadline_has_a_record_written() {
    overruns(|wake| [wake, Order::Burn(Duration::from_millis(400))]);
}

#[test]
fn a_turn_that_begins_in_time_and_takes_too_long_has_a_record_written() {
    overruns(|wake| [Order::BurnWoken(Duration::from_millis(300)), wake]);
}

#[test]
fn a_recorder_that_is_off_or_has_no_folder_says_so() {
    Simulation::new(7).run(async |runtime| {
        assert!(matches!(runtime.dump_flight("x"), Err(FlightError::Off)));
    });
    Simulation::new(7).recording(true).run(async |runtime| {
        let refused = runtime.dump_flight("x").unwrap_err().to_string();
        assert!(refused.contains("has no folder; start with a data folder"), "{refused}");
    });
}
