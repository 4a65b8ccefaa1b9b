//! Endpoint: where a server can be reached, over UDP and over memory at one address.
//!
//! Owned by the runtime side: it outlives a restart of the listener that answers its knocks. It
//! decides nothing about arrivals but to forget those nobody answers.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::{fmt, io};

use dh_machine::Micros;
use tokio::task::AbortHandle;

use super::admission::{Failed, Incoming, Knock, Verdict};
use super::configs::Source;
use super::congestion::{Congestion, End};
use super::connection::{Connection, Lane, Remote};
use super::dial::MemoryKnock;
use super::gate::Gate;
use super::identity::Identity;
use super::key::PeerKey;
use super::link::Links;
use super::quic::{Heard, QuicLane};
use super::{Net, Shared, limit, lock, socket};
use crate::clock::micros;
use crate::port::Inlet;

/// What to listen on.
#[derive(Clone, Debug)]
pub struct ListenOptions {
    /// The address; port 0 asks the system for a free one.
    pub address: SocketAddr,
    /// Who this server is.
    pub identity: Identity,
    /// Whether to open a UDP socket, or only the door inside the process.
    pub udp: bool,
    /// Which controller decides how much may be under way.
    pub congestion: Congestion,
    /// What the server's own path does to packets over UDP.
    pub links: Links,
}

/// An open endpoint. Cheap to clone; the last clone closes it.
#[derive(Clone, Debug)]
pub struct Endpoint {
    inner: Arc<Inner>,
}

/// What an endpoint counted so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointStats {
    /// First packets that were offered to the listener.
    pub knocks: u64,
    /// First packets dropped at the socket, before any cryptography.
    pub shed: u64,
    /// First packets told to prove their address without asking the listener.
    pub retried: u64,
    /// Knocks dropped because too many waited, or the listener's port was full.
    pub overflowed: u64,
    /// Knocks that nobody answered in time.
    pub expired: u64,
}

/// Why an endpoint did not open.
#[derive(Debug)]
#[non_exhaustive]
pub enum ListenError {
    /// The address is taken, not ours, or not allowed.
    Bind {
        /// The address asked for.
        address: SocketAddr,
        /// What the system said.
        error: io::Error,
    },
    /// The keys could not be set up.
    Setup(String),
}

/// Where dials inside the process knock.
pub(crate) type MemoryDoor = Weak<Inner>;

#[derive(Debug)]
pub(crate) struct Inner {
    net: Arc<Shared>,
    address: SocketAddr,
    key: PeerKey,
    gate: Option<Arc<Gate>>,
    /// When its clients over UDP were last heard.
    heard: Arc<Heard>,
    /// Shared with the gate and with every connection inside the process.
    is_dead: Arc<AtomicBool>,
    /// The task that offers arrivals over UDP; it holds the endpoint open.
    accepting: Option<AbortHandle>,
    knocks: Inlet<Knock>,
    waiting: Mutex<Waiting>,
    counts: Counts,
}

/// Arrivals that wait for a verdict.
#[derive(Debug, Default)]
struct Waiting {
    ids: u64,
    is_closed: bool,
    arrivals: BTreeMap<u64, (Micros, Arrival)>,
}

#[derive(Debug)]
enum Arrival {
    Quic(Box<quinn::Incoming>),
    Memory(MemoryKnock),
}

#[derive(Debug, Default)]
struct Counts {
    knocks: AtomicU64,
    retried: AtomicU64,
    overflowed: AtomicU64,
    expired: AtomicU64,
}

impl ListenOptions {
    /// Listen on `address` over UDP and memory, as `identity`.
    #[must_use]
    pub fn new(address: SocketAddr, identity: Identity) -> Self {
        let (congestion, links) = (Congestion::default(), Links::IDEAL);
        Self { address, identity, udp: true, congestion, links }
    }
}

impl Net {
    /// Open an endpoint; arrivals are told to `knocks`.
    ///
    /// # Errors
    /// When the address cannot be had, or the keys cannot be set up.
    pub fn listen(
        &self,
        options: ListenOptions,
        knocks: Inlet<Knock>,
    ) -> Result<Endpoint, ListenError> {
        let net = &self.shared;
        let failed = |error| ListenError::Bind { address: options.address, error };
        let _entered = net.handle.enter();
        let is_dead = Arc::<AtomicBool>::default();
        let (quinn, gate, heard, address) = if options.udp {
            let bound = socket::bind(net, options.address, options.links, false).map_err(failed)?;
            let gate = Arc::new(Gate::new(bound.socket, net.clock, net.seed, Arc::clone(&is_dead)));
            let quinn = open(net, &options, &gate)?;
            (Some(quinn), Some(gate), bound.heard, bound.address)
        } else {
            (None, None, Arc::default(), options.address)
        };
        let inner = Arc::new_cyclic(|inner: &Weak<Inner>| {
            let accept = |quinn| net.handle.spawn(accept(quinn, Weak::clone(inner)));
            Inner {
                net: Arc::clone(net),
                address,
                key: options.identity.key(),
                gate,
                heard,
                is_dead,
                accepting: quinn.map(|quinn| accept(quinn).abort_handle()),
                knocks,
                waiting: Mutex::default(),
                counts: Counts::default(),
            }
        });
        lock(&net.doors).insert(address, Arc::downgrade(&inner));
        Ok(Endpoint { inner })
    }
}

