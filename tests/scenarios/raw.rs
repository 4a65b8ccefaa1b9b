//! Raw: a peer or a server without anything of ours behind it. It sends whatever bytes a test likes
//! and writes down what comes.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use dh_host::net::{
    Closed, Connection, DialOptions, Dialed, Endpoint, Identity, InMessage, Knock, Links,
    ListenOptions, NetEvent, Target, Verdict, Whose,
};
use dh_host::{Actor, Context, Inlet, Performed, Place, Port, Runtime, Start};
use dh_machine::{Machine, Micros, Outbox, Restart, Spec, Strategy, actor_message};
use dh_messages::{
    ClientInfo, ClientReady, ConnectRequest, Message, PROTOCOL_VERSION, Snapshot, ToClient,
    datagram, decode, encode, schema_hash,
};
use dh_scenario::{ServerId, Transport, World};

/// What has come so far.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) messages: Vec<(u8, Bytes)>,
    pub(crate) datagrams: Vec<Bytes>,
    pub(crate) closed: Option<Closed>,
    connection: Option<Connection>,
    failed: Option<String>,
}

/// One end of a connection that a test speaks for.
#[derive(Clone, Debug)]
pub(crate) struct Raw {
    heard: Arc<Mutex<Heard>>,
    endpoint: Arc<Mutex<Option<Endpoint>>>,
    port: Port<RawMsg>,
}

/// Who dials, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dial {
    /// Whose key it is.
    pub(crate) key: u8,
    pub(crate) transport: Transport,
    pub(crate) links: Links,
    /// Whether it reads what it is sent.
    pub(crate) reads: bool,
}

impl Dial {
    /// A reader on an ideal path.
    pub(crate) fn new(key: u8, transport: Transport) -> Self {
        Self { key, transport, links: Links::IDEAL, reads: true }
    }
}

actor_message! {
    /// Everything a raw end can be told.
    pub(crate) enum RawMsg {
        Knock(Knock): Control Refuse,
        Dialed(Dialed): Control Refuse,
        Message((u8, Bytes)): Data Wait,
        Datagram(Bytes): Data DropOldest,
        Closed(Closed): Data Wait,
    }
}

impl Raw {
    /// Dial a server of the scenario.
    pub(crate) fn dial(world: &World, server: ServerId, dial: Dial) -> Self {
        let address = world.running(server).address();
        let raw = Self::start(world.runtime(), dial.reads);
        let target = match dial.transport {
            Transport::Quic => Target::Udp(address, "server".to_owned()),
            Transport::Memory => Target::Memory(address, Whose::Guest),
        };
        let identity = Identity::from_secret(&[dial.key; 32]);
        let options = DialOptions { links: dial.links, ..DialOptions::new(target, identity) };
        world.runtime().net().dial(options, raw.port.inlet(RawMsg::Dialed));
        raw
    }

    /// Be a server at `address`: whoever knocks is let in.
    pub(crate) fn listen(world: &World, address: SocketAddr) -> Self {
        let raw = Self::start(world.runtime(), true);
        let options = ListenOptions::new(address, Identity::from_secret(&[99; 32]));
        let knocks = raw.port.inlet(RawMsg::Knock);
        let endpoint = world.runtime().net().listen(options, knocks).unwrap();
        *lock(&raw.endpoint) = Some(endpoint);
        raw
    }

    fn start(runtime: &Runtime, reads: bool) -> Self {
        let (heard, endpoint) = (Arc::default(), Arc::default());
        let actor = RawActor { heard: Arc::clone(&heard), endpoint: Arc::clone(&endpoint), reads };
        let port = runtime.root().child("raw").spawn(Place::Net, "raw", actor);
        Self { heard, endpoint, port }
    }

