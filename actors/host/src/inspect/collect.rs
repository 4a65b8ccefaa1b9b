//! Collecting: a [`Snapshot`] made of what shells, ports and connections have counted.
//!
//! Runs only when somebody asks. It reads atomics and takes each port's lock for a moment; nothing
//! that is looked at does any work for it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use dh_machine::Micros;

use super::change::{Beat, Numbers, counts_of, spread_of};
use super::snapshot::{
    ActorRow, EdgeRow, Figures, KindRow, LaneRow, LimitRow, LinkRow, LinkTotals, MessageRow,
    PanicRow, Process, Snapshot, Spread, State, Traffic,
};
use super::waiting::Waiting;
use super::{figures, limits, ticks};
use crate::metrics::Noted;
use crate::net::{ConnectionStats, Face};
use crate::port::{Counts, Glance, LaneStats};
use crate::registry::{ActorState, Deeds, Entry, Past, Reading};
use crate::runtime::Runtime;

/// Takes snapshots of one runtime.
#[derive(Clone, Debug)]
pub struct Collector {
    runtime: Runtime,
    process: Process,
}

impl Collector {
    /// Of this runtime, in the name of its process.
    #[must_use]
    pub fn new(runtime: Runtime, process: Process) -> Self {
        Self { runtime, process }
    }

    /// Everything at this moment, with the buckets of the actor at `detail`.
    #[must_use]
    pub fn take(&self, seq: u64, detail: Option<&str>) -> Snapshot {
        let now = self.now();
        let (past, live) = self.runtime.registry().all();
        let Waiting { edges, cycles } = self.waiting(live.iter().map(AsRef::as_ref));
        let strips = ticks::strips(live.iter().map(AsRef::as_ref), &BTreeMap::new(), now);
        let read = |entry: Arc<Entry>| {
            let reading = entry.reading();
            (entry, reading)
        };
        let readings: Vec<(Arc<Entry>, Reading)> = live.into_iter().map(read).collect();
        let row = |(entry, reading): &(Arc<Entry>, Reading)| {
            row(entry, reading, &edges, detail == Some(entry.path.as_str()))
        };
        let actors = readings.iter().map(row).collect();
        let (link_totals, links) = self.links();
        let deeds = deeds(past, &readings);
        let lanes = deeds.iter().map(|(kind, deeds)| (*kind, (deeds.control, deeds.data)));
        let limits = limits::rows(&self.runtime, lanes);
        let none = Deeds::default();
        let figures = figures::of(&self.runtime, deeds.get(ticks::TICK).unwrap_or(&none));
        Snapshot {
            seq,
            process: self.process.clone(),
            now_us: now.0,
            actors,
            kinds: kinds(deeds, &readings),
            edges,
            cycles,
            figures,
            ticks: strips,
            links,
            link_totals,
            limits,
        }
    }

    /// One actor at this moment.
    pub(crate) fn row(&self, entry: &Entry, edges: &[EdgeRow], detailed: bool) -> ActorRow {
        let mut row = row(entry, &entry.reading(), edges, detailed);
        if !detailed {
            row.messages = Vec::new();
        }
        row
    }

    /// Bring the numbers of one actor up to this moment, those of its spreads only if they are
    /// `asked` for; what it is doing.
    pub(crate) fn renew(
        entry: &Entry,
        edges: &[EdgeRow],
        numbers: &mut Numbers,
        asked: bool,
    ) -> State {
        let Glance { total, control, data, closed } = entry.face.glance();
        let metrics = &entry.metrics;
        let [c, d] = [lane(control), lane(data)];
        numbers[..6].copy_from_slice(&[c.depth, c.peak, c.max, d.depth, d.peak, d.max]);
        numbers[6..Beat::SPREADS.start].copy_from_slice(&counts_of(&total));
        if asked {
            let spreads = [&metrics.wait, &metrics.handle, &metrics.late];
            let places = numbers[Beat::SPREADS].chunks_exact_mut(6);
            for (place, histogram) in places.zip(spreads) {
                place.copy_from_slice(&spread_of(&spread(&histogram.read(), false)));
            }
        }
        let rest = [&metrics.busy_ns, &metrics.turns, &metrics.panics, &metrics.restarts];
        numbers[Beat::SPREADS.end..].copy_from_slice(&rest.map(|count| count.load(Relaxed)));
        state(entry.state(closed), entry.id.0, edges)
    }

    /// Every live connection.
    pub(crate) fn links(&self) -> (LinkTotals, Vec<LinkRow>) {
        let all = self.runtime.net().connections();
        let now = self.now();
        let row = |(id, face, stats): &(u64, Arc<Face>, ConnectionStats)| {
            let measured = face.measured();
            LinkRow {
                id: *id,
                end: face.end().name().into(),
                actor: face.reader().map(|id| id.0),
                player: face.player().map(|name| name.to_string()),
                peer: face.remote().to_string(),
                silent_us: face.heard().map(|heard| now.since(heard).0),
                rtt_us: measured.map(|(rtt, _)| rtt.0),
                rtt_var_us: measured.and_then(|(_, variation)| Some(variation?.0)),
                window: stats.window,
                traffic: traffic(stats),
                send_queue: stats.send_queue,
            }
        };
        let rows: Vec<LinkRow> = all.live.iter().map(row).collect();
        let live = number(rows.len());
        (LinkTotals { live, made: all.made, traffic: traffic(&all.total) }, rows)
    }

