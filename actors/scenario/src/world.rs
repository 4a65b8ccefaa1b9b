//! World: the servers and peers of one running scenario, and the hands of whoever directs it.

mod peers;
mod servers;
mod turn;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dh_client::{Client, Wish};
use dh_host::net::{Cut, Identity, Links};
use dh_host::{Port, Runtime, Scope, Seeds};
use dh_machine::Micros;
use dh_server::Server;
use dh_sim::GrayBox;

pub(crate) use self::turn::STEP;
use crate::invariants::Invariants;
use crate::peer::PeerId;
use crate::recorder::{RecorderActor, RecorderMsg};
use crate::records::Records;
use crate::report::{Clocks, Failure, Report};
use crate::scenario::Transport;
use crate::server::{ServerId, ServerSetup};

/// Something to be done at a time.
type Deed = Box<dyn FnOnce(&mut World)>;

/// Something to be done once a condition holds.
type Watch = (Box<dyn Fn(&World) -> bool>, Deed);

/// The servers and peers of one running scenario.
pub struct World {
    runtime: Runtime,
    /// What pilots follow from, in the real runtime too; keys there are new in every run.
    seeds: Seeds,
    transport: Transport,
    closely: bool,
    gray_box: GrayBox,
    records: Arc<Mutex<Records>>,
    recorder: Port<RecorderMsg>,
    servers: Vec<RunningServer>,
    peers: Vec<RunningPeer>,
    deeds: Vec<(Micros, Deed)>,
    watches: Vec<Watch>,
    failures: Vec<Failure>,
    invariants: Invariants,
    clocks: Clocks,
    next_line: u32,
}

struct RunningServer {
    /// None while it could not be started again.
    server: Option<Server>,
    standing: Standing,
    scope: Scope,
    name: String,
    address: SocketAddr,
    /// What it is started from again.
    setup: ServerSetup,
}

/// Where a server stands between its start and its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It runs.
    Runs,
    /// It was told to stop in order, and has not done so yet.
    Stops,
    /// It was killed, has stopped, or could not be started again.
    Ended,
}

struct RunningPeer {
    client: Client,
    scope: Scope,
    name: String,
    key: String,
    wish: Wish,
    links: Links,
    cut: Cut,
    /// The server it was told to join last.
    joined: Option<ServerId>,
    /// When it was last told to join, or its path was changed.
    disturbed: Micros,
}

impl World {
    pub(crate) fn new(runtime: Runtime, seed: u64, transport: Transport, closely: bool) -> Self {
        let records = Arc::new(Mutex::new(Records::default()));
        let actor = RecorderActor { records: Arc::clone(&records) };
        let place = dh_host::Place::Control;
        let recorder = runtime.root().child("scenario").spawn(place, "recorder", actor);
        if let (true, Some(network)) = (closely, runtime.net().network()) {
            network.keep_records(true);
        }
        Self {
            clocks: Clocks::start(&runtime),
            seeds: Seeds::new(seed),
            runtime,
            transport,
            closely,
            gray_box: GrayBox::new(),
            records,
            recorder,
            servers: Vec::new(),
            peers: Vec::new(),
            deeds: Vec::new(),
            watches: Vec::new(),
            failures: Vec::new(),
            invariants: Invariants::default(),
            next_line: 0,
        }
    }

    /// Whether there is such a peer.
    pub(crate) fn has_peer(&self, peer: PeerId) -> bool {
        (peer.0 as usize) < self.peers.len()
    }

    /// Whether something that was expected did not come.
    pub(crate) fn has_failed(&self) -> bool {
        !self.failures.is_empty()
    }

    /// How many things did not come that were expected.
    pub(crate) fn failures(&self) -> usize {
        self.failures.len()
    }

    /// How peers reach servers.
    #[must_use]
    pub fn transport(&self) -> Transport {
        self.transport
    }

    /// The server a peer was told to join last.
    pub(crate) fn joined(&self, peer: PeerId) -> Option<ServerId> {
        self.peers.get(peer.0 as usize)?.joined
    }

    /// What a peer is called.
    #[must_use]
    pub fn peer_name(&self, peer: PeerId) -> &str {
        &self.peers[peer.0 as usize].name
    }

    /// The text form of a peer's key.
    pub(crate) fn peer_key(&self, peer: PeerId) -> &str {
        &self.peers[peer.0 as usize].key
    }

    /// The server that a peer was told to join last.
    pub(crate) fn home_of(&self, peer: PeerId) -> Option<ServerId> {
        self.peers[peer.0 as usize].joined
    }

    /// Every peer, the server it was told to join last, what its path does to packets, and when
    /// either was last changed.
    pub(crate) fn paths(
        &self,
    ) -> impl Iterator<Item = (PeerId, Option<ServerId>, Links, Micros)> + '_ {
        let links = |it: &RunningPeer| if it.cut == Cut::NONE { it.links } else { Links::CUT };
        let ids = (0..).map(PeerId);
        ids.zip(&self.peers).map(move |(id, it)| (id, it.joined, links(it), it.disturbed))
    }

    /// Where an actor of a server stands in the tree.
    #[must_use]
    pub fn server_path(&self, server: ServerId, actor: &str) -> String {
        format!("{}/{actor}", self.servers[server.0 as usize].scope.path())
    }

    /// Where an actor of a peer stands in the tree.
    #[must_use]
    pub fn peer_path(&self, peer: PeerId, actor: &str) -> String {
        format!("{}/{actor}", self.peers[peer.0 as usize].scope.path())
    }

    /// The runtime, for faults and metrics.
    #[must_use]
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// What was told so far.
    ///
    /// # Panics
    /// Never: nothing panics while it writes a record.
    pub fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn finish(self, name: String, seed: u64) -> Report {
        let ended = self.clocks.stop(&self.runtime);
        let records = std::mem::take(&mut *self.records());
        Report::new(name, seed, ended, self.failures, records)
    }

    fn identity(&self, name: &str) -> Identity {
        Identity::from_secret(&self.runtime.seeds().bytes(&format!("identity-{name}")))
    }

    fn bytes_of(&self, name: &str) -> [u8; 16] {
        let [bytes @ .., _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _] = self.seeds.bytes(name);
        bytes
    }
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").field("runtime", &self.runtime).finish_non_exhaustive()
    }
}
