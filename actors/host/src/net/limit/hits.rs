//! Hits: how often senders and peers ran into a limit of one network.

use super::super::{SendError, limit};
use crate::clock::Clock;
use crate::limits::{Limit, Limits, Standing};

/// The limits of one network that are counted.
#[derive(Debug)]
pub(crate) struct Hits {
    all: Limits,
    body: Limit,
    send_queue: Limit,
    blob_queue: Limit,
    knocks: Limit,
}

impl Hits {
    pub(crate) fn new(clock: Clock) -> Self {
        let all = Limits::new(clock);
        let named = |name, unit, max: usize| all.named(name, unit, max as u64);
        let body = named("net.message", "bytes", limit::BODY_MAX);
        let send_queue = named("net.sendQueue", "bytes", limit::SEND_QUEUE_MAX);
        let blob_queue = named("net.blobQueue", "frames", limit::BLOB_QUEUE_MAX);
        let knocks = named("net.knocks", "first packets", limit::KNOCKS_MAX);
        Self { all, body, send_queue, blob_queue, knocks }
    }

    /// What was to be sent was not taken.
    pub(crate) fn refused(&self, why: SendError) {
        match why {
            SendError::Closed => (),
            SendError::TooLong => self.body.hit(),
            SendError::TooSlow => self.send_queue.hit(),
            SendError::Full => self.blob_queue.hit(),
        }
    }

    /// A first packet found no place to wait for its verdict.
    pub(crate) fn knock_lost(&self) {
        self.knocks.hit();
    }

    /// All of them.
    pub(crate) fn limits(&self) -> Vec<Standing> {
        self.all.all()
    }
}
