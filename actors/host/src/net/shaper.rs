//! Shaper: the link model of one client's path, shared by everything that sends along it.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use dh_machine::Micros;

use super::link::{Cut, Fate, Lane, Link, Links};
use super::lock;
use crate::clock::Clock;
use crate::runtime::Seeds;

/// Both directions of a path, with their draws.
#[derive(Debug)]
pub(crate) struct Shaper {
    up: Mutex<Lane>,
    down: Mutex<Lane>,
    /// The address of the owner's end, as the network sees it.
    near: Mutex<SocketAddr>,
    isolated: Isolated,
}

/// The addresses that nothing reaches and nothing leaves, whoever the other end is. Clones are
/// the same set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Isolated {
    shared: Arc<(AtomicBool, Mutex<BTreeSet<SocketAddr>>)>,
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
    /// A path that starts at `near`; the draws of both directions follow from `seed` and `name`.
    pub(crate) fn new(
        links: Links,
        seed: u64,
        name: &str,
        near: SocketAddr,
        isolated: Isolated,
    ) -> Self {
        let rng = |way: &str| Seeds::new(seed).rng(&format!("link {way} {name}"));
        Self {
            up: Mutex::new(Lane::new(links.up, rng("up"))),
            down: Mutex::new(Lane::new(links.down, rng("down"))),
            near: Mutex::new(near),
            isolated,
        }
    }

    /// Other links from the next packet on.
    pub(crate) fn set(&self, links: Links) {
        lock(&self.up).set(links.up);
        lock(&self.down).set(links.down);
    }

    /// Cut these directions, and no others, from the next packet on.
    pub(crate) fn cut(&self, cut: Cut) {
        lock(&self.up).cut(cut.up);
        lock(&self.down).cut(cut.down);
    }

    /// The link of one direction.
    pub(crate) fn link(&self, way: Way) -> Link {
        lock(self.lane(way)).link()
    }

    /// Where the path starts.
    pub(crate) fn near(&self) -> SocketAddr {
        *lock(&self.near)
    }

    /// The path starts elsewhere from now on.
    pub(crate) fn move_to(&self, near: SocketAddr) {
        *lock(&self.near) = near;
    }

    /// Decide about one packet to or from the far end of the path.
    pub(crate) fn carry(&self, way: Way, far: SocketAddr, now: Micros, bytes: usize) -> Fate {
        let fate = lock(self.lane(way)).carry(now, bytes);
        if self.isolated.holds(far) { Fate::Lost } else { fate }
    }

    fn lane(&self, way: Way) -> &Mutex<Lane> {
        match way {
            Way::Up => &self.up,
            Way::Down => &self.down,
        }
    }
}

impl Isolated {
    /// Isolate an address, or end that.
    pub(crate) fn set(&self, address: SocketAddr, is_isolated: bool) {
        let (any, addresses) = &*self.shared;
        let mut addresses = lock(addresses);
        if is_isolated {
            addresses.insert(address);
        } else {
            addresses.remove(&address);
        }
        any.store(!addresses.is_empty(), Ordering::Release);
    }

    fn holds(&self, address: SocketAddr) -> bool {
        let (any, addresses) = &*self.shared;
        any.load(Ordering::Acquire) && lock(addresses).contains(&address)
    }
}

/// When something that takes `delay` from now arrives; in simulation on the next whole
/// millisecond, which is what timers can express.
pub(crate) fn due(clock: Clock, now: Micros, delay: Micros) -> Micros {
    let at = now + delay;
    if clock.is_simulated() { Micros(at.0.div_ceil(1_000) * 1_000) } else { at }
}
