//! What the connection decides: when to dial, what each message means, how it all ends. Pure.

use std::sync::Arc;

use bytes::Bytes;
use dh_host::net::{By, Closed, Links, code};
use dh_machine::planted::{self, Bug};
use dh_machine::{Digest, Machine, Micros, Outbox, TickRate};
use dh_messages::{
    Build, Builds, CloseCode, ConnectRequest, Dialect, EntityId, Input, Message as _, Own,
    PROTOCOL_VERSION, PlayerList, Scratch, SessionEnd as EndMessage, Snapshot, Terms, ToServer,
};
use dh_prefs::{Address, DEFAULT_PORT};

use super::datagrams::Datagrams;
use super::exchange::Exchange;
use super::{ConnectionMsg, DialFailure, Profile};
use crate::content::{StandingMap, Wanted};
use crate::ending::{EndKind, SessionEnd};
use crate::event::ClientEvent;
use crate::numbered::Numbered;

/// Time between two measurements of the round trip for the presenter.
const PING_INTERVAL: Micros = Micros::from_millis(500);

/// The longest a server is waited for that is left for another: twice what a transport takes to
/// say its last words.
const LEAVE_MAX: Micros = Micros::from_secs(1);

/// Where the client stands. It rests in `Idle` or `Playing`; all else resolves to one of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Idle,
    /// A server was left for another, which is dialled once the transport to the first is gone: a
    /// newcomer must never meet the session it has just left.
    Leaving {
        /// The number of the attempt whose transport is awaited.
        left: u64,
        until: Micros,
    },
    /// The dial is out, or the server has not said yet what it is.
    Attempting {
        until: Micros,
        /// Whether the dial has come through.
        is_up: bool,
        /// Whether the server's messages can be read.
        exchange: Exchange,
    },
    /// The map is loaded, or on its way; then the pawn is. A server that is gone is noticed by its
    /// silence.
    Loading {
        map_generation: u32,
    },
    Playing {
        map_generation: u32,
    },
}

/// What the connection wants done.
#[derive(Debug)]
pub enum Effect {
    /// Have this map here and load it; `Loaded` or `LoadFailed` follows.
    Fetch(Numbered<Wanted>),
    /// Show that a map is waited for, by its name where that is known, until one stands; or that
    /// none is waited for any more.
    Await(Option<String>),
    /// This map takes the place of the one that is shown.
    Stand(Arc<StandingMap>),
    /// The gray box does, under this generation.
    StandOnGrayBox(u32),
    /// Dial; every event of it carries this number.
    Dial {
        /// The number.
        attempt: u64,
        /// Where to.
        target: Address,
    },
    /// The dial of this attempt came through: take its connection.
    Adopt(u64),
    /// Let go of the transport, or of the attempt at one, telling the other side this.
    HangUp {
        /// The close code.
        code: CloseCode,
        /// The reason, for the other side's log.
        reason: &'static str,
    },
    /// The next dial waits until the transport that was let go of is gone.
    AwaitGoodbye,
    /// Have the path do this to packets.
    Relink(Links),
    /// Send one reliable message.
    Send(ToServer),
    /// Send one datagram.
    SendDatagram(Bytes),
    /// From now on the server is read in this way.
    Speaks(Dialect),
    /// Remember a build for the sessions after this one.
    Remember(Arc<Build>),
    /// The newest attempt has become a session, at this tick rate.
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
    /// Keep this for a restart.
    Keep(Box<Kept>),
    /// A line for the log.
    Log(String),
    /// Something for whoever watches.
    Tell(ClientEvent),
}

/// What outlives a panic of the machine: where the conversation stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Who the player is.
    pub(super) profile: Arc<Profile>,
    pub(super) phase: Phase,
    /// The number of the newest attempt; events of older ones are swallowed.
    pub(super) attempt: u64,
    /// Where the newest one went.
    pub(super) last_target: Option<Address>,
    /// Whether a pawn was given in this session, so that a map is tried again before it ends.
    pub(super) has_played: bool,
    /// The map that is being loaded; none where it is code, or stands.
    pub(super) wanted: Option<Wanted>,
    /// How often it could not be had, and when it is tried again.
    pub(super) failed: usize,
    pub(super) fetch_at: Option<Micros>,
    /// The builds that this process had met when the newest attempt came through; none once the
    /// server's is settled.
    pub(super) met: Builds,
    /// How the server is read, and what it has no name for.
    pub(super) terms: Option<Terms>,
}

