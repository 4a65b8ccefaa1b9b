//! The QUIC lane: one quinn connection behind the face of [`Connection`](super::Connection).
//!
//! Its tasks run on the network's thread; its doors are called from any. Stream 0 carries the
//! reliable messages, opened by the client; stream 1 carries blobs, opened by the server with its
//! first; datagrams carry the rest.

mod blobs;
mod datagrams;
mod heard;
mod pieces;
mod reader;
mod writer;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use dh_machine::Micros;
use quinn::{RecvStream, VarInt};
use rustls::pki_types::CertificateDer;
use tokio::sync::{Notify, oneshot};

pub(crate) use self::heard::Heard;

use self::blobs::BlobQueue;
use self::datagrams::DatagramQueue;
use self::heard::Ear;
use self::writer::SendQueue;
use super::certificate::key_of;
use super::close::{code, cut};
use super::congestion::{self, End};
use super::connection::{BlobEvent, ConnectionStats, NetEvent, SendError};
use super::key::PeerKey;
use super::link::Links;
use super::shaper::Shaper;
use super::{Shared, frame, limit, lock};
use crate::clock::micros;
use crate::port::Inlet;

/// One quinn connection.
#[derive(Debug)]
pub(crate) struct QuicLane {
    net: Arc<Shared>,
    quinn: quinn::Connection,
    /// This end's own address, for the records of a simulated network.
    local: SocketAddr,
    end: End,
    key: Option<PeerKey>,
    ear: Ear,
    shaper: Option<Arc<Shaper>>,
    queue: Mutex<SendQueue>,
    /// The queue has frames, or is closing.
    queued: Notify,
    /// The queue is closing.
    closing: Notify,
    datagrams: Mutex<DatagramQueue>,
    /// There are datagrams to hand to quinn, or the connection has ended.
    datagrams_queued: Notify,
    blobs: Mutex<BlobQueue>,
    /// There are frames of blobs to write.
    blobs_queued: Notify,
    /// Stream 0 to read from, until [`QuicLane::deliver`] takes it.
    stream: Mutex<Option<oneshot::Receiver<RecvStream>>>,
}

impl QuicLane {
    /// Wrap a connection whose handshake is done, and start its tasks.
    pub(crate) fn start(
        net: &Arc<Shared>,
        quinn: quinn::Connection,
        (local, heard): (SocketAddr, &Arc<Heard>),
        end: End,
        shaper: Option<Arc<Shaper>>,
    ) -> Arc<Self> {
        let (sender, stream) = oneshot::channel();
        let lane = Arc::new(Self {
            net: Arc::clone(net),
            key: peer_key(&quinn),
            ear: heard.listen(quinn.remote_address(), net.clock.now()),
            quinn,
            local,
            end,
            shaper,
            queue: Mutex::default(),
            queued: Notify::new(),
            closing: Notify::new(),
            datagrams: Mutex::default(),
            datagrams_queued: Notify::new(),
            blobs: Mutex::default(),
            blobs_queued: Notify::new(),
            stream: Mutex::new(Some(stream)),
        });
        net.handle.spawn(writer::run(Arc::clone(&lane), end, sender));
        net.handle.spawn(datagrams::run(Arc::clone(&lane)));
        lane
    }

    pub(crate) fn deliver(self: &Arc<Self>, inlet: Inlet<NetEvent>) {
        if let Some(stream) = lock(&self.stream).take() {
            self.net.handle.spawn(reader::run(Arc::clone(self), stream, inlet));
        }
    }

    pub(crate) fn send(&self, id: u8, body: &[u8]) -> Result<(), SendError> {
        if !self.is_open() {
            return Err(SendError::Closed);
        }
        let mut queue = lock(&self.queue);
        if queue.closing().is_some() {
            return Err(SendError::Closed);
        }
        if queue.push(frame::encode(id, body)) {
            drop(queue);
            self.queued.notify_one();
            return Ok(());
        }
        drop(queue);
        self.abort(code::CLOSED, b"reads too slowly");
        Err(SendError::TooSlow)
    }

