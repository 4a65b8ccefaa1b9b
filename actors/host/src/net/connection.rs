//! Connection: one peer, over QUIC or over memory alike.
//!
//! Held by the actor that talks to the peer. Sending never blocks; what arrives goes to the inlet
//! given to [`Connection::deliver`]. When the last clone is dropped, the connection is closed.

use std::borrow::Cow;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, OnceLock};

use bytes::Bytes;
use dh_machine::Micros;

use super::close::{Closed, code};
use super::congestion::End;
use super::key::PeerKey;
use super::link::Links;
use super::memory::MemoryEnd;
use super::quic::QuicLane;
use super::{Shared, limit, lock};
use crate::accent::Accent;
use crate::port::Inlet;
use crate::registry::ActorId;

/// One peer. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Connection {
    face: Arc<Face>,
}

/// What a connection tells its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetEvent {
    /// A reliable message, in the order they were sent. Its inlet's kind should wait when full:
    /// that is what slows the peer down.
    Message(InMessage),
    /// A datagram: in any order, or not at all. It never waits.
    Datagram(Bytes),
    /// The connection has ended; nothing follows.
    Closed(Closed),
}

/// One reliable message as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InMessage {
    /// Its id.
    pub id: u8,
    /// Its body, not yet read, at most [`limit::BODY_MAX`] bytes.
    pub body: Bytes,
}

/// What the stream of blobs tells its owner. Blobs travel beside the messages, at a lower priority
/// and with a flow of their own, so that neither a long one nor a slow reader of it holds up play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlobEvent {
    /// A frame came, in the order they were sent. Its inlet's kind should wait when full.
    Frame(InMessage),
    /// Some of what was sent has left; look at [`Connection::blobs_waiting`].
    Room,
}

/// Where the peer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remote {
    /// At an address of the network.
    Udp(SocketAddr),
    /// In this process.
    Loopback,
}

/// Why a reliable message was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendError {
    /// The connection has ended, or is closing.
    Closed,
    /// The body is longer than [`limit::BODY_MAX`].
    TooLong,
    /// The peer reads too slowly; the connection has just been closed for it.
    TooSlow,
    /// [`limit::BLOB_QUEUE_MAX`] frames of blobs wait already.
    Full,
}

/// What went over a connection so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionStats {
    /// Packets sent.
    pub packets_sent: u64,
    /// Packets sent that are known to be lost.
    pub packets_lost: u64,
    /// Times packets were handed to the system to send, several at once where it takes them.
    pub sends: u64,
    /// Bytes sent, headers of QUIC included.
    pub bytes_sent: u64,
    /// Bytes received, headers of QUIC included.
    pub bytes_received: u64,
    /// Datagrams given to the connection to send.
    pub datagrams_offered: u64,
    /// Of these, how many never left: pushed out by newer ones, or too large for the path.
    pub datagrams_dropped: u64,
    /// Datagrams that arrived and that the owner's port did not take.
    pub datagrams_refused: u64,
    /// Bytes of reliable messages that wait to be sent.
    pub send_queue: u64,
    /// Bytes that may be on their way; 0 over memory, where there is no such bound.
    pub window: u64,
}

impl ConnectionStats {
    /// The counts of both; what waits or may be on its way is not counted.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        self.with(other, |a, b| a + b)
    }

    /// The larger count of both, each by itself.
    pub(crate) fn most(&self, other: &Self) -> Self {
        self.with(other, u64::max)
    }

    fn with(&self, other: &Self, join: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            packets_sent: join(self.packets_sent, other.packets_sent),
            packets_lost: join(self.packets_lost, other.packets_lost),
            sends: join(self.sends, other.sends),
            bytes_sent: join(self.bytes_sent, other.bytes_sent),
            bytes_received: join(self.bytes_received, other.bytes_received),
            datagrams_offered: join(self.datagrams_offered, other.datagrams_offered),
            datagrams_dropped: join(self.datagrams_dropped, other.datagrams_dropped),
            datagrams_refused: join(self.datagrams_refused, other.datagrams_refused),
            send_queue: 0,
            window: 0,
        }
    }
}

#[derive(Debug)]
pub(crate) enum Lane {
    Quic(Arc<QuicLane>),
    Memory(MemoryEnd),
}

/// What all clones of a connection share.
#[derive(Debug)]
pub(crate) struct Face {
    lane: Lane,
    /// Its number among the connections of its network.
    id: u64,
    /// Who reads it.
    reader: OnceLock<ActorId>,
    /// Who plays over it.
    player: Mutex<Option<Arc<str>>>,
    /// How what is sent is written, where that is not as it is given.
    accent: OnceLock<Accent>,
}

