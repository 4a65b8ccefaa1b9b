//! Packets: the headers of the last ones, in one ring that every socket writes to.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use dh_machine::Micros;

/// Which way a packet went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To the other end.
    Out,
    /// From the other end.
    In,
}

/// The header of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) at: Micros,
    pub(super) way: Way,
    /// The port it passed here.
    pub(super) local: u16,
    pub(super) remote: SocketAddr,
    pub(super) bytes: u16,
    /// Its first byte.
    pub(super) first: u8,
}

#[derive(Debug)]
pub(super) struct Packets {
    parts: Box<[OnceLock<Part>]>,
    next: AtomicU64,
}

/// Address, port and more, time and length, and which packet this is; the last says that the others
/// are whole.
const WORDS: usize = 5;
/// Made when it is first needed.
type Part = Box<[[AtomicU64; WORDS]]>;

/// Packets of one part.
const PART: usize = 1_024;

impl Packets {
    /// A ring of so many bytes.
    pub(super) fn new(bytes: usize) -> Self {
        let parts = bytes / (PART * WORDS * size_of::<u64>());
        Self { parts: (0..parts).map(|_| OnceLock::new()).collect(), next: AtomicU64::new(0) }
    }

    pub(super) fn note(&self, at: Micros, way: Way, local: u16, remote: SocketAddr, bytes: &[u8]) {
        let number = self.next.fetch_add(1, Relaxed);
        let Some(words) = self.place(number, true) else { return };
        let ip = match remote.ip() {
            IpAddr::V4(ip) => ip.to_ipv6_mapped(),
            IpAddr::V6(ip) => ip,
        };
        let ip = ip.to_bits();
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX).min(u64::from(u16::MAX));
        let first = u64::from(bytes.first().copied().unwrap_or_default());
        let ports = u64::from(remote.port()) << 16 | u64::from(local);
        words[4].swap(0, AcqRel);
        words[0].store(low(ip >> 64), Relaxed);
        words[1].store(low(ip), Relaxed);
        words[2].store(ports << 16 | first << 1 | u64::from(way == Way::In), Relaxed);
        words[3].store(at.0 << 16 | length, Relaxed);
        words[4].store(number + 1, Release);
    }

    /// Every packet that is kept, oldest first.
    pub(super) fn read(&self) -> Vec<Header> {
        let end = self.next.load(Acquire);
        let kept = u64::try_from(self.parts.len() * PART).unwrap_or(u64::MAX);
        (end.saturating_sub(kept)..end).filter_map(|number| self.header(number)).collect()
    }

    #[expect(clippy::cast_possible_truncation, reason = "each part is cut out by its bits")]
    fn header(&self, number: u64) -> Option<Header> {
        let words = self.place(number, false)?;
        let whole = || words[4].load(Acquire) == number + 1;
        if !whole() {
            return None;
        }
        let [high, lower, ports, length]: [u64; 4] =
            std::array::from_fn(|at| words[at].load(Acquire));
        let ip = Ipv6Addr::from_bits(u128::from(high) << 64 | u128::from(lower));
        let header = Header {
            at: Micros(length >> 16),
            way: if ports & 1 == 1 { Way::In } else { Way::Out },
            local: (ports >> 16) as u16,
            remote: SocketAddr::new(ip.to_canonical(), (ports >> 32) as u16),
            bytes: length as u16,
            first: (ports >> 1) as u8,
        };
        whole().then_some(header)
    }

    fn place(&self, number: u64, make: bool) -> Option<&[AtomicU64; WORDS]> {
        let all = self.parts.len() * PART;
        let at = usize::try_from(number).unwrap_or_default().checked_rem(all)?;
        let part = &self.parts[at / PART];
        let part = if make { part.get_or_init(new_part) } else { part.get()? };
        part.get(at % PART)
    }
}

fn new_part() -> Part {
    (0..PART).map(|_| Default::default()).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "the other half is taken on its own")]
const fn low(bits: u128) -> u64 {
    bits as u64
}

impl Header {
    /// What kind of QUIC packet it is, by the form of its header.
    pub(super) const fn kind(&self) -> &'static str {
        match (self.first & 0x80 != 0, self.first >> 4 & 3) {
            (false, _) => "short",
            (true, 0) => "initial",
            (true, 1) => "early",
            (true, 2) => "handshake",
            (true, _) => "retry",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_as_it_was_noted_and_the_oldest_are_overwritten() {
        let packets = Packets::new(2 * PART * WORDS * 8);
        let ends: [SocketAddr; 2] =
            ["10.0.0.7:27015".parse().unwrap(), "[fe80::1]:9".parse().unwrap()];
        let header = |number: u64| Header {
            at: Micros(number * 100),
            way: if number.is_multiple_of(3) { Way::In } else { Way::Out },
            local: 4_433,
            remote: ends[usize::try_from(number % 2).unwrap()],
            bytes: 1_200,
            first: 0xc3,
        };
        let bytes = [0xc3; 1_200];
        for number in 0..5_000 {
            let Header { at, way, local, remote, .. } = header(number);
            packets.note(at, way, local, remote, &bytes);
        }
        let kept = 2 * PART as u64;
        assert_eq!(packets.read(), (5_000 - kept..5_000).map(header).collect::<Vec<_>>());
        assert_eq!(header(0).kind(), "initial");
    }

    #[test]
    fn a_ring_without_space_keeps_nothing() {
        let packets = Packets::new(0);
        packets.note(Micros(1), Way::In, 1, "[::1]:1".parse().unwrap(), &[]);
        assert!(packets.read().is_empty());
    }
}
