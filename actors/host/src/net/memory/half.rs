//! Half: what one end of a memory connection sends, and what of it is under way.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use dh_machine::Micros;

use crate::net::close::{By, Closed};
use crate::net::connection::SendError;
use crate::net::delayed::Delayed;
use crate::net::link::Fate;
use crate::net::shaper::{Shaper, Way, due};
use crate::net::{PacketFate, Shared, limit, lock};

/// Where a half's packets go.
#[derive(Debug)]
pub(super) struct Path {
    pub(super) net: Arc<Shared>,
    pub(super) shaper: Arc<Shaper>,
    pub(super) way: Way,
    pub(super) from: SocketAddr,
    pub(super) to: SocketAddr,
}

/// One direction of a memory connection.
#[derive(Debug)]
pub(super) struct Half {
    path: Path,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Breaks ties of what is due together.
    sequence: u64,
    ordered: Delayed<Step>,
    /// Reliable things that overtook one that was lost.
    early: BTreeMap<u64, Parcel>,
    /// The next number to send with, and the next to hand out.
    next_sent: u64,
    next_out: u64,
    loose: Delayed<Loose>,
    queued: usize,
    is_closing: bool,
    is_read: bool,
    heard: Micros,
    counts: Counts,
}

/// Something reliable.
#[derive(Clone, Debug)]
pub(super) enum Parcel {
    /// A message.
    Message { id: u8, body: Bytes },
    /// The last: the peer closed.
    Close(Closed),
}

/// Something unreliable.
#[derive(Debug)]
pub(super) enum Loose {
    /// A datagram.
    Datagram(Bytes),
    /// A sign of life.
    Alive,
}

/// What is due on the reliable lane.
#[derive(Debug)]
enum Step {
    /// A parcel has arrived whole.
    Arrived(u64, Parcel),
    /// So many packets of a parcel were lost and are sent again.
    Again { number: u64, parcel: Parcel, packets: u32, timeout: Micros },
    /// The receiving end is over.
    Ended(Closed),
}

/// What went over a half.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) packets: u64,
    pub(super) lost: u64,
    pub(super) bytes: u64,
    pub(super) bytes_arrived: u64,
    pub(super) datagrams: u64,
    pub(super) dropped: u64,
    pub(super) refused: u64,
}

impl Half {
    pub(super) fn new(path: Path) -> Self {
        let clock = path.net.clock;
        let state = State {
            sequence: 0,
            ordered: Delayed::new(clock),
            early: BTreeMap::new(),
            next_sent: 0,
            next_out: 0,
            loose: Delayed::new(clock),
            queued: 0,
            is_closing: false,
            is_read: false,
            heard: clock.now(),
            counts: Counts::default(),
        };
        Self { path, state: Mutex::new(state) }
    }

    /// Whether reading starts now; only once.
    pub(super) fn start_reading(&self) -> bool {
        !std::mem::replace(&mut lock(&self.state).is_read, true)
    }

    pub(super) fn counts(&self) -> Counts {
        lock(&self.state).counts
    }

    /// Bytes of reliable messages that have not been taken at the other end.
    pub(super) fn queued(&self) -> usize {
        lock(&self.state).queued
    }

    pub(super) fn send(&self, id: u8, body: &[u8]) -> Result<(), SendError> {
        let mut state = lock(&self.state);
        if state.is_closing {
            return Err(SendError::Closed);
        }
        let cost = body.len() + limit::SEND_QUEUE_COST;
        if state.queued + cost > limit::SEND_QUEUE_MAX {
            return Err(SendError::TooSlow);
        }
        state.queued += cost;
        let body = Bytes::copy_from_slice(body);
        let waker = self.send_parcel(&mut state, Parcel::Message { id, body });
        drop(state);
        wake(waker);
        Ok(())
    }

