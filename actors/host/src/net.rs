//! The network: connections with one face over QUIC and over memory, real and simulated.
//!
//! Owned by a runtime, used by the actors that listen and dial. Everything that happens is told
//! through inlets; nothing here decides who may join, and nothing reads a message's body.

mod admission;
mod certificate;
mod close;
mod configs;
mod congestion;
mod connection;
mod delayed;
mod dial;
mod endpoint;
pub(crate) mod file;
mod frame;
mod gate;
mod hostile;
mod identity;
mod key;
mod known_hosts;
pub mod limit;
mod link;
mod links;
mod memory;
mod path;
mod pinned;
mod probe;
mod quic;
mod race;
mod raw;
mod shaped;
mod shaper;
mod simulated;
mod socket;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::runtime::Handle;

pub use self::admission::{Failed, Incoming, Knock, Verdict};
pub use self::close::{By, Closed, code};
pub use self::congestion::Congestion;
pub use self::connection::{
    BlobEvent, Connection, ConnectionStats, InMessage, NetEvent, Remote, SendError,
};
pub use self::dial::{DialError, DialOptions, Dialed, Dialing, Target, Trust, Whose};
pub use self::endpoint::{Endpoint, EndpointStats, ListenError, ListenOptions};
pub(crate) use self::file::replace_with;
pub use self::file::{FileError, read_private};
pub use self::hostile::{FLOOD_MAX, Hostile};
pub use self::identity::{Identity, IdentityError};
pub use self::key::{Fingerprint, NoFingerprint, PeerKey};
pub use self::known_hosts::{KnownHosts, KnownHostsError};
pub use self::link::{Burst, Cut, Fate, Link, Links};
pub use self::path::{ClientPath, RebindError};
pub use self::simulated::{DatagramRecord, PacketFate, PacketRecord, SimulatedNetwork, Trace};

pub(crate) use self::connection::Face;
pub(crate) use self::quic::Heard;
pub use crate::accent::Accent;

use self::endpoint::MemoryDoor;
use self::limit::hits::Hits;
use self::links::LinkTable;
use self::shaper::{Isolated, Shaper};
use crate::clock::Clock;
use crate::flight::Flight;
use crate::limits::Standing;

/// The network of one runtime. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Net {
    shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    /// The runtime whose thread drives all sockets and connections.
    pub(crate) handle: Handle,
    pub(crate) clock: Clock,
    pub(crate) flight: Arc<Flight>,
    /// Where the draws of link models come from.
    pub(crate) seed: u64,
    pub(crate) simulated: Option<SimulatedNetwork>,
    pub(crate) doors: Mutex<BTreeMap<SocketAddr, MemoryDoor>>,
    pub(crate) closing: close::Closing,
    /// Dials so far, to name the draws of each.
    pub(crate) dials: Mutex<u64>,
    /// The paths of those who dialled, by the address they dialled from.
    pub(crate) paths: Mutex<BTreeMap<SocketAddr, Weak<Shaper>>>,
    /// Who nobody reaches.
    pub(crate) isolated: Isolated,
    /// The live connections.
    pub(crate) links: LinkTable,
    pub(crate) hits: Hits,
}

impl Net {
    /// The operating system's network, driven by the thread of `handle`, whose runtime has I/O
    /// and time enabled and runs on one thread.
    pub(crate) fn real(handle: Handle, flight: Arc<Flight>, clock: Clock, seed: u64) -> Self {
        Self::over((handle, flight), clock, seed, None, Isolated::default())
    }

    /// A simulated network on the current thread, whose tokio clock is paused.
    pub(crate) fn simulated(handle: Handle, flight: Arc<Flight>, clock: Clock, seed: u64) -> Self {
        let isolated = Isolated::default();
        let network = SimulatedNetwork::new(clock, seed, isolated.clone());
        Self::over((handle, flight), clock, seed, Some(network), isolated)
    }

    /// The simulated network below, where there is one.
    #[must_use]
    pub fn network(&self) -> Option<&SimulatedNetwork> {
        self.shared.simulated.as_ref()
    }

    /// Change the links of whoever dialled from an address, from the next packet on; whether
    /// there is such a path. [`Links::CUT`] before its actors are killed is how a process dies
    /// without a goodbye.
    pub fn set_links(&self, from: SocketAddr, links: Links) -> bool {
        let shaper = lock(&self.shared.paths).get(&from).and_then(Weak::upgrade);
        shaper.inspect(|shaper| shaper.set(links)).is_some()
    }

    /// Isolate whoever listens at an address: every path to it is cut, both ways, until
    /// [`Net::reunite`]. Links and cuts of those paths are kept. Clients over real sockets that are
    /// not behind the link model still reach it.
    pub fn isolate(&self, server: SocketAddr) {
        self.shared.isolated.set(server, true);
    }

    /// End what [`Net::isolate`] began.
    pub fn reunite(&self, server: SocketAddr) {
        self.shared.isolated.set(server, false);
    }

    /// Every live connection, and the sums of all.
    pub(crate) fn connections(&self) -> links::Links {
        self.shared.links.read()
    }

    /// The limits that senders and peers run into.
    pub(crate) fn limits(&self) -> Vec<Standing> {
        self.shared.hits.limits()
    }

    /// Wait until every connection that is closing has flushed, bounded by
    /// [`limit::FLUSH_MAX`]; for the end of a process.
    pub async fn settle(&self) {
        self.shared.closing.settle().await;
    }

    fn over(
        (handle, flight): (Handle, Arc<Flight>),
        clock: Clock,
        seed: u64,
        simulated: Option<SimulatedNetwork>,
        isolated: Isolated,
    ) -> Self {
        let shared = Shared {
            handle,
            clock,
            flight,
            seed,
            simulated,
            doors: Mutex::default(),
            closing: close::Closing::default(),
            dials: Mutex::default(),
            paths: Mutex::default(),
            isolated,
            links: LinkTable::default(),
            hits: Hits::new(clock),
        };
        Self { shared: Arc::new(shared) }
    }
}

impl Shared {
    /// A name for the draws of the next dial.
    pub(crate) fn next_dial(&self) -> u64 {
        let mut dials = lock(&self.dials);
        *dials += 1;
        *dials
    }

    /// Remember the path of whoever dials from an address, and forget those that are gone.
    pub(crate) fn add_path(&self, from: SocketAddr, shaper: &Arc<Shaper>) {
        let mut paths = lock(&self.paths);
        paths.retain(|_, path| path.strong_count() > 0);
        paths.insert(from, Arc::downgrade(shaper));
    }

    /// Whoever dialled from one address is at another from now on.
    pub(crate) fn move_path(&self, from: SocketAddr, to: SocketAddr) {
        let mut paths = lock(&self.paths);
        if let Some(path) = paths.remove(&from) {
            paths.insert(to, path);
        }
    }
}

/// Lock; a panic elsewhere has not broken what these locks hold, as nothing runs under them that
/// could unwind half way.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
