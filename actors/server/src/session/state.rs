//! What a session decides: the order of the join, what is read and when, what each tick sends. Pure.

use std::sync::Arc;

use bytes::Bytes;
use dh_host::net::{By, Closed};
use dh_machine::{Digest, Machine, Micros, Outbox, Tick};
use dh_messages::{CloseCode, EntityId, Input, PlayerInput, ToClient, ToServer};
use dh_netcode::{AckWindow, CompositionWatch};
use dh_sim::Frame;

use super::SessionMsg;
use crate::event::ServerEvent;
use crate::facts::Facts;
use crate::peer::Label;
use crate::PeerId;
use crate::roster::{Presence, Standing};

/// How long a connection may stay silent before its `connectRequest`.
pub(super) const GREETING_MAX: Micros = Micros::from_secs(2);
/// Input datagrams a peer may send between two frames; more are dropped unread.
pub(super) const INPUTS_PER_FRAME_MAX: u32 = 16;
/// Time between two log lines about unreadable datagrams of one peer.
const UNREADABLE_LOG_INTERVAL: Micros = Micros::from_secs(60);
/// Frames between two reports of the round trip to the roster.
const PING_INTERVAL_FRAMES: u32 = 60;

/// Where a peer stands. The order of the join: each follows from the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Connected; `connectRequest` must come before `until`.
    Greeting {
        /// When it is too late.
        until: Micros,
    },
    /// It speaks as this build does; `clientInfo` must come next.
    Identifying,
    /// Admitted: its name and identity are known; it loads the map.
    Loading,
    /// Its map is loaded; the roster finds it a slot.
    Seating,
    /// It has a slot; the tick makes its pawn.
    Spawning {
        /// Its slot.
        slot: u8,
    },
    /// It plays.
    Playing {
        /// Its slot.
        slot: u8,
        /// Its pawn.
        pawn: EntityId,
    },
    /// The session has ended; whatever still comes is swallowed.
    Ended,
}

/// Why a session ends, as the peer is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The close code.
    pub code: CloseCode,
    /// The reason, at most 512 bytes are sent.
    pub reason: String,
    /// The protocol number the peer offered, where it matters.
    pub client_version: u32,
}

impl Ending {
    /// An ending with a reason for people.
    #[must_use]
    pub fn new(code: CloseCode, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into(), client_version: 0 }
    }
}

/// What a session wants done.
#[derive(Debug, PartialEq)]
pub enum Effect {
    /// Send one reliable message.
    Send(ToClient),
    /// Send reliable bytes that were encoded for several peers.
    Pass(u8, Bytes),
    /// Send the datagrams of one tick.
    Datagrams(Vec<Bytes>),
    /// Tell the roster where the peer stands, and keep it for a restart.
    Present(Presence),
    /// Keep what a restart needs that the roster does not.
    Keep(Kept),
    /// Hand inputs to the tick.
    Inputs(Vec<PlayerInput>),
    /// Ask the tick for a pawn.
    Join {
        /// The peer's slot.
        slot: u8,
    },
    /// Measure the round trip and tell the roster.
    ReportPing,
    /// Tell the peer why, close, and end.
    End(Ending),
    /// The connection is gone already: end.
    Finish(String),
    /// A line for the log.
    Log(String),
    /// Something for whoever watches.
    Tell(ServerEvent),
}

/// What outlives a panic of the machine.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Where the peer stood.
    pub phase: Phase,
    /// What the roster knows of it.
    pub presence: Presence,
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        self.phase == other.phase && self.presence == other.presence
    }
}

/// One peer's session.
#[derive(Debug)]
pub struct Session {
    pub(super) facts: Arc<Facts>,
    pub(super) presence: Presence,
    pub(super) phase: Phase,
    /// The key's text form, where the peer has proved one.
    pub(super) key: Option<String>,
    pub(super) loopback: bool,
    pub(super) generation: u32,
    pub(super) budget: usize,
    pub(super) composition: CompositionWatch,
    /// What the peer says it has of our snapshots.
    pub(super) acks: AckWindow,
    inputs_since_frame: u32,
    frames_since_ping: u32,
    unreadable: u64,
    unreadable_logged: Option<Micros>,
    watched: bool,
}