    pub(super) fn send_datagrams(&self, datagrams: &mut dyn Iterator<Item = Bytes>) {
        for datagram in datagrams {
            let mut state = lock(&self.state);
            state.counts.datagrams += 1;
            if state.is_closing || datagram.len() > limit::DATAGRAM_MAX {
                state.counts.dropped += 1;
                continue;
            }
            if let Some(network) = &self.path.net.simulated {
                network.datagram_sent(self.path.from, self.path.to, &datagram);
            }
            let waker = self.send_loose(&mut state, Loose::Datagram(datagram));
            drop(state);
            wake(waker);
        }
    }

    /// Show that this end lives.
    pub(super) fn send_alive(&self) {
        let mut state = lock(&self.state);
        let waker = self.send_loose(&mut state, Loose::Alive);
        drop(state);
        wake(waker);
    }

    /// Close after everything sent so far; `false` when it is closing already.
    pub(super) fn close(&self, code: u32, reason: &[u8]) -> bool {
        let mut state = lock(&self.state);
        if std::mem::replace(&mut state.is_closing, true) {
            return false;
        }
        let parcel = Parcel::Close(Closed::new(By::Peer, code, reason));
        let waker = self.send_parcel(&mut state, parcel);
        drop(state);
        wake(waker);
        true
    }

    /// The end that reads this half is over.
    pub(super) fn end(&self, closed: Closed) {
        let mut state = lock(&self.state);
        let now = self.path.net.clock.now();
        let waker = state.hold_step(now, Step::Ended(closed));
        drop(state);
        wake(waker);
    }

    /// The next reliable thing in order; closed when the reader is over or hears nothing.
    pub(super) fn poll_ordered(&self, cx: &mut Context<'_>) -> Poll<Parcel> {
        let mut state = lock(&self.state);
        loop {
            let next = state.next_out;
            if let Some(parcel) = state.early.remove(&next) {
                state.next_out += 1;
                return Poll::Ready(parcel);
            }
            let Poll::Ready(step) = state.ordered.poll(cx) else { return Poll::Pending };
            match step {
                Step::Arrived(number, parcel) => {
                    state.heard = self.path.net.clock.now();
                    state.early.insert(number, parcel);
                }
                Step::Again { number, parcel, packets, timeout } => {
                    // The waker would be this task's own.
                    let _ = self.carry_parcel(&mut state, number, parcel, packets, timeout);
                }
                Step::Ended(closed) => return Poll::Ready(Parcel::Close(closed)),
            }
        }
    }

    /// The next unreliable thing.
    pub(super) fn poll_loose(&self, cx: &mut Context<'_>) -> Poll<Loose> {
        let mut state = lock(&self.state);
        let Poll::Ready(loose) = state.loose.poll(cx) else { return Poll::Pending };
        state.heard = self.path.net.clock.now();
        state.counts.bytes_arrived += loose.wire_bytes();
        drop(state);
        if let (Loose::Datagram(datagram), Some(network)) = (&loose, &self.path.net.simulated) {
            network.datagram_arrived(self.path.from, self.path.to, datagram);
        }
        Poll::Ready(loose)
    }

    /// A message has been taken by its owner.
    pub(super) fn taken(&self, bytes: usize) {
        let mut state = lock(&self.state);
        state.queued -= bytes + limit::SEND_QUEUE_COST;
        state.counts.bytes_arrived += u64::try_from(bytes).unwrap_or(u64::MAX);
    }

    /// A datagram has been refused by its owner.
    pub(super) fn refused(&self) {
        lock(&self.state).counts.refused += 1;
    }

    /// When something last arrived.
    pub(super) fn heard(&self) -> Micros {
        lock(&self.state).heard
    }

    fn send_parcel(&self, state: &mut State, parcel: Parcel) -> Option<Waker> {
        let number = state.next_sent;
        state.next_sent += 1;
        let packets = u32::try_from(parcel.wire_bytes() / PACKET_BYTES + 1).unwrap_or(u32::MAX);
        let timeout = self.first_timeout();
        self.carry_parcel(state, number, parcel, packets, timeout)
    }

