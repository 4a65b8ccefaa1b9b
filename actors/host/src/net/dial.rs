//! Dial: from a target to a connection, or to the one error that says why not.
//!
//! A server that says nothing is no error here: whoever dials has a clock of their own and
//! cancels.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Weak};
use std::{fmt, future, io};

use quinn::{ConnectionError, TransportErrorCode};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use super::certificate::OneServer;
use super::configs::{SERVER_NAME, Source};
use super::congestion::{Congestion, End};
use super::connection::{Connection, Lane, Remote};
use super::identity::Identity;
use super::key::{Fingerprint, PeerKey};
use super::known_hosts::{KnownHosts, KnownHostsError};
use super::link::Links;
use super::memory::{self, Ends};
use super::path::ClientPath;
use super::quic::QuicLane;
use super::race::{First, race};
use super::shaper::{Shaper, Way, due};
use super::{Fate, Net, Shared, limit, lock, probe, socket};
use crate::port::Inlet;

/// Whom to dial, as whom, believing what.
#[derive(Clone, Debug)]
pub struct DialOptions {
    /// Where the server is.
    pub target: Target,
    /// Who this client is.
    pub identity: Identity,
    /// Which key the server must show.
    pub trust: Trust,
    /// What the client's path does to packets.
    pub links: Links,
    /// Whether a real socket is behind the link model also where the links are ideal, so that they
    /// can change while it lives. Elsewhere every path is.
    pub shaped: bool,
    /// Where the path is played with from.
    pub path: ClientPath,
    /// The address to dial from; any when not given.
    pub from: Option<SocketAddr>,
    /// Which controller decides how much may be under way.
    pub congestion: Congestion,
}

/// Where a server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// At an address of the network, known by a name.
    Udp(SocketAddr, String),
    /// At whatever address the name has, and a port.
    Host(String, u16),
    /// In this process, listening at that address.
    Memory(SocketAddr, Whose),
}

/// Whose a dial inside the process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The player's whose process this is.
    Host,
    /// Somebody's who came from outside, as far as the server can tell; for scenarios.
    Guest,
}

/// Which key a server must show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Any.
    Any,
    /// This one.
    Key(PeerKey),
    /// The one it showed when it was first met, kept in this file; any on the loopback.
    KnownHosts(PathBuf),
}

/// How a dial goes on. Connected or failed comes last.
#[derive(Debug)]
pub enum Dialed {
    /// The server was not known before and is from now on.
    Trusting {
        /// The name it is kept under.
        name: String,
        /// The key it showed.
        fingerprint: Fingerprint,
    },
    /// The handshake is done.
    Connected(Connection),
    /// There will be no connection.
    Failed(DialError),
}

/// Why there is no connection. All but [`DialError::TimedOut`], [`DialError::KeyChanged`] and
/// [`DialError::KnownHosts`] count as "could not reach".
#[derive(Debug)]
#[non_exhaustive]
pub enum DialError {
    /// The name has no address.
    Lookup {
        /// The name.
        name: String,
        /// What the system said.
        error: io::Error,
    },
    /// No socket could be opened to dial from.
    Bind(io::Error),
    /// The network has no way to the address.
    NoRoute(SocketAddr),
    /// Nobody listens there: the network answered for the port, or nothing has that address in
    /// this process.
    PortUnreachable(SocketAddr),
    /// The server refused before the handshake.
    Refused,
    /// Nothing was heard for [`limit::IDLE_MAX`]; whoever dials mostly has a shorter patience.
    TimedOut,
    /// The server shows another key than the one it is known by.
    KeyChanged {
        /// The name it is known under.
        name: String,
        /// The key it is known by.
        expected: Fingerprint,
        /// The key it shows.
        shown: Fingerprint,
    },
    /// The file of known servers is not usable.
    KnownHosts(KnownHostsError),
    /// The handshake failed otherwise.
    Handshake(String),
}

/// A dial under way.
#[derive(Clone, Debug)]
pub struct Dialing {
    task: AbortHandle,
}

impl DialOptions {
    /// Dial `target` as `identity`, believing any key, over an ideal path.
    #[must_use]
    pub fn new(target: Target, identity: Identity) -> Self {
        Self {
            target,
            identity,
            trust: Trust::Any,
            links: Links::IDEAL,
            shaped: false,
            path: ClientPath::default(),
            from: None,
            congestion: Congestion::default(),
        }
    }
}

impl Dialing {
    /// Give up; nothing more is told.
    pub fn cancel(&self) {
        self.task.abort();
    }
}

impl Net {
    /// Dial; what comes of it is told to `inlet`.
    pub fn dial(&self, options: DialOptions, inlet: Inlet<Dialed>) -> Dialing {
        let net = Arc::clone(&self.shared);
        let number = net.next_dial();
        let task = self.shared.handle.spawn(async move {
            let last = match connect(&net, &options, number, Some(&inlet)).await {
                Ok(connection) => Dialed::Connected(connection),
                Err(error) => Dialed::Failed(error),
            };
            // A dialler that is gone lets the connection close again.
            let _ = inlet.send(last).await;
        });
        Dialing { task: task.abort_handle() }
    }
}

