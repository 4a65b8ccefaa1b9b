//! The servers of a world: started, stopped, killed, and started again with the same disk.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use dh_host::net::Links;
use dh_messages::Direction;
use dh_prefs::DEFAULT_PORT;
use dh_server::{Observer as ServerObserver, Server, ServerOptions, StartError};
use dh_wire::Guid;

use super::{RunningServer, Standing, World};
use crate::build;
use crate::recorder::{Heard, RecorderMsg};
use crate::server::{ServerId, ServerSetup};

impl World {
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
        let name = setup.name.clone().unwrap_or_else(|| id.0.to_string());
        let name = format!("server-{name}");
        let (server, scope) = self.start_server(id, &name, setup.clone())?;
        // The same address again when it is started again.
        let address = server.address();
        let setup = ServerSetup { address: Some(address), ..setup };
        let (server, standing) = (Some(server), Standing::Runs);
        self.servers.push(RunningServer { server, standing, scope, name, address, setup });
        Ok(id)
    }

    /// Start a server again that was killed or stopped: the same address, key, preferences and
    /// disk, and the map it started with first.
    ///
    /// # Errors
    /// When its map cannot be loaded or its address cannot be bound.
    pub fn restart_server(&mut self, id: ServerId) -> Result<(), StartError> {
        let running = &mut self.servers[id.0 as usize];
        // What is left of the one before holds its address.
        if let Some(before) = running.server.take() {
            before.endpoint().kill();
        }
        running.standing = Standing::Ended;
        let (name, setup) = (running.name.clone(), running.setup.clone());
        self.records().server_starts(id);
        let (server, scope) = self.start_server(id, &name, setup)?;
        let running = &mut self.servers[id.0 as usize];
        (running.server, running.scope, running.standing) = (Some(server), scope, Standing::Runs);
        Ok(())
    }

    fn start_server(
        &self,
        whose: ServerId,
        name: &str,
        setup: ServerSetup,
    ) -> Result<(Server, dh_host::Scope), StartError> {
        let scope = self.runtime.root().child(name.to_owned());
        let hear = move |event| RecorderMsg::Server(Heard { whose, event });
        let observer = ServerObserver::new(self.recorder.inlet(hear), self.closely);
        let hear = move |event| RecorderMsg::Answer(Heard { whose, event });
        let options = ServerOptions {
            address: setup.address.unwrap_or_else(|| self.server_address(whose)),
            open: true,
            identity: setup.identity.unwrap_or_else(|| self.identity(name)),
            prefs: setup.prefs,
            world_id: Guid::from(self.bytes_of(name)),
            builds: build::process(setup.build.as_ref(), Direction::ToServer),
            name: name.to_owned(),
            shelf: setup.shelf,
            map: setup.map,
            observer,
            answers: self.recorder.inlet(hear),
            links: Links::IDEAL,
        };
        let started = Server::start(&scope, options);
        // Its tick would go on, and be taken for that of the next one.
        Ok((started.inspect_err(|_| scope.kill())?, scope))
    }

    /// Every server there is or was.
    pub(crate) fn server_ids(&self) -> impl Iterator<Item = ServerId> + use<> {
        (0..u32::try_from(self.servers.len()).unwrap_or(u32::MAX)).map(ServerId)
    }

    /// Type a line on a server's console; its number, which the answer carries.
    pub fn console(&mut self, server: ServerId, line: &str) -> u32 {
        self.next_line += 1;
        if let Some(running) = &self.servers[server.0 as usize].server {
            running.console(self.next_line, line);
        }
        self.next_line
    }

    /// The server, for what this API does not name.
    ///
    /// # Panics
    /// When it was to be started again and could not.
    #[must_use]
    #[expect(clippy::expect_used, reason = "the scenario was told that it did not start")]
    pub fn running(&self, server: ServerId) -> &Server {
        self.servers[server.0 as usize].server.as_ref().expect("a server that runs")
    }

    /// Where a server listens, or did.
    #[must_use]
    pub fn server_address_of(&self, server: ServerId) -> SocketAddr {
        self.servers[server.0 as usize].address
    }

    /// Tell every peer of a server why it ends, then stop it in order.
    pub async fn stop_server(&mut self, server: ServerId, reason: &str) {
        self.say_goodbye(server, reason).stop().await;
        self.has_stopped(server);
    }

    /// Tell every peer of a server why it ends; stopping the scope that is handed back comes next.
    pub(crate) fn say_goodbye(&mut self, server: ServerId, reason: &str) -> dh_host::Scope {
        let running = &mut self.servers[server.0 as usize];
        if let (Some(server), Standing::Runs) = (&running.server, running.standing) {
            server.say_goodbye(reason);
            running.standing = Standing::Stops;
        }
        running.scope.clone()
    }

    /// The scope that was handed back with the goodbye has been stopped.
    pub(crate) fn has_stopped(&mut self, server: ServerId) {
        self.servers[server.0 as usize].standing = Standing::Ended;
    }

    /// Where a server stands.
    pub(crate) fn standing(&self, server: ServerId) -> Standing {
        self.servers[server.0 as usize].standing
    }

    /// End a server as if its process had died.
    pub fn kill_server(&mut self, server: ServerId) {
        let running = &mut self.servers[server.0 as usize];
        running.standing = Standing::Ended;
        running.scope.kill();
        if let Some(server) = &running.server {
            server.endpoint().kill();
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
}
