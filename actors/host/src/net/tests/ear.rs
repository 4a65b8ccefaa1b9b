//! Ear: a port without an actor, and worlds to listen in.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use dh_machine::{Micros, Restart, Spec, Strategy, actor_message};
use tokio::runtime::{Builder, Handle};

use crate::clock::Clock;
use crate::flight::Flight;
use crate::net::{
    BlobEvent, Congestion, Connection, DialError, DialOptions, Dialed, Endpoint, Identity,
    InMessage, Knock, Links, ListenOptions, Net, NetEvent, Target, Verdict, Whose,
};
use crate::port::{Inlet, Port, Settled, Taken};

actor_message! {
    /// Everything the network tells.
    pub(crate) enum Told {
        Message(Event): Data Wait,
        Blob(BlobEvent): Data Wait,
        Datagram(Bytes): Data Refuse,
        Closed(crate::net::Closed): Control Refuse,
        Knock(Knock): Control Refuse,
        Dialed(Dialed): Control Refuse,
    }
}

/// A reliable message.
pub(crate) type Event = (u8, Bytes);

/// A port that a test empties by hand.
#[derive(Clone, Debug)]
pub(crate) struct Ear {
    port: Port<Told>,
    clock: Clock,
}

impl Ear {
    pub(crate) fn new(net: &Net) -> Self {
        Self::with_room(net, 100_000)
    }

    pub(crate) fn with_room(net: &Net, data_max: usize) -> Self {
        let spec = Spec {
            kind: "ear",
            control_max: 10_000,
            data_max,
            data_wakes: true,
            restart: Restart { count: 0, window: Micros(0) },
            strategy: Strategy::OneForOne,
            ask_deadline: None,
            asks: &[],
        };
        Self { port: Port::new(&spec, net.shared.clock), clock: net.shared.clock }
    }

    pub(crate) fn events(&self) -> Inlet<NetEvent> {
        self.port.inlet(|event| match event {
            NetEvent::Message(InMessage { id, body }) => Told::Message((id, body)),
            NetEvent::Datagram(bytes) => Told::Datagram(bytes),
            NetEvent::Closed(closed) => Told::Closed(closed),
        })
    }

    pub(crate) fn blobs(&self) -> Inlet<BlobEvent> {
        self.port.inlet(Told::Blob)
    }

    pub(crate) fn knocks(&self) -> Inlet<Knock> {
        self.port.inlet(Told::Knock)
    }

    pub(crate) fn dialed(&self) -> Inlet<Dialed> {
        self.port.inlet(Told::Dialed)
    }

    /// Take what has been told.
    pub(crate) fn take(&self) -> Option<Told> {
        let taken = self.port.core.take(None, true, self.clock.now());
        let Taken::Message(held) = taken else { return None };
        self.port.core.settle(Settled::Handled);
        Some(held.msg)
    }

    /// Wait for what is told next, for at most half a minute of the runtime's clock.
    pub(crate) async fn next(&self) -> Told {
        let patience = self.clock.now() + Micros::from_secs(30);
        loop {
            if let Some(told) = self.take() {
                return told;
            }
            assert!(self.clock.now() < patience, "nothing was told: {:?}", self.port.stats());
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Wait for the end of a connection; what was told before it.
    pub(crate) async fn closed(&self) -> (crate::net::Closed, Vec<Told>) {
        let mut before = Vec::new();
        loop {
            match self.next().await {
                Told::Closed(closed) => {
                    while let Some(told) = self.take() {
                        before.push(told);
                    }
                    return (closed, before);
                }
                told => before.push(told),
            }
        }
    }

    /// Nobody listens any more.
    pub(crate) fn deafen(&self) {
        self.port.core.close();
    }
}

/// Run a simulated world.
pub(crate) fn simulated<F: Future>(seed: u64, world: impl FnOnce(Net) -> F) -> F::Output {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let clock = Clock::simulated();
        world(Net::simulated(Handle::current(), unrecorded(clock), clock, seed)).await
    })
}

/// Run on real sockets.
pub(crate) fn real<F: Future>(world: impl FnOnce(Net) -> F) -> F::Output {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        world(Net::real(Handle::current(), unrecorded(Clock::real()), Clock::real(), 1)).await
    })
}

/// What a connection goes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    Quic,
    Memory,
}

/// Both transports, one after the other.
pub(crate) const BOTH: [Over; 2] = [Over::Quic, Over::Memory];

