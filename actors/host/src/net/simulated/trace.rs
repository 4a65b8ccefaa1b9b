//! Trace: what happened to every packet, as two running hashes, counts and records.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use dh_machine::{Digest, Micros};
use xxhash_rust::xxh3::xxh3_64;

use crate::net::link::Fate;

/// Everything sent so far, in figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Hash of time, ends, length and fate of each packet.
    pub shape: u64,
    /// The same with each packet's bytes.
    pub bytes: u64,
    /// Packets sent.
    pub sent: u64,
    /// Packets that do not arrive, whatever the reason.
    pub lost: u64,
    /// Copies that links made of packets.
    pub copied: u64,
    /// Packets that quinn has been given.
    pub delivered: u64,
    /// Bytes of the packets sent.
    pub sent_bytes: u64,
}

/// One packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketRecord {
    /// When it was sent.
    pub at: Micros,
    /// By whom.
    pub from: SocketAddr,
    /// To whom.
    pub to: SocketAddr,
    /// Its length in bytes.
    pub bytes: usize,
    /// Hash of its bytes; of a datagram over the memory transport, of the datagram's.
    pub hash: u64,
    /// What became of it.
    pub fate: PacketFate,
}

/// One datagram of a connection, over either transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatagramRecord {
    /// When it left its sender's queue.
    pub at: Micros,
    /// By whom: of an end whose address has changed, the first one.
    pub from: SocketAddr,
    /// To whom: of an end whose address has changed, the first one.
    pub to: SocketAddr,
    /// Its length in bytes.
    pub bytes: usize,
    /// XXH3-64 of its bytes.
    pub hash: u64,
    /// When it arrived; `None` for lost, or discarded to make room for newer ones.
    pub arrived: Option<Micros>,
}

/// What became of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketFate {
    /// It arrives at that time.
    Arrives(Micros),
    /// A link lost it.
    Lost,
    /// The queue before a rate limit was full.
    Overflowed,
    /// Nobody is bound to its destination.
    NoSocket,
    /// It is larger than the network or a link passes.
    TooLarge,
    /// A link made it, of the packet before it, and it arrives at that time.
    Copied(Micros),
}

impl PacketFate {
    /// What a link decided, as the packet's fate, and when its copy arrives if there is one.
    pub(crate) fn of(fate: Fate, due: impl Fn(Micros) -> Micros) -> (Self, Option<Micros>) {
        match fate {
            Fate::After(delay) => (Self::Arrives(due(delay)), None),
            Fate::Twice(delay, copy) => (Self::Arrives(due(delay)), Some(due(copy))),
            Fate::Lost => (Self::Lost, None),
            Fate::Overflowed => (Self::Overflowed, None),
            Fate::TooLarge => (Self::TooLarge, None),
        }
    }
}

/// Builds a trace.
#[derive(Debug, Default)]
pub(super) struct Tracer {
    shape: Digest,
    bytes: Digest,
    counts: Trace,
    records: Option<Vec<PacketRecord>>,
    datagrams: Vec<DatagramRecord>,
    /// Datagrams under way or lost, and where they are in `datagrams`. The hash comes first: it
    /// tells nearly all of them apart by one comparison of numbers.
    under_way: BTreeSet<((u64, SocketAddr, SocketAddr), usize)>,
    /// The first address of each end that has another now.
    moved: BTreeMap<SocketAddr, SocketAddr>,
}

impl Tracer {
    pub(super) fn trace(&self) -> Trace {
        Trace { shape: self.shape.value(), bytes: self.bytes.value(), ..self.counts }
    }

    pub(super) fn keep(&mut self, keep: bool) {
        self.records = keep.then(Vec::new);
        self.take_datagrams();
    }

    pub(super) fn take(&mut self) -> Vec<PacketRecord> {
        self.records.as_mut().map(std::mem::take).unwrap_or_default()
    }

    pub(super) fn take_datagrams(&mut self) -> Vec<DatagramRecord> {
        self.under_way.clear();
        std::mem::take(&mut self.datagrams)
    }

