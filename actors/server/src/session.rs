//! Session actor: one peer's connection, from its first word to its ending.
//!
//! Owned by: the server's scope; opened by the listener. Talks to: roster, tick, its connection.
//! Never: touches the world, decides who gets which slot.

mod handshake;
mod snapshot;
mod state;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use bytes::Bytes;
use dh_host::net::{Closed, Connection, NetEvent};
use dh_host::{Actor, Context, Exit, Performed, Start};
use dh_machine::{Micros, Restart, Spec, Strategy, Tick, actor_message};
use dh_messages::{EntityId, PROTOCOL_VERSION, SessionEnd, ToClient};
use dh_sim::Frame;

pub use self::state::{Effect, Ending, Kept, Opening, Session};
use crate::PeerId;
use crate::directory::Directory;
use crate::event::ServerEvent;
use crate::listener::ListenerMsg;
use crate::roster::{Ping, RosterMsg};
use crate::tick::{Joining, PeerInputs, TickMsg};

/// The promise of a session.
pub const SPEC: Spec = Spec {
    kind: "session",
    control_max: 512,
    data_max: 128,
    data_wakes: true,
    restart: Restart { count: 3, window: Micros::from_secs(5) },
    strategy: Strategy::OneForOne,
    ask_deadline: None,
    asks: &[],
};

actor_message! {
    /// Everything a session can be told.
    pub enum SessionMsg {
        /// Its connection is ready to be read.
        Opened: Control Coalesce,
        /// The connection is gone.
        Closed(Closed): Control Fatal,
        /// End with a told reason.
        End(Ending): Control Refuse,
        /// The roster has found a slot.
        Seated(u8): Control Refuse,
        /// The tick has made the pawn.
        Spawned(Spawned): Control Refuse,
        /// Say again where the peer stands.
        Announce: Control Coalesce,
        /// A datagram may have so many bytes from now on.
        Budget(usize): Control Coalesce,
        /// Reliable bytes encoded for several peers.
        Say(Say): Control Refuse,
        /// A whole reliable message came.
        Message(InMessage): Data Wait,
        /// A datagram came.
        Datagram(Bytes): Data DropOldest,
        /// A tick was published.
        Published(Arc<Frame>): Data DropOldest,
    }
}

/// One reliable message as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InMessage {
    /// Its id.
    pub id: u8,
    /// Its body, not yet read.
    pub body: Bytes,
}

/// One reliable message, encoded once for several peers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Say {
    /// Its id.
    pub id: u8,
    /// Its body.
    pub body: Bytes,
}

/// The pawn a peer was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spawned {
    /// The pawn.
    pub pawn: EntityId,
    /// The tick of the spawn.
    pub tick: Tick,
}

/// Performs what a session decides.
#[derive(Debug)]
pub struct SessionActor {
    pub(crate) opening: Opening,
    pub(crate) connection: Connection,
    pub(crate) directory: Directory,
    kept: Option<Kept>,
    /// Whether the peer knows why, so that no second reason is sent.
    told: bool,
}

impl SessionActor {
    pub(crate) fn new(opening: Opening, connection: Connection, directory: Directory) -> Self {
        Self { opening, connection, directory, kept: None, told: false }
    }

    fn peer(&self) -> PeerId {
        self.opening.peer
    }

    fn send(&self, mut message: ToClient) {
        let mut body = Vec::new();
        match message.write_body(&mut body) {
            Ok(()) => drop(self.connection.send(message.id(), &body)),
            Err(error) => tracing::error!("{} was not sent: {error}", message.name()),
        }
    }

    fn end(&mut self, ending: &Ending) {
        if std::mem::replace(&mut self.told, true) {
            return;
        }
        self.send(ToClient::SessionEnd(SessionEnd {
            code: ending.code,
            server_version: PROTOCOL_VERSION,
            client_version: ending.client_version,
            reason: dh_messages::Str16::clipped(&ending.reason),
        }));
        self.connection.close(u32::from(ending.code.value()), ending.reason.as_bytes());
    }

    fn datagrams(&self, datagrams: Vec<Bytes>, cx: &mut Context<'_, SessionMsg>) {
        self.connection.send_datagrams(datagrams);
        let budget = self.connection.datagram_max();
        if budget != self.opening.budget {
            drop(cx.port().offer(SessionMsg::Budget(budget)));
        }
    }

    fn report_ping(&self) {
        if let Some(rtt) = self.connection.rtt() {
            let millis = u32::try_from(rtt.0.div_ceil(1_000)).unwrap_or(u32::MAX);
            self.directory.to_roster(RosterMsg::Ping(Ping { peer: self.peer(), millis }));
        }
    }
}

impl Actor for SessionActor {
    type Machine = Session;
    const SPEC: Spec = SPEC;

    fn make(&mut self, start: Start<'_, SessionMsg>) -> Session {
        match self.kept.clone() {
            Some(kept) => Session::resume(self.opening.clone(), kept, start.now),
            None => Session::open(self.opening.clone(), start.now),
        }
    }

    fn perform(&mut self, effect: Effect, cx: &mut Context<'_, SessionMsg>) -> Performed<Effect> {
        let peer = self.peer();
        match effect {
            Effect::Send(message) => self.send(message),
            Effect::Pass(id, body) => drop(self.connection.send(id, &body)),
            Effect::Datagrams(datagrams) => {
                self.datagrams(datagrams, cx);
                self.opening.budget = self.connection.datagram_max();
            }
            Effect::Present(presence) => {
                self.directory.to_roster(RosterMsg::Present(presence));
            }
            Effect::Keep(kept) => self.kept = Some(kept),
            Effect::Inputs(inputs) => {
                self.directory.to_tick(TickMsg::Inputs(PeerInputs { peer, inputs }));
            }
            Effect::Join { slot } => {
                self.directory.to_tick(TickMsg::Join(Joining { peer, slot }));
            }
            Effect::ReportPing => self.report_ping(),
            Effect::End(ending) => {
                self.end(&ending);
                self.directory.tell(ServerEvent::Ended { peer, reason: ending.reason });
                return Performed::Stop;
            }
            Effect::Finish(reason) => {
                self.told = true;
                self.directory.tell(ServerEvent::Ended { peer, reason });
                return Performed::Stop;
            }
            Effect::Log(line) => tracing::info!("{line}"),
            Effect::Tell(event) => self.directory.tell(event),
        }
        Performed::Done
    }

    /// Whatever ended it, the pawn goes, the slot is free and the place is given back.
    fn ended(&mut self, exit: &Exit) {
        let peer = self.peer();
        self.directory.leave(peer);
        self.directory.to_tick(TickMsg::Leave(peer));
        self.directory.to_roster(RosterMsg::Left(peer));
        self.directory.to_listener(ListenerMsg::Closed(peer));
        let ending = match exit.reason.is_orderly() {
            true => Ending::new(dh_messages::CloseCode::Leave, "server stopped"),
            false => Ending::new(dh_messages::CloseCode::Closed, "the session failed; join again"),
        };
        self.end(&ending);
    }
}

/// What the connection tells, as the session is told it.
pub(crate) fn from_net(event: NetEvent) -> SessionMsg {
    match event {
        NetEvent::Message { id, body } => SessionMsg::Message(InMessage { id, body }),
        NetEvent::Datagram(bytes) => SessionMsg::Datagram(bytes),
        NetEvent::Closed(closed) => SessionMsg::Closed(closed),
    }
}
