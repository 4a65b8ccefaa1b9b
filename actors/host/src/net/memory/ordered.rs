//! Ordered: one reliable way of a half: what is under way on it, and what comes out next.

use std::collections::BTreeMap;

use bytes::Bytes;
use dh_machine::Micros;

use crate::clock::Clock;
use crate::net::close::Closed;
use crate::net::delayed::Delayed;

/// A reliable way; its half does the sending.
#[derive(Debug)]
pub(super) struct Ordered {
    pub(super) steps: Delayed<Step>,
    /// Parcels that overtook one that was lost.
    pub(super) early: BTreeMap<u64, Parcel>,
    /// The next number to send with, and the next to hand out.
    pub(super) next_sent: u64,
    pub(super) next_out: u64,
    /// What has not been taken at the other end: parcels, and their cost.
    pub(super) parcels: usize,
    pub(super) cost: usize,
}

/// Something reliable.
#[derive(Clone, Debug)]
pub(super) enum Parcel {
    /// A message.
    Message { id: u8, body: Bytes },
    /// The last: the peer closed.
    Close(Closed),
}

/// What is due on the way.
#[derive(Debug)]
pub(super) enum Step {
    /// A parcel has arrived whole.
    Arrived(u64, Parcel),
    /// So many packets of a parcel were lost and are sent again.
    Again { number: u64, parcel: Parcel, packets: u32, timeout: Micros },
    /// The receiving end is over.
    Ended(Closed),
}

impl Ordered {
    pub(super) fn new(clock: Clock) -> Self {
        Self {
            steps: Delayed::new(clock),
            early: BTreeMap::new(),
            next_sent: 0,
            next_out: 0,
            parcels: 0,
            cost: 0,
        }
    }

    /// The next parcel if it has arrived already.
    pub(super) fn ready(&mut self) -> Option<Parcel> {
        let parcel = self.early.remove(&self.next_out)?;
        self.next_out += 1;
        Some(parcel)
    }
}

impl Parcel {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Message { body, .. } => body,
            Self::Close(closed) => &closed.reason,
        }
    }

    /// With headers about as large as QUIC's.
    pub(super) fn wire_bytes(&self) -> usize {
        self.bytes().len() + HEADERS
    }
}

/// Bytes of a packet that are not the message's.
pub(super) const HEADERS: usize = 38;
