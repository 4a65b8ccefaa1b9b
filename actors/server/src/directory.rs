//! Directory: where everybody on this server listens. Shared by the performers of all server
//! actors, so that no restart of one of them can lose the way to another.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use dashmap::DashMap;
use dh_host::net::PeerKey;
use dh_host::{Holding, Player, Port, Room};
use dh_messages::{MapAdvert, ToClient};
use dh_prefs::Prefs;

use crate::PeerId;
use crate::chat::ChatMsg;
use crate::event::{Observer, ServerEvent};
use crate::library::Library;
use crate::listener::ListenerMsg;
use crate::map_switch::MapSwitchMsg;
use crate::prefs::players_max;
use crate::roster::RosterMsg;
use crate::session::{Say, SessionMsg};
use crate::tick::TickMsg;

/// The ports of one server, its preferences, and who watches it.
#[derive(Clone, Debug)]
pub struct Directory(Arc<Ports>);

#[derive(Debug)]
struct Ports {
    sessions: DashMap<PeerId, Open>,
    roster: OnceLock<Port<RosterMsg>>,
    chat: OnceLock<Port<ChatMsg>>,
    tick: OnceLock<Port<TickMsg>>,
    listener: OnceLock<Port<ListenerMsg>>,
    map_switch: OnceLock<Port<MapSwitchMsg>>,
    library: Library,
    /// The map that stands.
    advert: Mutex<MapAdvert>,
    /// As they stand now, so that whoever is remade lives by them.
    prefs: Mutex<Arc<Prefs>>,
    /// Where its peers are counted.
    room: OnceLock<Room>,
    observer: Observer,
}

/// One open session.
#[derive(Debug)]
struct Open {
    port: Port<SessionMsg>,
    /// The key it has proved, where keys decide who a peer is.
    key: Option<PeerKey>,
    /// Its place among all.
    _place: Holding,
}

impl Directory {
    /// An empty directory of a server that starts from `prefs`, serves from `library` and that
    /// `observer` watches.
    #[must_use]
    pub fn new(prefs: Prefs, library: Library, observer: Observer) -> Self {
        Self(Arc::new(Ports {
            sessions: DashMap::new(),
            roster: OnceLock::new(),
            chat: OnceLock::new(),
            tick: OnceLock::new(),
            listener: OnceLock::new(),
            map_switch: OnceLock::new(),
            library,
            advert: Mutex::new(MapAdvert { generation: 1, ..MapAdvert::default() }),
            prefs: Mutex::new(Arc::new(prefs)),
            room: OnceLock::new(),
            observer,
        }))
    }

    /// The session of `peer`, while it stands.
    #[must_use]
    pub fn session(&self, peer: PeerId) -> Option<Port<SessionMsg>> {
        self.0.sessions.get(&peer).map(|open| open.port.clone())
    }

    /// Every peer with a session, in order of arrival.
    #[must_use]
    pub fn peers(&self) -> Vec<PeerId> {
        let mut peers: Vec<PeerId> = self.0.sessions.iter().map(|entry| *entry.key()).collect();
        peers.sort_unstable();
        peers
    }

    /// The key of every peer with a session, where it has proved one.
    pub(crate) fn keys(&self) -> BTreeMap<PeerId, Option<PeerKey>> {
        self.0.sessions.iter().map(|entry| (*entry.key(), entry.value().key)).collect()
    }

