//! Connection actor: one server at a time, from the dial to the ending.
//!
//! Owned by: the client's scope. Talks to: its transport, predictor, presenter. Never: simulates,
//! draws, or keeps two sessions at once.

mod state;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use dh_host::net::{Closed, Connection, DialError, Dialed, Dialing, NetEvent};
use dh_host::{Actor, Context, Exit, Performed, Start};
use dh_machine::{Micros, Restart, Spec, Strategy, TickRate, actor_message};
use dh_messages::{CloseCode, ToServer};
use dh_prefs::Address;

pub use self::state::{Connecting, Effect};
use crate::dialer::Dialer;
use crate::ending::{EndKind, SessionEnd};
use crate::event::{ClientEvent, Observer};
use crate::predictor::PredictorMsg;
use crate::presenter::PresenterMsg;
use crate::ways::Ways;

/// The promise of the connection.
pub const SPEC: Spec = Spec {
    kind: "connection",
    control_max: 64,
    data_max: 256,
    data_wakes: true,
    restart: Restart { count: 5, window: Micros::from_secs(10) },
    strategy: Strategy::OneForOne,
    ask_deadline: None,
    asks: &[],
};

actor_message! {
    /// Everything the connection can be told.
    pub enum ConnectionMsg {
        /// Join this server, or the one before.
        Connect(Option<Address>): Control Refuse,
        /// Leave, or give up the attempt.
        Disconnect: Control Coalesce,
        /// Who the player is has changed; the next join says so.
        Profile(Arc<Profile>): Control Coalesce,
        /// A server was met for the first time; its key is kept from now on.
        Trusting: Control Coalesce,
        /// A dial came through.
        Dialed(Numbered<()>): Control Refuse,
        /// A dial did not.
        DialFailed(Numbered<DialFailure>): Control Refuse,
        /// The transport is gone. In order with what came before it.
        Closed(Numbered<Closed>): Data Wait,
        /// A whole reliable message came.
        Message(Numbered<InMessage>): Data Wait,
        /// A datagram came.
        Datagram(Numbered<Bytes>): Data DropOldest,
        /// The predictor has a datagram for the server.
        Input(Bytes): Data DropOldest,
    }
}

/// An event of one dial, so that those of earlier ones can be told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbered<T> {
    /// Which dial.
    pub generation: u64,
    /// What happened.
    pub event: T,
}

/// One reliable message as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InMessage {
    /// Its id.
    pub id: u8,
    /// Its body, not yet read.
    pub body: Bytes,
}

/// Why a dial failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DialFailure {
    /// In words.
    pub reason: String,
    /// Whether the server's key is not the pinned one.
    pub key_changed: bool,
}

/// Who the player is and how long an attempt may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Display name.
    pub name: String,
    /// `0xRRGGBB`.
    pub colour: u32,
    /// From the dial until the server says what it is.
    pub connect_timeout: Micros,
}

/// Performs what the connection decides.
#[derive(Debug)]
pub struct ConnectionActor {
    profile: Arc<Profile>,
    ways: Ways,
    observer: Observer,
    dialer: Dialer,
    line: Line,
    /// Where a dial puts its connection before it says that it came through.
    landing: Landing,
    generation: u64,
    last_target: Option<Address>,
}

/// The one transport, or the attempt at one.
#[derive(Debug)]
enum Line {
    None,
    Dialing(Dialing),
    Up(Connection),
}

/// The newest connection that came through, with the number of its dial.
type Landing = Arc<Mutex<Option<(u64, Connection)>>>;

impl ConnectionActor {
    pub(crate) fn new(
        profile: Arc<Profile>,
        ways: Ways,
        observer: Observer,
        dialer: Dialer,
    ) -> Self {
        Self {
            profile,
            ways,
            observer,
            dialer,
            line: Line::None,
            landing: Landing::default(),
            generation: 0,
            last_target: None,
        }
    }

    fn dial(&mut self, generation: u64, to: &Address, cx: &Context<'_, ConnectionMsg>) {
        let (landing, observer) = (Arc::clone(&self.landing), self.observer.clone());
        let inlet = cx.port().inlet(move |dialed| match dialed {
            Dialed::Trusting { name, fingerprint } => {
                observer.tell(ClientEvent::Line(format!("trusting {name} as {fingerprint}")));
                ConnectionMsg::Trusting
            }
            Dialed::Connected(connection) => {
                let mut landing = landing.lock().unwrap_or_else(PoisonError::into_inner);
                *landing = Some((generation, connection));
                ConnectionMsg::Dialed(Numbered { generation, event: () })
            }
            Dialed::Failed(error) => {
                let key_changed = matches!(error, DialError::KeyChanged { .. });
                let event = DialFailure { reason: error.to_string(), key_changed };
                ConnectionMsg::DialFailed(Numbered { generation, event })
            }
        });
        let net = cx.scope().runtime().net();
        self.line = Line::Dialing(self.dialer.dial(net, to, inlet));
    }

