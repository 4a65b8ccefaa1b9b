//! Session actor: one peer's connection, from its first word to its ending.
//!
//! Owned by: the server's scope; opened by the listener. Talks to: roster, tick, its connection.
//! Never: touches the world, decides who gets which slot. After a panic: the peer stands where it
//! stood, and roster and tick are told so. A reliable message that breaks it twice leaves a gap,
//! and so ends it with a told reason; datagrams and frames come again by themselves.

mod bucket;
mod datagrams;
mod diagnostics;
mod exchange;
mod handshake;
mod rate;
mod snapshot;
mod state;
#[cfg(test)]
mod tests;
mod typed;

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use dh_host::net::{Closed, Connection, InMessage, NetEvent};
use dh_host::{Actor, Context, Exit, ExitReason, Performed, Place, Player, Port, Start};
use dh_machine::{Micros, Restart, Spec, Strategy, Tick, actor_message};
use dh_messages::{
    BlobRefused, BlobRequest, CloseCode, Content, Dialect, EntityId, MapAdvert, PROTOCOL_VERSION,
    SessionEnd, Str16, ToClient,
};
use dh_sim::Frame;

pub use self::rate::Rate;
pub use self::state::{Effect, Ending, Kept, Opening, Phase, Session};
use crate::blob_transfer::{BlobTransferActor, BlobTransferMsg};
use crate::directory::Directory;
use crate::event::ServerEvent;
use crate::limits::ServerLimits;
use crate::listener::ListenerMsg;
use crate::roster::{Forwarded, Ping, RosterMsg, Typed};
use crate::tick::{Arrival, Joining, PeerInputs, TickMsg};

/// The promise of a session. Its control lane holds every line a console can have typed ahead, and
/// what the room has to tell besides.
pub const SPEC: Spec = Spec {
    kind: "session",
    control_max: 2_048,
    data_max: 128,
    data_wakes: true,
    restart: Restart { count: 3, window: Micros::from_secs(5) },
    strategy: Strategy::OneForOne,
    ask_deadline: None,
    asks: &[],
};

actor_message! {
    /// Everything a session can be told. What it must not miss ends it when there is no place left:
    /// a session that is so far behind serves nobody.
    #[derive(Clone)]
    pub enum SessionMsg {
        /// Its connection is ready to be read.
        Opened: Control Coalesce,
        /// The connection is gone.
        Closed(Closed): Control Fatal,
        /// End with a told reason.
        End(Ending): Control Fatal,
        /// The roster has found a slot.
        Seated(u8): Control Fatal,
        /// The tick has made the pawn.
        Spawned(Spawned): Control Fatal,
        /// Another map stands from now on.
        MapLoad(Arc<MapAdvert>): Control Fatal,
        /// Reliable bytes encoded for several peers.
        Say(Say): Control Fatal,
        /// A blob that it does not get, and its schema lists no message that says so.
        Unread(BlobRefused): Control Fatal,
        /// Say again where the peer stands: somebody has forgotten it.
        Announce: Control Coalesce,
        /// The session was remade.
        Resumed: Control Coalesce,
        /// A datagram may have so many bytes from now on.
        Budget(usize): Control Coalesce,
        /// A whole reliable message came.
        Message(InMessage): Data Wait,
        /// A datagram came.
        Datagram(Bytes): Data DropOldest,
        /// A tick was published.
        Published(Arc<Frame>): Data DropOldest,
    }
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
    opening: Opening,
    connection: Connection,
    directory: Directory,
    kept: Option<Kept>,
    /// Who sends its blobs, once it has asked for one.
    transfer: Option<Port<BlobTransferMsg>>,
    /// How the connection ended, once it has: known even when the message that said so is lost.
    gone: Arc<OnceLock<Closed>>,
    /// Whether the peer knows why, so that no second reason is sent.
    told: bool,
    /// Its place in what is counted of all peers.
    player: Option<Player>,
}

impl SessionActor {
    pub(crate) fn new(opening: Opening, connection: Connection, directory: Directory) -> Self {
        Self {
            player: directory.player(),
            opening,
            connection,
            directory,
            kept: None,
            transfer: None,
            gone: Arc::default(),
            told: false,
        }
    }