impl Lane {
    fn net(&self) -> &Arc<Shared> {
        match self {
            Self::Quic(lane) => lane.net(),
            Self::Memory(end) => end.net(),
        }
    }
}

impl Face {
    pub(crate) fn remote(&self) -> Remote {
        match &self.lane {
            Lane::Quic(lane) => Remote::Udp(lane.remote()),
            Lane::Memory(end) => end.remote(),
        }
    }

    pub(crate) fn rtt(&self) -> Micros {
        match &self.lane {
            Lane::Quic(lane) => lane.rtt(),
            Lane::Memory(end) => end.rtt(),
        }
    }

    /// The end of it that is here.
    pub(crate) fn end(&self) -> End {
        match &self.lane {
            Lane::Quic(lane) => lane.end(),
            Lane::Memory(end) => end.end(),
        }
    }

    /// When something last came, where that is known.
    pub(crate) fn heard(&self) -> Option<Micros> {
        match &self.lane {
            Lane::Quic(lane) => lane.heard(),
            Lane::Memory(end) => Some(end.heard()),
        }
    }

    /// The actor that reads it, once one does.
    pub(crate) fn reader(&self) -> Option<ActorId> {
        self.reader.get().copied().filter(|id| *id != ActorId::NOBODY)
    }

    /// The name of who plays over it, once it is known.
    pub(crate) fn player(&self) -> Option<Arc<str>> {
        lock(&self.player).clone()
    }

    /// The round trip as it was measured, and how far single ones lie from it on average; none
    /// before a packet was acknowledged. Over memory it is what the links say, where they delay.
    pub(crate) fn measured(&self) -> Option<(Micros, Option<Micros>)> {
        match &self.lane {
            Lane::Quic(lane) => lane.rtt_variation().map(|it| (lane.rtt(), Some(it))),
            Lane::Memory(end) => Some((end.rtt(), None)).filter(|(rtt, _)| *rtt > Micros(0)),
        }
    }

    pub(crate) fn stats(&self) -> ConnectionStats {
        match &self.lane {
            Lane::Quic(lane) => lane.stats(),
            Lane::Memory(end) => end.stats(),
        }
    }
}

impl Connection {
    pub(crate) fn new(lane: Lane) -> Self {
        let net = Arc::clone(lane.net());
        let id = net.links.next();
        let (reader, player, accent) = (OnceLock::new(), Mutex::default(), OnceLock::new());
        let face = Arc::new(Face { lane, id, reader, player, accent });
        net.links.enter(id, Arc::downgrade(&face));
        Self { face }
    }

    /// Start reading, once: reliable messages in order, datagrams, and at last the end. A later
    /// call changes nothing.
    pub fn deliver(&self, inlet: Inlet<NetEvent>) {
        self.face.reader.get_or_init(|| inlet.owner());
        match &self.face.lane {
            Lane::Quic(lane) => lane.deliver(inlet),
            Lane::Memory(end) => end.deliver(inlet),
        }
    }

    /// This is who plays over it, as whoever inspects the process is shown: at most
    /// [`limit::PLAYER_CHARS`] of the name.
    pub fn carries(&self, player: &str) {
        let shown: String = player.chars().take(limit::PLAYER_CHARS).collect();
        let mut known = lock(&self.face.player);
        if known.as_deref() != Some(&shown) {
            *known = Some(shown.into());
        }
    }

    /// Send one reliable message after all earlier ones.
    ///
    /// # Errors
    /// When the connection has ended, the body is too long, or too much waits already: then the
    /// connection is closed, as its peer reads too slowly.
    pub fn send(&self, id: u8, body: &[u8]) -> Result<(), SendError> {
        let Some((id, body)) = self.spoken(id, body) else { return Ok(()) };
        let body = &*body;
        self.counted(match &self.face.lane {
            _ if body.len() > limit::BODY_MAX => Err(SendError::TooLong),
            Lane::Quic(lane) => lane.send(id, body),
            Lane::Memory(end) => end.send(id, body),
        })
    }

    /// Start reading the stream of blobs, once, and be told there when what is sent on it leaves.
    /// A later call changes nothing.
    pub fn deliver_blobs(&self, inlet: Inlet<BlobEvent>) {
        match &self.face.lane {
            Lane::Quic(lane) => lane.deliver_blobs(inlet),
            Lane::Memory(end) => end.deliver_blobs(inlet),
        }
    }

