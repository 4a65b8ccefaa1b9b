//! Gate: drops floods of first packets at the socket, before any cryptography.
//!
//! A first packet costs its sender nothing and the server a key exchange, so under a flood only
//! those pass whose address has been heard of in the last seconds: made-up addresses come once,
//! a real client sends again within 300 ms. Everything else always passes.

use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use dh_machine::Micros;
use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, UdpPoller};
use tokio::time::Sleep;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::lock;
use crate::clock::Clock;

/// A listening socket that can shed load.
#[derive(Debug)]
pub(crate) struct Gate {
    inner: Arc<dyn AsyncUdpSocket>,
    clock: Clock,
    is_told: AtomicBool,
    dropped: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    seen: Seen,
    /// When the current window began, and the packets counted in it.
    window: Micros,
    first: u32,
    passed: u32,
    tokened: u32,
    /// Whether the last whole window was over the rate.
    was_flood: bool,
    /// The pause between two looks at a flooded socket.
    pause: Option<Pin<Box<Sleep>>>,
}

impl Gate {
    pub(crate) fn new(inner: Arc<dyn AsyncUdpSocket>, clock: Clock, seed: u64) -> Self {
        let state = State {
            seen: Seen::new(seed),
            window: clock.now(),
            first: 0,
            passed: 0,
            tokened: 0,
            was_flood: false,
            pause: None,
        };
        Self {
            inner,
            clock,
            is_told: AtomicBool::new(false),
            dropped: AtomicU64::new(0),
            state: Mutex::new(state),
        }
    }

    /// Shed load, or only when the arrivals themselves are a flood.
    pub(crate) fn shed(&self, shed: bool) {
        self.is_told.store(shed, Ordering::Relaxed);
    }

    /// Packets dropped so far.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Keep the packets that pass at the front; how many.
    fn sift(
        &self,
        state: &mut State,
        bufs: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
        count: usize,
    ) -> usize {
        let is_told = self.is_told.load(Ordering::Relaxed);
        state.turn(self.clock.now());
        let mut kept = 0;
        for at in 0..count {
            let kind = Kind::of(&bufs[at][..meta[at].len]);
            if state.passes(kind, meta[at].addr, is_told) {
                bufs.swap(kept, at);
                meta.swap(kept, at);
                kept += 1;
            }
        }
        let dropped = u64::try_from(count - kept).unwrap_or(0);
        self.dropped.fetch_add(dropped, Ordering::Relaxed);
        kept
    }

    /// Nothing has come. In a flood the socket is looked at every [`PAUSE`], so that a wake-up
    /// serves many packets; otherwise its readiness wakes the task.
    fn wait(&self, cx: &mut Context<'_>, state: &mut State) -> Poll<io::Result<usize>> {
        let pause = state.pause.insert(Box::pin(tokio::time::sleep(PAUSE)));
        match pause.as_mut().poll(cx) {
            Poll::Pending => (),
            Poll::Ready(()) => cx.waker().wake_by_ref(),
        }
        Poll::Pending
    }
}

