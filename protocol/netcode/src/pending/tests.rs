//! What stays pending, what is answered, and what overflows.

use alloc::vec::Vec;

use super::*;

fn pending(sequences: core::ops::RangeInclusive<u32>) -> PendingInputs<u32> {
    let mut pending = PendingInputs::new();
    for sequence in sequences {
        pending.push(PlayerInput { sequence, ..Default::default() }, sequence * 10);
    }
    pending
}

#[test]
fn an_answer_drops_everything_up_to_it_and_gives_what_was_predicted_there() {
    let mut inputs = pending(1..=5);
    assert_eq!(inputs.acknowledge(3), Some(30));
    assert_eq!((inputs.len(), inputs.acknowledge(3)), (2, None));
    let newest: Vec<_> = inputs.newest_first().map(|input| input.sequence).collect();
    assert_eq!(newest, [5, 4]);
    assert_eq!(inputs.acknowledge(9), None, "nothing was predicted for it");
    assert!(inputs.is_empty());
}

/// REC-08
#[test]
fn the_hundred_and_twenty_ninth_input_drops_the_oldest_and_says_so() {
    let mut inputs = pending(1..=128);
    assert_eq!(inputs.overflows(), 0);
    assert!(inputs.push(PlayerInput { sequence: 129, ..Default::default() }, 1290));
    assert_eq!((inputs.len(), inputs.overflows()), (128, 1));
    assert_eq!(inputs.acknowledge(1), None);
    assert_eq!(inputs.acknowledge(2), Some(20));
}

#[test]
fn a_replay_runs_oldest_first_and_replaces_what_was_predicted() {
    let mut inputs = pending(4..=6);
    let mut state = 1;
    inputs.replay(|input, predicted| {
        state = state * 10 + input.sequence;
        *predicted = state;
    });
    assert_eq!(inputs.newest().map(|it| it.predicted), Some(1456));
    assert_eq!(inputs.acknowledge(5), Some(145));
    inputs.clear();
    assert!(inputs.is_empty());
}
