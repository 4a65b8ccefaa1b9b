//! Every number that `/metrics` tells, worked out once more from the snapshot as JSON.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::inspect::{
    EdgeRow, Figures, KindRow, LimitRow, LinkRow, MessageRow, PlayersRow, Process, Snapshot,
    Spread, TickStrip, TickTotals, Usage,
};

/// Samples by their names and labels.
type Samples = BTreeMap<String, String>;

/// Every sample of a text.
pub(super) fn told(text: &str) -> Samples {
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    let mut told = Samples::new();
    for line in samples {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(told.insert(name.to_owned(), value.to_owned()).is_none(), "{name} twice");
    }
    told
}

/// Every sample that a snapshot has, by the names that its JSON gives its numbers.
pub(super) fn expected(snapshot: &Snapshot) -> Samples {
    let json = serde_json::to_value(snapshot).unwrap();
    let mut all = Samples::new();
    let mut say = |name: String, value: String| {
        assert!(all.insert(name.clone(), value).is_none(), "{name} twice");
    };
    let number = |at: &Value| at.as_u64().unwrap().to_string();
    let process = &json["process"];
    let (role, version) = (process["role"].as_str().unwrap(), process["version"].as_str().unwrap());
    say(format!("dh_build_info{{role=\"{role}\",version=\"{version}\"}}"), "1".to_owned());
    say("dh_snapshot_seq".to_owned(), number(&json["seq"]));
    say("dh_uptime_seconds".to_owned(), seconds(json["nowUs"].as_u64().unwrap() * 1_000));
    for (name, rows) in [("dh_wait_edges", "edges"), ("dh_wait_cycles", "cycles")] {
        say(name.to_owned(), json[rows].as_array().unwrap().len().to_string());
    }
    of_figures(&json["figures"], &mut say);
    for limit in rows(&json, "limits") {
        let labels = format!("{{limit=\"{}\"}}", limit["limit"].as_str().unwrap());
        say(format!("dh_limit_hits_total{labels}"), number(&limit["hits"]));
        if limit["unit"] != "messages" {
            say(format!("dh_limit_max{labels}"), number(&limit["max"]));
            if !limit["used"].is_null() {
                say(format!("dh_limit_used{labels}"), number(&limit["used"]));
            }
        }
    }
    for kind in rows(&json, "kinds") {
        of_kind(kind, &mut say);
    }
    let totals = &json["linkTotals"];
    for (name, field) in LINKS {
        say(name.to_owned(), number(&totals[field]));
    }
    of_paths(&json["links"], &mut say);
    all
}

fn of_figures(figures: &Value, say: &mut impl FnMut(String, String)) {
    let usage = &figures["usage"];
    for (name, field) in
        [("process_resident_memory_bytes", "residentBytes"), ("process_open_fds", "openFiles")]
    {
        usage[field].as_u64().iter().for_each(|count| say(name.to_owned(), count.to_string()));
    }
    for (name, field) in
        [("process_cpu_seconds_total", "cpuNs"), ("process_start_time_seconds", "startedNs")]
    {
        usage[field].as_u64().iter().for_each(|ns| say(name.to_owned(), seconds(*ns)));
    }
    if let Some(players) = figures["players"].as_object() {
        for state in ["connecting", "loading", "playing"] {
            say(format!("dh_players{{state=\"{state}\"}}"), players[state].to_string());
        }
        say("dh_players_max".to_owned(), players["max"].to_string());
    }
    let ticks = &figures["ticks"];
    if ticks.is_null() {
        return;
    }
    say("dh_tick_overruns_total".to_owned(), ticks["overruns"].to_string());
    let bounds = [17, 18, 19, 20, 21, 22, 23].map(|power| 1 << power);
    let bounds = [&bounds[..], &[12_582_912, 1 << 24, 1 << 25, 1 << 27]].concat();
    for field in ["work", "late"] {
        of_spread(&format!("dh_tick_{field}_seconds"), "", &bounds, &ticks[field], say);
    }
}

