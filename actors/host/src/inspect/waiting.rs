//! Waiting: who waits for whom, as rows of a snapshot.

use std::collections::{BTreeMap, BTreeSet};

use super::snapshot::EdgeRow;
use crate::registry::{Edge, Entry, Registry};

/// Who waits for whom at one moment.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    /// Each that waits.
    pub(crate) edges: Vec<EdgeRow>,
    /// Rings of those that wait for each other.
    pub(crate) cycles: Vec<Vec<u64>>,
}

impl Waiting {
    pub(super) fn of<'a>(registry: &Registry, all: impl Iterator<Item = &'a Entry>) -> Self {
        let edges = registry.edges_among(all);
        if edges.is_empty() {
            return Self::default();
        }
        let paths: BTreeSet<&str> =
            edges.iter().flat_map(|edge| [edge.from.as_str(), edge.to.as_str()]).collect();
        let entries = registry.sorted_if(|entry| paths.contains(entry.path.as_str()));
        let numbers: BTreeMap<&str, u64> =
            entries.iter().map(|entry| (entry.path.as_str(), entry.id.0)).collect();
        let row = |edge: &Edge| {
            let from = *numbers.get(edge.from.as_str())?;
            let to = *numbers.get(edge.to.as_str())?;
            Some(EdgeRow { from, to, message: edge.message.into(), since_us: edge.since.0 })
        };
        let ring = |ring: &Vec<Edge>| {
            ring.iter().filter_map(|edge| numbers.get(edge.from.as_str()).copied()).collect()
        };
        Self {
            cycles: Registry::cycles_among(&edges).iter().map(ring).collect(),
            edges: edges.iter().filter_map(row).collect(),
        }
    }
}
