//! What the connection decides: when to dial, what each message means, how it all ends. Pure.

use std::sync::Arc;

use bytes::Bytes;
use dh_host::net::{By, Closed};
use dh_machine::{Digest, Machine, Micros, Outbox, Tick, TickRate};
use dh_messages::{
    ClientInfo, ClientReady, CloseCode, ConnectRequest, EntityId, Message as _, PROTOCOL_VERSION,
    PlayerList, ServerInfo, SessionEnd as EndMessage, Snapshot, SnapshotFragment, SpawnAck, Str8,
    ToClient, ToServer, decode, schema_hash,
};
use dh_prefs::{Address, DEFAULT_PORT};
use dh_netcode::{Assembler, Joined};

use super::{ConnectionMsg, DialFailure, Profile};
use crate::ending::{EndKind, SessionEnd};
use crate::event::ClientEvent;

/// Time between two measurements of the round trip for the presenter.
const PING_INTERVAL: Micros = Micros::from_millis(500);
/// Time between two log lines about unreadable datagrams.
const UNREADABLE_LOG_INTERVAL: Micros = Micros::from_secs(60);

/// Where the client stands. It rests in `Idle` or `Playing`; all else resolves to one of the two.
#[derive(Clone, Debug, PartialEq)]
enum Phase {
    Idle,
    /// The dial is out, or the server has not said yet what it is.
    Attempting {
        until: Micros,
        connected: bool,
        theirs: Option<dh_messages::Hash128>,
    },
    /// The map is loaded; the pawn is on its way.
    Loading {
        rate: TickRate,
        generation: u32,
    },
    Playing {
        generation: u32,
    },
}

/// What the connection wants done.
#[derive(Debug)]
pub enum Effect {
    /// Dial; every event of it carries this number.
    Dial {
        /// The number.
        generation: u64,
        /// Where to.
        target: Address,
    },
    /// The dial of this number came through: take its connection.
    Adopt(u64),
    /// Let go of the transport, or of the attempt at one, telling the other side this.
    HangUp {
        /// The close code.
        code: CloseCode,
        /// The reason, for the other side's log.
        reason: &'static str,
    },
    /// Send one reliable message.
    Send(ToServer),
    /// Send one datagram.
    SendDatagram(Bytes),
    /// A session has begun at this tick rate.
    Joined(TickRate),
    /// The own pawn.
    Spawned(EntityId),
    /// A snapshot for predictor and presenter.
    Snapshot(Arc<Snapshot>),
    /// Who plays.
    Players(PlayerList),
    /// The session is over; what it drew goes.
    Left,
    /// Measure the round trip and tell the presenter.
    MeasurePing,
    /// Keep this for a restart: the number of the newest dial, and the newest target.
    Keep(u64, Option<Address>),
    /// A line for the log.
    Log(String),
    /// Something for whoever watches.
    Tell(ClientEvent),
}

/// One client's conversation with one server at a time.
#[derive(Debug)]
pub struct Connecting {
    profile: Arc<Profile>,
    phase: Phase,
    /// The number of the newest dial; events of older ones are swallowed.
    generation: u64,
    last_target: Option<Address>,
    /// What the server said before it closed.
    told: Option<EndMessage>,
    assembler: Assembler,
    ping_at: Micros,
    unreadable: u64,
    unreadable_logged: Option<Micros>,
}

impl Connecting {
    /// A client that is nowhere.
    #[must_use]
    pub fn new(profile: Arc<Profile>, generation: u64, last_target: Option<Address>) -> Self {
        Self {
            profile,
            phase: Phase::Idle,
            generation,
            last_target,
            told: None,
            assembler: Assembler::new(),
            ping_at: Micros(0),
            unreadable: 0,
            unreadable_logged: None,
        }
    }

    /// Dial; whatever was before is let go of first.
    fn connect(&mut self, now: Micros, to: Option<Address>, out: &mut Outbox<Effect>) {
        self.let_go(out);
        let target = to.or_else(|| self.last_target.clone()).unwrap_or_else(this_machine);
        self.last_target = Some(target.clone());
        self.generation += 1;
        let until = now + self.profile.connect_timeout;
        self.phase = Phase::Attempting { until, connected: false, theirs: None };
        out.push(Effect::Keep(self.generation, self.last_target.clone()));
        out.push(Effect::Tell(ClientEvent::Stands("connecting")));
        out.push(Effect::Dial { generation: self.generation, target });
    }