/// Dial with a name for the draws; what is to be said before the end goes to `inlet`.
pub(crate) async fn connect(
    net: &Arc<Shared>,
    options: &DialOptions,
    number: u64,
    inlet: Option<&Inlet<Dialed>>,
) -> Result<Connection, DialError> {
    let Target::Memory(address, whose) = options.target else {
        return dial_quic(net, options, inlet).await;
    };
    let dialled = dial_memory(net, options, (address, whose), number);
    let dialled = tokio::time::timeout(limit::IDLE_MAX, dialled).await;
    dialled.unwrap_or(Err(DialError::TimedOut))
}

async fn dial_quic(
    net: &Arc<Shared>,
    options: &DialOptions,
    inlet: Option<&Inlet<Dialed>>,
) -> Result<Connection, DialError> {
    let (address, name) = find(net, &options.target).await?;
    let known = expected_key(&options.trust, address, &name)?;
    let from = options.from.unwrap_or_else(|| any(net, address));
    let bound = socket::bind(net, from, options.links, options.shaped).map_err(DialError::Bind)?;
    options.path.attach(net, bound.shaper.as_ref(), bound.shaped);
    if let Some(shaper) = &bound.shaper {
        net.add_path(bound.address, shaper);
    }
    let from = bound.address;
    let source = Source::of(net.simulated.as_ref());
    let (config, verifier) = source
        .client(&options.identity, known.key, options.congestion)
        .map_err(|error| DialError::Handshake(error.0))?;
    let quinn = quinn::Endpoint::new_with_abstract_socket(
        source.endpoint(),
        None,
        bound.socket,
        Arc::new(quinn::TokioRuntime),
    )
    .map_err(DialError::Bind)?;
    let connecting = quinn
        .connect_with(config, address, SERVER_NAME)
        .map_err(|error| DialError::Handshake(error.to_string()))?;
    let connected = match race(connecting, probe::unreachable(net, address)).await {
        First::A(connected) => connected,
        First::B(error) => return Err(error),
    };
    let connected = connected.map_err(|error| explain(error, &verifier, &known, &name))?;
    if let (Some(path), Some(shown)) = (&known.pin_to, verifier.shown()) {
        KnownHosts::pin(path, &name, shown).map_err(DialError::KnownHosts)?;
        let told = Dialed::Trusting { name, fingerprint: shown.fingerprint() };
        if let Some(inlet) = inlet {
            let _ = inlet.send(told).await;
        }
    }
    let lane = QuicLane::start(net, connected, (from, &bound.heard), End::Client, bound.shaper);
    Ok(Connection::new(Lane::Quic(lane)))
}

/// What is known of a server's key before it shows one.
struct Known {
    key: Option<PeerKey>,
    /// Where to keep the key it shows, when it is met for the first time.
    pin_to: Option<PathBuf>,
}

fn expected_key(trust: &Trust, address: SocketAddr, name: &str) -> Result<Known, DialError> {
    match trust {
        Trust::Any => Ok(Known { key: None, pin_to: None }),
        Trust::Key(key) => Ok(Known { key: Some(*key), pin_to: None }),
        Trust::KnownHosts(_) if address.ip().is_loopback() => Ok(Known { key: None, pin_to: None }),
        Trust::KnownHosts(path) => {
            let key = KnownHosts::load(path).map_err(DialError::KnownHosts)?.get(name);
            Ok(Known { key, pin_to: key.is_none().then(|| path.clone()) })
        }
    }
}

/// The address of a target, and the name it is known by.
async fn find(net: &Shared, target: &Target) -> Result<(SocketAddr, String), DialError> {
    match target {
        Target::Udp(address, name) => Ok((*address, name.clone())),
        Target::Memory(address, _) => Ok((*address, address.to_string())),
        Target::Host(name, port) => {
            let failed = |error| DialError::Lookup { name: name.clone(), error };
            let kept = if *port == DEFAULT_PORT { name.clone() } else { format!("{name}:{port}") };
            if let Ok(ip) = name.parse::<IpAddr>() {
                return Ok((SocketAddr::new(ip, *port), kept));
            }
            if net.simulated.is_some() {
                return Err(failed(io::Error::other("a simulated network has no names")));
            }
            let mut found =
                tokio::net::lookup_host((name.as_str(), *port)).await.map_err(failed)?;
            let none = || failed(io::Error::other("the name has no address"));
            Ok((found.next().ok_or_else(none)?, kept))
        }
    }
}

/// What a failed handshake means to whoever dialled.
fn explain(error: ConnectionError, verifier: &OneServer, known: &Known, name: &str) -> DialError {
    if let (Some(expected), Some(shown)) = (known.key, verifier.shown())
        && expected != shown
    {
        return DialError::KeyChanged {
            name: name.to_owned(),
            expected: expected.fingerprint(),
            shown: shown.fingerprint(),
        };
    }
    match error {
        ConnectionError::ConnectionClosed(close)
            if close.error_code == TransportErrorCode::CONNECTION_REFUSED =>
        {
            DialError::Refused
        }
        ConnectionError::TimedOut => DialError::TimedOut,
        other => DialError::Handshake(other.to_string()),
    }
}

