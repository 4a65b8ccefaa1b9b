//! What a session decides: the order of the join, what is read when, what each tick sends. Pure.

use std::sync::Arc;

use bytes::Bytes;
use dh_host::net::{By, Closed};
use dh_machine::{Digest, Machine, Micros, Outbox, Tick};
use dh_messages::{
    BlobRequest, Build, Builds, CloseCode, ConsoleLine, Content, Dialect, EntityId, Hash128,
    MapAdvert, MapLoad, PlayerInput, Scratch, Terms, ToClient,
};
use dh_netcode::{AckWindow, CompositionWatch};
use dh_sim::Frame;

use super::bucket::{Bucket, CHAT, CONSOLE};
use super::datagrams::Datagrams;
use super::diagnostics::SnapshotDiagnostics;
use super::exchange::Speech;
use super::rate::Rate;
use super::{Say, SessionMsg};
use crate::PeerId;
use crate::chat::Spoken;
use crate::event::ServerEvent;
use crate::facts::Facts;
use crate::peer::Label;
use crate::roster::{Presence, Standing};

/// How long a connection may stay silent before its `connectRequest`.
pub(super) const GREETING_MAX: Micros = Micros::from_secs(2);
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
    /// It writes another schema; its `schemaText` must come before `until`.
    Exchanging {
        /// The hash of what it writes.
        theirs: Hash128,
        /// Its build, where that was met before: then no text is wanted.
        known: Option<Arc<Build>>,
        /// When it is too late.
        until: Micros,
    },
    /// What it writes is known; `clientInfo` must come next.
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
    Pass(Say),
    /// Send the datagrams of one tick.
    Datagrams(Vec<Bytes>),
    /// Tell the roster where the peer stands.
    Present(Presence),
    /// Have this said in the peer's name.
    Chat(Spoken),
    /// Have the console look at this line of the peer.
    Forward(ConsoleLine),
    /// Ask the roster to tell the peer once more who is here.
    AskRoom,
    /// Keep this for a restart.
    Keep(Box<Kept>),
    /// Remember a build for the sessions after this one.
    Remember(Arc<Build>),
    /// Hand inputs to the tick.
    Inputs(Vec<PlayerInput>),
    /// Ask the tick for a pawn.
    Join {
        /// The peer's slot.
        slot: u8,
    },
    /// Tell the tick that the peer has loaded the map of this generation.
    Arrived(u32),
    /// Send a blob; beside it the pallet of the newest advert.
    Transfer(BlobRequest, Content),
    /// Measure the round trip and tell the roster.
    ReportPing,
    /// Tell the peer why, close, and end.
    End(Ending),
    /// The connection is gone already: end.
    Finish(String),
    /// The peer does this too often.
    Over(Rate),
    /// A line for the log.
    Log(String),
    /// A line for those who look closely.
    Detail(String),
    /// Something for whoever watches.
    Tell(ServerEvent),
}

/// What outlives a panic of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Where the peer stood.
    pub phase: Phase,
    /// What the roster knows of it.
    pub presence: Presence,
    /// The map it was told of last, and whether it has loaded it.
    pub map: (MapAdvert, bool),
    /// Its lines of chat and for the console that may still come: a restart is no way to more.
    pub(super) buckets: [Bucket; 2],
    /// How it is read, and what it was told of that.
    pub(super) speech: Speech,
}