impl Kept {
    /// Nowhere, with nothing dialled yet.
    #[must_use]
    pub fn new(profile: Arc<Profile>) -> Self {
        Self {
            profile,
            phase: Phase::Idle,
            attempt: 0,
            last_target: None,
            has_played: false,
            wanted: None,
            failed: 0,
            fetch_at: None,
            met: Builds::default(),
            terms: None,
        }
    }

    /// Nowhere again: whatever an earlier attempt still tells bears an old number.
    pub(super) fn end(&mut self) {
        let Self { profile, attempt, last_target, .. } = self.clone();
        *self = Self { attempt: attempt + 1, last_target, ..Self::new(profile) };
    }

    pub(super) fn ending(&self, kind: EndKind) -> SessionEnd {
        SessionEnd::new(kind, self.last_target.as_ref().map(ToString::to_string))
    }
}

/// One client's conversation with one server at a time.
#[derive(Debug)]
pub struct Connecting {
    pub(super) it: Kept,
    /// This build.
    pub(super) own: Arc<Own>,
    datagrams: Datagrams,
    pub(super) ping_at: Micros,
    /// Space for what a server of another build says, used again for each message.
    pub(super) scratch: Scratch,
}

impl Connecting {
    /// A conversation that stands there.
    #[must_use]
    pub fn new(it: Kept, own: Arc<Own>, now: Micros) -> Self {
        let (datagrams, scratch) = (Datagrams::new(), Scratch::default());
        Self { it, own, datagrams, ping_at: now, scratch }
    }

    /// Dial; whatever was before is let go of first, and nothing is said of it.
    fn connect(&mut self, now: Micros, to: Option<Address>, out: &mut Outbox<Effect>) {
        let awaited = match self.it.phase {
            Phase::Idle | Phase::Attempting { is_up: false, .. } => None,
            Phase::Leaving { left, until } => Some((left, until)),
            _ => Some((self.it.attempt, now + LEAVE_MAX)),
        };
        if self.let_go(out) {
            out.push(Effect::Tell(ClientEvent::Ended(self.ending(EndKind::Quiet))));
        }
        let target = to.or_else(|| self.it.last_target.clone()).unwrap_or_else(this_machine);
        self.it.last_target = Some(target);
        out.push(Effect::Tell(ClientEvent::Stands("connecting")));
        out.push(Effect::Await(Some(String::new())));
        match awaited {
            None => self.dial(now, out),
            Some((left, until)) => {
                self.it.phase = Phase::Leaving { left, until };
                out.push(Effect::AwaitGoodbye);
            }
        }
    }

    /// Whether the end of this attempt's transport is what the next dial waits for.
    fn is_leaving(&self, attempt: u64) -> bool {
        matches!(self.it.phase, Phase::Leaving { left, .. } if left == attempt)
    }

    fn dial(&mut self, now: Micros, out: &mut Outbox<Effect>) {
        let Some(target) = self.it.last_target.clone() else { return };
        self.it.attempt += 1;
        let until = now + self.it.profile.connect_timeout;
        self.it.phase = Phase::Attempting { until, is_up: false, exchange: Exchange::Unsaid };
        out.push(Effect::Dial { attempt: self.it.attempt, target });
    }

    /// Leave the server, or give up the attempt. Nothing to do while idle.
    fn disconnect(&mut self, out: &mut Outbox<Effect>) {
        if self.let_go(out) {
            tell_end(self.ending(EndKind::Quiet), out);
        }
    }

    /// Let go of a server on purpose; whether there was one.
    fn let_go(&mut self, out: &mut Outbox<Effect>) -> bool {
        if self.it.phase == Phase::Idle {
            return false;
        }
        self.hang_up(CloseCode::Leave, "left", out);
        true
    }

    pub(super) fn fail(&mut self, end: SessionEnd, out: &mut Outbox<Effect>) {
        self.hang_up(CloseCode::Leave, "gave up", out);
        tell_end(end, out);
    }

    pub(super) fn unreadable(&mut self, what: &str, out: &mut Outbox<Effect>) {
        out.push(Effect::Log(format!("unreadable message from the server: {what}")));
        self.hang_up(CloseCode::Unreadable, "unreadable message", out);
        tell_end(self.ending(EndKind::Unreadable), out);
    }

