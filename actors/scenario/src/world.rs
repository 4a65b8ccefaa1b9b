//! World: the servers and peers of one running scenario, and the hands of whoever directs it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dh_client::{
    CameraMode, Client, ClientOptions, Controls, Dialer, Manner, Observer as ClientObserver, Pilot,
    Wish,
};
use dh_host::net::{Identity, Links};
use dh_host::{Port, Runtime, Scope, Seeds};
use dh_machine::Micros;
use dh_messages::Buttons;
use dh_prefs::{Address, DEFAULT_PORT};
use dh_server::{Observer as ServerObserver, Server, ServerOptions, StartError};
use dh_sim::GrayBox;
use dh_wire::Guid;

use crate::invariants::Invariants;
use crate::peer::{PeerId, PeerSetup};
use crate::recorder::{Heard, RecorderActor, RecorderMsg};
use crate::records::Records;
use crate::report::{Clocks, Failure, Report};
use crate::scenario::Transport;
use crate::server::{ServerId, ServerSetup};

/// How often conditions are looked at and deeds that are due are done: one tick.
const STEP: Micros = Micros(16_667);

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
    server: Server,
    scope: Scope,
}

struct RunningPeer {
    client: Client,
    scope: Scope,
    name: String,
    wish: Wish,
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

    /// Start a server. In simulation each has an address of its own; else any free loopback port.
    ///
    /// # Panics
    /// When its address cannot be bound; [`World::try_server`] says so instead.
    #[expect(clippy::panic, reason = "a scenario without its server cannot go on")]
    pub fn server(&mut self, setup: ServerSetup) -> ServerId {
        self.try_server(setup).unwrap_or_else(|error| panic!("a scenario's server: {error}"))
    }

    /// Start a server.
    ///
    /// # Errors
    /// When its map cannot be loaded or its address cannot be bound.
    pub fn try_server(&mut self, setup: ServerSetup) -> Result<ServerId, StartError> {
        let id = ServerId(u32::try_from(self.servers.len()).expect("servers fit 32 bits"));
        let name = format!("server-{}", id.0);
        let scope = self.runtime.root().child(name.clone());
        let whose = id;
        let hear = move |event| RecorderMsg::Server(Heard { whose, event });
        let observer = ServerObserver::new(self.recorder.inlet(hear), self.closely);
        let hear = move |event| RecorderMsg::Answer(Heard { whose, event });
        let options = ServerOptions {
            address: setup.address.unwrap_or_else(|| self.server_address(id)),
            open: true,
            identity: setup.identity.unwrap_or_else(|| self.identity(&name)),
            prefs: setup.prefs,
            world_id: Guid::from(self.bytes_of(&name)),
            name,
            shelf: setup.shelf,
            map: setup.map,
            observer,
            answers: self.recorder.inlet(hear),
            links: Links::IDEAL,
        };
        let server = Server::start(&scope, options)?;
        self.servers.push(RunningServer { server, scope });
        Ok(id)
    }

    /// Start a peer; it is nowhere until told to join.
    pub fn peer(&mut self, setup: PeerSetup) -> PeerId {
        let id = PeerId(u32::try_from(self.peers.len()).expect("peers fit 32 bits"));
        let PeerSetup { name, links, manner, prefs, inside, content } = setup;
        let scope = self.runtime.root().child(format!("peer-{name}"));
        let (whose, closely) = (id, self.closely);
        let hear = move |event| RecorderMsg::Client(Heard { whose, event });
        let mut dialer = Dialer::new(self.identity(&name));
        dialer.links = links;
        dialer.through_memory = inside || self.transport == Transport::Memory;
        let options = ClientOptions {
            dialer,
            content,
            prefs,
            fallback_name: name.clone(),
            controls: self.controls(&name, manner),
            camera: CameraMode::Map,
            observer: ClientObserver::new(self.recorder.inlet(hear), closely),
        };
        let client = Client::start(&scope, &self.gray_box, options);
        self.peers.push(RunningPeer { client, scope, name, wish: Wish::default() });
        id
    }

    /// Have a peer join a server.
    pub fn join(&mut self, peer: PeerId, server: ServerId) {
        let address = self.servers[server.0 as usize].server.address();
        let address = Address { host: address.ip().to_string(), port: address.port() };
        self.peers[peer.0 as usize].client.connect(Some(address));
    }

    /// Have a peer leave.
    pub fn disconnect(&mut self, peer: PeerId) {
        self.peers[peer.0 as usize].client.disconnect();
    }

    /// End a peer as if its process had died.
    pub fn kill_peer(&mut self, peer: PeerId) {
        self.peers[peer.0 as usize].scope.kill();
    }

    /// Change what a peer's path does to packets, from the next one on. Links do as they are told
    /// only where there were some before, so a real path needs them from the start.
    pub fn relink(&mut self, peer: PeerId, links: Links) {
        self.peers[peer.0 as usize].client.relink(links);
    }

    /// Ask a peer for a view of this moment; it is in its record after the next turn.
    pub fn present(&mut self, peer: PeerId) {
        self.peers[peer.0 as usize].client.present();
    }

    /// Hold a peer's stick: to the right and ahead, each -127 to 127.
    pub fn walk(&mut self, peer: PeerId, right: i8, ahead: i8) {
        self.want(peer, |wish| (wish.move_x, wish.move_z) = (right, ahead));
    }

    /// Turn a peer's view, radians.
    pub fn look(&mut self, peer: PeerId, yaw: f32, pitch: f32) {
        self.want(peer, |wish| (wish.yaw, wish.pitch) = (yaw, pitch));
    }