    pub(crate) fn heard(&self) -> MutexGuard<'_, Heard> {
        lock(&self.heard)
    }

    pub(crate) fn connection(&self) -> Connection {
        let heard = self.heard();
        heard.connection.clone().unwrap_or_else(|| panic!("not connected: {:?}", heard.failed))
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.heard().connection.is_some()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.heard().closed.is_some()
    }

    /// Send a reliable message.
    pub(crate) fn send<M: Message>(&self, mut message: M) {
        let mut body = Vec::new();
        encode(&mut message, &mut body).unwrap();
        self.send_raw(M::ID, &body);
    }

    /// Send reliable bytes; those after the end go nowhere.
    pub(crate) fn send_raw(&self, id: u8, body: &[u8]) {
        let _ = self.connection().send(id, body);
    }

    /// Send a datagram.
    pub(crate) fn send_datagram<M: Message>(&self, mut message: M) {
        let mut bytes = Vec::new();
        datagram(&mut message, &mut bytes).unwrap();
        self.connection().send_datagrams([Bytes::from(bytes)]);
    }

    /// Say hello as this build does.
    pub(crate) fn greet(&self) {
        self.send(ConnectRequest { version: PROTOCOL_VERSION, schema_hash: schema_hash() });
    }

    /// Say who this is.
    pub(crate) fn identify(&self, name: &str) {
        self.send(ClientInfo { name: name.into(), ..ClientInfo::default() });
    }

    /// Ask for a pawn.
    pub(crate) fn ready(&self) {
        self.send(ClientReady { map_generation: 1 });
    }

    /// Go all the way into play.
    pub(crate) async fn join(&self, world: &mut World, name: &str) {
        self.connect(world).await;
        self.greet();
        self.identify(name);
        self.ready();
        let raw = self.clone();
        world.expect_within(Micros::from_secs(5), "a raw peer plays", |_| raw.has(5)).await;
    }

    /// Wait for the connection.
    pub(crate) async fn connect(&self, world: &mut World) {
        let raw = self.clone();
        let what = "a raw peer is connected";
        world.expect_within(Micros::from_secs(5), what, |_| raw.is_connected()).await;
    }

    /// Wait for the end of the connection.
    pub(crate) async fn end(&self, world: &mut World) -> Closed {
        let raw = self.clone();
        let what = "a raw peer hears its end";
        world.expect_within(Micros::from_secs(15), what, |_| raw.is_closed()).await;
        self.heard().closed.clone().unwrap_or_else(|| panic!("no end came"))
    }

    /// Whether a message of this number has come.
    pub(crate) fn has(&self, id: u8) -> bool {
        self.heard().messages.iter().any(|(it, _)| *it == id)
    }

    /// The numbers of all messages that came.
    pub(crate) fn ids(&self) -> Vec<u8> {
        self.heard().messages.iter().map(|(id, _)| *id).collect()
    }

    /// The messages that came to a peer.
    pub(crate) fn told(&self) -> Vec<ToClient> {
        let heard = self.heard();
        heard.messages.iter().map(|(id, body)| ToClient::from_stream(*id, body).unwrap()).collect()
    }

    /// The first message that came and that `pick` takes.
    pub(crate) fn find<T>(&self, pick: impl Fn(ToClient) -> Option<T>) -> Option<T> {
        self.told().into_iter().find_map(pick)
    }

    /// The whole snapshots that came.
    pub(crate) fn snapshots(&self) -> Vec<Snapshot> {
        let heard = self.heard();
        let whole = heard.datagrams.iter().filter_map(|bytes| bytes.strip_prefix(&[Snapshot::ID]));
        whole.map(|body| decode(body).unwrap()).collect()
    }
}

/// Performs nothing but writing down.
struct RawActor {
    heard: Arc<Mutex<Heard>>,
    endpoint: Arc<Mutex<Option<Endpoint>>>,
    reads: bool,
}

/// Hands everything on.
struct Hearing;

impl Machine for Hearing {
    type Msg = RawMsg;
    type Effect = RawMsg;

    fn handle(&mut self, _now: Micros, msg: RawMsg, out: &mut Outbox<RawMsg>) {
        out.push(msg);
    }
}

impl RawActor {
    fn adopt(&self, connection: Connection, to: Inlet<NetEvent>) {
        if self.reads {
            connection.deliver(to);
        }
        lock(&self.heard).connection = Some(connection);
    }
}

impl Actor for RawActor {
    type Machine = Hearing;
    const SPEC: Spec = Spec {
        kind: "raw",
        control_max: 1 << 10,
        data_max: 1 << 16,
        data_wakes: true,
        restart: Restart { count: 0, window: Micros(0) },
        strategy: Strategy::OneForOne,
        ask_deadline: None,
        asks: &[],
    };

    fn make(&mut self, _start: Start<'_, RawMsg>) -> Hearing {
        Hearing
    }

    fn perform(&mut self, msg: RawMsg, cx: &mut Context<'_, RawMsg>) -> Performed<RawMsg> {
        let to = cx.port().inlet(|event| match event {
            NetEvent::Message(InMessage { id, body }) => RawMsg::Message((id, body)),
            NetEvent::Datagram(bytes) => RawMsg::Datagram(bytes),
            NetEvent::Closed(closed) => RawMsg::Closed(closed),
        });
        match msg {
            RawMsg::Knock(Knock::Incoming(incoming)) => {
                if let Some(endpoint) = &*lock(&self.endpoint) {
                    endpoint.answer(incoming.id, Verdict::Accept);
                }
            }
            RawMsg::Knock(Knock::Arrived { connection, .. })
            | RawMsg::Dialed(Dialed::Connected(connection)) => self.adopt(connection, to),
            RawMsg::Knock(Knock::Failed(failed)) => lock(&self.heard).failed = Some(failed.why),
            RawMsg::Dialed(Dialed::Failed(why)) => {
                lock(&self.heard).failed = Some(why.to_string());
            }
            RawMsg::Dialed(Dialed::Trusting { .. }) => (),
            RawMsg::Message(message) => lock(&self.heard).messages.push(message),
            RawMsg::Datagram(bytes) => lock(&self.heard).datagrams.push(bytes),
            RawMsg::Closed(closed) => lock(&self.heard).closed = Some(closed),
        }
        Performed::Done
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