    /// Forget transport and session; what the transport still tells bears an old number.
    fn hang_up(&mut self, code: CloseCode, reason: &'static str, out: &mut Outbox<Effect>) {
        out.push(Effect::HangUp { code, reason });
        out.push(Effect::Await(None));
        if matches!(self.it.phase, Phase::Loading { .. } | Phase::Playing { .. }) {
            out.push(Effect::Left);
        }
        self.it.end();
        if !planted::is(Bug::FragmentsOfBefore) {
            self.datagrams.reset();
        }
    }

    pub(super) fn ending(&self, kind: EndKind) -> SessionEnd {
        self.it.ending(kind)
    }

    /// One that lives by this session's facts has lost one of them: nothing is seen of it any more.
    fn unusable(&mut self, reason: String, out: &mut Outbox<Effect>) {
        if self.it.phase != Phase::Idle {
            let end = self.ending(EndKind::ClientFailed);
            self.fail(SessionEnd { reason: Some(reason), ..end }, out);
        }
    }

    /// Do something, and keep where that leads for a restart.
    fn keeping(
        &mut self,
        out: &mut Outbox<Effect>,
        work: impl FnOnce(&mut Self, &mut Outbox<Effect>),
    ) {
        let before = self.it.clone();
        work(self, out);
        if self.it != before {
            out.push(Effect::Keep(Box::new(self.it.clone())));
        }
    }

    fn connected(&mut self, met: Builds, out: &mut Outbox<Effect>) {
        if let Phase::Attempting { is_up, .. } = &mut self.it.phase {
            *is_up = true;
            self.it.met = met;
            out.push(Effect::Adopt(self.it.attempt));
            let schema_hash = self.own.hash();
            let request = ConnectRequest { version: PROTOCOL_VERSION, schema_hash };
            out.push(Effect::Send(ToServer::ConnectRequest(request)));
        }
    }

    fn dial_failed(&mut self, failure: DialFailure, out: &mut Outbox<Effect>) {
        let DialFailure { reason, kind } = failure;
        self.fail(SessionEnd { reason: Some(reason), ..self.ending(kind) }, out);
    }

    /// The server says why it ends this; its close may follow or be lost, and says no more.
    pub(super) fn told(&mut self, told: &EndMessage, out: &mut Outbox<Effect>) {
        let versions =
            (told.client_version != 0).then_some((told.server_version, told.client_version));
        let reason = Some(told.reason.as_str().to_owned());
        let end = SessionEnd { versions, reason, ..self.ending(Self::kind_of(told.code)) };
        self.hang_up(CloseCode::Leave, "was told to go", out);
        tell_end(end, out);
    }

    /// The transport is gone and nothing was told before, so how it went decides what this was.
    fn closed(&mut self, closed: &Closed, out: &mut Outbox<Effect>) {
        let said = || Some(String::from_utf8_lossy(&closed.reason).into_owned());
        let attempting = matches!(self.it.phase, Phase::Attempting { .. });
        let (kind, reason) = match closed.by {
            By::Peer => (Self::kind_of(close_code(closed.code)), said()),
            By::Local if closed.code == code::UNREADABLE => (EndKind::Unreadable, None),
            By::Timeout if attempting => (EndKind::TimedOut, None),
            By::Lost if attempting => (EndKind::CouldNotReach, said()),
            By::Local | By::Timeout | By::Lost => (EndKind::Lost, None),
        };
        let end = SessionEnd { reason, ..self.ending(kind) };
        self.hang_up(CloseCode::Leave, "gone", out);
        tell_end(end, out);
    }

    fn kind_of(code: CloseCode) -> EndKind {
        match code {
            CloseCode::ProtocolMismatch => EndKind::ProtocolMismatch,
            CloseCode::Closed => EndKind::Removed,
            CloseCode::Full => EndKind::ServerFull,
            CloseCode::Leave | CloseCode::Unreadable | CloseCode::Unknown(_) => {
                EndKind::ClosedByServer
            }
        }
    }
}

impl Machine for Connecting {
    type Msg = ConnectionMsg;
    type Effect = Effect;