/// What a session is made from.
#[derive(Clone, Debug)]
pub struct Opening {
    /// What every session says about the server.
    pub facts: Arc<Facts>,
    /// Whose session.
    pub peer: PeerId,
    /// Its remote endpoint, or `loopback`.
    pub endpoint: String,
    /// Whether it is inside this process.
    pub loopback: bool,
    /// The text form of the key it has proved.
    pub key: Option<String>,
    /// Bytes a datagram may have.
    pub budget: usize,
    /// Whether anybody watches events.
    pub watched: bool,
}

impl Session {
    /// A session whose connection has just been made.
    #[must_use]
    pub fn open(opening: Opening, now: Micros) -> Self {
        let presence = Presence::new(opening.peer, opening.endpoint, opening.loopback);
        let phase = Phase::Greeting { until: now + GREETING_MAX };
        Self {
            generation: opening.facts.advert.generation,
            facts: opening.facts,
            presence,
            phase,
            key: opening.key,
            loopback: opening.loopback,
            budget: opening.budget,
            composition: CompositionWatch::default(),
            acks: AckWindow::default(),
            inputs_since_frame: 0,
            frames_since_ping: 0,
            unreadable: 0,
            unreadable_logged: None,
            watched: opening.watched,
        }
    }

    /// A session remade after a panic: the peer stays where it stood.
    #[must_use]
    pub fn resume(opening: Opening, kept: Kept, now: Micros) -> Self {
        let session = Self::open(opening, now);
        Self { phase: kept.phase, presence: kept.presence, ..session }
    }

    /// Where the peer stands.
    #[must_use]
    pub fn phase(&self) -> &Phase {
        &self.phase
    }

    /// Move on, tell the roster, and keep it all for a restart.
    pub(super) fn stand(&mut self, phase: Phase, out: &mut Outbox<Effect>) {
        self.presence.standing = match phase {
            Phase::Greeting { .. } | Phase::Identifying | Phase::Ended => Standing::Handshaking,
            Phase::Loading => Standing::Loading,
            Phase::Seating | Phase::Spawning { .. } => Standing::Spawning,
            Phase::Playing { .. } => Standing::Playing,
        };
        (self.presence.slot, self.presence.pawn) = match phase {
            Phase::Spawning { slot } => (Some(slot), None),
            Phase::Playing { slot, pawn } => (Some(slot), Some(pawn)),
            _ => (self.presence.slot, None),
        };
        self.phase = phase;
        out.push(Effect::Keep(Kept { phase: self.phase.clone(), presence: self.presence.clone() }));
        out.push(Effect::Present(self.presence.clone()));
        let state = self.presence.standing.name();
        let (peer, name) = (self.presence.peer, self.presence.name.clone());
        self.tell(ServerEvent::Stands { peer, name, state }, out);
    }

    pub(super) fn end(&mut self, ending: Ending, out: &mut Outbox<Effect>) {
        let line = format!("session ended ({}): {}", self.label(), ending.reason);
        self.phase = Phase::Ended;
        out.push(Effect::Log(line));
        out.push(Effect::End(ending));
    }

    pub(super) fn label(&self) -> Label {
        Label { name: self.presence.name.clone(), endpoint: self.presence.endpoint.clone() }
    }

    pub(super) fn tell(&self, event: ServerEvent, out: &mut Outbox<Effect>) {
        if self.watched {
            out.push(Effect::Tell(event));
        }
    }

    /// A message that does not belong here ends the session: nothing after it can be trusted.
    pub(super) fn unexpected(&mut self, what: &str, out: &mut Outbox<Effect>) {
        let reason = format!("{what} came out of order");
        self.end(Ending::new(CloseCode::Unreadable, reason), out);
    }

    fn datagram(&mut self, now: Micros, bytes: &[u8], out: &mut Outbox<Effect>) {
        if !matches!(self.phase, Phase::Playing { .. }) {
            return;
        }
        self.inputs_since_frame += 1;
        if INPUTS_PER_FRAME_MAX < self.inputs_since_frame {
            return;
        }
        match ToServer::from_datagram(bytes) {
            Ok(ToServer::Input(input)) => self.inputs(&input, out),
            Ok(other) => self.unreadable_datagram(now, other.name(), out),
            Err(error) => self.unreadable_datagram(now, &error.to_string(), out),
        }
    }

