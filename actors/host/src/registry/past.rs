//! Past: what the actors of each kind have done, those that have ended included.
//!
//! Written under the registry's lock when an actor starts or ends, so that a reader finds each
//! actor once: alive, or in these sums. Sums therefore never go backwards.

use std::collections::BTreeMap;

use super::TickSums;
use crate::metrics::Noted;
use crate::port::{Counts, LaneStats, PortStats};

/// What every kind has done.
#[derive(Clone, Debug, Default)]
pub(crate) struct Past {
    pub(crate) kinds: BTreeMap<&'static str, Deeds>,
}

/// What the actors of one kind have done.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deeds {
    pub(crate) started: u64,
    pub(crate) ended: u64,
    pub(crate) messages: Vec<(&'static str, Counts)>,
    /// The lane that is always taken first: the deepest there was, and all hits.
    pub(crate) control: LaneStats,
    pub(crate) data: LaneStats,
    pub(crate) wait: Noted,
    pub(crate) handle: Noted,
    pub(crate) late: Noted,
    pub(crate) busy_ns: u64,
    pub(crate) turns: u64,
    pub(crate) panics: u64,
    pub(crate) restarts: u64,
    /// All their ticks, where they live by deadlines.
    pub(crate) ticks: TickSums,
}

/// One actor read at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    pub(crate) port: PortStats,
    pub(crate) wait: Noted,
    pub(crate) handle: Noted,
    pub(crate) late: Noted,
    pub(crate) busy_ns: u64,
    pub(crate) turns: u64,
    pub(crate) panics: u64,
    pub(crate) restarts: u64,
    /// All its ticks, where it lives by deadlines.
    pub(crate) ticks: Option<Box<TickSums>>,
}

impl Past {
    pub(crate) fn started(&mut self, kind: &'static str) {
        self.kinds.entry(kind).or_default().started += 1;
    }

    pub(crate) fn ended(&mut self, kind: &'static str, last: &Reading) {
        let deeds = self.kinds.entry(kind).or_default();
        deeds.ended += 1;
        deeds.add(last);
    }
}

impl Deeds {
    /// Add what one actor has done.
    pub(crate) fn add(&mut self, one: &Reading) {
        for (kind, counts) in &one.port.kinds {
            match self.messages.iter_mut().find(|(known, _)| known == kind) {
                Some((_, sum)) => *sum = sum.plus(counts),
                None => self.messages.push((kind, *counts)),
            }
        }
        self.control = self.control.beside(&one.port.control);
        self.data = self.data.beside(&one.port.data);
        self.wait.add(&one.wait);
        self.handle.add(&one.handle);
        self.late.add(&one.late);
        self.busy_ns += one.busy_ns;
        self.turns += one.turns;
        self.panics += one.panics;
        self.restarts += one.restarts;
        if let Some(ticks) = &one.ticks {
            self.ticks.add(ticks);
        }
    }
}