impl Endpoint {
    /// Where it can be reached; never port 0.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.inner.address
    }

    /// Answer a knock. One that has expired, or was answered before, is left alone.
    pub fn answer(&self, id: u64, verdict: Verdict) {
        let arrival = {
            let mut waiting = lock(&self.inner.waiting);
            self.inner.expire(&mut waiting, self.inner.net.clock.now());
            waiting.arrivals.remove(&id)
        };
        let Some((_, arrival)) = arrival else { return };
        match (arrival, verdict) {
            (Arrival::Quic(incoming), Verdict::Accept) => {
                let handshake = handshake(Arc::clone(&self.inner), id, *incoming);
                self.inner.net.handle.spawn(handshake);
            }
            (Arrival::Quic(incoming), Verdict::Retry) => {
                if let Err(validated) = incoming.retry() {
                    validated.into_incoming().ignore();
                }
            }
            (Arrival::Quic(incoming), Verdict::Ignore) => incoming.ignore(),
            (Arrival::Memory(knock), Verdict::Accept) => {
                let connection = knock.accept(self.inner.key, Arc::clone(&self.inner.is_dead));
                self.inner.tell(Knock::Arrived { id, connection });
            }
            (Arrival::Memory(knock), Verdict::Retry | Verdict::Ignore) => knock.ignore(),
        }
    }

    /// Offer every arrival that waits for a verdict once more: for a listener that has forgotten
    /// what it was told.
    pub fn repeat_knocks(&self) {
        let waiting: Vec<Incoming> = lock(&self.inner.waiting)
            .arrivals
            .iter()
            .map(|(id, (_, arrival))| Incoming {
                id: *id,
                remote: arrival.remote(),
                validated: arrival.is_validated(),
            })
            .collect();
        for incoming in waiting {
            self.inner.tell(Knock::Incoming(incoming));
        }
    }

    /// While `true`, first packets from addresses not heard of in the last seconds are dropped at
    /// the socket; a real client's second one passes, has to prove its address, and only then is a
    /// knock. The gate also closes by itself when first packets come faster than any crowd of
    /// players.
    pub fn shed(&self, shed: bool) {
        if let Some(gate) = &self.inner.gate {
            gate.shed(shed);
        }
    }

    /// What was counted so far.
    #[must_use]
    pub fn stats(&self) -> EndpointStats {
        let counts = &self.inner.counts;
        EndpointStats {
            knocks: counts.knocks.load(Ordering::Relaxed),
            shed: self.inner.gate.as_ref().map_or(0, |gate| gate.dropped()),
            retried: counts.retried.load(Ordering::Relaxed),
            overflowed: counts.overflowed.load(Ordering::Relaxed),
            expired: counts.expired.load(Ordering::Relaxed),
        }
    }

    /// Be gone as if the process had died: from now on nothing is sent or heard, on no connection
    /// of this endpoint, and nobody is told. In simulation, and inside the process, another can
    /// listen at the address at once; a real socket is let go of when its connections have ended,
    /// about a second after they were dropped.
    pub fn kill(&self) {
        self.inner.is_dead.store(true, Ordering::Relaxed);
        self.inner.forget_door();
        if let Some(network) = &self.inner.net.simulated {
            network.pull(self.inner.address);
        }
        self.close();
        if let Some(accepting) = &self.inner.accepting {
            accepting.abort();
        }
    }

    /// Refuse all arrivals from now on. Connections live on until each is closed.
    pub fn close(&self) {
        self.inner.close();
    }
}

impl Inner {
    /// Somebody dials from inside the process.
    pub(crate) fn knock(self: &Arc<Self>, knock: MemoryKnock) {
        self.arrive(Arrival::Memory(knock));
    }

    fn arrive(&self, arrival: Arrival) {
        let (remote, validated) = (arrival.remote(), arrival.is_validated());
        let now = self.net.clock.now();
        let mut waiting = lock(&self.waiting);
        self.expire(&mut waiting, now);
        if waiting.is_closed {
            drop(waiting);
            arrival.refuse();
            return;
        }
        if waiting.arrivals.len() >= limit::KNOCKS_MAX {
            drop(waiting);
            self.counts.overflowed.fetch_add(1, Ordering::Relaxed);
            self.net.hits.knock_lost();
            arrival.ignore();
            return;
        }
        waiting.ids += 1;
        let id = waiting.ids;
        waiting.arrivals.insert(id, (now, arrival));
        drop(waiting);
        self.counts.knocks.fetch_add(1, Ordering::Relaxed);
        if !self.tell(Knock::Incoming(Incoming { id, remote, validated }))
            && let Some((_, arrival)) = lock(&self.waiting).arrivals.remove(&id)
        {
            self.counts.overflowed.fetch_add(1, Ordering::Relaxed);
            arrival.ignore();
        }
    }