    /// What the connection tells, as the session is told it.
    pub(crate) fn ear(&self) -> impl Fn(NetEvent) -> SessionMsg + Send + Sync + 'static {
        let gone = Arc::clone(&self.gone);
        move |event| match event {
            NetEvent::Message(message) => SessionMsg::Message(message),
            NetEvent::Datagram(bytes) => SessionMsg::Datagram(bytes),
            NetEvent::Closed(closed) => SessionMsg::Closed(gone.get_or_init(|| closed).clone()),
        }
    }

    fn send(&self, mut message: ToClient) {
        let mut body = Vec::new();
        match message.write_body(&mut body) {
            // A connection that takes no more tells so by its end.
            Ok(()) => drop(self.connection.send(message.id(), &body)),
            Err(error) => tracing::error!("{} was not sent: {error}", message.name()),
        }
    }

    fn end(&mut self, ending: Ending) {
        if std::mem::replace(&mut self.told, true) {
            return;
        }
        self.send(ToClient::SessionEnd(SessionEnd {
            code: ending.code,
            server_version: PROTOCOL_VERSION,
            client_version: ending.client_version,
            reason: Str16::clipped(&ending.reason),
        }));
        self.connection.close(u32::from(ending.code.value()), ending.reason.as_bytes());
        self.tell_ended(ending.reason);
    }

    fn tell_ended(&self, reason: String) {
        self.directory.tell(ServerEvent::Ended { peer: self.opening.peer, reason });
    }

    fn send_datagrams(&mut self, datagrams: Vec<Bytes>, cx: &Context<'_, SessionMsg>) {
        self.connection.send_datagrams(datagrams);
        let budget = self.connection.datagram_max();
        if budget != self.opening.budget && cx.port().offer(SessionMsg::Budget(budget)).is_ok() {
            self.opening.budget = budget;
        }
    }

    /// Hand a request to the transfer, which is made with the first one.
    fn transfer(&mut self, request: BlobRequest, wanted: Content, cx: &Context<'_, SessionMsg>) {
        let transfer = self.transfer.get_or_insert_with(|| {
            let dialect = self.kept.as_ref().map_or(Dialect::Same, |kept| kept.dialect().clone());
            let to = (self.connection.clone(), dialect);
            let session = cx.port().clone();
            let actor = BlobTransferActor::new(to, self.directory.clone(), session);
            let port = cx.scope().spawn(Place::Io, "blobs", actor);
            self.connection.deliver_blobs(port.inlet(BlobTransferActor::ear));
            port
        });
        drop(transfer.offer(BlobTransferMsg::Wanted(wanted)));
        drop(transfer.offer(BlobTransferMsg::Ask(request)));
    }

    fn ping_ms(&self) -> Option<u32> {
        let rtt = self.connection.rtt()?;
        Some(u32::try_from(rtt.0.div_ceil(1_000)).unwrap_or(u32::MAX))
    }
}

/// What a peer reads whose session cannot go on without what was lost for good.
fn reason_of_loss(lost: &SessionMsg) -> Option<&'static str> {
    match lost {
        SessionMsg::Message(_) => {
            Some("the server lost a message of yours to a fault; connect again")
        }
        SessionMsg::Say(_)
        | SessionMsg::MapLoad(_)
        | SessionMsg::Unread(_)
        | SessionMsg::End(_) => Some("the server lost a message for you to a fault; connect again"),
        _ => None,
    }
}

impl Actor for SessionActor {
    type Machine = Session;
    const SPEC: Spec = SPEC;

    /// After a panic the peer stands where it stood, and says so.
    fn make(&mut self, start: Start<'_, SessionMsg>) -> Session {
        if start.restarts > 0 {
            if let Some(reason) = start.lost.as_ref().and_then(reason_of_loss) {
                let ending = Ending::new(CloseCode::Closed, reason);
                drop(start.port.offer(SessionMsg::End(ending)));
            }
            drop(start.port.offer(SessionMsg::Resumed));
            if let Some(closed) = self.gone.get() {
                drop(start.port.offer(SessionMsg::Closed(closed.clone())));
            }
        }
        match self.kept.clone() {
            Some(kept) => Session::resume(self.opening.clone(), kept, start.now),
            None => {
                let met = self.opening.facts.builds.met();
                Session::open(self.opening.clone(), met, start.now)
            }
        }
    }

