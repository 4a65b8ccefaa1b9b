//! Connection actor: one server at a time, from the dial to the ending.
//!
//! Owned by: the client's scope. Talks to: its transport, predictor, presenter. Never: simulates,
//! draws, or keeps two sessions at once. After a panic: the conversation goes on where it stood;
//! datagrams come again by themselves. A message that breaks it twice leaves a gap, and so ends the
//! session with a told reason; a typed line is answered as lost.

mod conversation;
mod datagrams;
mod exchange;
mod landing;
mod state;
#[cfg(test)]
mod tests;
mod typed;

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use dh_host::net::{
    Closed, Connection, DialError, Dialed, Dialing, InMessage, KnownHostsError, Links, NetEvent,
};
use dh_host::{Actor, Context, Exit, KnownBuilds, Performed, Start};
use dh_machine::{Micros, Restart, Spec, Strategy, TickRate, actor_message};
use dh_messages::{BlobRequest, Builds, CloseCode, Dialect, ToServer};
use dh_prefs::Address;
use dh_sim::GrayBox;

use self::landing::Landing;
pub use self::state::{Connecting, Effect, Kept};
use crate::content::StandingMap;
use crate::dialer::Dialer;
use crate::downloader::{DownloaderActor, DownloaderMsg, Failure};
use crate::ending::{EndKind, SessionEnd};
use crate::event::{ClientEvent, Observer};
use crate::map_loader::MapLoaderMsg;
use crate::numbered::Numbered;
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
    #[derive(Clone)]
    pub enum ConnectionMsg {
        /// Join this server, or the one before.
        Connect(Option<Address>): Control Refuse,
        /// Leave, or give up the attempt.
        Disconnect: Control Refuse,
        /// The player says something.
        Chat(String): Control Refuse,
        /// The player has a line for the server's console.
        Console(ServerLine): Control Refuse,
        /// Who the player is has changed; the next join says so.
        Profile(Arc<Profile>): Control Coalesce,
        /// From now on the path does this to packets, as scenarios have it.
        Links(Links): Control Coalesce,
        /// A server was met for the first time; its key is kept from now on.
        Trusting: Control Coalesce,
        /// A dial came through; the builds that this process has met until then.
        Dialed(Numbered<Builds>): Control Refuse,
        /// A dial did not.
        DialFailed(Numbered<DialFailure>): Control Refuse,
        /// The transport is gone. In order with what came before it.
        Closed(Numbered<Closed>): Data Wait,
        /// A whole reliable message came.
        Message(Numbered<InMessage>): Data Wait,
        /// A datagram came.
        Datagram(Numbered<Bytes>): Data DropOldest,
        /// The downloader wants this blob of the server.
        AskBlob(Numbered<BlobRequest>): Control Refuse,
        /// A map is loaded.
        Loaded(Numbered<Arc<StandingMap>>): Control Refuse,
        /// A map cannot be had or loaded.
        LoadFailed(Numbered<Failure>): Control Refuse,
        /// One of this client's actors has lost a fact of the session, and why.
        Unusable(String): Control Coalesce,
        /// The predictor has a datagram for the server.
        Input(Numbered<Bytes>): Data DropOldest,
    }
}

/// A line for the server's console.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerLine {
    /// The asker's own number; the answer carries it.
    pub id: u32,
    /// The line.
    pub text: String,
}

/// Why a dial failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DialFailure {
    /// In words.
    pub reason: String,
    /// What it is recorded as.
    pub kind: EndKind,
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
    ways: Ways,
    observer: Observer,
    dialer: Dialer,
    builds: KnownBuilds,
    gray_box: Arc<GrayBox>,
    line: Line,
    landing: Landing,
    /// How blobs of the line are read; settled before the first can be asked for.
    dialect: Arc<OnceLock<Dialect>>,
    /// What a remade machine starts from.
    kept: Kept,
}

/// The one transport, or the attempt at one.
#[derive(Debug)]
enum Line {
    None,
    Dialing(Dialing),
    Up(Connection),
    /// One is being left, and another will be dialled.
    Between,
}