    /// An end has another address.
    pub(super) fn moved(&mut self, from: SocketAddr, to: SocketAddr) {
        let first = self.first(from);
        self.moved.insert(to, first);
    }

    /// The first address of whoever is at `address`.
    fn first(&self, address: SocketAddr) -> SocketAddr {
        self.moved.get(&address).copied().unwrap_or(address)
    }

    pub(super) fn datagram_sent(
        &mut self,
        at: Micros,
        from: SocketAddr,
        to: SocketAddr,
        bytes: &[u8],
    ) {
        if self.records.is_some() {
            let (hash, from, to) = (xxh3_64(bytes), self.first(from), self.first(to));
            self.under_way.insert(((hash, from, to), self.datagrams.len()));
            let bytes = bytes.len();
            self.datagrams.push(DatagramRecord { at, from, to, bytes, hash, arrived: None });
        }
    }

    pub(super) fn datagram_arrived(
        &mut self,
        at: Micros,
        from: SocketAddr,
        to: SocketAddr,
        bytes: &[u8],
    ) {
        if self.records.is_none() {
            return;
        }
        let key = (xxh3_64(bytes), self.first(from), self.first(to));
        let first = self.under_way.range((key, 0)..=(key, usize::MAX)).next().copied();
        if let Some(sent) = first {
            self.under_way.remove(&sent);
            self.datagrams[sent.1].arrived = Some(at);
        }
    }

    pub(super) fn packet(
        &mut self,
        at: Micros,
        from: SocketAddr,
        to: SocketAddr,
        bytes: &[u8],
        fate: PacketFate,
    ) {
        let hash = xxh3_64(bytes);
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let shape = [at.0, end(from), end(to), length, number(fate)];
        for word in shape {
            self.shape.word(word);
            self.bytes.word(word);
        }
        self.bytes.word(hash);
        match fate {
            PacketFate::Copied(_) => self.counts.copied += 1,
            _ => {
                self.counts.sent += 1;
                self.counts.sent_bytes += length;
                self.counts.lost += u64::from(!matches!(fate, PacketFate::Arrives(_)));
            }
        }
        if let Some(records) = &mut self.records {
            records.push(PacketRecord { at, from, to, bytes: bytes.len(), hash, fate });
        }
    }

    pub(super) fn delivered(&mut self, count: usize) {
        self.counts.delivered += u64::try_from(count).unwrap_or(u64::MAX);
    }
}

/// An address as a number.
fn end(address: SocketAddr) -> u64 {
    let host = match address.ip() {
        IpAddr::V4(ip) => u64::from(ip.to_bits()),
        IpAddr::V6(ip) => xxh3_64(&ip.octets()),
    };
    host << 16 ^ u64::from(address.port())
}

/// A fate as a number: when, or why not.
fn number(fate: PacketFate) -> u64 {
    match fate {
        PacketFate::Arrives(at) => at.0 << 3,
        PacketFate::Lost => 1,
        PacketFate::Overflowed => 2,
        PacketFate::NoSocket => 3,
        PacketFate::TooLarge => 4,
        PacketFate::Copied(at) => at.0 << 3 | 5,
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn of_equal_datagrams_the_one_sent_first_arrives_first_and_none_arrives_twice() {
        let at = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
        let mut tracer = Tracer::default();
        tracer.keep(true);
        tracer.datagram_sent(Micros(1), at(1), at(2), b"same");
        tracer.datagram_sent(Micros(2), at(1), at(2), b"same");
        tracer.datagram_sent(Micros(3), at(2), at(1), b"same");
        for arrival in [10, 20, 30] {
            tracer.datagram_arrived(Micros(arrival), at(1), at(2), b"same");
        }
        let arrived: Vec<_> = tracer.take_datagrams().iter().map(|record| record.arrived).collect();
        assert_eq!(arrived, [Some(Micros(10)), Some(Micros(20)), None]);
    }
}