    /// Leave the server, or give up the attempt. Nothing to do while idle.
    fn disconnect(&mut self, out: &mut Outbox<Effect>) {
        if self.phase != Phase::Idle {
            self.let_go(out);
            self.ended(SessionEnd::new(EndKind::Quiet, self.address()), out);
        }
    }

    fn let_go(&mut self, out: &mut Outbox<Effect>) {
        if self.phase != Phase::Idle {
            out.push(Effect::HangUp { code: CloseCode::Leave, reason: "left" });
            self.forget(out);
        }
    }

    /// Forget the session; events of its transport no longer count.
    fn forget(&mut self, out: &mut Outbox<Effect>) {
        if matches!(self.phase, Phase::Loading { .. } | Phase::Playing { .. }) {
            out.push(Effect::Left);
        }
        self.phase = Phase::Idle;
        self.generation += 1;
        self.told = None;
        self.assembler.reset();
        out.push(Effect::Keep(self.generation, self.last_target.clone()));
    }

    fn fail(&mut self, end: SessionEnd, out: &mut Outbox<Effect>) {
        out.push(Effect::HangUp { code: CloseCode::Leave, reason: "gave up" });
        self.forget(out);
        self.ended(end, out);
    }

    fn unreadable(&mut self, what: String, out: &mut Outbox<Effect>) {
        out.push(Effect::Log(format!("unreadable message from the server: {what}")));
        out.push(Effect::HangUp { code: CloseCode::Unreadable, reason: "unreadable message" });
        let end = SessionEnd::new(EndKind::Unreadable, self.address());
        self.forget(out);
        self.ended(end, out);
    }

    fn ended(&mut self, end: SessionEnd, out: &mut Outbox<Effect>) {
        if let Some(line) = end.console_line() {
            out.push(Effect::Tell(ClientEvent::Line(line)));
        }
        out.push(Effect::Tell(ClientEvent::Stands("disconnected")));
        out.push(Effect::Tell(ClientEvent::Ended(end)));
    }

    fn address(&self) -> Option<String> {
        self.last_target.as_ref().map(ToString::to_string)
    }

    fn connected(&mut self, out: &mut Outbox<Effect>) {
        if let Phase::Attempting { connected, .. } = &mut self.phase {
            *connected = true;
            out.push(Effect::Adopt(self.generation));
            let schema_hash = schema_hash();
            let request = ConnectRequest { version: PROTOCOL_VERSION, schema_hash };
            out.push(Effect::Send(ToServer::ConnectRequest(request)));
        }
    }

    fn dial_failed(&mut self, failure: DialFailure, out: &mut Outbox<Effect>) {
        let kind = if failure.key_changed { EndKind::ServerKeyChanged } else { EndKind::CouldNotReach };
        let end = SessionEnd { reason: Some(failure.reason), ..SessionEnd::new(kind, self.address()) };
        self.fail(end, out);
    }

    /// One reliable message. Which ones are legal depends on where the client stands.
    fn message(&mut self, now: Micros, id: u8, body: &[u8], out: &mut Outbox<Effect>) {
        let message = match ToClient::from_stream(id, body) {
            Ok(message) => message,
            Err(error) => return self.unreadable(format!("{id}: {error}"), out),
        };
        match (&mut self.phase, message) {
            (_, ToClient::SessionEnd(end)) => self.told = Some(end),
            (Phase::Attempting { theirs, .. }, ToClient::SchemaHash(schema)) if theirs.is_none() => {
                *theirs = Some(schema.hash);
            }
            (Phase::Attempting { theirs: Some(_), .. }, ToClient::ServerInfo(info)) => {
                self.informed(&info, out);
            }
            (Phase::Loading { generation, .. }, ToClient::SpawnAck(ack)) => {
                let generation = *generation;
                self.spawned(now, generation, ack, out);
            }
            (Phase::Loading { .. } | Phase::Playing { .. }, ToClient::PlayerList(list)) => {
                out.push(Effect::Players(list));
            }
            (Phase::Loading { .. } | Phase::Playing { .. }, ToClient::ServerChat(chat)) => {
                out.push(Effect::Tell(ClientEvent::Line(chat.to_log_line())));
            }
            (Phase::Loading { .. } | Phase::Playing { .. }, ToClient::ClientNotice(notice)) => {
                out.push(Effect::Tell(ClientEvent::Line(format!("[notice] {}", notice.text))));
            }
            (_, other) => self.unreadable(format!("{} came out of order", other.name()), out),
        }
    }

