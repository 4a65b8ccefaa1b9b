//! A made-up process for the tests: what it tells at a moment.

use dh_host::Counts;
use dh_host::inspect::{
    ActorRow, Change, EdgeRow, Figures, LaneRow, LimitRow, LinkRow, MessageRow, PanicRow,
    PlayersRow, Process, Snapshot, Spread, State, TickRow, TickStrip, TickTotals, Traffic, Usage,
};

use super::Told;

/// An actor that was handed so many messages.
pub(crate) fn actor(id: u64, path: &str, offered: u64) -> ActorRow {
    let total = Counts { offered, handled: offered, ..Counts::default() };
    let message = |message: &'static str, offered| MessageRow {
        message: message.into(),
        counts: Counts { offered, ..Counts::default() },
    };
    ActorRow {
        id,
        path: path.to_owned(),
        kind: "kind".into(),
        place: "control".into(),
        generation: 1,
        control: LaneRow { depth: 0, peak: 2, max: 64 },
        data: LaneRow { depth: id, peak: 9, max: 10 },
        total,
        messages: vec![message("Frame", offered), message("Leave", offered / 3)],
        wait: Spread { count: 4, p99_ns: id * 1_000, buckets: vec![(900, 3)], ..Spread::default() },
        ..ActorRow::default()
    }
}

/// Everything at a moment: `actors`, a tick loop, a connection, a ring of two.
pub(crate) fn snapshot(now_us: u64, actors: Vec<ActorRow>) -> Snapshot {
    let tick = |tick: u64| TickRow {
        tick,
        late_ns: tick * 1_000,
        work_ns: if tick == 3 { 20_000_000 } else { 8_000_000 },
        stages_ns: vec![4_000_000, 4_000_000],
        behind: 0,
    };
    let link = LinkRow {
        id: 1,
        end: "server".into(),
        actor: Some(2),
        player: Some("ada".to_owned()),
        peer: "127.0.0.1:4000".to_owned(),
        silent_us: Some(16_000),
        rtt_us: Some(1_500),
        traffic: Traffic { packets_sent: 100, packets_lost: 5, ..Traffic::default() },
        ..LinkRow::default()
    };
    let edge = |from, to| EdgeRow { from, to, message: "Ask".into(), since_us: 0 };
    Snapshot {
        seq: 7,
        process: Process {
            role: "server".into(),
            version: "0.1.0".into(),
            pid: 42,
            simulated: false,
        },
        now_us,
        actors,
        edges: vec![edge(1, 2), edge(2, 1)],
        cycles: vec![vec![1, 2]],
        ticks: vec![TickStrip {
            actor: 3,
            period_ns: 16_666_667,
            mean_ns: Some(18_000_000),
            longest_ns: 33_000_000,
            stages: vec!["input".into(), "step".into()],
            overruns: 1,
            recent: (1..=5).map(tick).collect(),
            ..TickStrip::default()
        }],
        figures: figures(),
        links: vec![link],
        limits: vec![
            limit("net.message", "bytes", (None, None, 1 << 20), 0),
            limit("server.players", "sessions", (Some(14), Some(16), 16), 3),
        ],
        ..Snapshot::default()
    }
}

/// A server that fourteen play on.
fn figures() -> Figures {
    let spread = |p99_ns| Spread { count: 5, p99_ns, ..Spread::default() };
    Figures {
        players: Some(PlayersRow { connecting: 1, loading: 2, playing: 14, max: 16 }),
        ticks: Some(TickTotals { overruns: 7, late: spread(1_000_000), work: spread(9_000_000) }),
        usage: Usage {
            resident_bytes: Some(45_000_000),
            cpu_ns: Some(3_000_000_000),
            open_files: Some(31),
            started_ns: Some(1),
        },
    }
}

/// A limit: how much of it is used, the most that ever was, its bound, and how often it was hit.
fn limit(
    limit: &'static str,
    unit: &'static str,
    (used, peak, max): (Option<u64>, Option<u64>, u64),
    hits: u64,
) -> LimitRow {
    LimitRow { limit: limit.into(), unit: unit.into(), max, used, peak, hits }
}

/// Three actors; the second has panicked.
pub(crate) fn three() -> Vec<ActorRow> {
    let mut actors = vec![
        actor(1, "server/roster", 300),
        actor(2, "server/session/ada", 900),
        actor(3, "server/session/tick", 600),
    ];
    actors[1].state = State::Running { message: "Frame".into(), since_us: 0 };
    actors[1].panics = 1;
    actors[1].last_panic =
        Some(PanicRow { text: "index out of bounds".into(), location: "a.rs:1:2".into() });
    actors
}

/// That as the begin of a stream.
pub(crate) fn begin(now_us: u64, actors: Vec<ActorRow>) -> Told {
    Told::Snapshot(Box::new(snapshot(now_us, actors)))
}

/// The same of another process.
pub(crate) fn begin_of(role: &'static str, pid: u32, actors: Vec<ActorRow>) -> Told {
    let mut snapshot = snapshot(1_000_000, actors);
    (snapshot.process.role, snapshot.process.pid) = (role.into(), pid);
    Told::Snapshot(Box::new(snapshot))
}

/// A change of that stream.
pub(crate) fn change(now_us: u64, whole: Vec<ActorRow>, gone: Vec<u64>) -> Told {
    Told::Change(Box::new(Change { seq: 7, now_us, whole, gone, ..Change::default() }))
}