impl Kept {
    /// How the peer is read, and what it reads.
    pub(super) fn dialect(&self) -> &Dialect {
        self.speech.terms.dialect()
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
    /// The map the peer was told of last.
    pub(super) advert: MapAdvert,
    /// Whether the peer has loaded that map.
    pub(super) is_ready: bool,
    pub(super) budget: usize,
    pub(super) composition: CompositionWatch,
    pub(super) diagnostics: SnapshotDiagnostics,
    /// What the peer says it has of our snapshots.
    pub(super) acks: AckWindow,
    /// Space for a whole snapshot, used again for each.
    pub(super) whole: Vec<u8>,
    /// The newest frame that came.
    pub(super) newest: Tick,
    pub(super) datagrams: Datagrams,
    frames: u32,
    pub(super) watched: bool,
    pub(super) chat_bucket: Bucket,
    pub(super) console_bucket: Bucket,
    /// The builds that this process had met when the peer came; none once its own is settled.
    pub(super) met: Builds,
    pub(super) speech: Speech,
    /// Space for what a peer of another build says, used again for each message.
    pub(super) scratch: Scratch,
}

/// What a session is made from.
#[derive(Clone, Debug)]
pub struct Opening {
    /// What every session says about the server.
    pub facts: Arc<Facts>,
    /// The map that stands.
    pub advert: MapAdvert,
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
    /// Whether what happens each tick is told.
    pub watched: bool,
}

impl Session {
    /// A session whose connection has just been made, in a process that has met these builds.
    #[must_use]
    pub fn open(opening: Opening, met: Builds, now: Micros) -> Self {
        let presence = Presence::new(opening.peer, opening.endpoint, opening.loopback);
        let phase = Phase::Greeting { until: now + GREETING_MAX };
        let speech = Speech::new(Terms::same(opening.facts.builds.own()));
        Self {
            met,
            speech,
            scratch: Scratch::default(),
            advert: opening.advert,
            is_ready: false,
            facts: opening.facts,
            presence,
            phase,
            key: opening.key,
            loopback: opening.loopback,
            budget: opening.budget,
            composition: CompositionWatch::default(),
            diagnostics: SnapshotDiagnostics::new(now),
            acks: AckWindow::default(),
            whole: Vec::new(),
            newest: Tick(0),
            datagrams: Datagrams::new(now),
            frames: 0,
            watched: opening.watched,
            chat_bucket: Bucket::full(CHAT, now),
            console_bucket: Bucket::full(CONSOLE, now),
        }
    }

    /// A session remade after a panic: the peer stays where it stood.
    #[must_use]
    pub fn resume(opening: Opening, kept: Kept, now: Micros) -> Self {
        let session = Self::open(opening, Builds::default(), now);
        let (advert, is_ready) = kept.map;
        let [chat_bucket, console_bucket] = kept.buckets;
        Self {
            phase: kept.phase,
            presence: kept.presence,
            advert,
            is_ready,
            chat_bucket,
            console_bucket,
            speech: kept.speech,
            ..session
        }
    }

    /// Where the peer stands.
    #[must_use]
    pub fn phase(&self) -> &Phase {
        &self.phase
    }

