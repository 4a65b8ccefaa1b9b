//! Cutting and joining, in order, out of order, with losses and with lies.

use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;

fn datagram(length: usize) -> Vec<u8> {
    (0..length).map(|i| u8::try_from(i * 7 % 251).unwrap()).collect()
}

fn parts(datagram: &[u8], budget: usize) -> Vec<Part<'_>> {
    slice(datagram, budget).unwrap().collect()
}

/// SNAP-06
#[test]
fn three_thousand_bytes_travel_as_three_fragments_and_are_joined_whole() {
    let sent = datagram(3_000);
    let mut assembler = Assembler::new();
    let parts = parts(&sent, 1_200);
    assert_eq!(parts.len(), 3);
    let steps: Vec<_> = parts
        .iter()
        .map(|part| match assembler.accept(Tick(5), part.index, part.count, part.bytes).unwrap() {
            Joined::Whole(whole) => Some(whole.to_vec()),
            Joined::Waiting | Joined::Stale => None,
        })
        .collect();
    assert_eq!(steps, [None, None, Some(sent)]);
}

/// SNAP-01, SNAP-07, SNAP-08
#[test]
fn the_parts_are_the_whole_datagram_and_each_fits_the_budget_with_its_header() {
    for (length, budget) in
        [(1_201, 1_200), (3_000, 1_162), (19_000, 1_200), (2, 8), (4_000, 9_000)]
    {
        let sent = datagram(length);
        let parts = parts(&sent, budget);
        assert_eq!(parts.iter().flat_map(|part| part.bytes).copied().collect::<Vec<_>>(), sent);
        for (index, part) in (0..).zip(&parts) {
            assert!(FRAGMENT_HEADER_BYTES + part.bytes.len() <= budget.min(1_200));
            assert_eq!((part.index, usize::from(part.count)), (index, parts.len()));
        }
    }
}

/// SNAP-09
#[test]
fn the_buffer_stays_where_it_is_through_a_thousand_sets() {
    let mut assembler = Assembler::new();
    let (place, size) = (assembler.buffer.as_ptr(), assembler.buffer.len());
    let sent = datagram(16 * FRAGMENT_BODY_MAX);
    for tick in 1..=1_000 {
        for part in parts(&sent, 1_200) {
            assembler.accept(Tick(tick), part.index, part.count, part.bytes).unwrap();
        }
    }
    assert_eq!((assembler.buffer.as_ptr(), assembler.buffer.len()), (place, size));
    assert_eq!(size, SNAPSHOT_BYTES_MAX);
}

/// SNAP-10
#[test]
fn a_set_that_lost_a_part_gives_nothing_and_the_next_tick_is_fine() {
    let sent = datagram(3_000);
    let mut assembler = Assembler::new();
    for part in parts(&sent, 1_200).iter().filter(|part| part.index != 1) {
        let joined = assembler.accept(Tick(8), part.index, part.count, part.bytes);
        assert_eq!(joined, Ok(Joined::Waiting));
    }
    let wholes = parts(&sent, 1_200)
        .iter()
        .filter(|part| {
            let joined = assembler.accept(Tick(9), part.index, part.count, part.bytes);
            matches!(joined, Ok(Joined::Whole(_)))
        })
        .count();
    assert_eq!((wholes, assembler.given_up()), (1, 1));
}

/// SNAP-11
#[test]
fn a_fragment_of_a_newer_tick_gives_up_the_older_set() {
    let mut assembler = Assembler::new();
    assert_eq!(assembler.accept(Tick(10), 0, 2, b"aa"), Ok(Joined::Waiting));
    assert_eq!(assembler.accept(Tick(11), 0, 2, b"bb"), Ok(Joined::Waiting));
    assert_eq!(assembler.accept(Tick(10), 1, 2, b"a"), Ok(Joined::Stale));
    assert_eq!(assembler.accept(Tick(11), 1, 2, b"b"), Ok(Joined::Whole(b"bbb")));
    assert_eq!(assembler.accept(Tick(11), 1, 2, b"b"), Ok(Joined::Stale), "once a tick");
    assembler.reset();
    assert_eq!(assembler.accept(Tick(3), 0, 1, b"c"), Ok(Joined::Whole(b"c")));
}

