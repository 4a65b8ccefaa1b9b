//! The exact accounting of a port, per kind of message.
//!
//! Read under the port's lock, so at every moment of every port and kind
//! `offered = handled + refused + coalesced + dropped + expired + lost + depth`.

use serde::{Deserialize, Serialize};

/// What happened to the messages of one kind since the actor was started; in JSON as in a snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Every message handed to the port, but those that are still held back by their sender.
    pub offered: u64,
    /// Taken by the machine, which came back without a panic.
    pub handled: u64,
    /// Given back to the sender: no place, or the port is closed.
    pub refused: u64,
    /// Replaced by a newer one of the same key.
    pub coalesced: u64,
    /// Pushed out by a newer one of the same kind.
    pub dropped: u64,
    /// Too old when their turn came.
    pub expired: u64,
    /// In hand when the machine panicked, or still waiting when the actor ended.
    pub lost: u64,
    /// Waiting or in hand now.
    pub depth: u64,
    /// Times a sender was told to wait for a place; such a message is offered only once it gets in.
    pub waited: u64,
}

impl Counts {
    /// Whether every offered message is accounted for exactly once.
    #[must_use]
    pub const fn balanced(&self) -> bool {
        self.offered
            == self.handled
                + self.refused
                + self.coalesced
                + self.dropped
                + self.expired
                + self.lost
                + self.depth
    }

    /// These and others added up.
    #[must_use]
    pub const fn plus(&self, other: &Self) -> Self {
        Self {
            offered: self.offered + other.offered,
            handled: self.handled + other.handled,
            refused: self.refused + other.refused,
            coalesced: self.coalesced + other.coalesced,
            dropped: self.dropped + other.dropped,
            expired: self.expired + other.expired,
            lost: self.lost + other.lost,
            depth: self.depth + other.depth,
            waited: self.waited + other.waited,
        }
    }
}

/// One lane of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneStats {
    /// Waiting now.
    pub depth: usize,
    /// The most that ever waited at once; never above `max`.
    pub peak: usize,
    /// The bound.
    pub max: usize,
    /// Times a message found it full.
    pub hits: u64,
}

impl LaneStats {
    /// This lane and one like it, of another actor: the deepest, and the hits of both.
    pub(crate) fn beside(&self, other: &Self) -> Self {
        Self {
            depth: self.depth.max(other.depth),
            peak: self.peak.max(other.peak),
            max: self.max.max(other.max),
            hits: self.hits + other.hits,
        }
    }
}

/// A port at one moment, without its kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Glance {
    pub(crate) total: Counts,
    pub(crate) control: LaneStats,
    pub(crate) data: LaneStats,
    pub(crate) closed: bool,
}

/// A port at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortStats {
    /// Each kind by name, in the order the actor declares them.
    pub kinds: Vec<(&'static str, Counts)>,
    /// The lane that is always taken first.
    pub control: LaneStats,
    /// The other lane.
    pub data: LaneStats,
    /// Whether offers are refused for good.
    pub closed: bool,
}

impl PortStats {
    /// The counts of one kind; zeros for a name the actor does not declare.
    #[must_use]
    pub fn kind(&self, name: &str) -> Counts {
        self.kinds
            .iter()
            .find(|(kind, _)| *kind == name)
            .map(|(_, counts)| *counts)
            .unwrap_or_default()
    }

    /// All kinds added up.
    #[must_use]
    pub fn total(&self) -> Counts {
        self.kinds.iter().fold(Counts::default(), |sum, (_, counts)| sum.plus(counts))
    }

    /// Whether the accounting of every kind adds up and no lane ever passed its bound.
    #[must_use]
    pub fn balanced(&self) -> bool {
        self.kinds.iter().all(|(_, counts)| counts.balanced())
            && self.control.peak <= self.control.max
            && self.data.peak <= self.data.max
    }
}