    fn inputs(&mut self, input: &Input, out: &mut Outbox<Effect>) {
        let ack = input.snapshot_ack;
        self.acks = AckWindow::from_wire(Tick(ack.tick), ack.mask);
        let inputs: Vec<PlayerInput> = input.inputs.iter().rev().cloned().collect();
        if self.watched {
            let sequences = input.inputs.iter().map(|input| input.sequence).collect();
            out.push(Effect::Tell(ServerEvent::InputCame { peer: self.presence.peer, sequences }));
        }
        if !inputs.is_empty() {
            out.push(Effect::Inputs(inputs));
        }
    }

    fn unreadable_datagram(&mut self, now: Micros, error: &str, out: &mut Outbox<Effect>) {
        self.unreadable += 1;
        let quiet = self.unreadable_logged.is_some_and(|at| now.since(at) < UNREADABLE_LOG_INTERVAL);
        if !quiet {
            self.unreadable_logged = Some(now);
            let (who, count) = (self.label(), self.unreadable);
            out.push(Effect::Log(format!("unreadable datagram {count} from {who}: {error}")));
        }
    }

    fn published(&mut self, frame: &Frame, out: &mut Outbox<Effect>) {
        self.inputs_since_frame = 0;
        let Phase::Playing { pawn, .. } = self.phase else { return };
        self.frames_since_ping += 1;
        if PING_INTERVAL_FRAMES <= self.frames_since_ping {
            self.frames_since_ping = 0;
            out.push(Effect::ReportPing);
        }
        self.snapshot(frame, pawn, out);
    }

    fn seated(&mut self, slot: u8, out: &mut Outbox<Effect>) {
        if self.phase == Phase::Seating {
            self.stand(Phase::Spawning { slot }, out);
            out.push(Effect::Join { slot });
        }
    }

    /// The roster was remade and has forgotten everybody; so may the tick have lost a join.
    fn announce(&mut self, out: &mut Outbox<Effect>) {
        out.push(Effect::Present(self.presence.clone()));
        if let Phase::Spawning { slot } = self.phase {
            out.push(Effect::Join { slot });
        }
    }

    fn closed(&mut self, closed: &Closed, out: &mut Outbox<Effect>) {
        if self.phase != Phase::Ended {
            self.phase = Phase::Ended;
            let line = format!("peer disconnected ({}): {}", self.label(), ending_word(closed));
            out.push(Effect::Log(line));
        }
        out.push(Effect::Finish(ending_word(closed)));
    }
}

impl Machine for Session {
    type Msg = SessionMsg;
    type Effect = Effect;

    fn handle(&mut self, now: Micros, msg: SessionMsg, out: &mut Outbox<Effect>) {
        match msg {
            SessionMsg::Closed(closed) => self.closed(&closed, out),
            SessionMsg::Opened => out.push(Effect::Present(self.presence.clone())),
            _ if self.phase == Phase::Ended => (),
            SessionMsg::Message(message) => self.message(&message, out),
            SessionMsg::Datagram(bytes) => self.datagram(now, &bytes, out),
            SessionMsg::Published(frame) => self.published(&frame, out),
            SessionMsg::Say(say) => {
                if self.presence.is_admitted() {
                    out.push(Effect::Pass(say.id, say.body));
                }
            }
            SessionMsg::Seated(slot) => self.seated(slot, out),
            SessionMsg::Spawned(spawned) => self.spawned(spawned, out),
            SessionMsg::Budget(bytes) => self.budget = bytes,
            SessionMsg::End(ending) => self.end(ending, out),
            SessionMsg::Announce => self.announce(out),
        }
    }

    fn wake(&mut self, now: Micros, out: &mut Outbox<Effect>) {
        if let Phase::Greeting { until } = self.phase
            && until <= now
        {
            let reason = "no connectRequest within 2 s of the handshake";
            self.end(Ending::new(CloseCode::Closed, reason), out);
        }
    }

    fn next_deadline(&self) -> Option<Micros> {
        match self.phase {
            Phase::Greeting { until } => Some(until),
            _ => None,
        }
    }

    fn digest(&self, digest: &mut Digest) {
        digest.word(u64::from(self.presence.peer.0));
        digest.word(self.unreadable);
    }
}

/// How the log names the end of a connection.
fn ending_word(closed: &Closed) -> String {
    let reason = String::from_utf8_lossy(&closed.reason);
    match closed.by {
        By::Timeout => "Timeout".to_owned(),
        By::Peer if closed.code == 0 => "Left".to_owned(),
        By::Peer => format!("Closed by the peer, code {}: {reason}", closed.code),
        By::Local => format!("Closed here: {reason}"),
        By::Lost => format!("Lost: {reason}"),
    }
}
