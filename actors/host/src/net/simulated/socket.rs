//! `SimulatedSocket`: what quinn takes for a UDP socket.

use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, UdpPoller};

use super::{Inbox, SimulatedNetwork};
use crate::net::lock;
use crate::net::shaper::Shaper;

/// A bound socket of the simulated network; dropping it unbinds the address.
pub(crate) struct SimulatedSocket {
    network: SimulatedNetwork,
    inbox: Inbox,
    shaper: Arc<Shaper>,
}

impl SimulatedSocket {
    pub(super) fn new(network: SimulatedNetwork, inbox: Inbox, shaper: Arc<Shaper>) -> Self {
        Self { network, inbox, shaper }
    }

    pub(crate) fn shaper(&self) -> Arc<Shaper> {
        Arc::clone(&self.shaper)
    }
}

impl AsyncUdpSocket for SimulatedSocket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(AlwaysWritable)
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        self.network.send(self.shaper.near(), &self.shaper, transmit);
        Ok(())
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let mut inbox = lock(&self.inbox);
        let here = self.shaper.near().ip();
        let mut count = 0;
        for (buf, meta) in bufs.iter_mut().zip(meta) {
            let Poll::Ready(packet) = inbox.poll(cx) else { break };
            let len = packet.bytes.len().min(buf.len());
            buf[..len].copy_from_slice(&packet.bytes[..len]);
            *meta = RecvMeta {
                addr: packet.from,
                len,
                stride: len,
                ecn: packet.ecn,
                dst_ip: Some(here),
            };
            count += 1;
        }
        if count == 0 {
            return Poll::Pending;
        }
        self.network.delivered(count);
        Poll::Ready(Ok(count))
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.shaper.near())
    }

    fn may_fragment(&self) -> bool {
        false
    }
}

impl Drop for SimulatedSocket {
    fn drop(&mut self) {
        self.network.unplug(&self.shaper);
    }
}

impl std::fmt::Debug for SimulatedSocket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SimulatedSocket({})", self.shaper.near())
    }
}

/// A link takes packets at any time; what it cannot pass on it drops.
#[derive(Debug)]
struct AlwaysWritable;

impl UdpPoller for AlwaysWritable {
    fn poll_writable(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