impl AsyncUdpSocket for Gate {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Arc::clone(&self.inner).create_io_poller()
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        self.inner.try_send(transmit)
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let state = &mut *lock(&self.state);
        if let Some(pause) = &mut state.pause {
            if pause.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            state.pause = None;
        }
        for _ in 0..LOOKS_MAX {
            let received = if state.was_flood {
                self.inner.poll_recv(&mut Context::from_waker(Waker::noop()), bufs, meta)
            } else {
                self.inner.poll_recv(cx, bufs, meta)
            };
            match received {
                Poll::Ready(Ok(count)) => {
                    let kept = self.sift(state, bufs, meta, count);
                    if kept > 0 {
                        return Poll::Ready(Ok(kept));
                    }
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending if state.was_flood => {
                    state.turn(self.clock.now());
                    return self.wait(cx, state);
                }
                Poll::Pending => return Poll::Pending,
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        self.inner.max_transmit_segments()
    }

    fn max_receive_segments(&self) -> usize {
        self.inner.max_receive_segments()
    }

    fn may_fragment(&self) -> bool {
        self.inner.may_fragment()
    }
}

impl State {
    /// Start a new window when the current one is over.
    fn turn(&mut self, now: Micros) {
        let since = now.since(self.window);
        if since >= WINDOW {
            // After a quiet time the last whole window was empty.
            self.was_flood = self.first > FIRST_MAX && since < WINDOW + WINDOW;
            self.window = now;
            (self.first, self.passed, self.tokened) = (0, 0, 0);
            self.seen.turn(now);
        }
    }

    fn passes(&mut self, kind: Kind, from: SocketAddr, is_told: bool) -> bool {
        let is_shedding = is_told || self.was_flood || self.first > FIRST_MAX;
        match kind {
            Kind::Other => true,
            Kind::Tokened => {
                self.tokened += 1;
                !is_shedding || self.tokened <= TOKENED_MAX
            }
            Kind::First => {
                self.first += 1;
                let was_seen = self.seen.mark(from);
                if !is_shedding {
                    return true;
                }
                let passes = was_seen && self.passed < PASSED_MAX;
                self.passed += u32::from(passes);
                passes
            }
        }
    }
}

/// What a packet asks of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// It opens a connection, or makes the server name its versions, and proves nothing.
    First,
    /// It opens a connection and carries a token, which may prove its address.
    Tokened,
    /// Anything else.
    Other,
}

impl Kind {
    /// Look at the header alone (RFC 9000, 17.2).
    fn of(packet: &[u8]) -> Self {
        let [first, v0, v1, v2, v3, rest @ ..] = packet else { return Self::Other };
        if first & 0x80 == 0 {
            return Self::Other;
        }
        match (u32::from_be_bytes([*v0, *v1, *v2, *v3]), first & 0x30) {
            (1, 0) => match token_length(rest) {
                Some(0) => Self::First,
                Some(_) => Self::Tokened,
                None => Self::Other,
            },
            (0 | 1, _) => Self::Other,
            _ => Self::First,
        }
    }
}

/// The length of the token of an Initial packet, from the bytes after its version.
fn token_length(rest: &[u8]) -> Option<u64> {
    let (to, rest) = rest.split_first()?;
    let (from, rest) = rest.get(usize::from(*to)..)?.split_first()?;
    let rest = rest.get(usize::from(*from)..)?;
    let (first, more) = rest.split_first()?;
    let more = more.get(..(1 << (first >> 6)) - 1)?;
    let start = u64::from(first & 0x3f);
    Some(more.iter().fold(start, |length, byte| length << 8 | u64::from(*byte)))
}

/// Addresses heard of in the last seconds, roughly: two tables of bits, the older of which is
/// emptied in turn.
#[derive(Debug)]
struct Seen {
    seed: u64,
    tables: [Vec<u64>; 2],
    turned: Micros,
}

impl Seen {
    fn new(seed: u64) -> Self {
        let tables = [(); 2].map(|()| vec![0; SEEN_WORDS]);
        Self { seed, tables, turned: Micros(0) }
    }

    fn turn(&mut self, now: Micros) {
        if now.since(self.turned) >= SEEN_FOR {
            self.tables.swap(0, 1);
            self.tables[0].fill(0);
            self.turned = now;
        }
    }

    /// Remember an address; whether it was there.
    fn mark(&mut self, address: SocketAddr) -> bool {
        let mut key = [0; 18];
        match address {
            SocketAddr::V4(v4) => key[..4].copy_from_slice(&v4.ip().octets()),
            SocketAddr::V6(v6) => key[..16].copy_from_slice(&v6.ip().octets()),
        }
        key[16..].copy_from_slice(&address.port().to_le_bytes());
        let hash = xxh3_64_with_seed(&key, self.seed);
        let spots = [hash, hash >> 32].map(|half| {
            let bit = half & SEEN_MASK;
            (usize::try_from(bit >> 6).unwrap_or(0), 1_u64 << (bit & 63))
        });
        let has = |table: &[u64]| spots.iter().all(|(word, bit)| table[*word] & bit != 0);
        let was_seen = self.tables.iter().any(|table| has(table));
        spots.iter().for_each(|(word, bit)| self.tables[0][*word] |= bit);
        was_seen
    }
}

/// What the rates below are counted in.
const WINDOW: Micros = Micros::from_millis(100);
/// First packets a window beyond which they are a flood: 640 a second.
const FIRST_MAX: u32 = 64;
/// First packets from known addresses that pass in a window of a flood.
const PASSED_MAX: u32 = 32;
/// Packets with tokens that pass in a window of a flood.
const TOKENED_MAX: u32 = 128;
/// The pause between two looks at a flooded socket: twenty packets a wake-up at 10,000 a second.
const PAUSE: Duration = Duration::from_millis(2);
/// Batches that are sifted before others get their turn.
const LOOKS_MAX: usize = 8;
/// How long an address is remembered, at least; at most twice as long.
const SEEN_FOR: Micros = Micros::from_secs(2);
/// Bits of each table: a flood of 10,000 a second marks 40,000 in it, so that about one made-up
/// address in 200 passes by chance.
const SEEN_BITS: u64 = 1 << 20;
const SEEN_MASK: u64 = SEEN_BITS - 1;
const SEEN_WORDS: usize = 1 << 14;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An Initial packet's header with ids and a token of so many bytes.
    fn initial(to: u8, from: u8, token: &[u8]) -> Vec<u8> {
        let mut packet = vec![0xc0, 0, 0, 0, 1, to];
        packet.extend(vec![7; usize::from(to)]);
        packet.push(from);
        packet.extend(vec![8; usize::from(from)]);
        packet.extend(token);
        packet
    }

