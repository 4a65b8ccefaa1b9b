//! Hostile: peers without anything of ours behind them, for scenarios: they flood, open handshakes
//! that they never go on with, or read nothing of what they are sent.
//!
//! Used by scenarios in either runtime. Each is its handle's: dropping the handle ends it without
//! a word. All draws follow from the runtime's seed.

use std::future;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dh_machine::Micros;
use quinn::udp::Transmit;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;
use tokio::task::AbortHandle;

use super::configs::{SERVER_NAME, Source};
use super::congestion::Congestion;
use super::dial::{DialOptions, connect};
use super::identity::Identity;
use super::link::{Link, Links};
use super::simulated::SimulatedNetwork;
use super::socket::{self, Bound};
use super::{Net, Shared};
use crate::runtime::Seeds;

/// Hostile peers that live as long as this does.
#[derive(Debug)]
pub struct Hostile {
    tasks: Vec<AbortHandle>,
    count: Arc<AtomicU64>,
}

impl Hostile {
    /// How far they came: packets sent, handshakes begun, or connections that stand.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

impl Net {
    /// Send garbage to an address, so many packets a second (at most [`FLOOD_MAX`]) for so long,
    /// from a few sockets: noise of any length, and what looks like the first packet of a
    /// connection, of another version, or of a connection that stands.
    ///
    /// # Errors
    /// A line that says why no socket could be opened.
    pub fn flood(&self, to: SocketAddr, rate: u32, time: Micros) -> Result<Hostile, String> {
        let net = &self.shared;
        let sockets: Vec<Bound> =
            (0..SOURCES).map(|_| bind(net, Links::IDEAL)).collect::<Result<_, _>>()?;
        let rng = Seeds::new(net.seed).rng(&format!("flood {}", net.next_dial()));
        let rate = u64::from(rate.min(FLOOD_MAX));
        let task =
            |count| flood(Arc::clone(net), Garbage(rng), Target { to, sockets, rate, time }, count);
        Ok(self.raid([task]))
    }

    /// Begin so many handshakes with an address over QUIC, each from a socket of its own that
    /// hears nothing: the server's answers are lost, and its handshakes stay half open.
    ///
    /// # Errors
    /// A line that says why no socket could be opened.
    pub fn half_open(&self, to: SocketAddr, handshakes: u32) -> Result<Hostile, String> {
        let net = &self.shared;
        let deaf = Links { down: Link::CUT, ..Links::IDEAL };
        let sockets = (0..handshakes).map(|_| bind(net, deaf));
        let sockets: Vec<Bound> = sockets.collect::<Result<_, _>>()?;
        let task = |bound| {
            let net = Arc::clone(net);
            move |count| half_open(net, bound, to, count)
        };
        Ok(self.raid(sockets.into_iter().map(task)))
    }

    /// Dial, say `hello` as reliable messages (number and body), and read nothing from then on.
    #[must_use]
    pub fn deaf_peer(&self, options: DialOptions, hello: Vec<(u8, Vec<u8>)>) -> Hostile {
        let net = Arc::clone(&self.shared);
        let number = net.next_dial();
        self.raid([|count| deaf(net, options, number, hello, count)])
    }

    fn raid<F: Future<Output = ()> + Send + 'static>(
        &self,
        raiders: impl IntoIterator<Item = impl FnOnce(Arc<AtomicU64>) -> F>,
    ) -> Hostile {
        let count = Arc::default();
        let spawn = |raider: F| self.shared.handle.spawn(raider).abort_handle();
        let tasks = raiders.into_iter().map(|raider| spawn(raider(Arc::clone(&count)))).collect();
        Hostile { tasks, count }
    }
}

/// Whom to flood, from where and how.
struct Target {
    to: SocketAddr,
    sockets: Vec<Bound>,
    rate: u64,
    time: Micros,
}