    /// Move on, tell the roster, and keep it all for a restart.
    pub(super) fn stand(&mut self, phase: Phase, out: &mut Outbox<Effect>) {
        self.presence.standing = match phase {
            Phase::Greeting { .. }
            | Phase::Exchanging { .. }
            | Phase::Identifying
            | Phase::Ended => Standing::Handshaking,
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
        self.keep(out);
        out.push(Effect::Present(self.presence.clone()));
        let state = self.presence.standing.name();
        let (peer, name) = (self.presence.peer, self.presence.name.clone());
        let key = self.key.clone();
        out.push(Effect::Tell(ServerEvent::Stands { peer, name, key, state }));
    }

    pub(super) fn keep(&self, out: &mut Outbox<Effect>) {
        let map = (self.advert.clone(), self.is_ready);
        let (phase, presence) = (self.phase.clone(), self.presence.clone());
        let buckets = [self.chat_bucket, self.console_bucket];
        let speech = self.speech.clone();
        out.push(Effect::Keep(Box::new(Kept { phase, presence, map, buckets, speech })));
    }

    pub(super) fn end(&mut self, ending: Ending, out: &mut Outbox<Effect>) {
        let line = format!("session ended ({}): {}", self.label(), ending.reason);
        self.phase = Phase::Ended;
        self.sum_up(out);
        out.push(Effect::Log(line));
        out.push(Effect::End(ending));
    }

    pub(super) fn label(&self) -> Label {
        label(&self.presence)
    }

    /// What was dropped is summed up before the last line.
    fn sum_up(&self, out: &mut Outbox<Effect>) {
        if let Some(line) = self.datagrams.dropped(&self.label()) {
            out.push(Effect::Log(line));
        }
    }

    /// A message that does not belong here ends the session: nothing after it can be trusted.
    pub(super) fn unexpected(&mut self, what: &str, out: &mut Outbox<Effect>) {
        let reason = format!("{what} came out of order");
        self.end(Ending::new(CloseCode::Unreadable, reason), out);
    }

    fn published(&mut self, now: Micros, frame: &Frame, out: &mut Outbox<Effect>) {
        let Phase::Playing { pawn, .. } = self.phase else { return };
        if frame.generation() != self.advert.generation {
            // It was published before the switch that this peer has been told of.
            return;
        }
        if self.frames.is_multiple_of(PING_INTERVAL_FRAMES) {
            out.push(Effect::ReportPing);
        }
        self.frames = self.frames.wrapping_add(1);
        self.newest = frame.tick();
        self.snapshot(now, frame, pawn, out);
    }

    fn seated(&mut self, slot: u8, out: &mut Outbox<Effect>) {
        if self.phase == Phase::Seating {
            self.stand(Phase::Spawning { slot }, out);
            out.push(Effect::Join { slot });
        }
    }

    /// Another map stands. A peer that has not been told of any yet is told of this one in time.
    fn map_load(&mut self, advert: &MapAdvert, out: &mut Outbox<Effect>) {
        if advert.generation == self.advert.generation {
            return;
        }
        self.advert = advert.clone();
        self.is_ready = false;
        self.keep(out);
        if !matches!(self.phase, Phase::Greeting { .. } | Phase::Exchanging { .. }) {
            self.say(ToClient::MapLoad(MapLoad { map: advert.clone() }), out);
        }
    }

    /// Somebody has forgotten what this session said, or never heard it.
    fn announce(&mut self, out: &mut Outbox<Effect>) {
        out.push(Effect::Present(self.presence.clone()));
        if let Phase::Spawning { slot } = self.phase {
            out.push(Effect::Join { slot });
        }
    }

    fn resumed(&mut self, out: &mut Outbox<Effect>) {
        self.announce(out);
        out.push(Effect::AskRoom);
    }

    fn closed(&mut self, closed: &Closed, out: &mut Outbox<Effect>) {
        if self.phase != Phase::Ended {
            self.phase = Phase::Ended;
            self.sum_up(out);
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
            SessionMsg::Message(message) => self.message(now, &message, out),
            SessionMsg::Datagram(bytes) => self.datagram(now, &bytes, out),
            SessionMsg::Published(frame) => self.published(now, &frame, out),
            SessionMsg::Say(say) => {
                if self.presence.is_admitted() && self.passes(say.id, out) {
                    out.push(Effect::Pass(say));
                }
            }
            SessionMsg::MapLoad(advert) => self.map_load(&advert, out),
            SessionMsg::Seated(slot) => self.seated(slot, out),
            SessionMsg::Spawned(spawned) => self.spawned(spawned, out),
            SessionMsg::Budget(bytes) => self.budget = bytes,
            SessionMsg::Unread(refused) => self.unread(&refused, out),
            SessionMsg::End(ending) => self.end(ending, out),
            SessionMsg::Announce => self.announce(out),
            SessionMsg::Resumed => self.resumed(out),
        }
    }

    fn wake(&mut self, now: Micros, out: &mut Outbox<Effect>) {
        let reason = match self.phase {
            Phase::Greeting { until } if until <= now => {
                "no connectRequest within 2 s of the handshake"
            }
            Phase::Exchanging { until, .. } if until <= now => {
                "no schemaText within 10 s of the schemaHash"
            }
            _ => return,
        };
        self.end(Ending::new(CloseCode::Closed, reason), out);
    }

    fn next_deadline(&self) -> Option<Micros> {
        match self.phase {
            Phase::Greeting { until } | Phase::Exchanging { until, .. } => Some(until),
            _ => None,
        }
    }

    fn digest(&self, digest: &mut Digest) {
        digest.word(u64::from(self.presence.peer.0));
        self.datagrams.digest(digest);
    }
}

fn label(presence: &Presence) -> Label {
    Label { name: presence.name.clone(), endpoint: presence.endpoint.clone() }
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