/// A client and its server.
#[derive(Debug)]
pub(crate) struct Joined {
    pub(crate) endpoint: Endpoint,
    pub(crate) knocks: Ear,
    pub(crate) client: Connection,
    pub(crate) server: Connection,
    pub(crate) client_ear: Ear,
    pub(crate) server_ear: Ear,
}

pub(crate) fn identity(of: u8) -> Identity {
    Identity::from_secret(&[of; 32])
}

/// The address of the server under test.
pub(crate) fn server_address(net: &Net) -> SocketAddr {
    if net.network().is_some() {
        "10.0.0.1:27015".parse().unwrap()
    } else {
        "127.0.0.1:0".parse().unwrap()
    }
}

pub(crate) fn listen(net: &Net) -> (Endpoint, Ear) {
    listen_with(net, Congestion::Bbr)
}

pub(crate) fn listen_with(net: &Net, congestion: Congestion) -> (Endpoint, Ear) {
    let knocks = Ear::new(net);
    let mut options = ListenOptions::new(server_address(net), identity(1));
    options.congestion = congestion;
    (net.listen(options, knocks.knocks()).unwrap(), knocks)
}

pub(crate) fn dial_options(endpoint: &Endpoint, over: Over) -> DialOptions {
    let address = endpoint.address();
    let target = match over {
        Over::Quic => Target::Udp(address, "server".to_owned()),
        Over::Memory => Target::Memory(address, Whose::Host),
    };
    DialOptions::new(target, identity(2))
}

/// Dial and wait for what comes of it.
pub(crate) async fn dial(net: &Net, options: DialOptions) -> Result<Connection, DialError> {
    let ear = Ear::new(net);
    net.dial(options, ear.dialed());
    loop {
        match ear.next().await {
            Told::Dialed(Dialed::Connected(connection)) => return Ok(connection),
            Told::Dialed(Dialed::Failed(error)) => return Err(error),
            _ => (),
        }
    }
}

/// Accept everybody until somebody has arrived.
pub(crate) async fn welcome(endpoint: &Endpoint, knocks: &Ear) -> Connection {
    loop {
        match knocks.next().await {
            Told::Knock(Knock::Incoming(incoming)) => {
                endpoint.answer(incoming.id, Verdict::Accept);
            }
            Told::Knock(Knock::Arrived { connection, .. }) => return connection,
            other => panic!("nobody arrived: {other:?}"),
        }
    }
}

/// A client that has joined its server, both with ears.
pub(crate) async fn join(net: &Net, over: Over, links: Links) -> Joined {
    join_with(net, over, links, |ear_max| Ear::with_room(net, ear_max)).await
}

pub(crate) async fn join_with(
    net: &Net,
    over: Over,
    links: Links,
    server_ear: impl FnOnce(usize) -> Ear,
) -> Joined {
    join_at(net, over, links, server_ear, listen(net)).await
}

/// Join a server that listens already.
pub(crate) async fn join_at(
    net: &Net,
    over: Over,
    links: Links,
    server_ear: impl FnOnce(usize) -> Ear,
    (endpoint, knocks): (Endpoint, Ear),
) -> Joined {
    let mut options = dial_options(&endpoint, over);
    options.links = links;
    let ear = Ear::new(net);
    net.dial(options, ear.dialed());
    let server = welcome(&endpoint, &knocks).await;
    let Told::Dialed(Dialed::Connected(client)) = ear.next().await else {
        panic!("not connected");
    };
    let (client_ear, server_ear) = (Ear::new(net), server_ear(100_000));
    client.deliver(client_ear.events());
    server.deliver(server_ear.events());
    Joined { endpoint, knocks, client, server, client_ear, server_ear }
}

/// A link of so many milliseconds, with a draw and loss in parts per million.
pub(crate) fn lossy(latency: u64, draw: u64, loss_ppm: u32) -> Links {
    let latency = Micros::from_millis(latency);
    let draw = Micros::from_millis(draw);
    Links::both(crate::net::Link { latency, draw, loss_ppm, ..crate::net::Link::IDEAL })
}

pub(crate) async fn sleep_ms(millis: u64) {
    tokio::time::sleep(Duration::from_millis(millis)).await;
}

fn unrecorded(clock: Clock) -> Arc<Flight> {
    Arc::new(Flight::new(clock, false))
}
