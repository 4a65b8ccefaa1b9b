//! Gate: drops floods of first packets at the socket, before any cryptography.
//!
//! A first packet costs its sender nothing and the server a key exchange. What is too short to be
//! one is dropped always and counts for nothing. In a flood 32 of the others pass in 100 ms:
//!
//! * only from an address that has come before, 200 ms ago or more: a real client sends its own
//!   again after 240 ms, 480 ms, 960 ms, and whoever comes faster gains nothing;
//! * divided by net (/24 or /56) as far as each asks, so that no net starves another;
//! * within a net those who have come again more often first, and equals by lot: a flood that
//!   repeats each address n times is passed over once a client has come n + 1 times;
//! * whoever passed stands back for 2 s, so that a few hundred real sockets soon have had theirs.
//!
//! The endpoint answers each of them with a Retry; what comes back with a token from an address
//! that passed, passes. Everything that opens no connection always passes.

mod addresses;
mod kind;
mod shares;
mod sieve;

use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, UdpPoller};
use tokio::time::Sleep;

use self::sieve::Sieve;
use super::lock;
use crate::clock::Clock;

/// A listening socket that can shed load.
#[derive(Debug)]
pub(crate) struct Gate {
    inner: Arc<dyn AsyncUdpSocket>,
    clock: Clock,
    /// Its process is taken for dead: nothing comes and nothing goes.
    is_dead: Arc<AtomicBool>,
    is_told: AtomicBool,
    is_flooded: AtomicBool,
    dropped: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    sieve: Sieve,
    /// The pause between two looks at a flooded socket.
    pause: Option<Pin<Box<Sleep>>>,
}

impl Gate {
    pub(crate) fn new(
        inner: Arc<dyn AsyncUdpSocket>,
        clock: Clock,
        seed: u64,
        is_dead: Arc<AtomicBool>,
    ) -> Self {
        let sieve = Sieve::new(clock.now(), seed);
        Self {
            inner,
            clock,
            is_dead,
            is_told: AtomicBool::new(false),
            is_flooded: AtomicBool::new(false),
            dropped: AtomicU64::new(0),
            state: Mutex::new(State { sieve, pause: None }),
        }
    }

    /// Shed load, or only when the arrivals themselves are a flood.
    pub(crate) fn shed(&self, shed: bool) {
        self.is_told.store(shed, Ordering::Relaxed);
    }

    /// Whether it sheds load.
    pub(crate) fn is_shedding(&self) -> bool {
        self.is_told.load(Ordering::Relaxed) || self.is_flooded.load(Ordering::Relaxed)
    }

    /// Packets dropped so far.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Keep the receptions of which something passes at the front; how many.
    fn sift(
        &self,
        sieve: &mut Sieve,
        bufs: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
        count: usize,
    ) -> usize {
        let is_told = self.is_told.load(Ordering::Relaxed);
        sieve.turn(self.clock.now());
        let (mut kept, mut dropped) = (0, 0);
        for at in 0..count {
            let RecvMeta { addr, len, stride, .. } = meta[at];
            let passes = |datagram: &[u8]| {
                let passes = sieve.passes(datagram, addr, is_told);
                dropped += u64::from(!passes);
                passes
            };
            meta[at].len = keep(&mut bufs[at][..len], stride, passes);
            if meta[at].len > 0 {
                bufs.swap(kept, at);
                meta.swap(kept, at);
                kept += 1;
            }
        }
        self.is_flooded.store(sieve.is_flooded(), Ordering::Relaxed);
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
        if self.is_dead.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.inner.try_send(transmit)
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        if self.is_dead.load(Ordering::Relaxed) {
            return Poll::Pending;
        }
        let state = &mut *lock(&self.state);
        if let Some(pause) = &mut state.pause {
            if pause.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            state.pause = None;
        }
        for _ in 0..LOOKS_MAX {
            let received = if state.sieve.is_busy() {
                self.inner.poll_recv(&mut Context::from_waker(Waker::noop()), bufs, meta)
            } else {
                self.inner.poll_recv(cx, bufs, meta)
            };
            match received {
                Poll::Ready(Ok(count)) => {
                    let kept = self.sift(&mut state.sieve, bufs, meta, count);
                    if kept > 0 {
                        return Poll::Ready(Ok(kept));
                    }
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending if state.sieve.is_busy() => {
                    state.sieve.turn(self.clock.now());
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

/// Move the datagrams of one reception that pass to its front; the bytes they fill. The system may
/// hand over many of one sender at once, all of `stride` bytes but the last.
fn keep(reception: &mut [u8], stride: usize, mut passes: impl FnMut(&[u8]) -> bool) -> usize {
    let (mut kept, mut from) = (0, 0);
    while from < reception.len() {
        let until = reception.len().min(from + stride.max(1));
        if passes(&reception[from..until]) {
            reception.copy_within(from..until, kept);
            kept += until - from;
        }
        from = until;
    }
    kept
}

/// The pause between two looks at a flooded socket: twenty packets a wake-up at 10,000 a second.
const PAUSE: Duration = Duration::from_millis(2);
/// Batches that are sifted before others get their turn.
const LOOKS_MAX: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_handed_over_together_are_judged_one_by_one() {
        let mut reception = *b"aaabbbcccaaad";
        let mut judged = Vec::new();
        let kept = keep(&mut reception, 3, |datagram| {
            judged.push(datagram.to_vec());
            datagram != b"aaa"
        });
        assert_eq!(judged, [&b"aaa"[..], b"bbb", b"ccc", b"aaa", b"d"]);
        assert_eq!(&reception[..kept], b"bbbcccd");
        assert_eq!(keep(&mut reception[..3], 1_500, |_| false), 0);
        assert_eq!(keep(&mut [], 0, |_| true), 0);
    }
}
