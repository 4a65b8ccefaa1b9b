//! Events: a stream of what changes, for as long as somebody reads it.
//!
//! Server-sent events: first `snapshot`, then a `change` every so often. A step is taken only when
//! the one before has left, so a slow reader gets fewer and nothing piles up.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame};
use serde::Serialize;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use super::Streaming;
use crate::inspect::follow::Follower;
use crate::inspect::inspector::InspectorMsg;
use crate::inspect::snapshot::Snapshot;
use crate::port::Port;

/// Changes a second, at most and unless asked otherwise.
pub(crate) const HZ_MAX: u32 = 10;

/// The body of one stream.
#[derive(Debug)]
pub(crate) struct Events {
    inspector: Port<InspectorMsg>,
    first: Option<Bytes>,
    follower: Follower,
    due: Interval,
    /// Bytes of the longest change so far: as many are made room for.
    longest: usize,
    _place: Streaming,
}

impl Events {
    /// A stream that begins with `snapshot`.
    pub(crate) fn new(
        inspector: Port<InspectorMsg>,
        snapshot: &Snapshot,
        follower: Follower,
        hz: Option<u32>,
        place: Streaming,
    ) -> Self {
        let every = Duration::from_secs(1) / hz.unwrap_or(HZ_MAX).clamp(1, HZ_MAX);
        let mut due = interval_at(Instant::now() + every, every);
        due.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let first = follower.begin(snapshot);
        let first = event("snapshot", &first, 0);
        Self { inspector, first, follower, due, longest: 0, _place: place }
    }
}

impl Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        ready!(self.due.poll_tick(cx));
        if self.inspector.is_closed() {
            return Poll::Ready(None);
        }
        let change = self.follower.step();
        let bytes = event("change", &change, self.longest);
        self.longest = bytes.as_ref().map_or(0, |bytes| self.longest.max(bytes.len()));
        Poll::Ready(bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// One event as it travels; none where it cannot be written, which ends the stream.
fn event(name: &str, data: &impl Serialize, room: usize) -> Option<Bytes> {
    let mut bytes = Vec::with_capacity(room);
    bytes.extend_from_slice(format!("event: {name}\ndata: ").as_bytes());
    serde_json::to_writer(&mut bytes, data).ok()?;
    bytes.extend_from_slice(b"\n\n");
    Some(bytes.into())
}
