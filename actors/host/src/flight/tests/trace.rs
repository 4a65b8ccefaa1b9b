//! A trace held to the rules of the Trace Event Format, as its readers keep to them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// The process whose threads are tick loops.
const TICKS: u64 = 2;

/// A track: a process and a thread of the trace.
type Track = (u64, u64);

/// What a trace has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) events: usize,
    /// Flows, and those of them that come from a tick.
    pub(super) flows: usize,
    pub(super) of_ticks: usize,
}

/// The two ends of a flow: where each binds, and when.
#[derive(Default)]
struct Ends {
    sent: Option<(Track, u64)>,
    handled: Option<(Track, u64)>,
}

/// Hold a trace to the rules; what it has.
///
/// An object with `traceEvents`; each event has a name, a phase, a process and a thread. `M` names
/// a process or a thread, once each. `X` has a begin and a length in microseconds, and lies wholly
/// within or wholly outside any other of its track. `i` has a begin and a scope. `s` begins a flow
/// and one `f` of the same id, category and name ends it, not earlier; both lie within an `X` of
/// their track, which come before them. Nothing else is written: no `B` that waits for its `E`, no
/// flow that waits for its end.
pub(super) fn check(text: &str) -> Found {
    let trace: Value = serde_json::from_str(text).unwrap();
    let fields: BTreeSet<&str> = trace.as_object().unwrap().keys().map(String::as_str).collect();
    let known = ["displayTimeUnit", "otherData", "traceEvents"].into_iter().collect();
    assert_eq!(fields, known);
    assert!(["ms", "ns"].contains(&trace["displayTimeUnit"].as_str().unwrap()));
    assert!(trace["otherData"].as_object().unwrap().values().all(Value::is_string));
    let events = trace["traceEvents"].as_array().unwrap();
    let mut names: BTreeMap<(&str, Track), &str> = BTreeMap::new();
    let mut spans: BTreeMap<Track, Vec<(u64, u64)>> = BTreeMap::new();
    let mut flows: BTreeMap<u64, Ends> = BTreeMap::new();
    for event in events {
        let track = (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap());
        let name = event["name"].as_str().unwrap();
        assert!(!name.is_empty(), "{event}");
        match event["ph"].as_str().unwrap() {
            "M" => {
                assert!(["process_name", "thread_name"].contains(&name), "{event}");
                let given = event["args"]["name"].as_str().unwrap();
                assert!(!given.is_empty() && event["ts"].is_null(), "{event}");
                assert_eq!(names.insert((name, track), given), None, "named twice: {event}");
            }
            "X" => {
                let (start, length) = (nanos(&event["ts"]), nanos(&event["dur"]));
                assert!(event["args"].is_object(), "{event}");
                assert!(is_named(&names, track), "named before its events: {event}");
                assert!(flows.is_empty(), "behind a flow that may bind to it: {event}");
                spans.entry(track).or_default().push((start, start + length));
            }
            "i" => {
                nanos(&event["ts"]);
                let scope = event["s"].as_str().unwrap();
                assert!(["g", "p", "t"].contains(&scope), "{event}");
                assert!(scope != "t" || is_named(&names, track), "{event}");
            }
            phase @ ("s" | "f") => {
                assert_eq!((name, &event["cat"]), ("sent", &"flow".into()), "{event}");
                assert_eq!(event["bp"].as_str(), (phase == "f").then_some("e"), "{event}");
                let ends = flows.entry(event["id"].as_u64().unwrap()).or_default();
                assert!(phase == "s" || ends.sent.is_some(), "ends before it begins: {event}");
                let end = if phase == "s" { &mut ends.sent } else { &mut ends.handled };
                assert_eq!(end.replace((track, nanos(&event["ts"]))), None, "twice: {event}");
            }
            other => panic!("a phase that nothing writes: {other}"),
        }
    }
    flows.values().for_each(|flow| binds(flow, &spans));
    let of_ticks = flows.values().filter(|it| it.sent.unwrap().0.0 == TICKS).count();
    spans.into_values().for_each(nests);
    Found { events: events.len(), flows: flows.len(), of_ticks }
}