    /// Ignore what nobody answered; ids grow with time, so the oldest come first.
    fn expire(&self, waiting: &mut Waiting, now: Micros) {
        while let Some(oldest) = waiting.arrivals.first_entry()
            && now.since(oldest.get().0) > micros(limit::HANDSHAKE_MAX)
        {
            oldest.remove().1.ignore();
            self.counts.expired.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Another endpoint may have the address already.
    fn forget_door(&self) {
        let mut doors = lock(&self.net.doors);
        if doors.get(&self.address).is_some_and(|door| std::ptr::eq(door.as_ptr(), self)) {
            doors.remove(&self.address);
        }
    }

    fn tell(&self, knock: Knock) -> bool {
        self.knocks.offer(knock).is_ok()
    }

    fn close(&self) {
        let arrivals = {
            let mut waiting = lock(&self.waiting);
            waiting.is_closed = true;
            std::mem::take(&mut waiting.arrivals)
        };
        arrivals.into_values().for_each(|(_, arrival)| arrival.refuse());
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.close();
        self.forget_door();
        if let Some(accepting) = &self.accepting {
            accepting.abort();
        }
    }
}

impl Arrival {
    fn remote(&self) -> Remote {
        match self {
            Self::Quic(incoming) => Remote::Udp(incoming.remote_address()),
            Self::Memory(knock) => knock.remote(),
        }
    }

    fn is_validated(&self) -> bool {
        match self {
            Self::Quic(incoming) => incoming.remote_address_validated(),
            Self::Memory(_) => true,
        }
    }

    fn ignore(self) {
        match self {
            Self::Quic(incoming) => incoming.ignore(),
            Self::Memory(knock) => knock.ignore(),
        }
    }

    fn refuse(self) {
        match self {
            Self::Quic(incoming) => incoming.refuse(),
            Self::Memory(knock) => drop(knock),
        }
    }
}

fn open(
    net: &Arc<Shared>,
    options: &ListenOptions,
    gate: &Arc<Gate>,
) -> Result<quinn::Endpoint, ListenError> {
    let source = Source::of(net.simulated.as_ref());
    let server = source
        .server(&options.identity, options.congestion)
        .map_err(|error| ListenError::Setup(error.0))?;
    quinn::Endpoint::new_with_abstract_socket(
        source.listening(&options.identity),
        Some(server),
        Arc::<Gate>::clone(gate),
        Arc::new(quinn::TokioRuntime),
    )
    .map_err(|error| ListenError::Bind { address: options.address, error })
}

/// Offer every arrival until the endpoint is gone.
async fn accept(quinn: quinn::Endpoint, inner: Weak<Inner>) {
    while let Some(incoming) = quinn.accept().await {
        let Some(inner) = inner.upgrade() else { return };
        let is_shedding = inner.gate.as_ref().is_some_and(|gate| gate.is_shedding());
        if is_shedding && !incoming.remote_address_validated() {
            // Nobody needs to be asked, and a half-open handshake would cost far more.
            inner.counts.retried.fetch_add(1, Ordering::Relaxed);
            if let Err(validated) = incoming.retry() {
                validated.into_incoming().ignore();
            }
            continue;
        }
        inner.arrive(Arrival::Quic(Box::new(incoming)));
    }
}

/// Go through the handshake with an accepted arrival, within its time.
async fn handshake(inner: Arc<Inner>, id: u64, incoming: quinn::Incoming) {
    let remote = Remote::Udp(incoming.remote_address());
    let failed = |why: String| Knock::Failed(Failed { id, remote, why });
    let connecting = match incoming.accept() {
        Ok(connecting) => connecting,
        Err(error) => {
            inner.tell(failed(error.to_string()));
            return;
        }
    };
    let told = match tokio::time::timeout(limit::HANDSHAKE_MAX, connecting).await {
        Ok(Ok(quinn)) => {
            let at = (inner.address, &inner.heard);
            let lane = QuicLane::start(&inner.net, quinn, at, End::Server, None);
            Knock::Arrived { id, connection: Connection::new(Lane::Quic(lane)) }
        }
        Ok(Err(error)) => failed(error.to_string()),
        Err(_) => failed("the handshake took too long".to_owned()),
    };
    inner.tell(told);
}

impl fmt::Display for ListenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bind { address, error } => write!(f, "cannot listen on {address}: {error}"),
            Self::Setup(why) => write!(f, "cannot set up the keys of the server: {why}"),
        }
    }
}

impl std::error::Error for ListenError {}
