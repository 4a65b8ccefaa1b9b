//! Which input each tick uses, and what is told of the others.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;

fn input(sequence: u32) -> PlayerInput {
    PlayerInput { sequence, move_x: 100, move_z: -7, yaw: 1.5, pitch: -0.25, ..Default::default() }
}

/// A queue past its first inputs: 1, 2 and 3 were applied.
fn running() -> InputQueue {
    let mut queue = InputQueue::default();
    (1..=3).for_each(|sequence| assert_eq!(queue.offer(input(sequence)), Offered::Queued));
    (1..=3).for_each(|sequence| assert_eq!(queue.take(), Taken::Fresh(input(sequence))));
    queue
}

/// INQ-01
#[test]
fn the_thirteenth_waiting_input_drops_the_oldest_and_the_queue_stays_at_twelve() {
    let mut queue = running();
    (4..16).for_each(|sequence| assert_eq!(queue.offer(input(sequence)), Offered::Queued));
    assert_eq!(queue.waiting(), 12);
    assert_eq!(queue.offer(input(16)), Offered::Overflowed(4));
    assert_eq!(queue.waiting(), 12);
    assert_eq!(queue.offer(input(4)), Offered::Duplicate, "what was dropped stays dropped");
    assert_eq!(queue.take(), Taken::Fresh(input(5)));
    assert_eq!(queue.counts().overflowed, 1);
}

/// INQ-01
#[test]
fn an_input_older_than_all_of_a_full_queue_is_itself_the_one_dropped() {
    let mut queue = running();
    (5..17).for_each(|sequence| assert_eq!(queue.offer(input(sequence)), Offered::Queued));
    assert_eq!(queue.offer(input(4)), Offered::Overflowed(4));
    assert_eq!(queue.take(), Taken::Fresh(input(5)));
}

/// INQ-02
#[test]
fn five_inputs_of_one_poll_are_used_oldest_first_and_one_a_tick() {
    let mut queue = running();
    [6, 4, 8, 5, 7].into_iter().for_each(|sequence| _ = queue.offer(input(sequence)));
    for sequence in 4..=8 {
        assert_eq!(queue.take(), Taken::Fresh(input(sequence)));
    }
}

/// INQ-03
#[test]
fn a_server_that_stalls_and_catches_up_repeats_nothing_and_skips_nothing() {
    let mut queue = running();
    let mut applied = Vec::new();
    for turn in [1_u32, 1, 5, 1, 1, 4, 1] {
        // Inputs gather while the server stalls; then it takes that many ticks in one turn.
        let first = 4 + u32::try_from(applied.len()).unwrap();
        (first..first + turn).for_each(|sequence| _ = queue.offer(input(sequence)));
        applied.extend((0..turn).filter_map(|_| Some(queue.take().input()?.sequence)));
    }
    assert_eq!(applied, (4..18).collect::<Vec<_>>());
}

/// INQ-05
#[test]
fn the_ack_is_the_last_input_simulated_and_never_one_that_waits() {
    let mut queue = running();
    (4..=6).for_each(|sequence| _ = queue.offer(input(sequence)));
    (4..=6).for_each(|_| _ = queue.take());
    (7..=10).for_each(|sequence| _ = queue.offer(input(sequence)));
    assert_eq!(queue.ack(), 6);
}

/// INQ-06, INQ-07, INQ-08
#[test]
fn a_starved_queue_repeats_three_times_then_stands_and_acknowledges_nothing() {
    let mut queue = running();
    for _ in 0..3 {
        assert_eq!(queue.take(), Taken::Repeated(input(3)));
    }
    for _ in 0..200 {
        let Taken::Standing(standing) = queue.take() else { panic!("it should stand") };
        assert_eq!((standing.move_x, standing.move_y, standing.move_z), (0, 0, 0));
        assert_eq!((standing.yaw, standing.pitch), (input(3).yaw, input(3).pitch));
        assert_eq!(queue.ack(), 3);
    }
    assert_eq!(queue.counts().starved, 203);
}

/// INQ-09
#[test]
fn the_starved_run_ends_with_the_next_input_and_the_next_run_repeats_again() {
    let mut queue = running();
    (0..10).for_each(|_| _ = queue.take());
    assert_eq!(queue.starved_run(), 10);
    queue.offer(input(14));
    assert_eq!(queue.take(), Taken::Fresh(input(14)));
    assert_eq!((queue.starved_run(), queue.depth()), (0, 0));
    assert_eq!(queue.take(), Taken::Repeated(input(14)));
}