/// Both ends of a flow lie within events of their tracks, where those have any length within one
/// alone, and the message is not handled before it is sent.
fn binds(flow: &Ends, spans: &BTreeMap<Track, Vec<(u64, u64)>>) {
    let (sent, handled) = (flow.sent.unwrap(), flow.handled.expect("a flow without an end"));
    assert!(sent.1 <= handled.1, "{sent:?} {handled:?}");
    for (track, at) in [sent, handled] {
        let holding = spans[&track].iter().filter(|(start, end)| (*start..=*end).contains(&at));
        let holding: Vec<_> = holding.collect();
        let is_instant = holding.iter().all(|(start, end)| end - start < 2);
        assert!(holding.len() == 1 || is_instant && !holding.is_empty(), "{at}: {holding:?}");
    }
}

fn is_named(names: &BTreeMap<(&str, Track), &str>, track: Track) -> bool {
    names.contains_key(&("thread_name", track))
        && names.contains_key(&("process_name", (track.0, 0)))
}

/// A time of the trace, which is told in microseconds, as whole nanoseconds.
fn nanos(time: &Value) -> u64 {
    let text = time.as_number().unwrap().to_string();
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    assert!(part.len() <= 3, "{text}");
    whole.parse::<u64>().unwrap() * 1_000 + format!("{part:0<3}").parse::<u64>().unwrap()
}

/// Every span of a track lies within those that are still open when it begins.
fn nests(mut spans: Vec<(u64, u64)>) {
    assert!(spans.is_sorted_by_key(|(start, _)| *start), "events of a track come in order");
    spans.sort_by_key(|(start, end)| (*start, std::cmp::Reverse(*end)));
    let mut open: Vec<u64> = Vec::new();
    for (start, end) in spans {
        open.retain(|until| start < *until);
        assert!(open.last().is_none_or(|until| end <= *until), "{start} to {end} in {open:?}");
        open.push(end);
    }
}

#[test]
#[should_panic(expected = "120 to 140 in [130]")]
fn two_events_that_overlap_are_found() {
    nests(vec![(100, 130), (110, 115), (120, 140)]);
}

/// A trace of two slices and the flow between them, which begins and ends then.
fn with_a_flow(sent: f64, handled: Option<f64>) -> String {
    let named =
        |what, tid| json!({"ph": "M", "pid": 1, "tid": tid, "name": what, "args": {"name": "n"}});
    let slice = |tid, ts| {
        let (dur, name, args) = (5, "m", json!({}));
        json!({"ph": "X", "pid": 1, "tid": tid, "ts": ts, "dur": dur, "name": name, "args": args})
    };
    let flow = |phase: &str, tid, ts: f64| {
        let bp = (phase == "f").then_some("e");
        let (cat, name) = ("flow", "sent");
        json!({"ph": phase, "bp": bp, "id": 1, "cat": cat, "name": name, "pid": 1, "tid": tid,
            "ts": ts})
    };
    let mut events = vec![named("process_name", 0), named("thread_name", 4)];
    events.extend([named("thread_name", 5), slice(4, 10), slice(5, 20), flow("s", 4, sent)]);
    events.extend(handled.map(|at| flow("f", 5, at)));
    json!({"traceEvents": events, "displayTimeUnit": "ms", "otherData": {}}).to_string()
}

#[test]
fn a_flow_between_two_slices_is_taken() {
    let found = Found { events: 7, flows: 1, of_ticks: 0 };
    assert_eq!(check(&with_a_flow(12.001, Some(20.001))), found);
}

#[test]
#[should_panic(expected = "15001: []")]
fn a_flow_that_begins_in_no_slice_is_found() {
    check(&with_a_flow(15.001, Some(20.001)));
}

#[test]
#[should_panic(expected = "a flow without an end")]
fn a_flow_without_an_end_is_found() {
    check(&with_a_flow(12.001, None));
}