/// The address to dial from when none is given.
fn any(net: &Shared, to: SocketAddr) -> SocketAddr {
    match (&net.simulated, to) {
        (Some(network), _) => network.next_address(),
        (None, SocketAddr::V4(_)) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        (None, SocketAddr::V6(_)) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    }
}

/// A dial inside the process that waits for its verdict.
#[derive(Debug)]
pub(crate) struct MemoryKnock {
    net: Arc<Shared>,
    server: SocketAddr,
    remote: Remote,
    client_key: PeerKey,
    shaper: Arc<Shaper>,
    answer: oneshot::Sender<Answer>,
}

/// What a dial inside the process comes to; dropped when it is refused.
#[derive(Debug)]
enum Answer {
    Accepted(Connection),
    Ignored,
}

impl MemoryKnock {
    /// Let it in: the server's end, which sends and hears nothing once `is_dead`.
    pub(crate) fn accept(self, server_key: PeerKey, is_dead: Arc<AtomicBool>) -> Connection {
        let Self { net, server, remote, client_key, shaper, answer } = self;
        let ends = Ends { server, remote, client_key, server_key, is_dead };
        let (near, far) = memory::pair(&net, ends, shaper);
        // A dialler that gave up drops its end, which closes the connection.
        let _ = answer.send(Answer::Accepted(Connection::new(Lane::Memory(near))));
        Connection::new(Lane::Memory(far))
    }

    /// Where it comes from.
    pub(crate) const fn remote(&self) -> Remote {
        self.remote
    }

    /// Say nothing to it. Dropping it instead refuses it.
    pub(crate) fn ignore(self) {
        let _ = self.answer.send(Answer::Ignored);
    }
}

async fn dial_memory(
    net: &Arc<Shared>,
    options: &DialOptions,
    (address, whose): (SocketAddr, Whose),
    number: u64,
) -> Result<Connection, DialError> {
    let client = options.from.unwrap_or_else(|| any(net, address));
    let name = format!("{client} {number}");
    let isolated = net.isolated.clone();
    let shaper = Arc::new(Shaper::new(options.links, net.seed, &name, client, isolated));
    options.path.attach(net, Some(&shaper), None);
    net.add_path(client, &shaper);
    travel(net, &shaper, Way::Up, address).await;
    let door = lock(&net.doors).get(&address).and_then(Weak::upgrade);
    let Some(door) = door else { return Err(DialError::PortUnreachable(address)) };
    let (answer, answered) = oneshot::channel();
    door.knock(MemoryKnock {
        net: Arc::clone(net),
        server: address,
        remote: match whose {
            Whose::Host => Remote::Loopback,
            Whose::Guest => Remote::Udp(client),
        },
        client_key: options.identity.key(),
        shaper: Arc::clone(&shaper),
        answer,
    });
    let connection = match answered.await {
        Ok(Answer::Accepted(connection)) => connection,
        Ok(Answer::Ignored) => future::pending().await,
        Err(_) => return Err(DialError::Refused),
    };
    let expected = expected_key(&options.trust, address, &name)?.key;
    if let (Some(expected), Some(shown)) = (expected, connection.key())
        && expected != shown
    {
        let (expected, shown) = (expected.fingerprint(), shown.fingerprint());
        return Err(DialError::KeyChanged { name, expected, shown });
    }
    travel(net, &shaper, Way::Down, address).await;
    Ok(connection)
}

/// One message of a handshake on its way, sent again while it is lost.
async fn travel(net: &Shared, shaper: &Shaper, way: Way, server: SocketAddr) {
    loop {
        let now = net.clock.now();
        let fate = shaper.carry(way, server, now, HANDSHAKE_BYTES);
        if let Fate::After(delay) | Fate::Twice(delay, _) = fate {
            net.clock.sleep_until(due(net.clock, now, delay)).await;
            return;
        }
        tokio::time::sleep(limit::INITIAL_RTT * 3).await;
    }
}

impl fmt::Display for DialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lookup { name, error } => write!(f, "cannot find {name}: {error}"),
            Self::Bind(error) => write!(f, "cannot open a socket to dial from: {error}"),
            Self::NoRoute(address) => write!(f, "there is no way to {address}"),
            Self::PortUnreachable(address) => write!(f, "nobody listens at {address}"),
            Self::Refused => f.write_str("the server refused"),
            Self::TimedOut => f.write_str("the server did not answer"),
            Self::KeyChanged { name, expected, shown } => {
                write!(f, "server key changed: {name} is known by {expected} and shows {shown}")
            }
            Self::KnownHosts(error) => error.fmt(f),
            Self::Handshake(why) => write!(f, "the handshake failed: {why}"),
        }
    }
}

impl std::error::Error for DialError {}

/// The port that is not spelled out in a name.
const DEFAULT_PORT: u16 = 27015;
/// Bytes of one message of a handshake inside the process.
const HANDSHAKE_BYTES: usize = 1200;
