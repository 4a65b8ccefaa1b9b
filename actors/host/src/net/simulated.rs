//! The simulated network: datagrams between addresses, on the paused clock of one thread.
//!
//! Owned by a simulated runtime. quinn runs on it unchanged, with its randomness pinned. Every
//! packet leaves a trace: two runs of one seed have the same one, byte for byte.

mod socket;
mod trace;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::task::Waker;

use dh_machine::Micros;
use quinn::udp::{EcnCodepoint, Transmit};

pub(crate) use self::socket::SimulatedSocket;
pub use self::trace::{DatagramRecord, PacketFate, PacketRecord, Trace};

use self::trace::Tracer;
use super::delayed::Delayed;
use super::link::{Fate, Links};
use super::lock;
use super::pinned::Pinned;
use super::shaper::{Isolated, Shaper, Way, due};
use crate::clock::Clock;

/// A network that exists only in one thread. Cheap to clone.
#[derive(Clone, Debug)]
pub struct SimulatedNetwork {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    clock: Clock,
    seed: u64,
    pinned: Pinned,
    isolated: Isolated,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    packets: u64,
    endpoints: u64,
    hosts: u32,
    sockets: BTreeMap<SocketAddr, Plug>,
    tracer: Tracer,
}

/// Where a socket is plugged in.
#[derive(Debug)]
struct Plug {
    shaper: Arc<Shaper>,
    inbox: Inbox,
}

type Inbox = Arc<Mutex<Delayed<Packet>>>;

#[derive(Debug)]
struct Packet {
    from: SocketAddr,
    ecn: Option<EcnCodepoint>,
    bytes: Vec<u8>,
}

impl SimulatedNetwork {
    /// A network of nothing yet, on the current thread.
    pub(crate) fn new(clock: Clock, seed: u64, isolated: Isolated) -> Self {
        let state = State {
            packets: 0,
            endpoints: 0,
            hosts: 0,
            sockets: BTreeMap::new(),
            tracer: Tracer::default(),
        };
        let pinned = Pinned::new(seed);
        let state = Mutex::new(state);
        Self { shared: Arc::new(Shared { clock, seed, pinned, isolated, state }) }
    }

    /// Hashes and counts of everything sent so far.
    #[must_use]
    pub fn trace(&self) -> Trace {
        lock(&self.shared.state).tracer.trace()
    }

    /// Keep a record of each packet from now on, or stop keeping and forget.
    pub fn keep_records(&self, keep: bool) {
        lock(&self.shared.state).tracer.keep(keep);
    }

    /// The records kept since the last call, in the order the packets were sent.
    #[must_use]
    pub fn take_records(&self) -> Vec<PacketRecord> {
        lock(&self.shared.state).tracer.take()
    }

    /// The datagrams kept since the last call, in the order they were sent. One that still is
    /// under way counts as not arrived, and is not told again.
    #[must_use]
    pub fn take_datagrams(&self) -> Vec<DatagramRecord> {
        lock(&self.shared.state).tracer.take_datagrams()
    }

    /// Whether a socket is bound to `address`.
    #[must_use]
    pub fn is_bound(&self, address: SocketAddr) -> bool {
        lock(&self.shared.state).sockets.contains_key(&address)
    }

    pub(crate) fn pinned(&self) -> &Pinned {
        &self.shared.pinned
    }

    /// A number no other endpoint of this network has.
    pub(crate) fn next_endpoint(&self) -> u64 {
        let mut state = lock(&self.shared.state);
        state.endpoints += 1;
        state.endpoints
    }

    /// An address no socket has had: the next machine of 10.0.0.0/8.
    pub(crate) fn next_address(&self) -> SocketAddr {
        let mut state = lock(&self.shared.state);
        state.hosts += 1;
        let host = Ipv4Addr::from((10 << 24 | 1 << 16) + state.hosts);
        SocketAddr::new(IpAddr::V4(host), CLIENT_PORT)
    }

    /// Bind a socket; `None` when the address is taken.
    pub(crate) fn bind(&self, address: SocketAddr, links: Links) -> Option<Arc<SimulatedSocket>> {
        let (seed, isolated) = (self.shared.seed, self.shared.isolated.clone());
        let shaper = Shaper::new(links, seed, &address.to_string(), address, isolated);
        let shaper = Arc::new(shaper);
        let inbox = Arc::new(Mutex::new(Delayed::new(self.shared.clock)));
        let plug = Plug { shaper: Arc::clone(&shaper), inbox: Arc::clone(&inbox) };
        let mut state = lock(&self.shared.state);
        if state.sockets.contains_key(&address) {
            return None;
        }
        state.sockets.insert(address, plug);
        Some(Arc::new(SimulatedSocket::new(self.clone(), inbox, shaper)))
    }

