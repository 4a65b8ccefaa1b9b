//! Floods of every shape against the sieve alone, beside a client that repeats its first packet
//! as quinn does: at once, after 240 ms, 720 ms and 1680 ms.

use super::*;

/// A datagram that opens a connection.
fn first() -> Vec<u8> {
    let mut packet = vec![0; 1200];
    packet[..6].copy_from_slice(&[0xc0, 0, 0, 0, 1, 8]);
    packet
}

/// The same with a token of one byte.
fn tokened() -> Vec<u8> {
    let mut packet = first();
    packet[15] = 1;
    packet
}

fn address(n: u32) -> SocketAddr {
    SocketAddr::from((n.to_be_bytes(), 9))
}

const CLIENT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 7);

/// What came of a flood.
#[derive(Debug)]
struct Outcome {
    /// When the client's first packet passed, in milliseconds from its first one.
    joined: Option<u64>,
    /// Packets of the flood that passed in a second, in the last three.
    passed: u32,
}

/// Four seconds of `per_ms` packets a millisecond, the n-th of which is `flood(n)`; after the
/// first, a client.
fn under(seed: u64, per_ms: u32, flood: impl Fn(u32) -> (Vec<u8>, SocketAddr)) -> Outcome {
    let mut sieve = Sieve::new(Micros(0), seed);
    let mut outcome = Outcome { joined: None, passed: 0 };
    for ms in 0..4_000_u32 {
        sieve.turn(Micros::from_millis(u64::from(ms)));
        for n in ms * per_ms..(ms + 1) * per_ms {
            let (packet, from) = flood(n);
            let passes = sieve.passes(&packet, from, false);
            outcome.passed += u32::from(passes && ms >= 1_000);
        }
        if [0, 240, 720, 1680].contains(&(ms.wrapping_sub(1_000)))
            && outcome.joined.is_none()
            && sieve.passes(&first(), CLIENT, false)
        {
            outcome.joined = Some(u64::from(ms - 1_000));
            assert!(sieve.passes(&tokened(), CLIENT, false), "its token passes at once");
        }
    }
    outcome.passed /= 3;
    outcome
}

/// Clients join within so many milliseconds, and the flood costs little.
fn all_join_within(limit: u64, per_ms: u32, flood: impl Fn(u32) -> (Vec<u8>, SocketAddr)) {
    for seed in 0..5 {
        let outcome = under(seed, per_ms, &flood);
        assert!(outcome.joined.is_some_and(|joined| joined <= limit), "{seed}: {outcome:?}");
        assert!(outcome.passed <= 640, "{seed}: {outcome:?}");
    }
}

/// D23
#[test]
fn packets_too_short_to_open_anything_are_dropped_and_are_no_flood() {
    let outcome = under(1, 10, |_| (first()[..1199].to_vec(), CLIENT));
    assert_eq!((outcome.joined, outcome.passed), (Some(0), 0));
}

/// D23
#[test]
fn a_client_joins_within_a_second_of_addresses_that_come_once_or_many_times_at_once() {
    for times in [1, 2, 10] {
        all_join_within(240, 10, |n| (first(), address(0x0100_0000 + n / times)));
    }
}

/// D23
#[test]
fn a_client_joins_within_a_second_of_one_address_and_of_four_hundred_of_its_own_net() {
    let near = |port: u16| SocketAddr::new(CLIENT.ip(), 1_000 + port);
    all_join_within(240, 1, |_| (first(), near(0)));
    all_join_within(720, 10, |n| (first(), near(u16::try_from(n % 400).unwrap())));
}

/// D23
#[test]
fn a_client_joins_within_a_second_of_addresses_that_each_come_again_as_a_client_does() {
    // In waves of 2,400 packets, 240 ms, or evenly: half of the packets are of new addresses.
    let waves = |n: u32| (first(), address(0x0100_0000 + n / 4_800 * 2_400 + n % 2_400));
    let evenly = |n: u32| (first(), address(0x0100_0000 + n / 2 - n % 2 * 1_200));
    all_join_within(720, 10, waves);
    all_join_within(720, 10, evenly);
    let scattered =
        |n: u32| (first(), address((n / 2 + 9_999 - n % 2 * 1_200).wrapping_mul(0x9e37_79b1)));
    all_join_within(720, 10, scattered);
}

/// D23
#[test]
fn tokens_of_addresses_that_were_never_let_in_are_counted_as_first_packets() {
    all_join_within(240, 10, |n| (tokened(), address(0x0100_0000 + n)));
    let near = |n: u32| SocketAddr::new(CLIENT.ip(), u16::try_from(1_000 + n % 400).unwrap());
    let outcome = under(1, 10, |n| (if n % 800 < 400 { first() } else { tokened() }, near(n)));
    assert!(outcome.joined.is_some_and(|joined| joined <= 720), "{outcome:?}");
    assert!(outcome.passed <= 1_280 + 320, "{outcome:?}");
}

/// D23
#[test]
fn a_gate_told_to_shed_lets_in_who_comes_again_without_any_flood() {
    let mut sieve = Sieve::new(Micros(0), 1);
    assert!(!sieve.passes(&first(), CLIENT, true));
    assert!(!sieve.is_flooded());
    sieve.turn(Micros::from_millis(240));
    assert!(sieve.passes(&first(), CLIENT, true));
    assert!(sieve.passes(&[0x40; 30], address(1), true), "who is in passes");
}

/// D23
#[test]
fn sixty_four_first_packets_a_window_are_no_flood_and_one_more_is() {
    let mut sieve = Sieve::new(Micros(0), 1);
    let passed = (0..100).filter(|n| sieve.passes(&first(), address(*n), false)).count();
    assert_eq!((passed, sieve.is_flooded()), (64, true));
    sieve.turn(Micros::from_millis(150));
    assert!(sieve.is_flooded(), "the last window was one");
    sieve.turn(Micros::from_millis(260));
    assert!(!sieve.is_flooded());
}

/// D23
#[test]
fn in_a_window_of_a_flood_a_hundred_and_twenty_eight_tokens_pass_and_no_more() {
    let mut sieve = Sieve::new(Micros(0), 1);
    let let_in = (0..65).filter(|n| sieve.passes(&first(), address(*n), false)).count();
    assert_eq!((let_in, sieve.is_flooded()), (64, true));
    for window in 1..=2 {
        let sent = (0..256).filter(|n| sieve.passes(&tokened(), address(n % 64), false)).count();
        assert_eq!(sent, 128);
        sieve.turn(Micros::from_millis(100 * window));
    }
}

#[test]
fn a_window_in_which_more_than_sixty_four_packets_were_dropped_was_busy_and_no_flood() {
    for (count, is_busy) in [(64, false), (65, true)] {
        let mut sieve = Sieve::new(Micros(0), 1);
        for n in 0..count {
            assert!(!sieve.passes(&first()[..1199], address(n), false));
        }
        sieve.turn(Micros::from_millis(100));
        assert_eq!((sieve.is_busy(), sieve.is_flooded()), (is_busy, false), "{count}");
        sieve.turn(Micros::from_millis(200));
        assert!(!sieve.is_busy());
    }
}
