//! Blobs out: written to stream 1 as the link takes them.
//!
//! The owner fills the queue to the window it wants and is told whenever some of it has left.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use dh_machine::Micros;

use super::QuicLane;
use crate::net::connection::{BlobEvent, SendError};
use crate::net::race::{First, race};
use crate::net::{limit, lock};
use crate::port::Inlet;

/// Frames of blobs that wait for the stream.
#[derive(Debug, Default)]
pub(super) struct BlobQueue {
    frames: VecDeque<Bytes>,
    /// Frames that wait, and those that the stream is about to take.
    waiting: usize,
    /// Where it is told that some have left.
    room: Option<Inlet<BlobEvent>>,
    /// Whether the writer runs, or has run.
    is_started: bool,
}

impl BlobQueue {
    /// Add a frame; whether the writer is to be started.
    pub(super) fn push(&mut self, frame: Bytes) -> Result<bool, SendError> {
        if self.waiting >= limit::BLOB_QUEUE_MAX {
            return Err(SendError::Full);
        }
        self.waiting += 1;
        self.frames.push_back(frame);
        Ok(!std::mem::replace(&mut self.is_started, true))
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Tell it there when some have left; whether nobody was told before.
    pub(super) fn tell_room(&mut self, room: Inlet<BlobEvent>) -> bool {
        let is_first = self.room.is_none();
        self.room.get_or_insert(room);
        is_first
    }

    fn batch(&mut self) -> Vec<Bytes> {
        self.frames.drain(..self.frames.len().min(BATCH)).collect()
    }

    fn left(&mut self, count: usize) -> Option<Inlet<BlobEvent>> {
        self.waiting -= count;
        self.room.clone()
    }
}

/// Write what is queued until the connection ends.
pub(super) async fn write(lane: Arc<QuicLane>) {
    // The receiving half is kept: to drop it would tell the peer to stop.
    let Ok((mut send, _back)) = lane.quinn.open_bi().await else { return };
    if send.set_priority(PRIORITY).is_err() {
        return;
    }
    let mut unacked = None;
    loop {
        let wanted = unacked_max(lane.rtt());
        if unacked.replace(wanted) != Some(wanted) {
            lane.quinn.set_send_window(wanted);
        }
        let queued = lane.blobs_queued.notified();
        let mut frames = lock(&lane.blobs).batch();
        let count = frames.len();
        if count == 0 {
            match race(queued, lane.quinn.closed()).await {
                First::A(()) => continue,
                First::B(_) => return,
            }
        }
        if send.write_all_chunks(&mut frames).await.is_err() {
            return;
        }
        let room = lock(&lane.blobs).left(count);
        if let Some(room) = room {
            // An owner that is gone sends nothing more.
            let _ = room.offer(BlobEvent::Room);
        }
    }
}

/// Bytes that are kept until they are acknowledged, on a path of this round trip.
fn unacked_max(rtt: Micros) -> u64 {
    let far = u64::from(limit::BLOB_UNACKED);
    let share = far.saturating_mul(rtt.0) / limit::BLOB_FAR.0;
    share.clamp(u64::from(limit::BLOB_UNACKED_NEAR), far)
}

/// Frames that are written before their owner is told.
const BATCH: usize = 32;
/// Below the messages, whose priority is 0.
const PRIORITY: i32 = -1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_peer_costs_little_memory_and_a_far_one_what_its_path_holds() {
        let [near, far] = [limit::BLOB_UNACKED_NEAR, limit::BLOB_UNACKED].map(u64::from);
        assert_eq!([0, 1, 10].map(|ms| unacked_max(Micros::from_millis(ms))), [near; 3]);
        assert_eq!(unacked_max(Micros::from_millis(50)), far / 2);
        assert_eq!([100, 5_000].map(|ms| unacked_max(Micros::from_millis(ms))), [far; 2]);
        assert_eq!(unacked_max(Micros(u64::MAX)), far);
    }
}