    /// The server has said what it is: who we are goes back at once, before any map work.
    fn informed(&mut self, info: &ServerInfo, out: &mut Outbox<Effect>) {
        let Some(rate) = TickRate::new(info.tick_rate) else {
            let what = format!("a tick rate of {} Hz, expected 10 to 240", info.tick_rate);
            return self.unreadable(what, out);
        };
        if !info.map.name.is_empty() {
            let what = format!("map {}: this build shows the gray box only", info.map.name.as_str());
            out.push(Effect::Log(what));
            let end = SessionEnd::new(EndKind::MapTransferFailed, self.address());
            return self.fail(end, out);
        }
        out.push(Effect::Send(ToServer::ClientInfo(ClientInfo {
            name: Str8::clipped(&self.profile.name),
            seed_colour: self.profile.colour,
            avatar: Default::default(),
        })));
        out.push(Effect::Tell(ClientEvent::Informed {
            world_name: info.world_name.as_str().to_owned(),
            map: String::new(),
        }));
        out.push(Effect::Tell(ClientEvent::Stands("loading")));
        out.push(Effect::Log(format!(
            "schema: this server writes this client's schema {} (hash only, 16 bytes each way)",
            schema_hash().short()
        )));
        out.push(Effect::Joined(rate));
        let generation = info.map.generation;
        self.phase = Phase::Loading { rate, generation };
        // The gray box is code: it is loaded already.
        out.push(Effect::Send(ToServer::ClientReady(ClientReady { map_generation: generation })));
    }

    fn spawned(&mut self, now: Micros, generation: u32, ack: SpawnAck, out: &mut Outbox<Effect>) {
        if ack.map_generation != generation {
            return;
        }
        self.phase = Phase::Playing { generation };
        self.ping_at = now;
        out.push(Effect::Spawned(ack.pawn));
        out.push(Effect::Tell(ClientEvent::Stands("playing")));
        let (slot, pawn, tick) = (ack.slot, ack.pawn, Tick(ack.tick));
        out.push(Effect::Tell(ClientEvent::Spawned { slot, pawn, tick }));
    }

    fn datagram(&mut self, now: Micros, bytes: &[u8], out: &mut Outbox<Effect>) {
        let Phase::Playing { generation } = self.phase else { return };
        let read = match bytes.split_first() {
            Some((&Snapshot::ID, body)) => decode::<Snapshot>(body).map(Some),
            Some((&SnapshotFragment::ID, body)) => match decode::<SnapshotFragment>(body) {
                Ok(fragment) => return self.fragment(now, generation, &fragment, out),
                Err(error) => Err(error),
            },
            Some(_) | None => Ok(None),
        };
        match read {
            Ok(Some(snapshot)) => Self::snapshot(generation, snapshot, out),
            Ok(None) => self.count_unreadable(now, "no datagram of this direction", out),
            Err(error) => self.count_unreadable(now, &error.to_string(), out),
        }
    }

    fn fragment(
        &mut self,
        now: Micros,
        generation: u32,
        fragment: &SnapshotFragment,
        out: &mut Outbox<Effect>,
    ) {
        let SnapshotFragment { tick, index, count, slice } = fragment;
        let whole = match self.assembler.accept(Tick(*tick), *index, *count, slice) {
            Ok(Joined::Whole(whole)) => whole,
            Ok(Joined::Waiting | Joined::Stale) => return,
            Err(error) => return self.count_unreadable(now, &error.to_string(), out),
        };
        let read = match whole.split_first() {
            Some((&Snapshot::ID, body)) => decode::<Snapshot>(body).map_err(|e| e.to_string()),
            Some(_) | None => Err("the joined fragments are no snapshot".to_owned()),
        };
        match read {
            Ok(snapshot) => Self::snapshot(generation, snapshot, out),
            Err(error) => self.count_unreadable(now, &error, out),
        }
    }

    /// A snapshot of another map than the one that stands here is passed over.
    fn snapshot(generation: u32, snapshot: Snapshot, out: &mut Outbox<Effect>) {
        if snapshot.head.map_generation == generation {
            out.push(Effect::Snapshot(Arc::new(snapshot)));
        }
    }

