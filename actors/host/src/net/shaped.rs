//! `ShapedSocket`: a real UDP socket behind a link model, for trying out bad networks.

use std::future::poll_fn;
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Waker};

use dh_machine::Micros;
use quinn::udp::{BATCH_SIZE, EcnCodepoint, RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, Runtime, TokioRuntime, UdpPoller};
use tokio::task::AbortHandle;

use super::delayed::Delayed;
use super::link::Fate;
use super::shaper::{Shaper, Way};
use super::{Shared, lock, socket};
use crate::clock::Clock;

/// Applies a path's links to everything that passes a socket.
#[derive(Debug)]
pub(crate) struct ShapedSocket {
    /// Replaced when the address changes.
    inner: Mutex<Arc<dyn AsyncUdpSocket>>,
    clock: Clock,
    shaper: Arc<Shaper>,
    sequence: AtomicU64,
    outbox: Mutex<Delayed<Outbound>>,
    inbox: Mutex<Inbox>,
    /// Sends what was held back.
    sending: AbortHandle,
}

#[derive(Debug)]
struct Inbox {
    packets: Delayed<Inbound>,
    /// Where the inner socket receives to.
    buffers: Vec<Vec<u8>>,
    /// Who waits for packets.
    reader: Option<Waker>,
}

#[derive(Debug)]
struct Outbound {
    to: SocketAddr,
    ecn: Option<EcnCodepoint>,
    src_ip: Option<IpAddr>,
    bytes: Vec<u8>,
}

#[derive(Debug)]
struct Inbound {
    meta: RecvMeta,
    bytes: Vec<u8>,
}

impl ShapedSocket {
    /// Wrap a socket and start the task that sends what was held back.
    pub(crate) fn start(
        net: &Shared,
        inner: Arc<dyn AsyncUdpSocket>,
        shaper: Arc<Shaper>,
    ) -> Arc<Self> {
        let buffers = vec![vec![0; PACKET_MAX * inner.max_receive_segments()]; BATCH_SIZE];
        let inbox = Inbox { packets: Delayed::new(net.clock), buffers, reader: None };
        Arc::new_cyclic(|socket: &Weak<Self>| Self {
            inner: Mutex::new(inner),
            clock: net.clock,
            shaper,
            sequence: AtomicU64::new(0),
            outbox: Mutex::new(Delayed::new(net.clock)),
            inbox: Mutex::new(inbox),
            sending: net.handle.spawn(send_held(Weak::clone(socket))).abort_handle(),
        })
    }

    /// Go on from another port of the same host; where that is. Whoever reads and writes here is
    /// not told.
    pub(crate) fn rebind(&self, net: &Shared, old: SocketAddr) -> io::Result<SocketAddr> {
        let _entered = net.handle.enter();
        let other = socket::bind_real(SocketAddr::new(old.ip(), 0))?;
        let address = other.local_addr()?;
        *lock(&self.inner) = TokioRuntime.wrap_udp_socket(other)?;
        // The reader waits for the old one.
        let reader = lock(&self.inbox).reader.take();
        reader.map(Waker::wake).unwrap_or_default();
        Ok(address)
    }

    fn inner(&self) -> Arc<dyn AsyncUdpSocket> {
        Arc::clone(&lock(&self.inner))
    }

    /// When a packet to or from `far` passes, if it does, and when its copy does.
    fn carry(
        &self,
        way: Way,
        far: SocketAddr,
        bytes: usize,
    ) -> impl Iterator<Item = (Micros, u64)> {
        let now = self.clock.now();
        let times = match self.shaper.carry(way, far, now, bytes) {
            Fate::After(delay) => [Some(delay), None],
            Fate::Twice(delay, copy) => [Some(delay), Some(copy)],
            Fate::Lost | Fate::Overflowed | Fate::TooLarge => [None, None],
        };
        let number = move |delay| (now + delay, self.sequence.fetch_add(1, Ordering::Relaxed));
        times.into_iter().flatten().map(number)
    }

    /// Move what the inner socket has into the inbox.
    fn fill(&self, cx: &mut Context<'_>, inbox: &mut Inbox) -> io::Result<()> {
        let mut metas = [RecvMeta::default(); BATCH_SIZE];
        let inner = self.inner();
        inbox.reader = Some(cx.waker().clone());
        for _ in 0..FILLS_MAX {
            let mut slices: Vec<IoSliceMut<'_>> =
                inbox.buffers.iter_mut().map(|buffer| IoSliceMut::new(buffer)).collect();
            let count = match inner.poll_recv(cx, &mut slices, &mut metas) {
                Poll::Ready(count) => count?,
                Poll::Pending => return Ok(()),
            };
            for (meta, buffer) in metas.iter().zip(&inbox.buffers).take(count) {
                for bytes in buffer[..meta.len].chunks(meta.stride.max(1)) {
                    for (at, sequence) in self.carry(Way::Down, meta.addr, bytes.len()) {
                        let meta = RecvMeta { len: bytes.len(), stride: bytes.len(), ..*meta };
                        // The waker would be this task's own.
                        let bytes = bytes.to_vec();
                        drop(inbox.packets.hold(at, sequence, Inbound { meta, bytes }));
                    }
                }
            }
        }
        cx.waker().wake_by_ref();
        Ok(())
    }
}

impl AsyncUdpSocket for ShapedSocket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        self.inner().create_io_poller()
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        let size = transmit.segment_size.unwrap_or(transmit.contents.len()).max(1);
        for bytes in transmit.contents.chunks(size) {
            let (to, ecn, src_ip) = (transmit.destination, transmit.ecn, transmit.src_ip);
            for (at, sequence) in self.carry(Way::Up, to, bytes.len()) {
                let packet = Outbound { to, ecn, src_ip, bytes: bytes.to_vec() };
                let waker = lock(&self.outbox).hold(at, sequence, packet);
                waker.map(Waker::wake).unwrap_or_default();
            }
        }
        Ok(())
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let inbox = &mut *lock(&self.inbox);
        self.fill(cx, inbox)?;
        let mut count = 0;
        for (buf, meta) in bufs.iter_mut().zip(meta) {
            let Poll::Ready(packet) = inbox.packets.poll(cx) else { break };
            // As the system does, what does not fit is cut.
            let len = packet.bytes.len().min(buf.len());
            buf[..len].copy_from_slice(&packet.bytes[..len]);
            *meta = RecvMeta { len, stride: len, ..packet.meta };
            count += 1;
        }
        if count == 0 { Poll::Pending } else { Poll::Ready(Ok(count)) }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner().local_addr()
    }

    fn may_fragment(&self) -> bool {
        self.inner().may_fragment()
    }
}

impl Drop for ShapedSocket {
    fn drop(&mut self) {
        self.sending.abort();
    }
}

/// Send packets when they are due, until the socket is gone.
async fn send_held(socket: Weak<ShapedSocket>) {
    let next = || {
        poll_fn(|cx| match socket.upgrade() {
            Some(socket) => {
                let packet = std::task::ready!(lock(&socket.outbox).poll(cx));
                Poll::Ready(Some((packet, socket.inner())))
            }
            None => Poll::Ready(None),
        })
    };
    while let Some((packet, inner)) = next().await {
        let transmit = Transmit {
            destination: packet.to,
            ecn: packet.ecn,
            contents: &packet.bytes,
            segment_size: None,
            src_ip: packet.src_ip,
        };
        // A full system buffer loses it, as a network would.
        let _ = inner.try_send(&transmit);
    }
}

/// Bytes of the largest packet.
const PACKET_MAX: usize = 1500;
/// Batches taken from the system before others get their turn.
const FILLS_MAX: usize = 8;
