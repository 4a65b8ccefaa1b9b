//! `Kind`: what a packet asks of a server, from its header alone. Used by the gate; reads no more
//! than RFC 9000, 17.2 shows to everybody.

/// What a packet asks of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It opens a connection, or makes the server name its versions, and proves nothing.
    First,
    /// It opens a connection and carries a token, which may prove its address.
    Tokened,
    /// It would open a connection, but is shorter than such a packet may be, or breaks off: no
    /// answer to it is allowed (RFC 9000, 14.1 and 5.2.2).
    Void,
    /// Anything else.
    Other,
}

impl Kind {
    /// Look at one whole datagram; its first packet says what it is.
    pub(super) fn of(datagram: &[u8]) -> Self {
        match datagram {
            [first, ..] if first & 0x80 == 0 => Self::Other,
            [first, v0, v1, v2, v3, rest @ ..] => {
                let token = match (u32::from_be_bytes([*v0, *v1, *v2, *v3]), first & 0x30) {
                    (1, 0) => token_length(rest),
                    (0 | 1, _) => return Self::Other,
                    // Whatever follows, the answer is a list of versions.
                    _ => Some(0),
                };
                match token {
                    Some(0) if datagram.len() >= FIRST_BYTES_MIN => Self::First,
                    Some(_) if datagram.len() >= FIRST_BYTES_MIN => Self::Tokened,
                    _ => Self::Void,
                }
            }
            _ => Self::Void,
        }
    }
}

/// The length of the token of an Initial packet, from the bytes after its version.
fn token_length(rest: &[u8]) -> Option<u64> {
    let (to, rest) = rest.split_first()?;
    let (from, rest) = rest.get(usize::from(*to)..)?.split_first()?;
    let rest = rest.get(usize::from(*from)..)?;
    let (first, more) = rest.split_first()?;
    let more = more.get(..(1 << (first >> 6)) - 1)?;
    let start = u64::from(first & 0x3f);
    Some(more.iter().fold(start, |length, byte| length << 8 | u64::from(*byte)))
}

/// Bytes of the shortest datagram that may open a connection (RFC 9000, 14.1).
const FIRST_BYTES_MIN: usize = 1200;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An Initial packet's header with ids and a token of so many bytes.
    fn initial(to: u8, from: u8, token: &[u8]) -> Vec<u8> {
        let mut packet = vec![0xc0, 0, 0, 0, 1, to];
        packet.extend(vec![7; usize::from(to)]);
        packet.push(from);
        packet.extend(vec![8; usize::from(from)]);
        packet.extend(token);
        packet
    }

    fn padded(mut packet: Vec<u8>) -> Vec<u8> {
        packet.resize(1200, 0);
        packet
    }

    #[test]
    fn a_first_packet_is_known_by_its_header_with_or_without_a_token() {
        let of = |packet: Vec<u8>| Kind::of(&padded(packet));
        assert_eq!(of(initial(8, 0, &[0])), Kind::First);
        assert_eq!(of(initial(20, 8, &[0])), Kind::First);
        assert_eq!(of(initial(8, 8, &[0x40, 0])), Kind::First);
        assert_eq!(of(initial(8, 8, &[5, 1, 2])), Kind::Tokened);
        assert_eq!(of(initial(8, 8, &[0x80, 0, 1, 0])), Kind::Tokened);
        assert_eq!(of(vec![0xc0, 0xba, 0xba, 0xba, 0xba, 1]), Kind::First);
    }

    #[test]
    fn what_cannot_open_a_connection_for_its_length_or_its_end_is_void() {
        let long = [initial(8, 8, &[0]), initial(8, 8, &[5, 1]), vec![0xc0, 0xba, 0, 0, 0, 1]];
        for packet in long.map(padded) {
            assert_ne!(Kind::of(&packet), Kind::Void);
            assert_eq!(Kind::of(&packet[..1199]), Kind::Void);
        }
        for packet in [vec![], vec![0xc0], vec![0xff; 4], initial(8, 8, &[])] {
            assert_eq!(Kind::of(&packet), Kind::Void, "{packet:?}");
        }
    }

    #[test]
    fn packets_of_connections_are_neither_first_nor_void_whatever_their_length() {
        let handshake = [0xe0, 0, 0, 0, 1, 8];
        let short = [0x40, 1, 2, 3, 4, 5];
        let negotiation = [0x80, 0, 0, 0, 0, 1];
        for packet in [&handshake[..], &short, &short[..1], &negotiation] {
            assert_eq!(Kind::of(packet), Kind::Other);
            assert_eq!(Kind::of(&padded(packet.to_vec())), Kind::Other);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_of_some_kind(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = Kind::of(&bytes);
            let _ = Kind::of(&padded(bytes));
        }
    }
}