    /// Press or release jump.
    pub fn jump(&mut self, peer: PeerId, held: bool) {
        self.want(peer, |wish| wish.buttons = wish.buttons.with(Buttons::JUMP, held));
    }

    /// Give a peer's controls to a pilot.
    pub fn fly(&mut self, peer: PeerId, manner: Manner) {
        let name = self.peers[peer.0 as usize].name.clone();
        let controls = self.controls(&name, manner);
        self.peers[peer.0 as usize].client.control(controls);
    }

    /// Type a line on a server's console; its number, which the answer carries.
    pub fn console(&mut self, server: ServerId, line: &str) -> u32 {
        self.next_line += 1;
        self.servers[server.0 as usize].server.console(self.next_line, line);
        self.next_line
    }

    /// The peer's client, for what this API does not name.
    #[must_use]
    pub fn client(&self, peer: PeerId) -> &Client {
        &self.peers[peer.0 as usize].client
    }

    /// The server, for what this API does not name.
    #[must_use]
    pub fn running(&self, server: ServerId) -> &Server {
        &self.servers[server.0 as usize].server
    }

    /// Tell every peer of a server why it ends, then stop it in order.
    pub async fn stop_server(&mut self, server: ServerId, reason: &str) {
        let RunningServer { server, scope } = &self.servers[server.0 as usize];
        server.say_goodbye(reason);
        scope.stop().await;
    }

    /// End a server as if its process had died.
    pub fn kill_server(&mut self, server: ServerId) {
        let running = &self.servers[server.0 as usize];
        running.scope.kill();
        running.server.endpoint().close();
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

    /// Whether a peer plays.
    #[must_use]
    pub fn is_playing(&self, peer: PeerId) -> bool {
        self.records().peer(peer).is_playing()
    }

    /// Do something after so long.
    pub fn at(&mut self, after: Micros, deed: impl FnOnce(&mut Self) + 'static) {
        let when = self.runtime.now() + after;
        let place = self.deeds.partition_point(|(other, _)| *other <= when);
        self.deeds.insert(place, (when, Box::new(deed)));
    }

    /// Do something once a condition holds.
    pub fn on(
        &mut self,
        condition: impl Fn(&Self) -> bool + 'static,
        deed: impl FnOnce(&mut Self) + 'static,
    ) {
        self.watches.push((Box::new(condition), Box::new(deed)));
    }

    /// Let time pass. Deeds are done when they are due, invariants are checked each tick.
    pub async fn run_for(&mut self, span: Micros) {
        let end = self.runtime.now() + span;
        while self.runtime.now() < end {
            self.step(end).await;
        }
    }

    /// Let time pass until the condition holds; whether it did within `span`. If not, the scenario
    /// has failed, and says so with this name.
    pub async fn expect_within(
        &mut self,
        span: Micros,
        name: &str,
        condition: impl Fn(&Self) -> bool,
    ) -> bool {
        let end = self.runtime.now() + span;
        loop {
            if condition(self) {
                return true;
            }
            if end <= self.runtime.now() {
                self.fail(format!("expected within {:.3} s: {name}", span.as_secs_f64()));
                return false;
            }
            self.step(end).await;
        }
    }

    /// The condition must hold now.
    pub fn expect(&mut self, name: &str, holds: bool) {
        if !holds {
            self.fail(format!("expected: {name}"));
        }
    }

    async fn step(&mut self, end: Micros) {
        let next = self.deeds.first().map_or(end, |(when, _)| *when);
        let until = (self.runtime.now() + STEP).min(end).min(next.max(self.runtime.now()));
        self.runtime.sleep_until(until).await;
        while self.deeds.first().is_some_and(|(when, _)| *when <= self.runtime.now()) {
            let (_, deed) = self.deeds.remove(0);
            deed(self);
        }
        self.keep_watch();
        for broken in self.invariants.check(&self.runtime) {
            self.fail(broken);
        }
    }

    fn keep_watch(&mut self) {
        let watches = std::mem::take(&mut self.watches);
        let (due, waiting): (Vec<Watch>, Vec<Watch>) =
            watches.into_iter().partition(|(condition, _)| condition(self));
        self.watches = waiting;
        for (_, deed) in due {
            deed(self);
        }
    }

    fn fail(&mut self, what: String) {
        self.failures.push(Failure { at: self.runtime.now(), what });
    }

    pub(crate) fn finish(self, name: String, seed: u64) -> Report {
        let ended = self.clocks.stop(&self.runtime);
        let records = std::mem::take(&mut *self.records());
        Report::new(name, seed, ended, self.failures, records)
    }

    fn want(&mut self, peer: PeerId, change: impl FnOnce(&mut Wish)) {
        let peer = &mut self.peers[peer.0 as usize];
        change(&mut peer.wish);
        peer.client.wish(peer.wish);
    }

    fn controls(&self, name: &str, manner: Manner) -> Controls {
        match manner {
            Manner::Idle => Controls::default(),
            manner => {
                let bytes = self.bytes_of(&format!("pilot-{name}"));
                let [a, b, c, d, e, f, g, h, ..] = bytes;
                let seed = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
                Controls::Flown(Box::new(Pilot::new(manner, seed)))
            }
        }
    }

    fn server_address(&self, id: ServerId) -> SocketAddr {
        if self.runtime.is_simulated() {
            let last = u8::try_from(id.0 + 1).expect("at most 255 servers");
            SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, last)), DEFAULT_PORT)
        } else {
            SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0)
        }
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