impl ConnectionActor {
    pub(crate) fn new(
        profile: Arc<Profile>,
        ways: Ways,
        observer: Observer,
        (dialer, builds): (Dialer, KnownBuilds),
        gray_box: Arc<GrayBox>,
    ) -> Self {
        Self {
            ways,
            observer,
            dialer,
            builds,
            gray_box,
            line: Line::None,
            landing: Landing::default(),
            dialect: Arc::default(),
            kept: Kept::new(profile),
        }
    }

    fn dial(&mut self, attempt: u64, to: &Address, cx: &Context<'_, ConnectionMsg>) {
        self.landing.expect(attempt);
        let (landing, observer) = (self.landing.clone(), self.observer.clone());
        let builds = self.builds.clone();
        let inlet = cx.port().inlet(move |dialed| match dialed {
            Dialed::Trusting { name, fingerprint } => {
                observer.tell(ClientEvent::Line(format!("trusting {name} as {fingerprint}")));
                ConnectionMsg::Trusting
            }
            Dialed::Connected(connection) => {
                builds.accent().into_iter().for_each(|accent| connection.speak(accent));
                landing.land(attempt, connection);
                ConnectionMsg::Dialed(Numbered::new(attempt, builds.met()))
            }
            Dialed::Failed(error) => {
                let failure = DialFailure { reason: error.to_string(), kind: kind_of(&error) };
                ConnectionMsg::DialFailed(Numbered::new(attempt, failure))
            }
        });
        let net = cx.scope().runtime().net();
        self.line = Line::Dialing(self.dialer.dial(net, to, inlet));
    }

    /// The dial of this attempt came through: its connection is the line from now on.
    fn adopt(&mut self, attempt: u64, cx: &Context<'_, ConnectionMsg>) {
        let Some(connection) = self.landing.take(attempt) else { return };
        self.dialer.path.set_links(self.dialer.links);
        connection.carries(&self.kept.profile.name);
        connection.deliver(cx.port().inlet(move |event| match event {
            NetEvent::Message(message) => ConnectionMsg::Message(Numbered::new(attempt, message)),
            NetEvent::Datagram(bytes) => ConnectionMsg::Datagram(Numbered::new(attempt, bytes)),
            NetEvent::Closed(closed) => ConnectionMsg::Closed(Numbered::new(attempt, closed)),
        }));
        self.dialect = Arc::default();
        if let Some(downloader) = self.ways.downloader() {
            let dialect = Arc::clone(&self.dialect);
            let ear = move |event| DownloaderActor::ear(attempt, dialect.get(), event);
            connection.deliver_blobs(downloader.inlet(ear));
        }
        self.line = Line::Up(connection);
    }

    /// Let go of the line, if there is one.
    fn hang_up(&mut self, code: CloseCode, reason: &str) {
        self.landing.close();
        match std::mem::replace(&mut self.line, Line::None) {
            Line::Up(connection) => connection.close(u32::from(code.value()), reason.as_bytes()),
            Line::Dialing(dialing) => dialing.cancel(),
            Line::Between | Line::None => (),
        }
    }

    fn relink(&mut self, links: Links) {
        self.dialer.links = links;
        self.dialer.path.set_links(links);
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
        let joined = Numbered::new(self.kept.attempt, rate);
        self.ways.to_predictor(PredictorMsg::Joined(joined.clone()));
        self.ways.to_presenter(PresenterMsg::Joined(joined));
    }

    /// The map that is loaded takes the place of the one that is shown.
    fn stand(&self, map: &StandingMap) {
        self.ways.to_predictor(PredictorMsg::Ground(Arc::clone(&map.solids)));
        self.ways.to_presenter(PresenterMsg::Scene(Arc::clone(&map.scene)));
        self.observer.tell(ClientEvent::Loaded(map.generation));
    }

    fn left(&self) {
        self.ways.to_downloader(DownloaderMsg::Forget);
        self.ways.to_map_loader(MapLoaderMsg::Forget);
        self.ways.to_predictor(PredictorMsg::Left);
        self.ways.to_presenter(PresenterMsg::Left);
    }

    fn measure_ping(&self) {
        if let Line::Up(connection) = &self.line
            && let Some(rtt) = connection.rtt()
        {
            self.ways.to_presenter(PresenterMsg::Ping(Numbered::new(self.kept.attempt, rtt)));
        }
    }