    /// The preferences as they stand now.
    #[must_use]
    pub fn prefs(&self) -> Arc<Prefs> {
        Arc::clone(&self.0.prefs.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The content that peers may fetch.
    #[must_use]
    pub fn library(&self) -> &Library {
        &self.0.library
    }

    /// The map that stands.
    #[must_use]
    pub fn advert(&self) -> MapAdvert {
        self.0.advert.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Tell one session. One that has ended hears nothing.
    pub fn to_session(&self, peer: PeerId, msg: SessionMsg) {
        if let Some(session) = self.session(peer) {
            drop(session.offer(msg));
        }
    }

    /// Send one message to these peers, encoded once.
    pub(crate) fn say(&self, peers: &[PeerId], mut message: ToClient) {
        let mut body = Vec::new();
        if let Err(error) = message.write_body(&mut body) {
            tracing::error!("{} was not sent: {error}", message.name());
            return;
        }
        let (id, body) = (message.id(), Bytes::from(body));
        for peer in peers {
            self.to_session(*peer, SessionMsg::Say(Say { id, body: body.clone() }));
        }
    }

    /// Tell the chat. What its full lane refuses is counted there.
    pub(crate) fn to_chat(&self, msg: ChatMsg) {
        if let Some(chat) = self.0.chat.get() {
            drop(chat.offer(msg));
        }
    }

    /// Tell the roster. What its full lane refuses is counted there.
    pub fn to_roster(&self, msg: RosterMsg) {
        if let Some(roster) = self.0.roster.get() {
            drop(roster.offer(msg));
        }
    }

    /// Tell the roster, waiting for a place if that is the message's policy.
    pub(crate) async fn send_to_roster(&self, msg: RosterMsg) {
        if let Some(roster) = self.0.roster.get() {
            drop(roster.send(msg).await);
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

    /// Tell the map switch.
    pub fn to_map_switch(&self, msg: MapSwitchMsg) {
        if let Some(map_switch) = self.0.map_switch.get() {
            drop(map_switch.offer(msg));
        }
    }

    /// Tell whoever watches.
    pub fn tell(&self, event: ServerEvent) {
        self.0.observer.tell(event);
    }

    /// Whether what happens each tick is told to whoever watches.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.0.observer.is_close()
    }

    /// The port of the roster, once it has started.
    #[must_use]
    pub fn roster(&self) -> Option<&Port<RosterMsg>> {
        self.0.roster.get()
    }

    /// The port of the chat, once it has started.
    #[must_use]
    pub fn chat(&self) -> Option<&Port<ChatMsg>> {
        self.0.chat.get()
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

    pub(crate) fn set_advert(&self, advert: MapAdvert) {
        *self.0.advert.lock().unwrap_or_else(PoisonError::into_inner) = advert;
    }

    pub(crate) fn set_prefs(&self, prefs: Arc<Prefs>) {
        if let Some(room) = self.0.room.get() {
            room.bound(players_max(&prefs));
        }
        *self.0.prefs.lock().unwrap_or_else(PoisonError::into_inner) = prefs;
    }

    pub(crate) fn enter(
        &self,
        peer: PeerId,
        port: Port<SessionMsg>,
        key: Option<PeerKey>,
        place: Holding,
    ) {
        self.0.sessions.insert(peer, Open { port, key, _place: place });
    }

    pub(crate) fn leave(&self, peer: PeerId) {
        self.0.sessions.remove(&peer);
    }

    /// One more peer among those of this server, where they are counted.
    pub(crate) fn player(&self) -> Option<Player> {
        self.0.room.get().map(Room::enter)
    }

    /// Count its peers there.
    pub(crate) fn set_room(&self, room: Room) {
        drop(self.0.room.set(room));
    }

    pub(crate) fn set_roster(&self, port: Port<RosterMsg>) {
        drop(self.0.roster.set(port));
    }

    pub(crate) fn set_chat(&self, port: Port<ChatMsg>) {
        drop(self.0.chat.set(port));
    }

    pub(crate) fn set_tick(&self, port: Port<TickMsg>) {
        drop(self.0.tick.set(port));
    }

    pub(crate) fn set_map_switch(&self, port: Port<MapSwitchMsg>) {
        drop(self.0.map_switch.set(port));
    }

    pub(crate) fn set_listener(&self, port: Port<ListenerMsg>) {
        drop(self.0.listener.set(port));
    }
}
