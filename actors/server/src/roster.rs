//! Roster actor: who is here, in which slot, and what everybody is told about it.
//!
//! Owned by: the server's scope. Talks to: sessions, tick, listener, the console. Never: touches a
//! connection or the world. After a panic: is told again by each session who is here, and until the
//! last has spoken seats nobody and answers nothing; old places, open questions, who was told to be
//! here and what waits for an answer are kept. A line that breaks it twice is answered as lost.

mod console;
mod forwarded;
mod listing;
mod operators;
mod remembered;
mod state;
#[cfg(test)]
mod tests;
mod tickets;

use std::sync::Arc;

use dh_host::{Actor, Context, Inlet, Performed, Stage, Start};
use dh_machine::planted::{self, Bug};
use dh_machine::{Micros, Restart, Spec, Strategy, actor_message};
use dh_messages::{CloseCode, ConsoleAnswer, EntityId, PlayerEntry, Str8, Str16, ToClient};
use dh_prefs::Operators;

pub use self::state::{Effect, Kept, Roster, Told};
use crate::chat::{ChatMsg, Speaker, Spoken};
use crate::directory::Directory;
use crate::event::ServerEvent;
use crate::limits::ServerLimits;
use crate::listener::ListenerMsg;
use crate::map_switch::MapSwitchMsg;
use crate::session::{Ending, SessionMsg};
use crate::tick::TickMsg;
use crate::{Identity, PeerId};

/// The promise of the roster.
pub const SPEC: Spec = Spec {
    kind: "roster",
    control_max: 2_048,
    data_max: 256,
    data_wakes: true,
    restart: Restart { count: 200, window: Micros::from_secs(10) },
    strategy: Strategy::OneForOne,
    ask_deadline: None,
    asks: &[],
};

actor_message! {
    /// Everything the roster can be told.
    #[derive(Clone)]
    pub enum RosterMsg {
        /// Where a peer stands.
        Present(Presence): Control Refuse,
        /// A session has ended.
        Left(PeerId): Control Refuse,
        /// A peer may have missed who is here.
        WhoIsHere(PeerId): Control Refuse,
        /// Somebody has said something. In one lane with where it stands, so that nobody speaks
        /// before it has joined or after it has left.
        Typed(Typed): Control Refuse,
        /// A peer's console has a line for this one.
        Forwarded(Forwarded): Control Refuse,
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
    /// The asker's own number, below 2^31; the answer carries it.
    pub id: u32,
    /// The line.
    pub text: String,
}

/// What a peer said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typed {
    /// Who said it.
    pub peer: PeerId,
    /// What.
    pub spoken: Spoken,
}

/// A line of a peer's console that is for the server's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forwarded {
    /// Whose.
    pub peer: PeerId,
    /// The peer's own number of it; the answer carries it.
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

    /// What it is counted as.
    pub(crate) const fn stage(self) -> Stage {
        match self {
            Self::Connecting | Self::Handshaking => Stage::Connecting,
            Self::Loading | Self::Spawning => Stage::Loading,
            Self::Playing => Stage::Playing,
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

    /// Whether it may use every command: the host always may, others whose identity is listed,
    /// which no guest's ever is.
    #[must_use]
    pub fn is_operator(&self, operators: &Operators) -> bool {
        let is_listed = |it: &Identity| operators.contains(&it.to_string());
        self.is_host || self.identity.as_ref().is_some_and(is_listed)
    }

    /// How the chat names it, once it has a slot.
    pub(crate) fn speaker(&self) -> Option<Speaker> {
        Some(Speaker { slot: self.slot?, name: self.name.clone()? })
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
    directory: Directory,
    /// Where answers to console lines go.
    answers: Inlet<ConsoleLine>,
    kept: Kept,
}

impl RosterActor {
    pub(crate) fn new(directory: Directory, answers: Inlet<ConsoleLine>) -> Self {
        Self { directory, answers, kept: Kept::default() }
    }

    /// Whoever waits for an answer to a line that broke the roster twice has it now.
    fn answer_lost(&self, lost: RosterMsg) {
        let text = "the server failed over it; the log has more";
        match lost {
            RosterMsg::Console(ConsoleLine { id, .. }) => {
                // A console that is gone needs no answer.
                let _ = self.answers.offer(ConsoleLine { id, text: text.to_owned() });
            }
            RosterMsg::Forwarded(Forwarded { peer, id, .. }) => {
                let answer = ConsoleAnswer { id, text: Str16::clipped(text) };
                self.directory.say(&[peer], ToClient::ConsoleAnswer(answer));
            }
            _ => (),
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
        let mut peers = self.directory.peers();
        peers.truncate(peers.len().saturating_sub(usize::from(planted::is(Bug::RestartLosesSlot))));
        if let Some(lost) = start.lost {
            self.answer_lost(lost);
        }
        self.kept.give_up().into_iter().for_each(|lost| self.answer_lost(lost));
        for peer in &peers {
            self.directory.to_session(*peer, SessionMsg::Announce);
        }
        Roster::remade(prefs, peers, self.kept.clone())
    }

    fn spare(msg: &RosterMsg) -> Option<RosterMsg> {
        (!matches!(msg, RosterMsg::Ping(_))).then(|| msg.clone())
    }

    fn perform(&mut self, effect: Effect, cx: &mut Context<'_, RosterMsg>) -> Performed<Effect> {
        match effect {
            Effect::Seat { peer, slot } => {
                self.directory.to_session(peer, SessionMsg::Seated(slot));
            }
            Effect::Tell(peers, told) => self.directory.say(&peers, ToClient::from(told)),
            Effect::Chat(line) => self.directory.to_chat(ChatMsg::Line(line)),
            Effect::Kick(peer, reason) => {
                let ending = Ending::new(CloseCode::Closed, reason);
                self.directory.to_session(peer, SessionMsg::End(ending));
            }
            Effect::Tick(command) => self.directory.to_tick(TickMsg::Command(command)),
            // A console that is gone needs no answer.
            Effect::Reply(id, text) => drop(self.answers.offer(ConsoleLine { id, text })),
            Effect::Changed(prefs) => {
                self.directory.set_prefs(Arc::clone(&prefs));
                ServerLimits::of(cx.scope().runtime()).declare(&self.directory);
                self.directory.to_tick(TickMsg::Prefs(Arc::clone(&prefs)));
                self.directory.to_listener(ListenerMsg::Prefs(prefs));
            }
            Effect::Switch(line) => self.directory.to_map_switch(MapSwitchMsg::Switch(line)),
            Effect::StopServer => self.directory.tell(ServerEvent::StopAsked),
            Effect::Keep(change) => self.directory.tell(ServerEvent::Keep(change)),
            Effect::Log(line) => tracing::info!("{line}"),
            Effect::Remember(kept) => self.kept = kept,
        }
        Performed::Done
    }
}
