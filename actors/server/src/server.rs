//! Server: starts the server's actors in a scope, and is the handle they are stopped by.

use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use dh_host::net::{Endpoint, Identity, Links, ListenError, ListenOptions};
use dh_host::{Inlet, KnownBuilds, Place, Scope};
use dh_machine::{Spec, TickRate};
use dh_messages::{CloseCode, MapAdvert};
use dh_prefs::{Prefs, key};
use dh_store::Shelf;
use dh_wire::Guid;

use crate::chat::ChatActor;
use crate::directory::Directory;
use crate::event::Observer;
use crate::facts::Facts;
use crate::library::Library;
use crate::limits::ServerLimits;
use crate::listener::{Arrivals, ListenerActor};
use crate::map_switch::{MapError, MapSwitchActor, MapSwitchMsg, PreparedMap, prepare_whole};
use crate::prefs::players_max;
use crate::roster::{ConsoleLine, RosterActor, RosterMsg};
use crate::session::{Ending, SessionMsg};
use crate::tick::TickActor;
use crate::{blob_transfer, chat, listener, map_switch, roster, session, tick};

/// The promises of all server actors: who waits for whom is checked to be acyclic over these.
pub const SPECS: &[Spec] = &[
    listener::SPEC,
    session::SPEC,
    blob_transfer::SPEC,
    map_switch::SPEC,
    tick::SPEC,
    roster::SPEC,
    chat::SPEC,
];

/// What a server starts from.
#[derive(Debug)]
pub struct ServerOptions {
    /// Where it listens; port 0 takes any.
    pub address: SocketAddr,
    /// Whether the network may reach it; a closed server hosts only its own process.
    pub open: bool,
    /// The key it proves itself by.
    pub identity: Identity,
    /// The preferences as they stand at the start.
    pub prefs: Prefs,
    /// What it is named in traces.
    pub name: String,
    /// Which world this is.
    pub world_id: Guid,
    /// The build it is of, and those its process has met.
    pub builds: KnownBuilds,
    /// What it may run maps from; the gray box alone without it.
    pub shelf: Option<Shelf>,
    /// The barcode of the map it starts with; the gray box without one.
    pub map: Option<String>,
    /// Who watches.
    pub observer: Observer,
    /// Where answers to console lines go.
    pub answers: Inlet<ConsoleLine>,
    /// What the network does to packets between it and everybody.
    pub links: Links,
}

/// Why a server does not start.
#[derive(Debug)]
pub enum StartError {
    /// Its map cannot be loaded, and why.
    Map(MapError),
    /// Its address cannot be bound.
    Listen(ListenError),
}

/// A running server.
#[derive(Debug)]
pub struct Server {
    scope: Scope,
    directory: Directory,
    endpoint: Endpoint,
}

impl Server {
    /// Start a server in `scope`: the world first, the door last.
    ///
    /// # Errors
    /// When the map cannot be loaded, or the address cannot be bound; nothing is left running then
    /// but idle actors of `scope`.
    pub fn start(scope: &Scope, options: ServerOptions) -> Result<Self, StartError> {
        let ServerOptions { address, open, identity, prefs, name, world_id, .. } = options;
        let builds = options.builds;
        builds.declare(scope.runtime());
        let rate = TickRate::DEFAULT;
        let mut facts = Facts::new(rate, world_id, prefs.get(key::SERVER_NAME), builds);
        facts.trust_names = prefs.get(key::SERVER_IDENTITY) == "name";
        let shelf = options.shelf;
        let library = Library::new(shelf.as_ref().map(|shelf| shelf.store.clone()));
        let directory = Directory::new(prefs, library, options.observer);
        ServerLimits::of(scope.runtime()).declare(&directory);
        let places = players_max(&directory.prefs());
        directory.set_room(scope.runtime().players().room(places));
        let traced = scope.runtime().trace().is_on();

        let map = match &options.map {
            Some(map) => prepare_whole(shelf.as_ref(), map).map_err(StartError::Map)?,
            None => PreparedMap::gray_box(),
        };
        directory.library().advertise(map.closure);
        directory.set_advert(MapAdvert { generation: 1, ..map.advert });

        let flight = scope.runtime().flight();
        let mut tick =
            TickActor::new(rate, map.ground, directory.clone(), traced.then(|| name.clone()));
        if flight.is_on() {
            let journal = Arc::new(tick::Journal::new(rate));
            flight.attach(&name, &journal);
            tick = tick.journaling(journal);
        }
        directory.set_tick(scope.spawn(Place::Thread("tick"), "tick", tick));

        let switch = MapSwitchActor::new(directory.clone(), shelf);
        let switch = scope.spawn(Place::Thread("map-switch"), "map-switch", switch);
        directory.set_map_switch(switch);

        let chat = ChatActor { directory: directory.clone() };
        directory.set_chat(scope.spawn(Place::Control, "chat", chat));

        let roster = RosterActor::new(directory.clone(), options.answers);
        directory.set_roster(scope.spawn(Place::Control, "roster", roster));

        let arrivals = Arrivals::new(&facts);
        let door = Arc::new(OnceLock::new());
        let listener = ListenerActor {
            facts: Arc::new(facts),
            directory: directory.clone(),
            arrivals: arrivals.clone(),
            endpoint: Arc::clone(&door),
            next_peer: 0,
        };
        let listener = scope.spawn(Place::Net, "listener", listener);
        directory.set_listener(listener.clone());

        let knocks = listener.inlet(move |knock| arrivals.hear(knock));
        let listen = ListenOptions {
            udp: open,
            links: options.links,
            ..ListenOptions::new(address, identity)
        };
        let net = scope.runtime().net();
        let endpoint = net.listen(listen, knocks).map_err(StartError::Listen)?;
        drop(door.set(endpoint.clone()));
        Ok(Self { scope: scope.clone(), directory, endpoint })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.endpoint.address()
    }

    /// Where its actors listen.
    #[must_use]
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// The scope its actors run in.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The endpoint's face.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Change to another map; answered like a console line of this number.
    pub fn switch_map(&self, id: u32, barcode: impl Into<String>) {
        let line = ConsoleLine { id, text: barcode.into() };
        self.directory.to_map_switch(MapSwitchMsg::Switch(line));
    }

    /// Type a line on its console once there is room for it, so that none is lost.
    pub async fn type_line(&self, id: u32, text: impl Into<String>) {
        let line = ConsoleLine { id, text: text.into() };
        self.directory.send_to_roster(RosterMsg::Console(line)).await;
    }

    /// Type a line on its console; lost where more lines wait than the console takes.
    pub fn console(&self, id: u32, text: impl Into<String>) {
        self.directory.to_roster(RosterMsg::Console(ConsoleLine { id, text: text.into() }));
    }

    /// Tell every peer why it ends; stopping the scope comes next.
    pub fn say_goodbye(&self, reason: &str) {
        self.endpoint.close();
        for peer in self.directory.peers() {
            let ending = Ending::new(CloseCode::Leave, reason);
            self.directory.to_session(peer, SessionMsg::End(ending));
        }
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Map(error) => error.fmt(f),
            Self::Listen(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StartError {}