    /// Whoever is at an address is at one that nobody has had from now on; which one. What is
    /// sent to the old address from now on goes nowhere.
    pub(crate) fn rebind(&self, old: SocketAddr) -> SocketAddr {
        let new = self.next_address();
        let mut state = lock(&self.shared.state);
        if let Some(plug) = state.sockets.remove(&old) {
            state.sockets.insert(new, plug);
        }
        state.tracer.moved(old, new);
        new
    }

    /// One packet of the memory transport, for the trace.
    pub(crate) fn note(&self, from: SocketAddr, to: SocketAddr, bytes: &[u8], fate: PacketFate) {
        let at = self.shared.clock.now();
        lock(&self.shared.state).tracer.packet(at, from, to, bytes, fate);
    }

    /// One datagram leaves its sender's queue.
    pub(crate) fn datagram_sent(&self, from: SocketAddr, to: SocketAddr, bytes: &[u8]) {
        let at = self.now();
        lock(&self.shared.state).tracer.datagram_sent(at, from, to, bytes);
    }

    /// One datagram has arrived at its receiver's connection.
    pub(crate) fn datagram_arrived(&self, from: SocketAddr, to: SocketAddr, bytes: &[u8]) {
        let at = self.now();
        lock(&self.shared.state).tracer.datagram_arrived(at, from, to, bytes);
    }

    /// Unbind an address at once, whoever still holds its socket.
    pub(crate) fn pull(&self, address: SocketAddr) {
        lock(&self.shared.state).sockets.remove(&address);
    }

    /// A socket is gone. Another may be bound to its address already.
    fn unplug(&self, shaper: &Arc<Shaper>) {
        let address = shaper.near();
        let mut state = lock(&self.shared.state);
        if state.sockets.get(&address).is_some_and(|plug| Arc::ptr_eq(&plug.shaper, shaper)) {
            state.sockets.remove(&address);
        }
    }

    /// Take what one socket sends.
    fn send(&self, from: SocketAddr, shaper: &Shaper, transmit: &Transmit<'_>) {
        let size = transmit.segment_size.unwrap_or(transmit.contents.len()).max(1);
        for bytes in transmit.contents.chunks(size) {
            let waker = self.send_packet(from, shaper, transmit, bytes);
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }

    fn send_packet(
        &self,
        from: SocketAddr,
        shaper: &Shaper,
        transmit: &Transmit<'_>,
        bytes: &[u8],
    ) -> Option<Waker> {
        let (clock, to) = (self.shared.clock, transmit.destination);
        let now = clock.now();
        let mut state = lock(&self.shared.state);
        let state = &mut *state;
        let plug = state.sockets.get(&to);
        let sent = shaper.carry(Way::Up, to, now, bytes.len());
        let fate = match plug {
            Some(plug) => sent.then(plug.shaper.carry(Way::Down, from, now, bytes.len())),
            None => sent,
        };
        let (first, copy) = match (fate, plug) {
            _ if bytes.len() > MTU => (PacketFate::TooLarge, None),
            (Fate::After(_) | Fate::Twice(..), None) => (PacketFate::NoSocket, None),
            (fate, _) => PacketFate::of(fate, |delay| due(clock, now, delay)),
        };
        state.packets += 1;
        state.tracer.packet(now, from, to, bytes, first);
        let (PacketFate::Arrives(at), Some(plug)) = (first, plug) else { return None };
        let packet = || Packet { from, ecn: transmit.ecn, bytes: bytes.to_vec() };
        let mut inbox = lock(&plug.inbox);
        let waker = inbox.hold(at, state.packets, packet());
        let Some(at) = copy else { return waker };
        state.packets += 1;
        state.tracer.packet(now, from, to, bytes, PacketFate::Copied(at));
        let other = inbox.hold(at, state.packets, packet());
        waker.or(other)
    }

    fn delivered(&self, count: usize) {
        lock(&self.shared.state).tracer.delivered(count);
    }

    fn now(&self) -> Micros {
        self.shared.clock.now()
    }
}

/// Bytes of the largest packet that passes: an Ethernet frame without the headers of IP and UDP.
const MTU: usize = 1472;
/// The port of simulated clients.
const CLIENT_PORT: u16 = 5000;
