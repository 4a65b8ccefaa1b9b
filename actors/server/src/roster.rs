//! Roster actor: who is here, in which slot, and what everybody is told about it.
//!
//! Owned by: the server's scope. Talks to: sessions, tick, listener, the console. Never: touches a
//! connection or the world.

mod console;
mod listing;
mod state;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use bytes::Bytes;
use dh_host::{Actor, Context, Inlet, Performed, Start};
use dh_machine::{Micros, Restart, Spec, Strategy, actor_message};
use dh_messages::{CloseCode, EntityId, PlayerEntry, Str8, ToClient};

pub use self::state::{Effect, Roster, Told};
use crate::directory::Directory;
use crate::event::ServerEvent;
use crate::listener::ListenerMsg;
use crate::map_switch::MapSwitchMsg;
use crate::session::{Ending, Say, SessionMsg};
use crate::tick::TickMsg;
use crate::{Identity, PeerId};

/// The promise of the roster.
pub const SPEC: Spec = Spec {
    kind: "roster",
    control_max: 1_024,
    data_max: 256,
    data_wakes: true,
    restart: Restart { count: 200, window: Micros::from_secs(10) },
    strategy: Strategy::OneForOne,
    ask_deadline: None,
    asks: &[],
};

actor_message! {
    /// Everything the roster can be told.
    pub enum RosterMsg {
        /// Where a peer stands.
        Present(Presence): Control Refuse,
        /// A session has ended.
        Left(PeerId): Control Refuse,
        /// A peer may have missed who is here.
        WhoIsHere(PeerId): Control Refuse,
        /// A line was typed on the server's console.
        Console(ConsoleLine): Data Wait,
        /// Everybody is to know.
        Notice(String): Control Refuse,
        /// The answer of the world to a console line.
        Answer(ConsoleLine): Control Refuse,
        /// A round trip was measured.
        Ping(Ping): Data Coalesce(|ping| u64::from(ping.peer.0)),
    }
}

/// A line of a console, or the answer to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsoleLine {
    /// The asker's own number; the answer carries it.
    pub id: u32,
    /// The line.
    pub text: String,
}

/// A measured round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ping {
    /// Whose.
    pub peer: PeerId,
    /// Milliseconds, rounded up.
    pub millis: u32,
}

/// How far a peer has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing but a connection: its session has not looked at it yet.
    Connecting,
    /// It has not said who it is.
    Handshaking,
    /// Admitted; it loads the map.
    Loading,
    /// Its map is loaded; slot and pawn are on their way.
    Spawning,
    /// It plays.
    Playing,
}

impl Standing {
    /// The word of the listing.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Connecting => "connecting",
            Self::Handshaking => "handshaking",
            Self::Loading | Self::Spawning => "loading",
            Self::Playing => "playing",
        }
    }
}

/// What the roster knows of one session; said by the session itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presence {
    /// Whose.
    pub peer: PeerId,
    /// Its remote endpoint, or `loopback`.
    pub endpoint: String,
    /// Whether it is the host inside this process.
    pub is_host: bool,
    /// How far it has come.
    pub standing: Standing,
    /// Its name, once it has said it.
    pub name: Option<String>,
    /// Its colour, `0xRRGGBB`.
    pub colour: u32,
    /// Who it is, once it has said its name.
    pub identity: Option<Identity>,
    /// Its slot, once it has one.
    pub slot: Option<u8>,
    /// Its pawn, while it plays.
    pub pawn: Option<EntityId>,
    /// Its round trip in milliseconds, once measured.
    pub ping_ms: Option<u32>,
}

impl Presence {
    /// A peer of which only the endpoint is known.
    #[must_use]
    pub fn new(peer: PeerId, endpoint: String, is_host: bool) -> Self {
        Self {
            peer,
            endpoint,
            is_host,
            standing: Standing::Connecting,
            name: None,
            colour: 0,
            identity: None,
            slot: None,
            pawn: None,
            ping_ms: None,
        }
    }

    /// Whether the peer has said who it is, so that it may hear of others.
    #[must_use]
    pub fn is_admitted(&self) -> bool {
        matches!(self.standing, Standing::Loading | Standing::Spawning | Standing::Playing)
    }

    /// What others are told of it, while it plays.
    #[must_use]
    pub fn entry(&self) -> Option<PlayerEntry> {
        let (slot, pawn) = (self.slot?, self.pawn?);
        let name = Str8::clipped(self.name.as_deref().unwrap_or_default());
        Some(PlayerEntry { slot, pawn, name, colour: self.colour })
    }
}

/// Performs what the roster decides.
#[derive(Debug)]
pub struct RosterActor {
    pub(crate) directory: Directory,
    /// Where answers to console lines go.
    pub(crate) answers: Inlet<ConsoleLine>,
}

impl RosterActor {
    fn tell(&self, peers: &[PeerId], told: Told) {
        let mut message = ToClient::from(told);
        let mut body = Vec::new();
        if let Err(error) = message.write_body(&mut body) {
            tracing::error!("{} was not sent: {error}", message.name());
            return;
        }
        let (id, body) = (message.id(), Bytes::from(body));
        for peer in peers {
            self.directory.to_session(*peer, SessionMsg::Say(Say { id, body: body.clone() }));
        }
    }
}

impl Actor for RosterActor {
    type Machine = Roster;
    const SPEC: Spec = SPEC;

    /// After a panic the room is told by those who are in it.
    fn make(&mut self, start: Start<'_, RosterMsg>) -> Roster {
        let prefs = self.directory.prefs();
        if start.restarts == 0 {
            return Roster::new(prefs);
        }
        let peers = self.directory.peers();
        for peer in &peers {
            self.directory.to_session(*peer, SessionMsg::Announce);
        }
        Roster::remade(prefs, peers)
    }

    fn perform(&mut self, effect: Effect, _cx: &mut Context<'_, RosterMsg>) -> Performed<Effect> {
        match effect {
            Effect::Seat { peer, slot } => {
                self.directory.to_session(peer, SessionMsg::Seated(slot));
            }
            Effect::Tell(peers, told) => self.tell(&peers, told),
            Effect::Kick(peer, reason) => {
                let ending = Ending::new(CloseCode::Closed, reason);
                self.directory.to_session(peer, SessionMsg::End(ending));
            }
            Effect::Tick(command) => self.directory.to_tick(TickMsg::Command(command)),
            // A console that is gone needs no answer.
            Effect::Reply(id, text) => drop(self.answers.offer(ConsoleLine { id, text })),
            Effect::Changed(prefs) => {
                self.directory.set_prefs(Arc::clone(&prefs));
                self.directory.to_tick(TickMsg::Prefs(Arc::clone(&prefs)));
                self.directory.to_listener(ListenerMsg::Prefs(prefs));
            }
            Effect::Switch(line) => self.directory.to_map_switch(MapSwitchMsg::Switch(line)),
            Effect::StopServer => self.directory.tell(ServerEvent::StopAsked),
            Effect::Transcript(line) => {
                tracing::info!(target: "chat", "{line}");
                self.directory.tell(ServerEvent::Line(line));
            }
        }
        Performed::Done
    }
}