    /// Send one frame on the stream of blobs after all earlier ones. Only the end that was dialled
    /// sends there.
    ///
    /// # Errors
    /// When the connection has ended, the body is too long, or too many frames wait already.
    pub fn send_blob(&self, id: u8, body: &[u8]) -> Result<(), SendError> {
        let Some((id, body)) = self.spoken(id, body) else { return Ok(()) };
        let body = &*body;
        self.counted(match &self.face.lane {
            _ if body.len() > limit::BODY_MAX => Err(SendError::TooLong),
            Lane::Quic(lane) => lane.send_blob(id, body),
            Lane::Memory(end) => end.send_blob(id, body),
        })
    }

    /// Write what is sent in this way from now on, once; for scenarios. A later call changes
    /// nothing.
    pub fn speak(&self, accent: &Accent) {
        self.face.accent.get_or_init(|| accent.clone());
    }

    fn spoken<'a>(&self, id: u8, body: &'a [u8]) -> Option<(u8, Cow<'a, [u8]>)> {
        match self.face.accent.get() {
            None => Some((id, Cow::Borrowed(body))),
            Some(accent) => accent.message(id, body),
        }
    }

    /// What came of sending, counted where a limit was hit.
    fn counted(&self, sent: Result<(), SendError>) -> Result<(), SendError> {
        sent.inspect_err(|why| self.face.lane.net().hits.refused(*why))
    }

    /// Frames of blobs that have not left.
    #[must_use]
    pub fn blobs_waiting(&self) -> usize {
        match &self.face.lane {
            Lane::Quic(lane) => lane.blobs_waiting(),
            Lane::Memory(end) => end.blobs_waiting(),
        }
    }

    /// Send datagrams, in one go so that they share system calls. What has not left when two
    /// ticks' worth of newer ones wait is dropped and counted.
    pub fn send_datagrams(&self, datagrams: impl IntoIterator<Item = Bytes>) {
        let accent = self.face.accent.get();
        let datagrams = datagrams.into_iter();
        let datagrams = &mut datagrams.filter_map(|datagram| match accent {
            None => Some(datagram),
            Some(accent) => accent.datagram(&datagram),
        });
        match &self.face.lane {
            Lane::Quic(lane) => lane.send_datagrams(datagrams),
            Lane::Memory(end) => end.send_datagrams(datagrams),
        }
    }

    /// The largest datagram that can be sent now, in bytes: at most [`limit::DATAGRAM_MAX`]. It
    /// changes with the path; read it for every tick.
    #[must_use]
    pub fn datagram_max(&self) -> usize {
        match &self.face.lane {
            Lane::Quic(lane) => lane.datagram_max(),
            Lane::Memory(end) => end.datagram_max(),
        }
    }

    /// End the connection: what was sent before still arrives, if it does within
    /// [`limit::FLUSH_MAX`], then the peer is told `code` and `reason`. The first close counts.
    pub fn close(&self, code: u32, reason: &[u8]) {
        match &self.face.lane {
            Lane::Quic(lane) => lane.close(code, reason),
            Lane::Memory(end) => end.close(code, reason),
        }
    }

    /// Where the peer is.
    #[must_use]
    pub fn remote(&self) -> Remote {
        self.face.remote()
    }

    /// Who the peer is, proven by the handshake.
    #[must_use]
    pub fn key(&self) -> Option<PeerKey> {
        match &self.face.lane {
            Lane::Quic(lane) => lane.key(),
            Lane::Memory(end) => Some(end.peer_key()),
        }
    }

    /// The measured round trip; over memory, what the links say.
    #[must_use]
    pub fn rtt(&self) -> Option<Micros> {
        Some(self.face.rtt())
    }

    /// What went over the connection so far.
    #[must_use]
    pub fn stats(&self) -> ConnectionStats {
        self.face.stats()
    }

    /// Change the links of a dialled connection from the next packet on. Does nothing on an
    /// accepted one, and on a real socket that was dialled without links.
    pub fn set_links(&self, links: Links) {
        match &self.face.lane {
            Lane::Quic(lane) => lane.set_links(links),
            Lane::Memory(end) => end.set_links(links),
        }
    }
}

impl Drop for Face {
    fn drop(&mut self) {
        self.lane.net().links.leave(self.id, &self.stats());
        match &self.lane {
            Lane::Quic(lane) => lane.close(code::LEAVE, b""),
            Lane::Memory(end) => end.close(code::LEAVE, b""),
        }
    }
}

impl fmt::Display for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Udp(address) => address.fmt(f),
            Self::Loopback => f.write_str("loopback"),
        }
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => "the connection has ended",
            Self::TooLong => "the message is longer than 1 MiB",
            Self::TooSlow => "the peer reads too slowly",
            Self::Full => "as many frames as may wait do so already",
        })
    }
}

impl std::error::Error for SendError {}
