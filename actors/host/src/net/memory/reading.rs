//! Reading: the tasks of one end of a memory connection.

use std::future::poll_fn;
use std::sync::Arc;

use dh_machine::Micros;

use super::half::{Loose, Stream};
use super::ordered::Parcel;
use super::{Pair, Side};
use crate::clock::{Clock, micros};
use crate::net::close::{By, Closed, code};
use crate::net::connection::{BlobEvent, InMessage, NetEvent};
use crate::net::limit;
use crate::net::race::{First, race};
use crate::port::{Inlet, Why};

/// Tell everything that arrives at one end, the end of the connection last.
pub(super) async fn run(pair: Arc<Pair>, side: Side, inlet: Inlet<NetEvent>) {
    let loose = pair.net.handle.spawn(read_loose(Arc::clone(&pair), side, inlet.clone()));
    let beat = pair.net.handle.spawn(beat(Arc::clone(&pair), side));
    let closed = read_ordered(&pair, side, &inlet).await;
    loose.abort();
    beat.abort();
    pair.outgoing(side.other()).end(Stream::Blobs, closed.clone());
    if closed.by != By::Local {
        // Whatever this end still sends goes nowhere.
        pair.outgoing(side).close(closed.code, b"");
    }
    // An owner that is gone needs no goodbye.
    let _ = inlet.send(NetEvent::Closed(closed)).await;
}

/// Hand out reliable messages until the connection ends.
async fn read_ordered(pair: &Pair, side: Side, inlet: &Inlet<NetEvent>) -> Closed {
    let half = pair.outgoing(side.other());
    loop {
        let next = poll_fn(|cx| half.poll_ordered(Stream::Messages, cx));
        let (id, body) = match race(next, silence(pair, side)).await {
            First::A(Parcel::Message { id, body }) => (id, body),
            First::A(Parcel::Close(closed)) => return closed,
            First::B(()) => return Closed::new(By::Timeout, 0, b"timed out"),
        };
        let bytes = body.len();
        match inlet.send(NetEvent::Message(InMessage { id, body })).await {
            Ok(()) | Err(Why::Closed) => half.taken(Stream::Messages, bytes),
            Err(Why::Full | Why::MustWait) => {
                let reason = b"sends faster than it is served";
                pair.outgoing(side).close(code::CLOSED, reason);
                return Closed::new(By::Local, code::CLOSED, reason);
            }
        }
    }
}

/// Hand out frames of blobs until the connection ends.
pub(super) async fn read_blobs(pair: Arc<Pair>, side: Side, inlet: Inlet<BlobEvent>) {
    let half = pair.outgoing(side.other());
    while let Parcel::Message { id, body } =
        poll_fn(|cx| half.poll_ordered(Stream::Blobs, cx)).await
    {
        let bytes = body.len();
        match inlet.send(BlobEvent::Frame(InMessage { id, body })).await {
            Ok(()) => half.taken(Stream::Blobs, bytes),
            // Nobody wants them any more.
            Err(_) => return,
        }
    }
}

async fn read_loose(pair: Arc<Pair>, side: Side, inlet: Inlet<NetEvent>) {
    let half = pair.outgoing(side.other());
    loop {
        let Loose::Datagram(datagram) = poll_fn(|cx| half.poll_loose(cx)).await else { continue };
        match inlet.offer(NetEvent::Datagram(datagram)) {
            Ok(()) => (),
            Err(Why::Full | Why::MustWait) => half.refused(),
            Err(Why::Closed) => return,
        }
    }
}

/// Signs of life, as QUIC's keep-alive gives.
async fn beat(pair: Arc<Pair>, side: Side) {
    loop {
        pair.net.clock.sleep(micros(limit::KEEP_ALIVE)).await;
        pair.outgoing(side).send_alive();
    }
}

/// Wait until nothing has been heard for too long.
async fn silence(pair: &Pair, side: Side) {
    let clock: Clock = pair.net.clock;
    loop {
        let over: Micros = pair.outgoing(side.other()).heard() + micros(limit::IDLE_MAX);
        if clock.now() >= over {
            return;
        }
        clock.sleep_until(over).await;
    }
}