    #[test]
    fn a_first_packet_is_known_by_its_header_with_or_without_a_token() {
        assert_eq!(Kind::of(&initial(8, 0, &[0])), Kind::First);
        assert_eq!(Kind::of(&initial(20, 8, &[0])), Kind::First);
        assert_eq!(Kind::of(&initial(8, 8, &[0x40, 0])), Kind::First);
        assert_eq!(Kind::of(&initial(8, 8, &[5, 1, 2])), Kind::Tokened);
        assert_eq!(Kind::of(&initial(8, 8, &[0x80, 0, 1, 0])), Kind::Tokened);
        assert_eq!(Kind::of(&[0xc0, 0xba, 0xba, 0xba, 0xba, 1]), Kind::First);
    }

    #[test]
    fn everything_else_passes_even_a_flood() {
        let handshake = [0xe0, 0, 0, 0, 1, 8];
        let short = [0x40, 1, 2, 3, 4, 5];
        let negotiation = [0x80, 0, 0, 0, 0, 1];
        for packet in [&handshake[..], &short, &negotiation, &[], &[0xc0], &initial(8, 8, &[])] {
            assert_eq!(Kind::of(packet), Kind::Other);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_of_some_kind(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = Kind::of(&bytes);
        }
    }

    /// D23
    #[test]
    fn a_gate_that_sheds_lets_in_32_known_addresses_and_128_tokens_a_window() {
        let seen = Seen::new(1);
        let (window, pause) = (Micros(0), None);
        let mut state =
            State { seen, window, first: 0, passed: 0, tokened: 0, was_flood: false, pause };
        let passing = |state: &mut State, kind: Kind| {
            let from = |port: u16| SocketAddr::from(([10, 0, 0, 1], port));
            (0..200).filter(|port| state.passes(kind, from(*port), true)).count()
        };
        assert_eq!(passing(&mut state, Kind::First), 0, "nobody is known yet");
        for window in 1..3 {
            assert_eq!(passing(&mut state, Kind::First), 32);
            assert_eq!(passing(&mut state, Kind::Tokened), 128);
            assert_eq!(passing(&mut state, Kind::Other), 200);
            state.turn(Micros::from_millis(100 * window));
        }
    }

    #[test]
    fn an_address_is_known_for_two_seconds_and_forgotten_after_four() {
        let mut seen = Seen::new(3);
        let address = SocketAddr::from(([10, 0, 0, 1], 7));
        let turn = |seen: &mut Seen, millis| seen.turn(Micros::from_millis(millis));
        assert!(!seen.mark(address));
        assert!(seen.mark(address));
        assert!(!seen.mark(SocketAddr::from(([10, 0, 0, 1], 8))), "the port counts");
        turn(&mut seen, 2_000);
        assert!(seen.mark(address));
        turn(&mut seen, 4_000);
        turn(&mut seen, 6_000);
        assert!(!seen.mark(address));
    }

    #[test]
    fn of_forty_thousand_made_up_addresses_few_pass_by_chance() {
        let mut seen = Seen::new(5);
        let address = |n: u32| SocketAddr::from((n.to_be_bytes(), 9));
        let known = (0..40_000).filter(|n| seen.mark(address(*n))).count();
        assert!(known < 100, "{known}");
    }
}
