//! Directory: where everybody on this server listens. Shared by the performers of all server
//! actors, so that no restart of one of them can lose the way to another.

use std::sync::{Arc, OnceLock};

use dashmap::DashMap;
use dh_host::Port;

use crate::PeerId;
use crate::event::{Observer, ServerEvent};
use crate::listener::ListenerMsg;
use crate::roster::RosterMsg;
use crate::session::SessionMsg;
use crate::tick::TickMsg;

/// The ports of one server, and who watches it.
#[derive(Clone, Debug)]
pub struct Directory(Arc<Ports>);

#[derive(Debug)]
struct Ports {
    sessions: DashMap<PeerId, Port<SessionMsg>>,
    roster: OnceLock<Port<RosterMsg>>,
    tick: OnceLock<Port<TickMsg>>,
    listener: OnceLock<Port<ListenerMsg>>,
    observer: Observer,
}

impl Directory {
    /// An empty directory of a server that `observer` watches.
    #[must_use]
    pub fn new(observer: Observer) -> Self {
        Self(Arc::new(Ports {
            sessions: DashMap::new(),
            roster: OnceLock::new(),
            tick: OnceLock::new(),
            listener: OnceLock::new(),
            observer,
        }))
    }

    /// The session of `peer`, while it stands.
    #[must_use]
    pub fn session(&self, peer: PeerId) -> Option<Port<SessionMsg>> {
        self.0.sessions.get(&peer).map(|port| port.clone())
    }

    /// Every peer with a session, in order of arrival.
    #[must_use]
    pub fn peers(&self) -> Vec<PeerId> {
        let mut peers: Vec<PeerId> = self.0.sessions.iter().map(|entry| *entry.key()).collect();
        peers.sort_unstable();
        peers
    }

    /// Tell one session. One that has ended hears nothing.
    pub fn to_session(&self, peer: PeerId, msg: SessionMsg) {
        if let Some(session) = self.session(peer) {
            drop(session.offer(msg));
        }
    }

    /// Tell the roster. What its full lane refuses is counted there.
    pub fn to_roster(&self, msg: RosterMsg) {
        if let Some(roster) = self.0.roster.get() {
            drop(roster.offer(msg));
        }
    }

    /// Tell the tick.
    pub fn to_tick(&self, msg: TickMsg) {
        if let Some(tick) = self.0.tick.get() {
            drop(tick.offer(msg));
        }
    }

    /// Tell the listener.
    pub fn to_listener(&self, msg: ListenerMsg) {
        if let Some(listener) = self.0.listener.get() {
            drop(listener.offer(msg));
        }
    }

    /// Tell whoever watches.
    pub fn tell(&self, event: ServerEvent) {
        self.0.observer.tell(event);
    }

    /// Whether anybody watches.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.0.observer.watches()
    }

    /// The port of the roster, once it has started.
    #[must_use]
    pub fn roster(&self) -> Option<&Port<RosterMsg>> {
        self.0.roster.get()
    }

    /// The port of the tick, once it has started.
    #[must_use]
    pub fn tick(&self) -> Option<&Port<TickMsg>> {
        self.0.tick.get()
    }

    /// The port of the listener, once it has started.
    #[must_use]
    pub fn listener(&self) -> Option<&Port<ListenerMsg>> {
        self.0.listener.get()
    }

    pub(crate) fn enter(&self, peer: PeerId, port: Port<SessionMsg>) {
        self.0.sessions.insert(peer, port);
    }

    pub(crate) fn leave(&self, peer: PeerId) {
        self.0.sessions.remove(&peer);
    }

    pub(crate) fn set_roster(&self, port: Port<RosterMsg>) {
        drop(self.0.roster.set(port));
    }

    pub(crate) fn set_tick(&self, port: Port<TickMsg>) {
        drop(self.0.tick.set(port));
    }

    pub(crate) fn set_listener(&self, port: Port<ListenerMsg>) {
        drop(self.0.listener.set(port));
    }
}