    /// What comes every tick changes nothing that is kept.
    fn handle(&mut self, now: Micros, msg: ConnectionMsg, out: &mut Outbox<Effect>) {
        match msg {
            ConnectionMsg::Datagram(it) => {
                if let Phase::Playing { map_generation } = self.it.phase
                    && it.attempt == self.it.attempt
                {
                    let dialect = self.it.terms.as_ref().map(Terms::dialect);
                    let dialect = dialect.unwrap_or(&Dialect::Same);
                    let reading = (dialect, &mut self.scratch);
                    self.datagrams.read(now, map_generation, reading, &it.event, out);
                }
            }
            ConnectionMsg::Input(it) => {
                let plays = matches!(self.it.phase, Phase::Playing { .. });
                if plays && it.attempt == self.it.attempt && self.passes(Input::ID, out) {
                    out.push(Effect::SendDatagram(it.event));
                }
            }
            msg => self.keeping(out, |it, out| it.take(now, msg, out)),
        }
    }

    fn wake(&mut self, now: Micros, out: &mut Outbox<Effect>) {
        self.keeping(out, |it, out| it.serve(now, out));
    }

    fn next_deadline(&self) -> Option<Micros> {
        match self.it.phase {
            Phase::Leaving { until, .. } | Phase::Attempting { until, .. } => Some(until),
            Phase::Playing { .. } => Some(self.ping_at),
            Phase::Loading { .. } => self.it.fetch_at,
            Phase::Idle => None,
        }
    }

    fn digest(&self, digest: &mut Digest) {
        digest.word(self.it.attempt);
        digest.word(self.datagrams.unreadable());
    }
}

impl Connecting {
    fn take(&mut self, now: Micros, msg: ConnectionMsg, out: &mut Outbox<Effect>) {
        let current = self.it.attempt;
        match msg {
            ConnectionMsg::Connect(target) => self.connect(now, target, out),
            ConnectionMsg::Disconnect => self.disconnect(out),
            ConnectionMsg::Chat(text) => self.chat(&text, out),
            ConnectionMsg::Console(line) => self.console(line, out),
            ConnectionMsg::Profile(profile) => self.it.profile = profile,
            ConnectionMsg::Links(links) => out.push(Effect::Relink(links)),
            ConnectionMsg::Unusable(reason) => self.unusable(reason, out),
            ConnectionMsg::Closed(it) if self.is_leaving(it.attempt) => self.dial(now, out),
            // What an attempt or a session given up still tells is swallowed.
            ConnectionMsg::Dialed(it) if it.attempt == current => self.connected(it.event, out),
            ConnectionMsg::DialFailed(it) if it.attempt == current => {
                self.dial_failed(it.event, out);
            }
            ConnectionMsg::Closed(it) if it.attempt == current => self.closed(&it.event, out),
            ConnectionMsg::Message(it) if it.attempt == current => {
                self.message(now, it.event.id, &it.event.body, out);
            }
            ConnectionMsg::AskBlob(it) if it.attempt == current => {
                self.say(ToServer::BlobRequest(it.event), out);
            }
            ConnectionMsg::Loaded(it) if it.attempt == current => self.loaded(it.event, out),
            ConnectionMsg::LoadFailed(it) if it.attempt == current => {
                self.load_failed(now, it.event, out);
            }
            ConnectionMsg::Dialed(_)
            | ConnectionMsg::DialFailed(_)
            | ConnectionMsg::Closed(_)
            | ConnectionMsg::Message(_)
            | ConnectionMsg::Datagram(_)
            | ConnectionMsg::AskBlob(_)
            | ConnectionMsg::Loaded(_)
            | ConnectionMsg::LoadFailed(_)
            | ConnectionMsg::Input(_)
            | ConnectionMsg::Trusting => (),
        }
    }

    /// A deadline has come.
    fn serve(&mut self, now: Micros, out: &mut Outbox<Effect>) {
        match self.it.phase {
            Phase::Leaving { until, .. } if until <= now => self.dial(now, out),
            Phase::Attempting { until, .. } if until <= now => {
                self.fail(self.ending(EndKind::TimedOut), out);
            }
            Phase::Loading { .. } if self.it.fetch_at.is_some_and(|at| at <= now) => {
                self.fetch(out);
            }
            Phase::Playing { .. } if self.ping_at <= now => {
                self.ping_at = now + PING_INTERVAL;
                out.push(Effect::MeasurePing);
            }
            _ => (),
        }
    }
}

pub(super) fn tell_end(end: SessionEnd, out: &mut Outbox<Effect>) {
    for event in end.into_events() {
        out.push(Effect::Tell(event));
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
