//! Source: one process that is looked at, as it was last heard of, and what its sums grew by.

use std::collections::BTreeMap;

use dh_host::inspect::{ActorRow, LinkRow, Snapshot};

use super::Told;

/// The shortest time that rates are taken over, where there is one.
const SPAN_US: u64 = 500_000;

/// A process, and what is known of it.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// What it is called among others.
    pub(crate) name: String,
    /// How it can be heard.
    pub(crate) state: Heard,
    /// Its newest snapshot.
    pub(crate) snapshot: Snapshot,
    /// Changes that it was brought up to date with since.
    pub(crate) step: u64,
    /// When that came, on this program's clock.
    pub(crate) came_us: u64,
    marks: Option<(Mark, Mark)>,
    links: Option<LinkMark>,
}

/// Whether a process can be heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// It was not reached yet.
    Never,
    /// It tells.
    Now,
    /// It does no longer: why.
    Lost(String),
    /// It is shown no more; another may take its place.
    Gone,
}

/// Sums of all actors at one moment.
#[derive(Clone, Debug)]
struct Mark {
    at_us: u64,
    sums: BTreeMap<u64, Sums>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    offered: u64,
    refused: u64,
    busy_ns: u64,
}

/// What an actor did lately.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rates {
    /// Messages handed to its port a second.
    pub(crate) offered: f64,
    /// Of these, how many it gave back.
    pub(crate) refused: f64,
    /// The share of the time that it worked.
    pub(crate) busy: f64,
}

/// The connections as they were told last and the time before.
#[derive(Clone, Debug)]
struct LinkMark {
    at_us: u64,
    rates: BTreeMap<u64, LinkRates>,
    links: Vec<LinkRow>,
    /// Time on processors, which is told with them, and the share of one of them it took lately.
    cpu_ns: Option<u64>,
    cpu: Option<f64>,
}

/// What went over a connection lately, a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LinkRates {
    /// Bytes sent.
    pub(crate) sent: f64,
    /// Bytes received.
    pub(crate) received: f64,
    /// Datagrams given to it.
    pub(crate) datagrams: f64,
}

impl Source {
    /// A process that was not heard yet.
    pub(crate) fn new(name: String, now_us: u64) -> Self {
        let (state, snapshot) = (Heard::Never, Snapshot::default());
        Self { name, state, snapshot, step: 0, came_us: now_us, marks: None, links: None }
    }

    /// Let go of it.
    pub(crate) fn leave(&mut self) {
        (self.state, self.snapshot) = (Heard::Gone, Snapshot::default());
    }

    /// Whether what is shown of it is old.
    pub(crate) fn is_stale(&self) -> bool {
        matches!(self.state, Heard::Lost(_))
    }

    /// Servers stand before those who play there.
    pub(crate) fn rank(&self) -> u8 {
        match self.snapshot.process.role.as_ref() {
            "server" => 0,
            "play" => 1,
            "client" => 2,
            _ => 3,
        }
    }

    /// Take in what it tells; false where that does not fit what it told before.
    pub(crate) fn hear(&mut self, told: Told, now_us: u64) -> bool {
        match told {
            Told::Snapshot(snapshot) => {
                // Whoever is asked anew goes on from the same sums, unless it is another process.
                if snapshot.process.pid != self.snapshot.process.pid
                    || snapshot.now_us < self.snapshot.now_us
                {
                    (self.marks, self.links) = (None, None);
                }
                let process = &snapshot.process;
                self.name = format!("{} {}", process.role, process.pid);
                (self.snapshot, self.step) = (*snapshot, 0);
                self.mark_links();
            }
            Told::Change(change) => {
                let (has_links, step) = (change.links.is_some(), change.step);
                if self.snapshot.apply(*change).is_err() {
                    return false;
                }
                self.step = step;
                if has_links {
                    self.mark_links();
                }
            }
        }
        self.state = Heard::Now;
        self.came_us = now_us;
        self.mark();
        true
    }

    /// What an actor did lately; nothing is known before half a second has passed.
    pub(crate) fn rates(&self, row: &ActorRow) -> Option<Rates> {
        let (mark, _) = self.marks.as_ref()?;
        let over = self.snapshot.now_us.checked_sub(mark.at_us).filter(|over| *over > 0)?;
        // One that was not there then has done all it did since.
        let before = mark.sums.get(&row.id).copied().unwrap_or_default();
        let grown = |now: u64, then: u64| now.saturating_sub(then) as f64 * 1e6 / over as f64;
        Some(Rates {
            offered: grown(row.total.offered, before.offered),
            refused: grown(row.total.refused, before.refused),
            busy: grown(row.busy_ns, before.busy_ns) / 1e9,
        })
    }

    /// What went over a connection lately.
    pub(crate) fn link_rates(&self, id: u64) -> Option<LinkRates> {
        self.links.as_ref()?.rates.get(&id).copied()
    }

    /// The share of one processor that the process took lately.
    pub(crate) fn cpu(&self) -> Option<f64> {
        self.links.as_ref()?.cpu
    }

    /// Rates are taken from the older of two marks, so that they span half a second to a whole one.
    fn mark(&mut self) {
        let now = self.snapshot.now_us;
        let is_due = |mark: &Mark| now >= mark.at_us + SPAN_US;
        if self.marks.as_ref().is_some_and(|(_, newer)| !is_due(newer)) {
            return;
        }
        let sums = |row: &ActorRow| Sums {
            offered: row.total.offered,
            refused: row.total.refused,
            busy_ns: row.busy_ns,
        };
        let sums = self.snapshot.actors.iter().map(|row| (row.id, sums(row))).collect();
        let mark = Mark { at_us: now, sums };
        self.marks = Some(match self.marks.take() {
            Some((_, newer)) => (newer, mark),
            None => (mark.clone(), mark),
        });
    }

    fn mark_links(&mut self) {
        let now = self.snapshot.now_us;
        let links = self.snapshot.links.clone();
        let cpu_ns = self.snapshot.figures.usage.cpu_ns;
        let Some(mark) = self.links.take() else {
            let rates = BTreeMap::new();
            self.links = Some(LinkMark { at_us: now, rates, links, cpu_ns, cpu: None });
            return;
        };
        let over = now.saturating_sub(mark.at_us);
        if over < SPAN_US {
            self.links = Some(mark);
            return;
        }
        let before: BTreeMap<u64, &LinkRow> = mark.links.iter().map(|row| (row.id, row)).collect();
        let none = LinkRow::default();
        let rate = |row: &LinkRow| {
            let before = before.get(&row.id).copied().unwrap_or(&none);
            let grown = |now: u64, then: u64| now.saturating_sub(then) as f64 * 1e6 / over as f64;
            let (new, old) = (&row.traffic, &before.traffic);
            let rates = LinkRates {
                sent: grown(new.bytes_sent, old.bytes_sent),
                received: grown(new.bytes_received, old.bytes_received),
                datagrams: grown(new.datagrams_offered, old.datagrams_offered),
            };
            (row.id, rates)
        };
        let rates = links.iter().map(rate).collect();
        let cpu = cpu_ns.zip(mark.cpu_ns).map(|(now, then)| {
            let took = now.saturating_sub(then) as f64;
            took / (over as f64 * 1e3)
        });
        self.links = Some(LinkMark { at_us: now, rates, links, cpu_ns, cpu });
    }
}