/// SNAP-12
#[test]
fn a_set_of_seventeen_is_refused_and_leaves_the_buffer_alone() {
    let mut assembler = Assembler::new();
    assembler.accept(Tick(4), 0, 2, b"kept").unwrap();
    for (index, count, bytes, error) in [
        (0, 17, &b"x"[..], FragmentError::Count),
        (0, 0, b"x", FragmentError::Count),
        (3, 3, b"x", FragmentError::Index),
        (1, 2, b"", FragmentError::Length),
        (1, 2, &[0; FRAGMENT_BODY_MAX + 1], FragmentError::Length),
    ] {
        assert_eq!(assembler.accept(Tick(5), index, count, bytes), Err(error));
    }
    assert_eq!(assembler.accept(Tick(4), 1, 3, b"x"), Err(FragmentError::Disagrees));
    assert_eq!(assembler.accept(Tick(4), 1, 2, b"!"), Ok(Joined::Whole(b"kept!")));
}

#[test]
fn parts_of_lengths_that_no_slicing_gives_are_refused() {
    let mut assembler = Assembler::new();
    assembler.accept(Tick(1), 0, 3, b"aaa").unwrap();
    assembler.accept(Tick(1), 1, 3, b"bb").unwrap();
    assert_eq!(assembler.accept(Tick(1), 2, 3, b"c"), Err(FragmentError::Length));
    assembler.accept(Tick(2), 0, 2, b"aa").unwrap();
    assert_eq!(assembler.accept(Tick(2), 1, 2, b"bbb"), Err(FragmentError::Length));
}

/// SNAP-13
#[test]
fn what_takes_more_than_sixteen_fragments_is_not_cut_at_all() {
    let most = datagram(16 * FRAGMENT_BODY_MAX);
    assert_eq!(parts(&most, 1_200).len(), 16);
    let needed = |length, budget| slice(&datagram(length), budget).map(|it| it.len());
    assert_eq!(needed(most.len() + 1, 1_200), Err(TooManyFragments { needed: 17 }));
    assert_eq!(needed(10, 7), Err(TooManyFragments { needed: usize::MAX }));
}

proptest! {
    /// SNAP-10, SNAP-11
    #[test]
    fn in_any_order_a_set_is_joined_exactly_once_and_only_while_it_is_the_newest(
        lengths in proptest::collection::vec(1_usize..4_000, 1..4),
        order in proptest::collection::vec(any::<proptest::sample::Index>(), 1..60),
    ) {
        let datagrams: Vec<_> = (0..).zip(&lengths).map(|(tick, length)| {
            datagram(*length).into_iter().map(|byte| byte.wrapping_add(tick)).collect::<Vec<u8>>()
        }).collect();
        let all: Vec<_> = (1..).zip(&datagrams)
            .flat_map(|(tick, datagram)| parts(datagram, 500).into_iter().map(move |it| (tick, it)))
            .collect();
        let mut assembler = Assembler::new();
        let (mut newest, mut arrived, mut done) = (0, alloc::collections::BTreeSet::new(), false);
        for at in order {
            let (tick, part) = all[at.index(all.len())];
            if tick > newest {
                (newest, done) = (tick, false);
                arrived.clear();
            }
            let news = tick == newest && !done && arrived.insert(part.index);
            done |= arrived.len() == usize::from(part.count) && tick == newest;
            let joined = assembler.accept(Tick(tick), part.index, part.count, part.bytes).unwrap();
            let whole = &datagrams[usize::try_from(tick).unwrap() - 1];
            prop_assert_eq!(joined, match (news, done) {
                (false, _) => Joined::Stale,
                (true, false) => Joined::Waiting,
                (true, true) => Joined::Whole(whole),
            });
        }
    }

    /// SNAP-12
    #[test]
    fn no_fragment_makes_it_panic(
        fragments in proptest::collection::vec(
            (0_u32..4, any::<u8>(), 0_u8..20, 0_usize..1_300), 1..200)
    ) {
        let mut assembler = Assembler::new();
        for (tick, index, count, length) in fragments {
            if let Ok(Joined::Whole(whole)) =
                assembler.accept(Tick(tick), index, count, &datagram(length))
            {
                prop_assert!(whole.len() <= SNAPSHOT_BYTES_MAX);
            }
        }
    }
}
