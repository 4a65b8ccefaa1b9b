//! Following: what changed in a runtime since the last look of one who keeps looking.
//!
//! Used by a stream, one each. An actor that did nothing since costs a few loads; only of those
//! that did is anything read under a lock, and nothing of the others is told.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dh_machine::Micros;

use super::change::{Beat, Change, Numbers, numbers_of};
use super::collect::Collector;
use super::snapshot::{ActorRow, EdgeRow, LimitRow, Snapshot, State, TickStrip};
use super::ticks;
use super::waiting::Waiting;
use crate::registry::{Entry, Pulse};

/// How often connections, limits and the process as a whole are told, whose reading takes the locks
/// of transports and ports or asks the system; and the spreads of one actor, which are most of what
/// there is to read of it.
const SLOWLY: Micros = Micros::from_secs(1);
/// The spreads of actors come due at so many different moments, so that no step has all to read.
const PHASES: u64 = 10;

/// One who keeps looking.
#[derive(Debug)]
pub(crate) struct Follower {
    collector: Collector,
    /// The path of the actor that is told whole.
    detail: Option<String>,
    seq: u64,
    step: u64,
    /// Of the registry, when the seats were last brought in line with it.
    moves: Option<u64>,
    /// By path.
    seats: Vec<Seat>,
    /// Those of them whose ticks are told.
    loops: Vec<Arc<Entry>>,
    edges: Vec<EdgeRow>,
    cycles: Vec<Vec<u64>>,
    /// The last tick that was told, by the number of its actor.
    ticks: BTreeMap<u64, u64>,
    slow_due: Micros,
    limits: Vec<LimitRow>,
}

/// One actor, as it was last told.
#[derive(Debug)]
struct Seat {
    entry: Arc<Entry>,
    pulse: Option<Pulse>,
    /// What was told last; none where it is not known at all.
    told: Option<Box<Told>>,
    /// When its spreads are to be told again.
    due: Micros,
    /// Whether they may have changed since they were.
    behind: bool,
}

#[derive(Debug)]
struct Told {
    numbers: Numbers,
    state: State,
}

impl Follower {
    /// Follow on from a snapshot of the same collector.
    pub(crate) fn new(collector: Collector, detail: Option<String>, from: &Snapshot) -> Self {
        let mut follower = Self {
            collector,
            detail,
            seq: from.seq,
            step: 0,
            moves: None,
            seats: Vec::new(),
            loops: Vec::new(),
            edges: from.edges.clone(),
            cycles: from.cycles.clone(),
            ticks: BTreeMap::new(),
            slow_due: Micros(from.now_us) + SLOWLY,
            limits: from.limits.clone(),
        };
        follower.told(&from.ticks);
        let known: BTreeMap<u64, &ActorRow> = from.actors.iter().map(|row| (row.id, row)).collect();
        let seat = |entry: Arc<Entry>| {
            let told = known.get(&entry.id.0).map(|row| Told::of(row));
            Seat::new(entry, told, Micros(from.now_us))
        };
        follower.seats = follower.collector.live().into_iter().map(seat).collect();
        follower
    }

    /// What a follower is told first: the snapshot, with the messages of nobody but whom it asked
    /// for, since those of the others would not be kept up to date.
    pub(crate) fn begin(&self, from: &Snapshot) -> Snapshot {
        let mut first = from.clone();
        for row in first.actors.iter_mut().filter(|row| self.detail.as_ref() != Some(&row.path)) {
            row.messages = Vec::new();
        }
        first
    }

    /// Everything that is different since the last step.
    pub(crate) fn step(&mut self) -> Change {
        self.step += 1;
        let now = self.collector.now();
        let mut change =
            Change { seq: self.seq, step: self.step, now_us: now.0, ..Change::default() };
        let moves = self.collector.moves();
        if self.moves.replace(moves) != Some(moves) {
            change.gone = self.reseat(now);
        }
        self.watch(&mut change);
        for seat in &mut self.seats {
            seat.tell(&self.collector, self.detail.as_deref(), &self.edges, now, &mut change);
        }
        if now >= self.slow_due {
            self.slow_due = now + SLOWLY;
            change.links = Some(self.collector.links());
            change.figures = Some(self.collector.figures());
            let limits = self.collector.limits();
            if limits != self.limits {
                self.limits.clone_from(&limits);
                change.limits = Some(limits);
            }
        }
        change
    }

