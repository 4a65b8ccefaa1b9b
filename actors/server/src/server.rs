//! Server: starts the server's actors in a scope, and is the handle they are stopped by.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use dh_host::net::{Endpoint, Identity, Links, ListenError, ListenOptions};
use dh_host::{Inlet, Place, Scope};
use dh_machine::{Spec, TickRate};
use dh_messages::CloseCode;
use dh_prefs::{Prefs, key};
use dh_wire::Guid;

use crate::directory::Directory;
use crate::event::Observer;
use crate::facts::Facts;
use crate::listener::{Arrivals, ListenerActor};
use crate::roster::{ConsoleLine, RosterActor, RosterMsg};
use crate::session::{Ending, SessionMsg};
use crate::tick::TickActor;
use crate::{listener, roster, session, tick};

/// The promises of all server actors: who waits for whom is checked to be acyclic over these.
pub const SPECS: &[Spec] = &[listener::SPEC, session::SPEC, tick::SPEC, roster::SPEC];

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
    /// Who watches.
    pub observer: Observer,
    /// Where answers to console lines go.
    pub answers: Inlet<ConsoleLine>,
    /// What the network does to packets between it and everybody.
    pub links: Links,
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
    /// When the address cannot be bound; nothing is left running then but idle actors of `scope`.
    pub fn start(scope: &Scope, options: ServerOptions) -> Result<Self, ListenError> {
        let ServerOptions { address, open, identity, prefs, name, world_id, .. } = options;
        let rate = TickRate::DEFAULT;
        let mut facts = Facts::gray_box(rate, world_id, prefs.get(key::SERVER_NAME));
        facts.trust_names = prefs.get(key::SERVER_IDENTITY) == "name";
        let directory = Directory::new(prefs, options.observer);
        let traced = scope.runtime().trace().is_on();

        let tick = TickActor::new(rate, directory.clone(), traced.then_some(name));
        directory.set_tick(scope.spawn(Place::Thread("tick"), "tick", tick));

        let roster = RosterActor { directory: directory.clone(), answers: options.answers };
        directory.set_roster(scope.spawn(Place::Control, "roster", roster));

        let arrivals = Arrivals::new(facts.trust_names);
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
        let endpoint = scope.runtime().net().listen(listen, knocks)?;
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
