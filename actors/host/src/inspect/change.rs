//! Change: what is different since a snapshot that somebody holds.
//!
//! Written by a stream, applied by whoever follows it: the terminal screen here, the page in its
//! own words.

use serde::{Deserialize, Serialize};

use super::snapshot::{
    ActorRow, EdgeRow, Figures, LaneRow, LimitRow, LinkRow, LinkTotals, Snapshot, Spread, State,
    TickStrip,
};
use crate::port::Counts;

/// What is different since the step before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// The seq of the snapshot that the stream began with.
    pub seq: u64,
    /// Which change of the stream this is, from 1.
    pub step: u64,
    /// When it was taken, on the runtime's clock.
    pub now_us: u64,
    /// Actors as a whole: those that came, those that panicked, and the one that was asked for.
    pub whole: Vec<ActorRow>,
    /// Actors whose numbers changed. Their spreads are told once a second.
    pub beats: Vec<Beat>,
    /// The numbers of actors that ended.
    pub gone: Vec<u64>,
    /// Who waits for whom now, where that changed.
    pub edges: Option<Vec<EdgeRow>>,
    /// The rings among them now, where they changed.
    pub cycles: Option<Vec<Vec<u64>>>,
    /// The process as a whole now; told once a second.
    pub figures: Option<Figures>,
    /// Tick loops with their new ticks alone.
    pub ticks: Vec<TickStrip>,
    /// Every live connection now; told once a second.
    pub links: Option<(LinkTotals, Vec<LinkRow>)>,
    /// Every limit now, where one changed; told once a second.
    pub limits: Option<Vec<LimitRow>>,
}

/// What changed of one actor, without its names: an array of its number, its state where that
/// changed, and the places and values of the numbers that did, in turns; places are those of
/// `Numbers`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beat(pub u64, pub Option<State>, pub Vec<u64>);

/// The numbers of one actor, in the order of [`ActorRow`]: both lanes (3 each), the counts (9),
/// three spreads (6 each), busy, turns, panics, restarts.
pub(crate) type Numbers = [u64; Beat::NUMBERS];

impl Beat {
    /// The numbers of an actor.
    pub const NUMBERS: usize = 37;
    /// Where the spreads stand among them.
    pub(crate) const SPREADS: std::ops::Range<usize> = 15..33;
    /// Where the panics stand.
    pub(crate) const PANICS: usize = 35;

    /// What is different in `now`.
    pub(crate) fn between(id: u64, state: Option<State>, before: &Numbers, now: &Numbers) -> Self {
        let changed =
            || (0..).zip(before.iter().zip(now)).filter(|(_, (before, now))| before != now);
        let mut pairs = Vec::with_capacity(2 * changed().count());
        pairs.extend(changed().flat_map(|(place, (_, now))| [place, *now]));
        Self(id, state, pairs)
    }

    /// Write it into its row; false, and nothing written, where it cannot be of this row.
    fn apply(&self, row: &mut ActorRow) -> bool {
        let mut numbers = numbers_of(row);
        let (pairs, rest) = self.2.as_chunks();
        for [place, value] in pairs {
            let place = usize::try_from(*place).ok().and_then(|place| numbers.get_mut(place));
            let Some(number) = place else { return false };
            *number = *value;
        }
        if !rest.is_empty() {
            return false;
        }
        if let Some(state) = &self.1 {
            row.state = state.clone();
        }
        write(&numbers, row);
        true
    }
}

/// The numbers of a row, as they travel.
pub(crate) fn numbers_of(row: &ActorRow) -> Numbers {
    let (c, d, t) = (&row.control, &row.data, &row.total);
    let [w, h, l] = [&row.wait, &row.handle, &row.late].map(spread_of);
    [
        [c.depth, c.peak, c.max, d.depth, d.peak, d.max].as_slice(),
        counts_of(t).as_slice(),
        w.as_slice(),
        h.as_slice(),
        l.as_slice(),
        [row.busy_ns, row.turns, row.panics, row.restarts].as_slice(),
    ]
    .concat()
    .try_into()
    .unwrap_or([0; Beat::NUMBERS])
}