    /// Bring the seats in line with who lives; the numbers of those that are gone.
    fn reseat(&mut self, now: Micros) -> Vec<u64> {
        let mut seats: BTreeMap<u64, Seat> = std::mem::take(&mut self.seats)
            .into_iter()
            .map(|seat| (seat.entry.id.0, seat))
            .collect();
        for entry in self.collector.live() {
            let seat = seats.remove(&entry.id.0);
            self.seats.push(seat.unwrap_or_else(|| Seat::new(entry, None, now)));
        }
        let loops = self.seats.iter().filter(|seat| ticks::is_loop(&seat.entry));
        self.loops = loops.map(|seat| Arc::clone(&seat.entry)).collect();
        // Who came and went between two looks was never told.
        seats.into_iter().filter(|(_, seat)| seat.told.is_some()).map(|(id, _)| id).collect()
    }

    fn watch(&mut self, change: &mut Change) {
        let all = self.seats.iter().map(|seat| &*seat.entry);
        let Waiting { edges, cycles } = self.collector.waiting(all);
        let loops = self.loops.iter().map(AsRef::as_ref);
        let ticks = ticks::strips(loops, &self.ticks, Micros(change.now_us));
        self.told(&ticks);
        change.ticks = ticks;
        if edges != self.edges {
            // Whoever waits, or does no longer, is in another state.
            let touched: BTreeSet<u64> =
                edges.iter().chain(&self.edges).map(|edge| edge.from).collect();
            let touched = self.seats.iter_mut().filter(|seat| touched.contains(&seat.entry.id.0));
            touched.for_each(|seat| seat.pulse = None);
            self.edges.clone_from(&edges);
            change.edges = Some(edges);
        }
        if cycles != self.cycles {
            self.cycles.clone_from(&cycles);
            change.cycles = Some(cycles);
        }
    }

    fn told(&mut self, ticks: &[TickStrip]) {
        let last = |strip: &TickStrip| Some((strip.actor, strip.recent.last()?.tick));
        self.ticks.extend(ticks.iter().filter_map(last));
    }
}

impl Seat {
    fn new(entry: Arc<Entry>, told: Option<Told>, now: Micros) -> Self {
        let due = now + Micros(SLOWLY.0 / PHASES * (entry.id.0 % PHASES + 1));
        Self { entry, pulse: None, told: told.map(Box::new), due, behind: false }
    }

    fn tell(
        &mut self,
        collector: &Collector,
        detail: Option<&str>,
        edges: &[EdgeRow],
        now: Micros,
        change: &mut Change,
    ) {
        let pulse = self.entry.pulse();
        let is_due = self.due <= now;
        if self.pulse == Some(pulse) && !(self.behind && is_due) {
            return;
        }
        self.pulse = Some(pulse);
        let is_asked_for = detail == Some(self.entry.path.as_str());
        match &mut self.told {
            Some(told) if !is_asked_for && told.panics() == pulse.panics => {
                change.beats.extend(told.beat(&self.entry, edges, is_due));
                self.behind = !is_due;
                if is_due {
                    self.due = now + SLOWLY;
                }
            }
            told => {
                let row = collector.row(&self.entry, edges, is_asked_for);
                *told = Some(Box::new(Told::of(&row)));
                self.behind = false;
                change.whole.push(row);
            }
        }
    }
}

impl Told {
    fn of(row: &ActorRow) -> Self {
        Self { numbers: numbers_of(row), state: row.state.clone() }
    }

    fn panics(&self) -> u64 {
        self.numbers[Beat::PANICS]
    }

    /// What changed since, if anything did that is told now: of spreads only where they are due.
    fn beat(&mut self, entry: &Entry, edges: &[EdgeRow], is_due: bool) -> Option<Beat> {
        let before = self.numbers;
        let state = Collector::renew(entry, edges, &mut self.numbers, is_due);
        let state = (state != self.state).then(|| {
            self.state.clone_from(&state);
            state
        });
        let beat = Beat::between(entry.id.0, state, &before, &self.numbers);
        (beat.1.is_some() || !beat.2.is_empty()).then_some(beat)
    }
}
