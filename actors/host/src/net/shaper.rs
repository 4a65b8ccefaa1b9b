//! Shaper: the link model of one client's path, shared by everything that sends along it.

use std::sync::Mutex;

use dh_machine::Micros;

use super::link::{Fate, Lane, Link, Links};
use super::lock;
use crate::clock::Clock;
use crate::runtime::Seeds;

/// Both directions of a path, with their draws.
#[derive(Debug)]
pub(crate) struct Shaper {
    up: Mutex<Lane>,
    down: Mutex<Lane>,
}

/// A direction of a path, seen from the owner of the shaper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Up,
    Down,
}

impl Way {
    /// The other one.
    pub(crate) const fn back(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }
}

impl Shaper {
    /// The draws of both directions follow from `seed` and `name`.
    pub(crate) fn new(links: Links, seed: u64, name: &str) -> Self {
        Self {
            up: Mutex::new(Lane::new(links.up, Seeds::new(seed).rng(&format!("link up {name}")))),
            down: Mutex::new(Lane::new(
                links.down,
                Seeds::new(seed).rng(&format!("link down {name}")),
            )),
        }
    }

    /// Other links from the next packet on.
    pub(crate) fn set(&self, links: Links) {
        lock(&self.up).set(links.up);
        lock(&self.down).set(links.down);
    }

    /// The link of one direction.
    pub(crate) fn link(&self, way: Way) -> Link {
        lock(self.lane(way)).link()
    }

    /// Decide about one packet.
    pub(crate) fn carry(&self, way: Way, now: Micros, bytes: usize) -> Fate {
        lock(self.lane(way)).carry(now, bytes)
    }

    fn lane(&self, way: Way) -> &Mutex<Lane> {
        match way {
            Way::Up => &self.up,
            Way::Down => &self.down,
        }
    }
}

/// When something that takes `delay` from now arrives; in simulation on the next whole
/// millisecond, which is what timers can express.
pub(crate) fn due(clock: Clock, now: Micros, delay: Micros) -> Micros {
    let at = now + delay;
    if clock.is_simulated() { Micros(at.0.div_ceil(1_000) * 1_000) } else { at }
}

/// What two links in a row do.
pub(crate) fn both(first: Fate, second: Fate) -> Fate {
    match (first, second) {
        (Fate::After(a), Fate::After(b)) => Fate::After(a + b),
        (Fate::After(_), lost) | (lost, _) => lost,
    }
}