/// The counts of a port, as they travel.
pub(crate) const fn counts_of(t: &Counts) -> [u64; 9] {
    [t.offered, t.handled, t.refused, t.coalesced, t.dropped, t.expired, t.lost, t.depth, t.waited]
}

/// A spread, as it travels.
pub(crate) const fn spread_of(s: &Spread) -> [u64; 6] {
    [s.count, s.p50_ns, s.p99_ns, s.p999_ns, s.max_ns, s.sum_ns]
}

fn write(numbers: &Numbers, row: &mut ActorRow) {
    let mut next = numbers.iter().copied();
    let mut take = || next.next().unwrap_or_default();
    let mut lane = || LaneRow { depth: take(), peak: take(), max: take() };
    (row.control, row.data) = (lane(), lane());
    row.total = Counts {
        offered: take(),
        handled: take(),
        refused: take(),
        coalesced: take(),
        dropped: take(),
        expired: take(),
        lost: take(),
        depth: take(),
        waited: take(),
    };
    for spread in [&mut row.wait, &mut row.handle, &mut row.late] {
        *spread = Spread {
            count: take(),
            p50_ns: take(),
            p99_ns: take(),
            p999_ns: take(),
            max_ns: take(),
            sum_ns: take(),
            buckets: Vec::new(),
        };
    }
    (row.busy_ns, row.turns, row.panics, row.restarts) = (take(), take(), take(), take());
    row.generation = row.restarts + 1;
}

impl Snapshot {
    /// Bring a snapshot up to date. A row that the change does not name stays as it is; the sums of
    /// kinds are those of the stream's begin.
    ///
    /// # Errors
    /// The change is not of this snapshot's stream, or what it says cannot be: follow it anew.
    pub fn apply(&mut self, change: Change) -> Result<(), NotOurs> {
        if change.seq != self.seq {
            return Err(NotOurs);
        }
        self.now_us = change.now_us;
        self.actors.retain(|row| !change.gone.contains(&row.id));
        for row in change.whole {
            let place =
                self.actors.binary_search_by(|at| (&at.path, at.id).cmp(&(&row.path, row.id)));
            match place {
                Ok(at) => self.actors[at] = row,
                Err(at) => self.actors.insert(at, row),
            }
        }
        if !change.beats.is_empty() {
            self.beat(&change.beats)?;
        }
        if let Some(edges) = change.edges {
            self.edges = edges;
        }
        if let Some(cycles) = change.cycles {
            self.cycles = cycles;
        }
        if let Some(figures) = change.figures {
            self.figures = figures;
        }
        for strip in change.ticks {
            self.tick(strip);
        }
        if let Some((totals, links)) = change.links {
            (self.link_totals, self.links) = (totals, links);
        }
        if let Some(limits) = change.limits {
            self.limits = limits;
        }
        Ok(())
    }

    /// Both are in the order of paths, so one walk finds every row.
    fn beat(&mut self, beats: &[Beat]) -> Result<(), NotOurs> {
        let mut beats = beats.iter().peekable();
        for row in &mut self.actors {
            let Some(beat) = beats.next_if(|beat| beat.0 == row.id) else { continue };
            if !beat.apply(row) {
                return Err(NotOurs);
            }
        }
        if beats.next().is_some() { Err(NotOurs) } else { Ok(()) }
    }

    fn tick(&mut self, mut news: TickStrip) {
        let Some(strip) = self.ticks.iter_mut().find(|strip| strip.actor == news.actor) else {
            self.ticks.push(news);
            return;
        };
        let mut recent = std::mem::take(&mut strip.recent);
        recent.append(&mut news.recent);
        recent.drain(..recent.len().saturating_sub(TickStrip::TICKS_MAX));
        *strip = TickStrip { recent, ..news };
    }
}

/// A change that does not fit the snapshot it was applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotOurs;

impl std::fmt::Display for NotOurs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the change belongs to another snapshot")
    }
}

impl std::error::Error for NotOurs {}
