//! The memory transport: both ends in one process, with the same face and link models as QUIC.
//!
//! Datagrams are lost and reordered as the link says. Reliable messages are lost too, and sent
//! again after a modelled timeout, so that they arrive late but whole and in order. Of a packet
//! that a link makes twice the first to come counts, as QUIC has it. A datagram larger than the
//! largest packet of the link is lost; what fits is known at once, and reliable messages are cut to
//! it. There is no congestion and no encryption; keys are those of the identities both ends were
//! made with.

mod half;
mod ordered;
mod reading;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bytes::Bytes;
use dh_machine::Micros;

use self::half::{Half, Path, Stream};
use super::Shared;
use super::close::{By, Closed, code, cut};
use super::congestion::End;
use super::connection::{BlobEvent, ConnectionStats, NetEvent, Remote, SendError};
use super::key::PeerKey;
use super::link::Links;
use super::shaper::{Shaper, Way};
use crate::port::Inlet;

/// One end of a connection inside the process.
#[derive(Debug)]
pub(crate) struct MemoryEnd {
    pair: Arc<Pair>,
    side: Side,
}

#[derive(Debug)]
struct Pair {
    net: Arc<Shared>,
    shaper: Arc<Shaper>,
    client: Remote,
    keys: [PeerKey; 2],
    /// What each side sends.
    halves: [Half; 2],
}

/// Which end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Server,
}

impl Side {
    const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }

    const fn way(self) -> Way {
        match self {
            Self::Client => Way::Up,
            Self::Server => Way::Down,
        }
    }
}

/// Who the two ends are, and where the server is.
#[derive(Clone, Debug)]
pub(crate) struct Ends {
    pub(crate) server: SocketAddr,
    /// Where the client is, as the server is told.
    pub(crate) remote: Remote,
    pub(crate) client_key: PeerKey,
    pub(crate) server_key: PeerKey,
    /// The server's process is taken for dead.
    pub(crate) is_dead: Arc<AtomicBool>,
}

/// A new connection: the client's end and the server's.
pub(crate) fn pair(net: &Arc<Shared>, ends: Ends, shaper: Arc<Shaper>) -> (MemoryEnd, MemoryEnd) {
    let path = |side: Side| {
        let (net, shaper) = (Arc::clone(net), Arc::clone(&shaper));
        let is_dead = Arc::clone(&ends.is_dead);
        Path { net, shaper, way: side.way(), server: ends.server, is_dead }
    };
    let halves = [Half::new(path(Side::Client)), Half::new(path(Side::Server))];
    let keys = [ends.client_key, ends.server_key];
    let pair = Pair { net: Arc::clone(net), shaper, client: ends.remote, keys, halves };
    let pair = Arc::new(pair);
    let end = |side| MemoryEnd { pair: Arc::clone(&pair), side };
    (end(Side::Client), end(Side::Server))
}

impl MemoryEnd {
    pub(crate) fn deliver(&self, inlet: Inlet<NetEvent>) {
        if self.incoming().start_reading(Stream::Messages) {
            let task = reading::run(Arc::clone(&self.pair), self.side, inlet);
            self.pair.net.handle.spawn(task);
        }
    }

    pub(crate) fn send(&self, id: u8, body: &[u8]) -> Result<(), SendError> {
        self.outgoing().send(Stream::Messages, id, body).inspect_err(|error| {
            if *error == SendError::TooSlow {
                self.close(code::CLOSED, b"reads too slowly");
            }
        })
    }

    pub(crate) fn deliver_blobs(&self, inlet: Inlet<BlobEvent>) {
        if self.incoming().start_reading(Stream::Blobs) {
            self.outgoing().tell_room(inlet.clone());
            let task = reading::read_blobs(Arc::clone(&self.pair), self.side, inlet);
            self.pair.net.handle.spawn(task);
        }
    }

    pub(crate) fn send_blob(&self, id: u8, body: &[u8]) -> Result<(), SendError> {
        self.outgoing().send(Stream::Blobs, id, body)
    }

    pub(crate) fn blobs_waiting(&self) -> usize {
        self.outgoing().blobs_waiting()
    }

    pub(crate) fn send_datagrams(&self, datagrams: &mut dyn Iterator<Item = Bytes>) {
        self.outgoing().send_datagrams(datagrams);
    }

    pub(crate) fn close(&self, code: u32, reason: &[u8]) {
        if self.outgoing().close(code, cut(reason)) {
            self.incoming().end(Stream::Messages, Closed::new(By::Local, code, reason));
        }
    }

    pub(crate) fn net(&self) -> &Arc<Shared> {
        &self.pair.net
    }

    pub(crate) fn peer_key(&self) -> PeerKey {
        self.pair.keys[self.side.other() as usize]
    }

    /// Where the other end is. A server is always in this process.
    pub(crate) fn remote(&self) -> Remote {
        match self.side {
            Side::Client => Remote::Loopback,
            Side::Server => self.pair.client,
        }
    }

    pub(crate) fn datagram_max(&self) -> usize {
        self.outgoing().datagram_max()
    }

    pub(crate) fn rtt(&self) -> Micros {
        self.pair.shaper.link(Way::Up).latency + self.pair.shaper.link(Way::Down).latency
    }

    /// The end of it that is here.
    pub(crate) const fn end(&self) -> End {
        match self.side {
            Side::Client => End::Client,
            Side::Server => End::Server,
        }
    }

    /// When something last came.
    pub(crate) fn heard(&self) -> Micros {
        self.incoming().heard()
    }

    pub(crate) fn stats(&self) -> ConnectionStats {
        let (sent, received) = (self.outgoing().counts(), self.incoming().counts());
        ConnectionStats {
            packets_sent: sent.packets,
            packets_lost: sent.lost,
            sends: sent.packets,
            bytes_sent: sent.bytes,
            bytes_received: received.bytes_arrived,
            datagrams_offered: sent.datagrams,
            datagrams_dropped: sent.dropped,
            datagrams_refused: received.refused,
            send_queue: u64::try_from(self.outgoing().queued()).unwrap_or(u64::MAX),
            window: 0,
        }
    }

    pub(crate) fn set_links(&self, links: Links) {
        if self.side == Side::Client {
            self.pair.shaper.set(links);
        }
    }

    fn outgoing(&self) -> &Half {
        self.pair.outgoing(self.side)
    }

    fn incoming(&self) -> &Half {
        self.pair.outgoing(self.side.other())
    }
}

impl Pair {
    fn outgoing(&self, side: Side) -> &Half {
        &self.halves[side as usize]
    }
}
