//! Datagrams out: handed to quinn in one go, so that they leave in few system calls.
//!
//! quinn's own buffer only ever holds what was handed over last. While it waits for the
//! congestion window, newer datagrams wait here, where what has become old makes room: an old
//! snapshot never delays a newer one, and every one that is given up is counted.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use dh_machine::Micros;
use quinn::SendDatagramError;

use super::QuicLane;
use crate::net::{limit, lock};

/// Datagrams that wait for the network's thread.
#[derive(Debug, Default)]
pub(super) struct DatagramQueue {
    waiting: VecDeque<(Micros, Bytes)>,
    cost: usize,
    counts: DatagramCounts,
}

/// What became of the datagrams of one connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DatagramCounts {
    pub(super) offered: u64,
    pub(super) dropped: u64,
    pub(super) refused: u64,
}

impl DatagramQueue {
    /// Add datagrams in place of those that have become old, and of the oldest beyond the
    /// buffer; whether any wait.
    pub(super) fn push(&mut self, now: Micros, datagrams: &mut dyn Iterator<Item = Bytes>) -> bool {
        for datagram in datagrams {
            self.counts.offered += 1;
            self.cost += datagram.len() + limit::DATAGRAM_COST;
            self.waiting.push_back((now, datagram));
            while let Some((at, _)) = self.waiting.front()
                && (now.since(*at) > limit::DATAGRAM_AGE_MAX
                    || self.cost > limit::DATAGRAM_SEND_BUFFER)
            {
                self.pop();
                self.counts.dropped += 1;
            }
        }
        !self.waiting.is_empty()
    }

    pub(super) fn counts(&self) -> DatagramCounts {
        self.counts
    }

    /// One datagram arrived that nobody took.
    pub(super) fn refused(&mut self) {
        self.counts.refused += 1;
    }

    fn pop(&mut self) -> Option<Bytes> {
        let (_, datagram) = self.waiting.pop_front()?;
        self.cost -= datagram.len() + limit::DATAGRAM_COST;
        Some(datagram)
    }
}

/// Hand over what is queued until the connection ends.
pub(super) async fn run(lane: Arc<QuicLane>) {
    loop {
        lane.datagrams_queued.notified().await;
        while lane.quinn.datagram_send_buffer_space() < EMPTY && lane.is_open() {
            tokio::time::sleep(LOOK).await;
        }
        if !lane.is_open() || hand_over(&lane).is_err() {
            return;
        }
    }
}

/// Hand over everything that waits; fails when the connection has ended.
fn hand_over(lane: &QuicLane) -> Result<(), SendDatagramError> {
    let batch = {
        let mut queue = lock(&lane.datagrams);
        queue.cost = 0;
        std::mem::take(&mut queue.waiting)
    };
    for (_, datagram) in batch {
        let record = lane.net.simulated.as_ref().map(|network| (network, datagram.clone()));
        match lane.quinn.send_datagram(datagram) {
            Ok(()) => {
                if let Some((network, datagram)) = record {
                    network.datagram_sent(lane.local, lane.remote(), &datagram);
                }
            }
            Err(SendDatagramError::TooLarge) => lock(&lane.datagrams).counts.dropped += 1,
            Err(lost) => return Err(lost),
        }
    }
    Ok(())
}

/// What quinn's buffer has room for when nothing waits in it.
const EMPTY: usize = limit::DATAGRAM_SEND_BUFFER - limit::DATAGRAM_COST;
/// How often a full path is looked at.
const LOOK: Duration = Duration::from_millis(1);