    pub(crate) fn deliver_blobs(self: &Arc<Self>, inlet: Inlet<BlobEvent>) {
        if lock(&self.blobs).tell_room(inlet.clone()) && self.end == End::Client {
            self.net.handle.spawn(reader::run_blobs(Arc::clone(self), inlet));
        }
    }

    pub(crate) fn send_blob(self: &Arc<Self>, id: u8, body: &[u8]) -> Result<(), SendError> {
        debug_assert!(self.end == End::Server, "only the end that was dialled sends blobs");
        if !self.is_open() || lock(&self.queue).closing().is_some() {
            return Err(SendError::Closed);
        }
        if lock(&self.blobs).push(frame::encode(id, body))? {
            self.net.handle.spawn(blobs::write(Arc::clone(self)));
        }
        self.blobs_queued.notify_one();
        Ok(())
    }

    pub(crate) fn blobs_waiting(&self) -> usize {
        lock(&self.blobs).waiting()
    }

    pub(crate) fn send_datagrams(&self, datagrams: &mut dyn Iterator<Item = Bytes>) {
        let now = self.net.clock.now();
        if lock(&self.datagrams).push(now, datagrams) {
            self.datagrams_queued.notify_one();
        }
    }

    pub(crate) fn datagram_max(&self) -> usize {
        self.quinn.max_datagram_size().unwrap_or(0).min(limit::DATAGRAM_MAX)
    }

    pub(crate) fn close(&self, code: u32, reason: &[u8]) {
        let mut queue = lock(&self.queue);
        if queue.close(code, cut(reason)) {
            self.net.closing.begin();
        }
        drop(queue);
        self.queued.notify_one();
        self.closing.notify_waiters();
    }

    pub(crate) fn net(&self) -> &Arc<Shared> {
        &self.net
    }

    pub(crate) fn remote(&self) -> SocketAddr {
        self.quinn.remote_address()
    }

    pub(crate) fn key(&self) -> Option<PeerKey> {
        self.key
    }

    pub(crate) fn rtt(&self) -> Micros {
        micros(self.quinn.rtt())
    }

    /// The end of it that is here.
    pub(crate) const fn end(&self) -> End {
        self.end
    }

    /// When a packet last came, where that is known.
    pub(crate) fn heard(&self) -> Option<Micros> {
        self.ear.last(self.remote())
    }

    pub(crate) fn rtt_variation(&self) -> Option<Micros> {
        congestion::variation(self.quinn.congestion_state()).map(micros)
    }

    pub(crate) fn stats(&self) -> ConnectionStats {
        let quinn = self.quinn.stats();
        let queue = lock(&self.queue).waiting();
        let datagrams = lock(&self.datagrams).counts();
        ConnectionStats {
            packets_sent: quinn.path.sent_packets,
            packets_lost: quinn.path.lost_packets,
            sends: quinn.udp_tx.ios,
            bytes_sent: quinn.udp_tx.bytes,
            bytes_received: quinn.udp_rx.bytes,
            datagrams_offered: datagrams.offered,
            datagrams_dropped: datagrams.dropped,
            datagrams_refused: datagrams.refused,
            send_queue: u64::try_from(queue).unwrap_or(u64::MAX),
            window: quinn.path.cwnd,
        }
    }

    pub(crate) fn set_links(&self, links: Links) {
        if let Some(shaper) = &self.shaper {
            shaper.set(links);
        }
    }

    fn is_open(&self) -> bool {
        self.quinn.close_reason().is_none()
    }

    /// End the connection without waiting for anything.
    fn abort(&self, code: u32, reason: &[u8]) {
        let (code, reason) = lock(&self.queue).abort(code, cut(reason));
        self.quinn.close(VarInt::from_u32(code), &reason);
    }
}

fn peer_key(quinn: &quinn::Connection) -> Option<PeerKey> {
    let chain = quinn.peer_identity()?.downcast::<Vec<CertificateDer<'static>>>().ok()?;
    key_of(chain.first()?)
}