/// How many links live by their end here, and the least, the middle and the most of what those of
/// one end tell.
fn of_paths(links: &Value, say: &mut impl FnMut(String, String)) {
    for end in ["server", "client"] {
        let own = || links.as_array().unwrap().iter().filter(|link| link["end"] == end);
        say(format!("dh_links_live{{end=\"{end}\"}}"), own().count().to_string());
        for (name, field, is_time) in [
            ("dh_link_silent_seconds", "silentUs", true),
            ("dh_link_rtt_seconds", "rttUs", true),
            ("dh_link_rtt_variation_seconds", "rttVarUs", true),
            ("dh_link_window_bytes", "window", false),
        ] {
            let values = own().filter_map(|link| link[field].as_u64());
            let mut values: Vec<u64> = values.filter(|value| is_time || *value > 0).collect();
            values.sort_unstable();
            let (middle, most) = (values.len().div_ceil(2), values.len());
            for (quantile, at) in [("0", 0), ("0.5", middle), ("1", most)] {
                let Some(value) = values.get(at.max(1) - 1) else { continue };
                let value = if is_time { seconds(value * 1_000) } else { value.to_string() };
                say(format!("{name}{{end=\"{end}\",quantile=\"{quantile}\"}}"), value);
            }
        }
    }
}

fn of_spread(
    family: &str,
    label: &str,
    bounds: &[u64],
    spread: &Value,
    say: &mut impl FnMut(String, String),
) {
    let noted = spread["count"].as_u64().unwrap();
    if noted == 0 {
        return;
    }
    let own = if label.is_empty() { String::new() } else { format!("{{{label}}}") };
    say(format!("{family}_count{own}"), noted.to_string());
    say(format!("{family}_sum{own}"), seconds(spread["sumNs"].as_u64().unwrap()));
    let before = if label.is_empty() { String::new() } else { format!("{label},") };
    let none = Vec::new();
    let buckets = spread["buckets"].as_array().unwrap_or(&none);
    for bound in bounds {
        let within = buckets.iter().filter(|pair| pair[0].as_u64().unwrap() < *bound);
        let within: u64 = within.map(|pair| pair[1].as_u64().unwrap()).sum();
        let labels = format!("{{{before}le=\"{}\"}}", seconds(*bound));
        say(format!("{family}_bucket{labels}"), within.to_string());
    }
    say(format!("{family}_bucket{{{before}le=\"+Inf\"}}"), noted.to_string());
}

const LINKS: [(&str, &str); 8] = [
    ("dh_links_made_total", "made"),
    ("dh_link_packets_sent_total", "packetsSent"),
    ("dh_link_packets_lost_total", "packetsLost"),
    ("dh_link_sent_bytes_total", "bytesSent"),
    ("dh_link_received_bytes_total", "bytesReceived"),
    ("dh_link_datagrams_offered_total", "datagramsOffered"),
    ("dh_link_datagrams_dropped_total", "datagramsDropped"),
    ("dh_link_datagrams_refused_total", "datagramsRefused"),
];

fn of_kind(kind: &Value, say: &mut impl FnMut(String, String)) {
    let name = kind["kind"].as_str().unwrap();
    let count = |field: &str| kind[field].as_u64().unwrap();
    let own = format!("{{kind=\"{name}\"}}");
    for (family, field) in [
        ("dh_actor_live", "live"),
        ("dh_actor_started_total", "started"),
        ("dh_actor_panics_total", "panics"),
        ("dh_actor_restarts_total", "restarts"),
    ] {
        say(format!("{family}{own}"), count(field).to_string());
    }
    say(format!("dh_actor_busy_seconds_total{own}"), seconds(count("busyNs")));
    for (lane, field) in [("control", "controlDepth"), ("data", "dataDepth")] {
        let labels = format!("{{kind=\"{name}\",lane=\"{lane}\"}}");
        say(format!("dh_actor_queue_depth{labels}"), count(field).to_string());
    }
    for outcome in ["handled", "refused", "coalesced", "dropped", "expired", "lost"] {
        let count = kind["total"][outcome].as_u64().unwrap();
        if count > 0 || outcome == "handled" {
            let labels = format!("{{kind=\"{name}\",outcome=\"{outcome}\"}}");
            say(format!("dh_actor_messages_total{labels}"), count.to_string());
        }
    }
    let bounds = [17, 20, 23, 26].map(|power| 1 << power);
    let label = format!("kind=\"{name}\"");
    for field in ["wait", "handle", "late"] {
        of_spread(&format!("dh_actor_{field}_seconds"), &label, &bounds, &kind[field], say);
    }
}

fn rows<'a>(json: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    json[name].as_array().unwrap().iter()
}