    /// The dial of this number came through: its connection is the line from now on.
    fn adopt(&mut self, generation: u64, cx: &Context<'_, ConnectionMsg>) {
        let landed = self.landing.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((_, connection)) = landed.filter(|(number, _)| *number == generation) else {
            return;
        };
        connection.deliver(cx.port().inlet(move |event| match event {
            NetEvent::Message { id, body } => {
                ConnectionMsg::Message(Numbered { generation, event: InMessage { id, body } })
            }
            NetEvent::Datagram(event) => ConnectionMsg::Datagram(Numbered { generation, event }),
            NetEvent::Closed(event) => ConnectionMsg::Closed(Numbered { generation, event }),
        }));
        self.line = Line::Up(connection);
    }

    fn hang_up(&mut self, code: CloseCode, reason: &str) {
        match std::mem::replace(&mut self.line, Line::None) {
            Line::Up(connection) => connection.close(u32::from(code.value()), reason.as_bytes()),
            Line::Dialing(dialing) => dialing.cancel(),
            Line::None => (),
        }
    }

    fn send(&self, mut message: ToServer) {
        let Line::Up(connection) = &self.line else { return };
        let mut body = Vec::new();
        match message.write_body(&mut body) {
            Ok(()) => drop(connection.send(message.id(), &body)),
            Err(error) => tracing::error!("{} was not sent: {error}", message.name()),
        }
    }

    fn joined(&self, rate: TickRate) {
        self.ways.to_predictor(PredictorMsg::Joined(rate));
        self.ways.to_presenter(PresenterMsg::Joined(rate));
    }

    fn measure_ping(&self) {
        if let Line::Up(connection) = &self.line
            && let Some(rtt) = connection.rtt()
        {
            self.ways.to_presenter(PresenterMsg::Ping(rtt));
        }
    }
}

impl Actor for ConnectionActor {
    type Machine = Connecting;
    const SPEC: Spec = SPEC;

    /// A panic ends the session: what its transport still says belongs to an old number.
    fn make(&mut self, start: Start<'_, ConnectionMsg>) -> Connecting {
        if start.restarts > 0 {
            self.hang_up(CloseCode::Leave, "the client failed");
            self.generation += 1;
            self.ways.to_predictor(PredictorMsg::Left);
            self.ways.to_presenter(PresenterMsg::Left);
            let address = self.last_target.as_ref().map(ToString::to_string);
            let reason = Some("the client's connection failed; connect again".to_owned());
            let end = SessionEnd { reason, ..SessionEnd::new(EndKind::ClosedByServer, address) };
            self.observer.tell(ClientEvent::Ended(end));
        }
        let last_target = self.last_target.clone();
        Connecting::new(Arc::clone(&self.profile), self.generation, last_target)
    }

    fn perform(
        &mut self,
        effect: Effect,
        cx: &mut Context<'_, ConnectionMsg>,
    ) -> Performed<Effect> {
        match effect {
            Effect::Dial { generation, target } => self.dial(generation, &target, cx),
            Effect::Adopt(generation) => self.adopt(generation, cx),
            Effect::HangUp { code, reason } => self.hang_up(code, reason),
            Effect::Send(message) => self.send(message),
            Effect::SendDatagram(bytes) => {
                if let Line::Up(connection) = &self.line {
                    connection.send_datagrams([bytes]);
                }
            }
            Effect::Joined(rate) => self.joined(rate),
            Effect::Spawned(pawn) => self.ways.to_presenter(PresenterMsg::Spawned(pawn)),
            Effect::Snapshot(snapshot) => {
                self.ways.to_predictor(PredictorMsg::Snapshot(Arc::clone(&snapshot)));
                self.ways.to_presenter(PresenterMsg::Snapshot(snapshot));
            }
            Effect::Players(list) => self.ways.to_presenter(PresenterMsg::Players(list)),
            Effect::Left => {
                self.ways.to_predictor(PredictorMsg::Left);
                self.ways.to_presenter(PresenterMsg::Left);
            }
            Effect::MeasurePing => self.measure_ping(),
            Effect::Keep(generation, last_target) => {
                (self.generation, self.last_target) = (generation, last_target);
            }
            Effect::Log(line) => tracing::info!("{line}"),
            Effect::Tell(event) => self.observer.tell(event),
        }
        Performed::Done
    }

    /// The server is told at once, not by its idle timeout.
    fn ended(&mut self, _exit: &Exit) {
        self.hang_up(CloseCode::Leave, "left");
    }
}