    fn spare(msg: &SessionMsg) -> Option<SessionMsg> {
        match msg {
            SessionMsg::Datagram(_) | SessionMsg::Published(_) => None,
            _ => Some(msg.clone()),
        }
    }

    fn perform(&mut self, effect: Effect, cx: &mut Context<'_, SessionMsg>) -> Performed<Effect> {
        let peer = self.opening.peer;
        match effect {
            Effect::Send(message) => self.send(message),
            Effect::Pass(Say { id, body }) => drop(self.connection.send(id, &body)),
            Effect::Datagrams(datagrams) => self.send_datagrams(datagrams, cx),
            Effect::Present(mut presence) => {
                if let Some(player) = &mut self.player {
                    player.stands(presence.standing.stage());
                }
                if let Some(name) = &presence.name {
                    self.connection.carries(name);
                }
                presence.ping_ms = self.ping_ms();
                self.directory.to_roster(RosterMsg::Present(presence));
            }
            Effect::AskRoom => self.directory.to_roster(RosterMsg::WhoIsHere(peer)),
            Effect::Chat(spoken) => {
                self.directory.to_roster(RosterMsg::Typed(Typed { peer, spoken }));
            }
            Effect::Forward(line) => {
                let text = line.text.as_str().to_owned();
                let line = Forwarded { peer, id: line.id, text };
                self.directory.to_roster(RosterMsg::Forwarded(line));
            }
            Effect::Keep(kept) => self.kept = Some(*kept),
            Effect::Remember(build) => {
                self.opening.facts.builds.keep(build, cx.scope().runtime());
            }
            Effect::Inputs(inputs) => {
                self.directory.to_tick(TickMsg::Inputs(PeerInputs { peer, inputs }));
            }
            Effect::Join { slot } => {
                self.directory.to_tick(TickMsg::Join(Joining { peer, slot }));
            }
            Effect::Arrived(generation) => {
                self.directory.to_tick(TickMsg::Arrived(Arrival { peer, generation }));
            }
            Effect::Transfer(request, wanted) => self.transfer(request, wanted, cx),
            Effect::ReportPing => {
                if let Some(millis) = self.ping_ms() {
                    self.directory.to_roster(RosterMsg::Ping(Ping { peer, millis }));
                }
            }
            Effect::End(ending) => {
                self.end(ending);
                return Performed::Stop;
            }
            Effect::Finish(reason) => {
                if !std::mem::replace(&mut self.told, true) {
                    self.tell_ended(reason);
                }
                return Performed::Stop;
            }
            Effect::Over(rate) => ServerLimits::of(cx.scope().runtime()).rate(rate).hit(),
            Effect::Log(line) => tracing::info!("{line}"),
            Effect::Detail(line) => tracing::debug!("{line}"),
            Effect::Tell(event) => self.directory.tell(event),
        }
        Performed::Done
    }

    /// Whatever ended it, the pawn goes, the slot is free and the place is given back.
    fn ended(&mut self, exit: &Exit) {
        let peer = self.opening.peer;
        self.directory.leave(peer);
        self.player = None;
        self.directory.to_tick(TickMsg::Leave(peer));
        self.directory.to_roster(RosterMsg::Left(peer));
        self.directory.to_listener(ListenerMsg::Closed(peer));
        if let Some(transfer) = self.transfer.take() {
            drop(transfer.offer(BlobTransferMsg::Stop));
        }
        self.end(match exit.reason {
            reason if reason.is_orderly() => Ending::new(CloseCode::Leave, "server stopped"),
            ExitReason::Overflowed { .. } => {
                let waited = SPEC.control_max;
                let reason = format!("too slow: {waited} messages were waiting to be sent");
                Ending::new(CloseCode::Closed, reason)
            }
            _ => Ending::new(CloseCode::Closed, "the session failed; join again"),
        });
    }
}