    /// The process as a whole.
    pub(crate) fn figures(&self) -> Figures {
        figures::of(&self.runtime, &self.runtime.registry().deeds_of(ticks::TICK))
    }

    /// Every limit.
    pub(crate) fn limits(&self) -> Vec<LimitRow> {
        limits::rows(&self.runtime, self.runtime.registry().lanes().into_iter())
    }

    pub(crate) fn now(&self) -> Micros {
        self.runtime.now()
    }

    /// A number that changes when an actor comes or goes.
    pub(crate) fn moves(&self) -> u64 {
        self.runtime.registry().moves()
    }

    /// Every live actor, by path.
    pub(crate) fn live(&self) -> Vec<Arc<Entry>> {
        self.runtime.registry().sorted()
    }

    /// Who of these waits for whom.
    pub(crate) fn waiting<'a>(&self, all: impl Iterator<Item = &'a Entry>) -> Waiting {
        Waiting::of(self.runtime.registry(), all)
    }
}

fn row(entry: &Entry, reading: &Reading, edges: &[EdgeRow], detailed: bool) -> ActorRow {
    let id = entry.id.0;
    let spread = |noted: &Noted| spread(noted, detailed);
    ActorRow {
        id,
        path: entry.path.clone(),
        kind: entry.spec.kind.into(),
        place: entry.place.name().into(),
        generation: reading.restarts + 1,
        state: state(entry.state(reading.port.closed), id, edges),
        control: lane(reading.port.control),
        data: lane(reading.port.data),
        total: reading.port.total(),
        messages: messages(&reading.port.kinds),
        wait: spread(&reading.wait),
        handle: spread(&reading.handle),
        late: spread(&reading.late),
        busy_ns: reading.busy_ns,
        turns: reading.turns,
        panics: reading.panics,
        restarts: reading.restarts,
        last_panic: entry
            .last_panic()
            .map(|note| PanicRow { text: note.text, location: note.location }),
    }
}

/// What every kind has done, those that live included.
fn deeds(past: Past, readings: &[(Arc<Entry>, Reading)]) -> BTreeMap<&'static str, Deeds> {
    let mut kinds = past.kinds;
    for (entry, reading) in readings {
        kinds.entry(entry.spec.kind).or_default().add(reading);
    }
    kinds
}

fn kinds(deeds: BTreeMap<&'static str, Deeds>, readings: &[(Arc<Entry>, Reading)]) -> Vec<KindRow> {
    let mut depths: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for (entry, reading) in readings {
        let (control, data) = depths.entry(entry.spec.kind).or_default();
        *control += number(reading.port.control.depth);
        *data += number(reading.port.data.depth);
    }
    let row = |(kind, deeds): (&'static str, Deeds)| {
        let (control_depth, data_depth) = depths.get(kind).copied().unwrap_or_default();
        let total = deeds.messages.iter().fold(Counts::default(), |sum, (_, more)| sum.plus(more));
        KindRow {
            kind: kind.into(),
            live: deeds.started - deeds.ended,
            started: deeds.started,
            control_depth,
            data_depth,
            total,
            messages: messages(&deeds.messages),
            wait: spread(&deeds.wait, true),
            handle: spread(&deeds.handle, true),
            late: spread(&deeds.late, true),
            busy_ns: deeds.busy_ns,
            turns: deeds.turns,
            panics: deeds.panics,
            restarts: deeds.restarts,
        }
    };
    deeds.into_iter().map(row).collect()
}

fn state(state: ActorState, id: u64, edges: &[EdgeRow]) -> State {
    match state {
        ActorState::Idle => State::Idle,
        ActorState::Running { message, since } => {
            State::Running { message: message.into(), since_us: since.0 }
        }
        ActorState::Waiting { effects } => State::Waiting {
            effects: number(effects),
            on: edges.iter().find(|edge| edge.from == id).map(|edge| edge.to),
        },
        ActorState::Broken => State::Broken,
        ActorState::Ending => State::Ending,
    }
}

fn messages(kinds: &[(&'static str, Counts)]) -> Vec<MessageRow> {
    let row = |(message, of): &(&'static str, Counts)| MessageRow {
        message: (*message).into(),
        counts: *of,
    };
    kinds.iter().map(row).collect()
}

fn lane(lane: LaneStats) -> LaneRow {
    LaneRow { depth: number(lane.depth), peak: number(lane.peak), max: number(lane.max) }
}

pub(super) fn spread(noted: &Noted, with_buckets: bool) -> Spread {
    let summary = noted.summary();
    Spread {
        count: summary.count,
        p50_ns: summary.p50_ns,
        p99_ns: summary.p99_ns,
        p999_ns: summary.p999_ns,
        max_ns: summary.max_ns,
        sum_ns: summary.sum_ns,
        buckets: if with_buckets { noted.buckets().collect() } else { Vec::new() },
    }
}

fn traffic(stats: &ConnectionStats) -> Traffic {
    Traffic {
        packets_sent: stats.packets_sent,
        packets_lost: stats.packets_lost,
        bytes_sent: stats.bytes_sent,
        bytes_received: stats.bytes_received,
        datagrams_offered: stats.datagrams_offered,
        datagrams_dropped: stats.datagrams_dropped,
        datagrams_refused: stats.datagrams_refused,
    }
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
