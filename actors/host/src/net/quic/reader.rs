//! Reader: reliable messages, datagrams and the end, told to the owner's inlet.

use std::sync::Arc;

use bytes::Bytes;
use quinn::{ConnectionError, RecvStream};
use tokio::sync::oneshot;

use super::QuicLane;
use super::pieces::{NoPiece, Pieces};
use crate::net::close::{By, Closed, code};
use crate::net::connection::{BlobEvent, InMessage, NetEvent};
use crate::net::frame::FrameReader;
use crate::net::race::{First, race};
use crate::net::{limit, lock};
use crate::port::{Inlet, Why};

/// Tell everything that arrives, the end last.
pub(super) async fn run(
    lane: Arc<QuicLane>,
    stream: oneshot::Receiver<RecvStream>,
    inlet: Inlet<NetEvent>,
) {
    let datagrams = lane.net.handle.spawn(read_datagrams(Arc::clone(&lane), inlet.clone()));
    let mut is_finished = false;
    if let Ok(stream) = stream.await {
        match read_messages(stream, &inlet).await {
            Ok(finished) => is_finished = finished,
            Err((code, reason)) => lane.abort(code, reason.as_bytes()),
        }
    }
    let closed = ending(&lane, is_finished).await;
    let _ = datagrams.await;
    // An owner that is gone needs no goodbye.
    let _ = inlet.send(NetEvent::Closed(closed)).await;
}

/// Tell every frame of blobs that arrives.
pub(super) async fn run_blobs(lane: Arc<QuicLane>, inlet: Inlet<BlobEvent>) {
    // The sending half is kept: to drop it would be an end of the stream.
    let Ok((_send, stream)) = lane.quinn.accept_bi().await else { return };
    let mut stream = Pieces::of(stream);
    let mut frames = Frames::to(&inlet, BlobEvent::Frame);
    let (code, reason) = loop {
        match stream.next().await {
            Ok(Some(bytes)) => match frames.tell(bytes).await {
                Ok(true) => {}
                Ok(false) => return,
                Err(misdeed) => break misdeed,
            },
            Ok(None) | Err(NoPiece::Lost) => return,
            Err(NoPiece::Hole) => {
                break (code::UNREADABLE, "left a hole in what it sends".to_owned());
            }
        }
    };
    lane.abort(code, reason.as_bytes());
}

/// How the connection ends. A peer that has finished its stream is about to close; its close
/// frame may be lost, and then the peer is gone all the same.
async fn ending(lane: &QuicLane, is_finished: bool) -> Closed {
    let by_peer = Closed::new(By::Peer, code::LEAVE, b"");
    let error = if is_finished {
        match race(lane.quinn.closed(), tokio::time::sleep(2 * limit::FLUSH_MAX)).await {
            First::A(ConnectionError::Reset) => return by_peer,
            First::A(error) => error,
            First::B(()) => {
                lane.abort(code::LEAVE, b"");
                return by_peer;
            }
        }
    } else {
        lane.quinn.closed().await
    };
    Closed::of(error, lock(&lane.queue).closing().cloned())
}

/// Read until the stream ends, and whether its sender ended it; or what to close the connection
/// with if it must not go on. While the inlet is full nothing is read, which is what slows the
/// peer down.
async fn read_messages(
    mut stream: RecvStream,
    inlet: &Inlet<NetEvent>,
) -> Result<bool, (u32, String)> {
    let mut frames = Frames::to(inlet, NetEvent::Message);
    loop {
        match stream.read_chunk(READ_MAX, true).await {
            Ok(Some(chunk)) => {
                if !frames.tell(chunk.bytes).await? {
                    return Ok(false);
                }
            }
            Ok(None) => return Ok(true),
            Err(_) => return Ok(false),
        }
    }
}

/// Cuts frames out of bytes and tells them.
struct Frames<'a, T, E> {
    reader: FrameReader,
    inlet: &'a Inlet<T>,
    event: E,
}

impl<'a, T: 'static, E: Fn(InMessage) -> T> Frames<'a, T, E> {
    fn to(inlet: &'a Inlet<T>, event: E) -> Self {
        Self { reader: FrameReader::default(), inlet, event }
    }

    /// Tell every frame that these bytes complete; whether somebody still listens, or what to close
    /// the connection with.
    async fn tell(&mut self, mut bytes: Bytes) -> Result<bool, (u32, String)> {
        loop {
            let frame = self.reader.take(&mut bytes).map_err(|too_long| {
                (code::UNREADABLE, format!("announced a message of {} bytes", too_long.0))
            })?;
            let Some(frame) = frame else { return Ok(true) };
            let message = InMessage { id: frame.id, body: frame.body };
            match self.inlet.send((self.event)(message)).await {
                Ok(()) => (),
                Err(Why::Closed) => return Ok(false),
                Err(Why::Full | Why::MustWait) => {
                    return Err((code::CLOSED, "sends faster than it is served".to_owned()));
                }
            }
        }
    }
}

async fn read_datagrams(lane: Arc<QuicLane>, inlet: Inlet<NetEvent>) {
    while let Ok(datagram) = lane.quinn.read_datagram().await {
        if datagram.is_empty() {
            // A probe of a peer that is closing.
            continue;
        }
        if let Some(network) = &lane.net.simulated {
            network.datagram_arrived(lane.remote(), lane.local, &datagram);
        }
        match inlet.offer(NetEvent::Datagram(datagram)) {
            Ok(()) => (),
            Err(Why::Full | Why::MustWait) => lock(&lane.datagrams).refused(),
            Err(Why::Closed) => return,
        }
    }
}

/// Bytes taken from the stream at once.
const READ_MAX: usize = 64 << 10;