    /// What was lost for good is told: a line that was typed for itself, all else as the end of the
    /// session, since nothing after it fits.
    fn give_up(&mut self, lost: ConnectionMsg) {
        let line = |text: &str| ClientEvent::Line(text.to_owned());
        match lost {
            ConnectionMsg::Chat(_) => self.observer.tell(line("chat: the client failed over it")),
            ConnectionMsg::Console(ServerLine { id, .. }) => {
                let text = "the client failed over it; nothing was sent".to_owned();
                self.observer.tell(ClientEvent::Answer { id, text });
            }
            ConnectionMsg::Profile(_) | ConnectionMsg::Links(_) | ConnectionMsg::Trusting => (),
            _ => self.end_session(),
        }
    }

    fn end_session(&mut self) {
        self.kept.end();
        self.hang_up(CloseCode::Leave, "the client failed");
        self.left();
        self.ways.to_presenter(PresenterMsg::Awaited(None));
        let reason = Some("the client's connection failed; connect again".to_owned());
        let end = SessionEnd { reason, ..self.kept.ending(EndKind::ClientFailed) };
        end.into_events().into_iter().for_each(|event| self.observer.tell(event));
    }
}

/// What a dial that failed means.
fn kind_of(error: &DialError) -> EndKind {
    match error {
        DialError::KeyChanged { .. } => EndKind::ServerKeyChanged,
        DialError::KnownHosts(KnownHostsError::NotWritten { .. } | KnownHostsError::Full(_)) => {
            EndKind::KnownHostsNotWritten
        }
        DialError::KnownHosts(_) => EndKind::KnownHostsUnusable,
        _ => EndKind::CouldNotReach,
    }
}

impl Actor for ConnectionActor {
    type Machine = Connecting;
    const SPEC: Spec = SPEC;

    fn make(&mut self, start: Start<'_, ConnectionMsg>) -> Connecting {
        if let Some(lost) = start.lost {
            self.give_up(lost);
        }
        Connecting::new(self.kept.clone(), Arc::clone(self.builds.own()), start.now)
    }

    fn spare(msg: &ConnectionMsg) -> Option<ConnectionMsg> {
        match msg {
            ConnectionMsg::Datagram(_) | ConnectionMsg::Input(_) => None,
            _ => Some(msg.clone()),
        }
    }

    fn perform(
        &mut self,
        effect: Effect,
        cx: &mut Context<'_, ConnectionMsg>,
    ) -> Performed<Effect> {
        match effect {
            Effect::Dial { attempt, target } => self.dial(attempt, &target, cx),
            Effect::Adopt(attempt) => self.adopt(attempt, cx),
            Effect::HangUp { code, reason } => self.hang_up(code, reason),
            Effect::AwaitGoodbye => self.line = Line::Between,
            Effect::Relink(links) => self.relink(links),
            Effect::Send(message) => self.send(message),
            Effect::SendDatagram(bytes) => {
                if let Line::Up(connection) = &self.line {
                    connection.send_datagrams([bytes]);
                }
            }
            Effect::Fetch(wanted) => {
                self.ways.to_map_loader(MapLoaderMsg::Forget);
                self.ways.to_downloader(DownloaderMsg::Want(wanted));
            }
            Effect::Await(map) => self.ways.to_presenter(PresenterMsg::Awaited(map)),
            Effect::Stand(map) => self.stand(&map),
            Effect::StandOnGrayBox(generation) => {
                self.stand(&StandingMap::gray_box(&self.gray_box, generation));
            }
            Effect::Speaks(dialect) => drop(self.dialect.set(dialect)),
            Effect::Remember(build) => self.builds.keep(build, cx.scope().runtime()),
            Effect::Joined(rate) => self.joined(rate),
            Effect::Spawned(pawn) => self.ways.to_presenter(PresenterMsg::Spawned(pawn)),
            Effect::Snapshot(snapshot) => {
                let snapshot = Numbered::new(self.kept.attempt, snapshot);
                self.ways.to_predictor(PredictorMsg::Snapshot(snapshot.clone()));
                self.ways.to_presenter(PresenterMsg::Snapshot(snapshot));
            }
            Effect::Players(list) => self.ways.to_presenter(PresenterMsg::Players(list)),
            Effect::Left => self.left(),
            Effect::MeasurePing => self.measure_ping(),
            Effect::Keep(kept) => self.kept = *kept,
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
