//! A trace held to the rules of the Trace Event Format, as its readers keep to them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// A track: a process and a thread of the trace.
type Track = (u64, u64);

/// Hold a trace to the rules; how many events it has.
///
/// An object with `traceEvents`; each event has a name, a phase, a process and a thread. `M` names
/// a process or a thread, once each. `X` has a begin and a length in microseconds, and lies wholly
/// within or wholly outside any other of its track. `i` has a begin and a scope. Nothing else is
/// written: no `B` that waits for its `E`, no flow that waits for its end.
pub(super) fn check(text: &str) -> usize {
    let trace: Value = serde_json::from_str(text).unwrap();
    let fields: BTreeSet<&str> = trace.as_object().unwrap().keys().map(String::as_str).collect();
    let known = ["displayTimeUnit", "otherData", "traceEvents"].into_iter().collect();
    assert_eq!(fields, known);
    assert!(["ms", "ns"].contains(&trace["displayTimeUnit"].as_str().unwrap()));
    assert!(trace["otherData"].as_object().unwrap().values().all(Value::is_string));
    let events = trace["traceEvents"].as_array().unwrap();
    let mut names: BTreeMap<(&str, Track), &str> = BTreeMap::new();
    let mut spans: BTreeMap<Track, Vec<(u64, u64)>> = BTreeMap::new();
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
                spans.entry(track).or_default().push((start, start + length));
            }
            "i" => {
                nanos(&event["ts"]);
                let scope = event["s"].as_str().unwrap();
                assert!(["g", "p", "t"].contains(&scope), "{event}");
                assert!(scope != "t" || is_named(&names, track), "{event}");
            }
            other => panic!("a phase that nothing writes: {other}"),
        }
    }
    spans.into_values().for_each(nests);
    events.len()
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
