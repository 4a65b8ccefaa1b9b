//! Links: the live connections of a network, for whoever looks at it.
//!
//! Written when a connection is made or dropped. What went over those that are gone stays in the
//! sums, which never go backwards.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};

use super::connection::{ConnectionStats, Face};
use super::lock;

/// The connections of one network.
#[derive(Debug, Default)]
pub(crate) struct LinkTable(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    made: u64,
    live: BTreeMap<u64, Weak<Face>>,
    /// What went over those that are gone.
    past: ConnectionStats,
    /// The sums as they were last told: one that is being dropped is in neither of the others.
    told: ConnectionStats,
}

/// All connections at one moment.
#[derive(Debug)]
pub(crate) struct Links {
    pub(crate) made: u64,
    pub(crate) total: ConnectionStats,
    pub(crate) live: Vec<(u64, Arc<Face>, ConnectionStats)>,
}

impl LinkTable {
    /// The number of the next connection.
    pub(super) fn next(&self) -> u64 {
        let mut table = lock(&self.0);
        table.made += 1;
        table.made
    }

    pub(super) fn enter(&self, id: u64, face: Weak<Face>) {
        lock(&self.0).live.insert(id, face);
    }

    pub(super) fn leave(&self, id: u64, stats: &ConnectionStats) {
        let mut table = lock(&self.0);
        table.live.remove(&id);
        table.past = table.past.plus(stats);
    }

    /// All of them, by their numbers.
    pub(crate) fn read(&self) -> Links {
        let table = lock(&self.0);
        let faces = table.live.iter().filter_map(|(id, face)| Some((*id, face.upgrade()?)));
        let faces: Vec<(u64, Arc<Face>)> = faces.collect();
        let (made, past) = (table.made, table.past);
        // Whoever drops one of them takes the lock.
        drop(table);
        let live: Vec<_> = faces
            .into_iter()
            .map(|(id, face)| {
                let stats = face.stats();
                (id, face, stats)
            })
            .collect();
        let total = live.iter().fold(past, |sum, (.., stats)| sum.plus(stats));
        let mut table = lock(&self.0);
        table.told = table.told.most(&total);
        Links { made, total: table.told, live }
    }
}
