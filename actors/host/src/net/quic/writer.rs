//! Writer: sends reliable messages on stream 0, and closes the connection when told to.

use std::collections::VecDeque;
use std::future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use quinn::{RecvStream, SendStream, VarInt};
use tokio::sync::oneshot;

use super::QuicLane;
use crate::net::congestion::End;
use crate::net::race::{First, race};
use crate::net::{limit, lock};

/// Reliable messages that wait for the stream to take them.
#[derive(Debug, Default)]
pub(super) struct SendQueue {
    frames: VecDeque<Bytes>,
    /// What waits, and what the stream is about to take.
    cost: usize,
    /// What to close with once all is sent; nothing is taken after it.
    closing: Option<(u32, Vec<u8>)>,
    /// Whether the runtime waits for this close.
    is_awaited: bool,
    /// Whether the writer has ended.
    is_over: bool,
}

impl SendQueue {
    /// Add a frame; `false` when that would be too much.
    pub(super) fn push(&mut self, frame: Bytes) -> bool {
        let cost = frame.len() + limit::SEND_QUEUE_COST;
        let fits = self.cost + cost <= limit::SEND_QUEUE_MAX;
        if fits {
            self.cost += cost;
            self.frames.push_back(frame);
        }
        fits
    }

    /// Bytes that wait, with what each message costs beside them.
    pub(super) fn waiting(&self) -> usize {
        self.cost
    }

    /// What to close with, if it is closing.
    pub(super) fn closing(&self) -> Option<&(u32, Vec<u8>)> {
        self.closing.as_ref()
    }

    /// Close once all is sent; whether the runtime should wait for it. The first close counts.
    pub(super) fn close(&mut self, code: u32, reason: &[u8]) -> bool {
        let is_awaited = self.closing.is_none() && !self.is_over;
        self.is_awaited |= is_awaited;
        self.closing.get_or_insert_with(|| (code, reason.to_vec()));
        is_awaited
    }

    /// Close now; what with. The first close counts.
    pub(super) fn abort(&mut self, code: u32, reason: &[u8]) -> (u32, Vec<u8>) {
        self.closing.get_or_insert_with(|| (code, reason.to_vec())).clone()
    }

    /// The writer ends; whether the runtime has waited for it.
    fn end(&mut self) -> bool {
        self.is_over = true;
        std::mem::take(&mut self.is_awaited)
    }

    fn taken(&mut self, frames: &[usize]) {
        let cost: usize = frames.iter().map(|length| length + limit::SEND_QUEUE_COST).sum();
        self.cost -= cost;
    }
}

/// Write until the connection ends or is to be closed, then close it.
pub(super) async fn run(lane: Arc<QuicLane>, end: End, stream: oneshot::Sender<RecvStream>) {
    let last_words = async {
        closing(&lane).await;
        tokio::time::sleep(limit::FLUSH_MAX).await;
    };
    race(write(&lane, end, stream), last_words).await;
    // A peer may stop the stream and stay.
    race(closing(&lane), lane.quinn.closed()).await;
    let closing = lock(&lane.queue).closing.clone();
    if let Some((code, reason)) = closing {
        lane.quinn.close(VarInt::from_u32(code), &reason);
    }
    lane.datagrams_queued.notify_one();
    if lock(&lane.queue).end() {
        lane.net.closing.end();
    }
}

/// Write what is queued, until all is acknowledged before a close, or the connection is lost.
async fn write(lane: &QuicLane, end: End, stream: oneshot::Sender<RecvStream>) {
    let Some((mut send, recv)) = open(lane, end).await else { return };
    // Nobody may be reading yet, or ever.
    let _ = stream.send(recv);
    loop {
        let queued = lane.queued.notified();
        let (mut frames, closing) = {
            let mut queue = lock(&lane.queue);
            let frames: Vec<Bytes> = queue.frames.drain(..).collect();
            (frames, queue.closing.is_some())
        };
        if !frames.is_empty() {
            let lengths: Vec<usize> = frames.iter().map(Bytes::len).collect();
            if send.write_all_chunks(&mut frames).await.is_err() {
                return;
            }
            lock(&lane.queue).taken(&lengths);
        } else if closing {
            finish(lane, &mut send).await;
            return;
        } else {
            queued.await;
        }
    }
}

/// Stream 0. A server that closes waits for its client to open it only if it has last words.
async fn open(lane: &QuicLane, end: End) -> Option<(SendStream, RecvStream)> {
    match end {
        End::Client => lane.quinn.open_bi().await.ok(),
        End::Server => match race(lane.quinn.accept_bi(), silent(lane)).await {
            First::A(stream) => stream.ok(),
            First::B(()) => None,
        },
    }
}

/// Wait until everything written is acknowledged. Empty datagrams follow it: once one is
/// acknowledged and the last words are not, these are sent again, long before quinn's own timer
/// would have it.
async fn finish(lane: &QuicLane, send: &mut SendStream) {
    if send.finish().is_err() {
        return;
    }
    let mut stopped = pin!(send.stopped());
    while let First::B(()) = race(stopped.as_mut(), tokio::time::sleep(PROBE_PAUSE)).await {
        if lane.quinn.send_datagram(Bytes::new()).is_err() {
            return;
        }
    }
}

/// Wait until the connection is to be closed with nothing left to say.
async fn silent(lane: &QuicLane) {
    closing(lane).await;
    if !lock(&lane.queue).frames.is_empty() {
        future::pending::<()>().await;
    }
}

/// Wait until the connection is to be closed.
async fn closing(lane: &QuicLane) {
    loop {
        let closing = lane.closing.notified();
        if lock(&lane.queue).closing.is_some() {
            return;
        }
        closing.await;
    }
}

/// The pause between two probes for last words that are not acknowledged yet.
const PROBE_PAUSE: Duration = Duration::from_millis(50);