    /// Send the packets of a parcel that are missing at the other end.
    fn carry_parcel(
        &self,
        state: &mut State,
        number: u64,
        parcel: Parcel,
        packets: u32,
        timeout: Micros,
    ) -> Option<Waker> {
        let now = self.path.net.clock.now();
        let bytes = parcel.wire_bytes().min(PACKET_BYTES);
        let (mut latest, mut lost) = (now, 0);
        for _ in 0..packets {
            match self.carry(state, bytes, parcel.bytes()) {
                Some(at) => latest = latest.max(at),
                None => lost += 1,
            }
        }
        if lost == 0 {
            return state.hold_step(latest, Step::Arrived(number, parcel));
        }
        let again = due(self.path.net.clock, now, timeout);
        let timeout = Micros((timeout.0 * 2).min(TIMEOUT_MAX.0));
        state.hold_step(again, Step::Again { number, parcel, packets: lost, timeout })
    }

    fn send_loose(&self, state: &mut State, loose: Loose) -> Option<Waker> {
        let bytes = usize::try_from(loose.wire_bytes()).unwrap_or(usize::MAX);
        let at = self.carry(state, bytes, loose.bytes())?;
        if state.loose.len() >= LOOSE_MAX && state.loose.drop_first().is_some() {
            state.counts.dropped += 1;
        }
        state.sequence += 1;
        state.loose.hold(at, state.sequence, loose)
    }

    /// One packet: when it arrives, if it does.
    fn carry(&self, state: &mut State, size: usize, bytes: &[u8]) -> Option<Micros> {
        let Path { net, shaper, way, from, to } = &self.path;
        let now = net.clock.now();
        let fate = match shaper.carry(*way, now, size) {
            Fate::After(delay) => PacketFate::Arrives(due(net.clock, now, delay)),
            Fate::Lost => PacketFate::Lost,
            Fate::Overflowed => PacketFate::Overflowed,
        };
        if let Some(network) = &net.simulated {
            network.note(*from, *to, bytes, fate);
        }
        state.counts.packets += 1;
        state.counts.bytes += u64::try_from(size).unwrap_or(u64::MAX);
        match fate {
            PacketFate::Arrives(at) => Some(at),
            _ => {
                state.counts.lost += 1;
                None
            }
        }
    }

    /// How long the sender would wait for an acknowledgement: a round trip and some.
    fn first_timeout(&self) -> Micros {
        let Path { shaper, way, .. } = &self.path;
        let trip = |way| {
            let link = shaper.link(way);
            link.latency.0 + link.draw.0
        };
        Micros((trip(*way) + trip(way.back())) * 9 / 8 + 25_000)
    }
}

impl State {
    fn hold_step(&mut self, at: Micros, step: Step) -> Option<Waker> {
        self.sequence += 1;
        self.ordered.hold(at, self.sequence, step)
    }
}

impl Parcel {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Message { body, .. } => body,
            Self::Close(closed) => &closed.reason,
        }
    }

    /// With headers about as large as QUIC's.
    fn wire_bytes(&self) -> usize {
        self.bytes().len() + HEADERS
    }
}

impl Loose {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Datagram(bytes) => bytes,
            Self::Alive => b"",
        }
    }

    fn wire_bytes(&self) -> u64 {
        u64::try_from(self.bytes().len() + HEADERS).unwrap_or(u64::MAX)
    }
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// Bytes of a full packet.
const PACKET_BYTES: usize = 1200;
/// Bytes of a packet that are not the message's.
const HEADERS: usize = 38;
/// Packets that may be under way unread.
const LOOSE_MAX: usize = 1 << 13;
/// The longest pause before a lost message is sent again.
const TIMEOUT_MAX: Micros = Micros::from_secs(1);