    fn count_unreadable(&mut self, now: Micros, error: &str, out: &mut Outbox<Effect>) {
        self.unreadable += 1;
        let quiet = self.unreadable_logged.is_some_and(|at| now.since(at) < UNREADABLE_LOG_INTERVAL);
        if !quiet {
            self.unreadable_logged = Some(now);
            let line = format!("unreadable datagram {} from the server: {error}", self.unreadable);
            out.push(Effect::Log(line));
        }
    }

    /// The transport is gone. What the server said before it closed decides what this was.
    fn closed(&mut self, closed: &Closed, out: &mut Outbox<Effect>) {
        if self.phase == Phase::Idle {
            return;
        }
        let told = self.told.take();
        let code = told.as_ref().map_or(close_code(closed.code), |end| end.code);
        let reason = match &told {
            Some(end) => end.reason.as_str().to_owned(),
            None if closed.by == By::Peer => String::from_utf8_lossy(&closed.reason).into_owned(),
            None => String::new(),
        };
        let versions = told.map(|end| (end.server_version, end.client_version));
        let end = SessionEnd {
            kind: self.kind_of(code),
            address: self.address(),
            versions,
            reason: Some(reason),
        };
        self.forget(out);
        self.ended(end, out);
    }

    fn kind_of(&self, code: CloseCode) -> EndKind {
        let differs = matches!(self.phase, Phase::Attempting { theirs: Some(theirs), .. }
            if theirs != schema_hash());
        match code {
            CloseCode::ProtocolMismatch => EndKind::ProtocolMismatch,
            CloseCode::Closed if differs => EndKind::BuildDiffers,
            CloseCode::Closed => EndKind::Removed,
            CloseCode::Full => EndKind::ServerFull,
            _ => EndKind::ClosedByServer,
        }
    }
}

impl Machine for Connecting {
    type Msg = ConnectionMsg;
    type Effect = Effect;

    fn handle(&mut self, now: Micros, msg: ConnectionMsg, out: &mut Outbox<Effect>) {
        let generation = self.generation;
        match msg {
            ConnectionMsg::Connect(target) => self.connect(now, target, out),
            ConnectionMsg::Disconnect => self.disconnect(out),
            ConnectionMsg::Profile(profile) => self.profile = profile,
            ConnectionMsg::Input(bytes) => {
                if matches!(self.phase, Phase::Playing { .. }) {
                    out.push(Effect::SendDatagram(bytes));
                }
            }
            // What an attempt or a session given up still tells is swallowed.
            ConnectionMsg::Dialed(it) if it.generation == generation => self.connected(out),
            ConnectionMsg::DialFailed(it) if it.generation == generation => {
                self.dial_failed(it.event, out);
            }
            ConnectionMsg::Closed(it) if it.generation == generation => self.closed(&it.event, out),
            ConnectionMsg::Message(it) if it.generation == generation => {
                self.message(now, it.event.id, &it.event.body, out);
            }
            ConnectionMsg::Datagram(it) if it.generation == generation => {
                self.datagram(now, &it.event, out);
            }
            ConnectionMsg::Dialed(_)
            | ConnectionMsg::DialFailed(_)
            | ConnectionMsg::Closed(_)
            | ConnectionMsg::Message(_)
            | ConnectionMsg::Datagram(_)
            | ConnectionMsg::Trusting => (),
        }
    }

    fn wake(&mut self, now: Micros, out: &mut Outbox<Effect>) {
        match self.phase {
            Phase::Attempting { until, .. } if until <= now => {
                self.fail(SessionEnd::new(EndKind::TimedOut, self.address()), out);
            }
            Phase::Playing { .. } if self.ping_at <= now => {
                self.ping_at = now + PING_INTERVAL;
                out.push(Effect::MeasurePing);
            }
            _ => (),
        }
    }

    fn next_deadline(&self) -> Option<Micros> {
        match self.phase {
            Phase::Attempting { until, .. } => Some(until),
            Phase::Playing { .. } => Some(self.ping_at),
            Phase::Idle | Phase::Loading { .. } => None,
        }
    }

    fn digest(&self, digest: &mut Digest) {
        digest.word(self.generation);
        digest.word(self.unreadable);
    }
}

/// Where `connect` dials that names nothing and has no address before it.
fn this_machine() -> Address {
    Address { host: "127.0.0.1".to_owned(), port: DEFAULT_PORT }
}

/// The close code of a transport; one that fits no byte is none we know.
fn close_code(code: u32) -> CloseCode {
    u8::try_from(code).map_or(CloseCode::Unknown(u8::MAX), CloseCode::of_value)
}