async fn flood(net: Arc<Shared>, mut garbage: Garbage, it: Target, count: Arc<AtomicU64>) {
    let began = net.clock.now();
    let due_after = |time: Micros| time.0 * it.rate / 1_000_000;
    let (mut sent, total) = (0, due_after(it.time));
    while sent < total {
        net.clock.sleep(BEAT).await;
        let due = due_after(net.clock.now().since(began)).min(total);
        for number in sent..due {
            let bytes = garbage.packet();
            let from = usize::try_from(number).unwrap_or_default() % it.sockets.len();
            let transmit = Transmit {
                destination: it.to,
                ecn: None,
                contents: &bytes,
                segment_size: None,
                src_ip: None,
            };
            // What the system has no room for is lost, as in any flood.
            let _ = it.sockets[from].socket.try_send(&transmit);
            count.fetch_add(1, Ordering::Relaxed);
        }
        sent = due;
    }
}

async fn half_open(net: Arc<Shared>, bound: Bound, to: SocketAddr, count: Arc<AtomicU64>) {
    let source = Source::of(net.simulated.as_ref());
    let identity = Identity::from_secret(&Seeds::new(net.seed).bytes("half open"));
    let Ok((config, _)) = source.client(&identity, None, Congestion::default()) else { return };
    let runtime = Arc::new(quinn::TokioRuntime);
    let endpoint =
        quinn::Endpoint::new_with_abstract_socket(source.endpoint(), None, bound.socket, runtime);
    if let Ok(endpoint) = endpoint
        && let Ok(connecting) = endpoint.connect_with(config, to, SERVER_NAME)
    {
        count.fetch_add(1, Ordering::Relaxed);
        // It gives up by itself: nothing is ever heard.
        let _ = connecting.await;
    }
}

async fn deaf(
    net: Arc<Shared>,
    options: DialOptions,
    number: u64,
    hello: Vec<(u8, Vec<u8>)>,
    count: Arc<AtomicU64>,
) {
    let Ok(connection) = connect(&net, &options, number, None).await else { return };
    for (id, body) in hello {
        // Whoever is closed meanwhile has said enough.
        let _ = connection.send(id, &body);
    }
    count.fetch_add(1, Ordering::Relaxed);
    future::pending::<()>().await;
}

fn bind(net: &Arc<Shared>, links: Links) -> Result<Bound, String> {
    let _entered = net.handle.enter();
    let local = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    let address = net.simulated.as_ref().map_or(local, SimulatedNetwork::next_address);
    socket::bind(net, address, links, false)
        .map_err(|error| format!("cannot open a socket at {address}: {error}"))
}

/// Packets nobody asked for.
struct Garbage(ChaCha8Rng);

impl Garbage {
    fn packet(&mut self) -> Vec<u8> {
        let Self(rng) = self;
        let [kind, length] = [rng.next_u32() % 4, rng.next_u32()];
        let length = if kind == 0 { length % LENGTH_MAX } else { FIRST_LENGTH };
        let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
        rng.fill_bytes(&mut bytes);
        let head: &[u8] = match kind {
            // The first packet of a connection of version 1, with ids of eight bytes.
            1 => &[0xc3, 0, 0, 0, 1, 8],
            // One of a version that nobody speaks.
            2 => &[0xc3, 0x0a, 0x1a, 0x2a, 0x3a, 8],
            // One of a connection that stands.
            3 => &[0x43],
            _ => &[],
        };
        bytes[..head.len()].copy_from_slice(head);
        bytes
    }
}

/// Packets a second that a flood may have.
pub const FLOOD_MAX: u32 = 100_000;
/// Sockets a flood comes from.
const SOURCES: usize = 8;
/// How often a flood sends what is due.
const BEAT: Micros = Micros(1_000);
/// Bytes of noise.
const LENGTH_MAX: u32 = 1_472;
/// Bytes of what looks like a first packet.
const FIRST_LENGTH: u32 = 1_200;