fn seconds(ns: u64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// Every number of a snapshot is another one, so that none can stand in another's place.
#[test]
fn every_number_of_the_metrics_is_the_snapshots_own() {
    let kind = |kind: &'static str| KindRow {
        kind: kind.into(),
        messages: vec![MessageRow::default()],
        wait: Spread { buckets: vec![(1 << 16, 0), (1 << 21, 0)], ..Spread::default() },
        handle: Spread { buckets: vec![(1 << 19, 0), (1 << 40, 0)], ..Spread::default() },
        ..KindRow::default()
    };
    let limit = |limit: &'static str, unit: &'static str, used| LimitRow {
        limit: limit.into(),
        unit: unit.into(),
        used,
        ..LimitRow::default()
    };
    let link = |end: &'static str| LinkRow {
        end: end.into(),
        silent_us: Some(0),
        rtt_us: Some(0),
        rtt_var_us: Some(0),
        ..LinkRow::default()
    };
    let unknown = LinkRow { end: "server".into(), ..LinkRow::default() };
    let links = ["server", "server", "server", "client", "client"].map(link);
    let blank = Snapshot {
        process: Process { role: "server".into(), version: "1".into(), ..Process::default() },
        kinds: vec![kind("a"), kind("b")],
        edges: vec![EdgeRow::default(); 3],
        cycles: vec![vec![1, 2]],
        figures: Figures {
            players: Some(PlayersRow::default()),
            ticks: Some(TickTotals {
                late: Spread { buckets: vec![(1 << 23, 0), (3 << 22, 0)], ..Spread::default() },
                work: Spread { buckets: vec![(12_582_911, 0), (1 << 30, 0)], ..Spread::default() },
                ..TickTotals::default()
            }),
            usage: Usage {
                resident_bytes: Some(0),
                cpu_ns: Some(0),
                open_files: Some(0),
                started_ns: Some(0),
            },
        },
        ticks: vec![TickStrip::default(); 2],
        links: links.into_iter().chain([unknown]).collect(),
        limits: vec![
            limit("a.data", LimitRow::OF_LANES, Some(0)),
            limit("held", "places", Some(0)),
            limit("rate", "a second", None),
        ],
        ..Snapshot::default()
    };
    let mut json = serde_json::to_value(&blank).unwrap();
    let mut next = 1_000_000_007;
    fill(&mut json, &mut next);
    let filled: Snapshot = serde_json::from_value(json).unwrap();
    let (told, expected) = (told(&filled.metrics()), expected(&filled));
    assert_eq!(told, expected);
    assert!(told.len() > 80, "{}", told.len());
    let whole: Vec<&String> = told.values().filter(|value| value.len() > 8).collect();
    let apart: std::collections::BTreeSet<_> = whole.iter().collect();
    assert!(apart.len() > whole.len() * 3 / 4, "only counts of buckets may be equal");
}

#[test]
fn a_process_without_a_tick_loop_tells_of_no_ticks() {
    let snapshot = Snapshot::default();
    let json = serde_json::to_value(&snapshot).unwrap();
    assert!(json["figures"].as_object().unwrap()["ticks"].is_null(), "{json}");
    let told = told(&snapshot.metrics());
    assert_eq!(told, expected(&snapshot));
    assert!(!told.keys().any(|name| name.starts_with("dh_tick_")), "{told:?}");
    let ticks = Some(TickTotals::default());
    let figures = Figures { ticks, ..Figures::default() };
    let ticking = Snapshot { figures, ..Snapshot::default() };
    assert!(self::told(&ticking.metrics()).contains_key("dh_tick_overruns_total"));
}

/// Put another number in the place of each, but the bounds of buckets.
fn fill(json: &mut Value, next: &mut u64) {
    match json {
        Value::Number(number) => {
            *number = (*next).into();
            *next += 7_919;
        }
        Value::Array(rows) => match rows.as_mut_slice() {
            [Value::Number(_), count @ Value::Number(_)] => fill(count, next),
            rows => rows.iter_mut().for_each(|row| fill(row, next)),
        },
        Value::Object(fields) => {
            // The number of a process has as many bits as its system gives it.
            let own = fields.iter_mut().filter(|(name, _)| *name != "pid");
            own.for_each(|(_, field)| fill(field, next));
        }
        Value::Null | Value::Bool(_) | Value::String(_) => (),
    }
}
