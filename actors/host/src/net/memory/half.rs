//! Half: what one end of a memory connection sends, and what of it is under way.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use dh_machine::Micros;

use super::ordered::{HEADERS, Ordered, Parcel, Step};
use crate::net::close::{By, Closed};
use crate::net::connection::{BlobEvent, SendError};
use crate::net::delayed::Delayed;
use crate::net::link::Fate;
use crate::net::shaper::{Shaper, Way, due};
use crate::net::{PacketFate, Shared, limit, lock};
use crate::port::Inlet;

/// Where a half's packets go.
#[derive(Debug)]
pub(super) struct Path {
    pub(super) net: Arc<Shared>,
    pub(super) shaper: Arc<Shaper>,
    pub(super) way: Way,
    pub(super) server: SocketAddr,
    /// The server's process is taken for dead: nothing passes.
    pub(super) is_dead: Arc<AtomicBool>,
}

impl Path {
    /// From whom, and to whom.
    fn ends(&self) -> (SocketAddr, SocketAddr) {
        let client = self.shaper.near();
        match self.way {
            Way::Up => (client, self.server),
            Way::Down => (self.server, client),
        }
    }

    /// Bytes of the largest packet that passes.
    fn packet_max(&self) -> usize {
        match self.shaper.link(self.way).mtu {
            0 => usize::MAX,
            mtu => usize::try_from(mtu).unwrap_or(usize::MAX),
        }
    }
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
    /// The messages, and the frames of blobs.
    ordered: [Ordered; 2],
    loose: Delayed<Loose>,
    is_closing: bool,
    /// Which of the two are read.
    is_read: [bool; 2],
    /// Where it is told that the other end has taken frames of blobs.
    room: Option<Inlet<BlobEvent>>,
    heard: Micros,
    counts: Counts,
}

/// Which of the two ordered ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    /// Reliable messages, and the end.
    Messages,
    /// Frames of blobs.
    Blobs,
}

/// Something unreliable.
#[derive(Debug)]
pub(super) enum Loose {
    /// A datagram.
    Datagram(Bytes),
    /// A sign of life.
    Alive,
}

