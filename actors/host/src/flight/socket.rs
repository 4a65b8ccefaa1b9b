//! `NotedSocket`: a socket whose packets are noted: in the flight recorder where that is on, and
//! when each peer was last heard.

use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, UdpPoller};

use super::{Flight, Way};
use crate::clock::Clock;
use crate::net::Heard;

/// Notes everything that passes a socket.
#[derive(Debug)]
pub(crate) struct NotedSocket {
    pub(crate) inner: Arc<dyn AsyncUdpSocket>,
    pub(crate) clock: Clock,
    pub(crate) heard: Arc<Heard>,
    pub(crate) flight: Arc<Flight>,
    /// The port it is bound to.
    pub(crate) local: u16,
}

impl NotedSocket {
    /// Note the header of each packet of one call.
    fn note(&self, way: Way, remote: SocketAddr, bytes: &[u8], size: usize) {
        if !self.flight.is_on() {
            return;
        }
        for packet in bytes.chunks(size.max(1)) {
            self.flight.packet(way, self.local, remote, packet);
        }
    }
}

impl AsyncUdpSocket for NotedSocket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Arc::clone(&self.inner).create_io_poller()
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        self.inner.try_send(transmit)?;
        let bytes = transmit.contents;
        let size = transmit.segment_size.unwrap_or(bytes.len());
        self.note(Way::Out, transmit.destination, bytes, size);
        Ok(())
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        metas: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let polled = self.inner.poll_recv(cx, bufs, metas);
        if let Poll::Ready(Ok(count)) = &polled {
            let from = metas.iter().take(*count).map(|meta| meta.addr);
            self.heard.note(from, self.clock.now());
            for (meta, buffer) in metas.iter().zip(bufs.iter()).take(*count) {
                let bytes = buffer.get(..meta.len).unwrap_or_default();
                self.note(Way::In, meta.addr, bytes, meta.stride);
            }
        }
        polled
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

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use dh_machine::Micros;
    use quinn::{Runtime, TokioRuntime};

    use super::*;

    #[test]
    fn each_packet_is_noted_on_both_sides_of_a_path() {
        let clock = Clock::real();
        let flight = Arc::new(Flight::new(clock, true));
        let heard = Arc::new(Heard::default());
        let socket = || {
            let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
            let address = socket.local_addr().unwrap();
            let inner = TokioRuntime.wrap_udp_socket(socket).unwrap();
            let (heard, flight) = (Arc::clone(&heard), Arc::clone(&flight));
            let local = address.port();
            (NotedSocket { inner, clock, heard, flight, local }, address)
        };
        let tasks = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        tasks.block_on(async {
            let ((here, at), (there, to)) = (socket(), socket());
            let transmit = Transmit {
                destination: to,
                ecn: None,
                contents: &[0x40; 700],
                segment_size: None,
                src_ip: None,
            };
            let here = Arc::new(here);
            let ear = heard.listen(at, Micros(0));
            let mut poller = Arc::clone(&here).create_io_poller();
            poll_fn(|cx| poller.as_mut().poll_writable(cx)).await.unwrap();
            here.try_send(&transmit).unwrap();
            let mut buffer = [0; 2_000];
            let mut metas = [RecvMeta::default()];
            let mut slices = [IoSliceMut::new(&mut buffer)];
            let came = poll_fn(|cx| there.poll_recv(cx, &mut slices, &mut metas)).await;
            assert_eq!(came.unwrap(), 1);
            let noted = [(Way::Out, at.port(), 700), (Way::In, to.port(), 700)];
            assert_eq!(flight.packets(), noted);
            assert!(ear.last(at).unwrap() > Micros(0));
        });
    }
}