/// CLK-04
#[test]
fn the_depth_byte_counts_waiting_inputs_up_and_starved_ticks_down_and_never_wraps() {
    let mut queue = running();
    assert_eq!(queue.depth(), 0);
    (4..=6).for_each(|sequence| _ = queue.offer(input(sequence)));
    queue.take();
    assert_eq!(queue.depth(), 2, "measured after the tick's own input is taken");
    (0..2).for_each(|_| _ = queue.take());
    let run: Vec<i8> = (0..5)
        .map(|_| {
            queue.take();
            queue.depth()
        })
        .collect();
    assert_eq!(run, [-1, -2, -3, -4, -5]);
    (0..1000).for_each(|_| _ = queue.take());
    assert_eq!(queue.depth(), -128);
}

#[test]
fn the_first_input_waits_for_two_behind_it_or_for_two_ticks() {
    let mut alone = InputQueue::default();
    assert_eq!(alone.take(), Taken::Nothing);
    alone.offer(input(1));
    assert_eq!([alone.take(), alone.take()], [Taken::Nothing, Taken::Nothing]);
    assert_eq!(alone.take(), Taken::Fresh(input(1)));
    assert_eq!(alone.counts().starved, 0, "a tick before the first input is not starved");

    let mut together = InputQueue::default();
    (1..=3).for_each(|sequence| _ = together.offer(input(sequence)));
    assert_eq!(together.take(), Taken::Fresh(input(1)));
    assert_eq!(together.depth(), 2);
}

#[test]
fn an_input_that_comes_after_a_newer_one_was_applied_is_told_as_late_once() {
    let mut queue = running();
    queue.offer(input(6));
    queue.take();
    assert_eq!(queue.counts().passed_over, 2);
    assert_eq!(queue.offer(input(5)), Offered::Late);
    assert_eq!(queue.offer(input(5)), Offered::Duplicate);
    assert_eq!(queue.offer(input(6)), Offered::Duplicate);
    assert_eq!(queue.offer(input(4)), Offered::Late);
    assert_eq!(queue.offer(input(0)), Offered::Stale);
    queue.offer(input(1000));
    queue.take();
    assert_eq!(queue.offer(input(7)), Offered::Stale);
    assert_eq!(queue.offer(input(999)), Offered::Late);
}

#[test]
fn equal_histories_have_equal_digests_and_a_waiting_input_changes_it() {
    let digest = |queue: &InputQueue| {
        let mut digest = Digest::new();
        queue.digest(&mut digest);
        digest.value()
    };
    let (mut one, other) = (running(), running());
    assert_eq!(digest(&one), digest(&other));
    one.offer(input(4));
    assert_ne!(digest(&one), digest(&other));
}

proptest! {
    /// INQ-03
    #[test]
    fn every_input_is_simulated_at_most_once_in_order_and_every_skipped_one_is_accounted_for(
        steps in proptest::collection::vec(proptest::option::weighted(0.7, 1_u32..120), 1..400)
    ) {
        let mut queue = InputQueue::default();
        let (mut offered, mut told, mut waiting) =
            (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let mut applied = Vec::new();
        for step in steps {
            match step {
                Some(sequence) => {
                    offered.insert(sequence);
                    match queue.offer(input(sequence)) {
                        Offered::Queued => prop_assert!(waiting.insert(sequence)),
                        Offered::Overflowed(dropped) => {
                            waiting.insert(sequence);
                            prop_assert!(waiting.remove(&dropped) && told.insert(dropped));
                        }
                        Offered::Late => prop_assert!(told.insert(sequence)),
                        Offered::Duplicate => (),
                        Offered::Stale => prop_assert!(false, "all lie within reach"),
                    }
                }
                None => if let Taken::Fresh(input) = queue.take() {
                    prop_assert!(waiting.remove(&input.sequence));
                    applied.push(input.sequence);
                },
            }
            prop_assert!(queue.waiting() <= InputQueue::MAX);
        }
        prop_assert!(applied.is_sorted_by(|a, b| a < b));
        let skipped: BTreeSet<u32> = offered
            .into_iter()
            .filter(|it| !applied.contains(it) && !waiting.contains(it))
            .collect();
        prop_assert_eq!(skipped, told);
    }
}