/// What of a parcel is to be sent.
#[derive(Clone, Copy, Debug)]
struct Sending {
    stream: Stream,
    number: u64,
    packets: u32,
    timeout: Micros,
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
            ordered: [Ordered::new(clock), Ordered::new(clock)],
            loose: Delayed::new(clock),
            is_closing: false,
            is_read: [false; 2],
            room: None,
            heard: clock.now(),
            counts: Counts::default(),
        };
        Self { path, state: Mutex::new(state) }
    }

    /// Whether reading a stream starts now; only once each.
    pub(super) fn start_reading(&self, stream: Stream) -> bool {
        !std::mem::replace(&mut lock(&self.state).is_read[stream as usize], true)
    }

    /// Tell it there when the other end has taken frames of blobs.
    pub(super) fn tell_room(&self, room: Inlet<BlobEvent>) {
        lock(&self.state).room = Some(room);
    }

    /// The largest datagram that passes now.
    pub(super) fn datagram_max(&self) -> usize {
        limit::DATAGRAM_MAX.min(self.path.packet_max().saturating_sub(HEADERS))
    }

    pub(super) fn counts(&self) -> Counts {
        lock(&self.state).counts
    }

    /// Bytes of reliable messages that have not been taken at the other end.
    pub(super) fn queued(&self) -> usize {
        lock(&self.state).ordered[Stream::Messages as usize].cost
    }

    /// Frames of blobs that have not been taken at the other end.
    pub(super) fn blobs_waiting(&self) -> usize {
        lock(&self.state).ordered[Stream::Blobs as usize].parcels
    }

    pub(super) fn send(&self, stream: Stream, id: u8, body: &[u8]) -> Result<(), SendError> {
        let mut state = lock(&self.state);
        if state.is_closing {
            return Err(SendError::Closed);
        }
        let cost = body.len() + limit::SEND_QUEUE_COST;
        let way = &mut state.ordered[stream as usize];
        match stream {
            Stream::Messages if way.cost + cost > limit::SEND_QUEUE_MAX => {
                return Err(SendError::TooSlow);
            }
            Stream::Blobs if way.parcels >= limit::BLOB_QUEUE_MAX => return Err(SendError::Full),
            _ => (),
        }
        way.cost += cost;
        way.parcels += 1;
        let body = Bytes::copy_from_slice(body);
        let waker = self.send_parcel(&mut state, stream, Parcel::Message { id, body });
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
                let (from, to) = self.path.ends();
                network.datagram_sent(from, to, &datagram);
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
        let waker = self.send_parcel(&mut state, Stream::Messages, parcel);
        drop(state);
        wake(waker);
        true
    }

    /// The end that reads a stream of this half is over.
    pub(super) fn end(&self, stream: Stream, closed: Closed) {
        let mut state = lock(&self.state);
        let now = self.path.net.clock.now();
        let waker = state.hold_step(stream, now, Step::Ended(closed));
        drop(state);
        wake(waker);
    }

    /// The next reliable thing in order; closed when the reader is over or hears nothing.
    pub(super) fn poll_ordered(&self, stream: Stream, cx: &mut Context<'_>) -> Poll<Parcel> {
        let mut state = lock(&self.state);
        loop {
            let way = &mut state.ordered[stream as usize];
            if let Some(parcel) = way.ready() {
                return Poll::Ready(parcel);
            }
            let Poll::Ready(step) = way.steps.poll(cx) else { return Poll::Pending };
            match step {
                Step::Arrived(number, parcel) => {
                    way.early.insert(number, parcel);
                    state.heard = self.path.net.clock.now();
                }
                Step::Again { number, parcel, packets, timeout } => {
                    let again = Sending { stream, number, packets, timeout };
                    // The waker would be this task's own.
                    let _ = self.carry_parcel(&mut state, parcel, again);
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
            let (from, to) = self.path.ends();
            network.datagram_arrived(from, to, datagram);
        }
        Poll::Ready(loose)
    }

    /// A message has been taken by its owner.
    pub(super) fn taken(&self, stream: Stream, bytes: usize) {
        let mut state = lock(&self.state);
        let way = &mut state.ordered[stream as usize];
        way.cost -= bytes + limit::SEND_QUEUE_COST;
        way.parcels -= 1;
        state.counts.bytes_arrived += u64::try_from(bytes).unwrap_or(u64::MAX);
        let room = state.room.clone().filter(|_| stream == Stream::Blobs);
        drop(state);
        if let Some(room) = room {
            // An owner that is gone sends nothing more.
            let _ = room.offer(BlobEvent::Room);
        }
    }

    /// A datagram has been refused by its owner.
    pub(super) fn refused(&self) {
        lock(&self.state).counts.refused += 1;
    }

    /// When something last arrived.
    pub(super) fn heard(&self) -> Micros {
        lock(&self.state).heard
    }

    fn send_parcel(&self, state: &mut State, stream: Stream, parcel: Parcel) -> Option<Waker> {
        let way = &mut state.ordered[stream as usize];
        let number = way.next_sent;
        way.next_sent += 1;
        let full = PACKET_BYTES.min(self.path.packet_max());
        let packets = u32::try_from(parcel.wire_bytes() / full + 1).unwrap_or(u32::MAX);
        let timeout = self.first_timeout();
        self.carry_parcel(state, parcel, Sending { stream, number, packets, timeout })
    }

    /// Send the packets of a parcel that are missing at the other end.
    fn carry_parcel(&self, state: &mut State, parcel: Parcel, it: Sending) -> Option<Waker> {
        let Sending { stream, number, packets, timeout } = it;
        let now = self.path.net.clock.now();
        let bytes = parcel.wire_bytes().min(PACKET_BYTES).min(self.path.packet_max());
        let (mut latest, mut lost) = (now, 0);
        for _ in 0..packets {
            match self.carry(state, bytes, parcel.bytes()) {
                Some(at) => latest = latest.max(at),
                None => lost += 1,
            }
        }
        if lost == 0 {
            return state.hold_step(stream, latest, Step::Arrived(number, parcel));
        }
        let again = due(self.path.net.clock, now, timeout);
        let timeout = Micros((timeout.0 * 2).min(TIMEOUT_MAX.0));
        let step = Step::Again { number, parcel, packets: lost, timeout };
        state.hold_step(stream, again, step)
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
        let Path { net, shaper, way, server, is_dead } = &self.path;
        let now = net.clock.now();
        let fate = shaper.carry(*way, *server, now, size);
        let fate = if is_dead.load(Ordering::Relaxed) { Fate::Lost } else { fate };
        let (fate, copy) = PacketFate::of(fate, |delay| due(net.clock, now, delay));
        if let Some(network) = &net.simulated {
            let (from, to) = self.path.ends();
            network.note(from, to, bytes, fate);
            if let Some(at) = copy {
                network.note(from, to, bytes, PacketFate::Copied(at));
            }
        }
        state.counts.packets += 1;
        state.counts.bytes += u64::try_from(size).unwrap_or(u64::MAX);
        match fate {
            PacketFate::Arrives(at) => Some(copy.map_or(at, |copy| copy.min(at))),
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
    fn hold_step(&mut self, stream: Stream, at: Micros, step: Step) -> Option<Waker> {
        self.sequence += 1;
        self.ordered[stream as usize].steps.hold(at, self.sequence, step)
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
/// Packets that may be under way unread.
const LOOSE_MAX: usize = 1 << 13;
/// The longest pause before a lost message is sent again.
const TIMEOUT_MAX: Micros = Micros::from_secs(1);
