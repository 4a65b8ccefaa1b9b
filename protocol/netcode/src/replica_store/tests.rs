//! Who is there, and where, between and past snapshots.

use std::vec;

use proptest::prelude::*;

use super::*;

const PAWN: u8 = 1;

fn store() -> ReplicaStore {
    ReplicaStore::new(16, KindSet::EMPTY.with(PAWN).with(2))
}

fn pawn(id: u32, x: f32) -> Replica {
    Replica { id, kind: PAWN, position: [x, 0.0, 0.0], ..Replica::default() }
}

fn shown(store: &ReplicaStore, moment: f64) -> Vec<(u32, f32)> {
    store.sample(moment).map(|replica| (replica.id, replica.position[0])).collect()
}

/// GEN-02
#[test]
fn with_every_second_snapshot_lost_the_newest_one_alone_says_who_is_there() {
    let mut store = store();
    for tick in (2..40).step_by(2) {
        // Somebody new each tick, and everybody leaves after ten.
        let listed = (tick..tick + 10).map(|id| pawn(id, 0.0));
        let turnover = store.apply(Tick(tick), listed);
        let ids: Vec<u32> = store.sample(f64::from(tick) - 3.0).map(|it| it.id).collect();
        assert_eq!(ids, (tick..tick + 10).collect::<Vec<_>>());
        if tick > 2 {
            assert_eq!(turnover.appeared, [tick + 8, tick + 9]);
            assert_eq!(turnover.left, [tick - 2, tick - 1]);
        }
    }
}

/// KIND-05
#[test]
fn records_of_a_kind_nobody_shows_are_passed_over_and_the_others_are_not() {
    let mut store = store();
    let unknown = Replica { kind: 200, ..pawn(2, 0.0) };
    store.apply(Tick(1), [pawn(1, 0.0), unknown, pawn(3, 0.0)]);
    assert_eq!(shown(&store, 1.0), [(1, 0.0), (3, 0.0)]);
    assert_eq!(store.skipped(), 1);
    assert!(KindSet::EMPTY.with(255).has(255) && !KindSet::EMPTY.with(255).has(254));
}

/// KIND-06, ENT-03
#[test]
fn who_is_not_listed_is_gone_at_once_even_from_earlier_moments() {
    let mut store = store();
    (1..=5).for_each(|tick| _ = store.apply(Tick(tick), [pawn(1, 0.0), pawn(2, 0.0)]));
    let turnover = store.apply(Tick(6), [pawn(2, 0.0)]);
    assert_eq!(turnover, Turnover { appeared: vec![], left: vec![1] });
    assert_eq!(shown(&store, 3.0), [(2, 0.0)]);
    assert_eq!(store.clear().left, [2]);
    assert!(shown(&store, 6.0).is_empty());
}

/// INT-06
#[test]
fn a_lost_snapshot_is_bridged_between_its_neighbours() {
    let mut store = store();
    store.apply(Tick(10), [pawn(1, 1.0)]);
    store.apply(Tick(12), [pawn(1, 3.0)]);
    assert_eq!(shown(&store, 11.0), [(1, 2.0)]);
    store.apply(Tick(11), [pawn(1, 1.5)]);
    assert_eq!(shown(&store, 11.0), [(1, 1.5)], "it came after all");
    assert_eq!(store.newest(), Some(Tick(12)));
}

/// INT-07
#[test]
fn past_the_newest_snapshot_the_pose_is_held_and_before_the_oldest_too() {
    let mut store = store();
    store.apply(Tick(10), [pawn(1, 1.0)]);
    store.apply(Tick(11), [pawn(1, 2.0)]);
    for (moment, x) in [(0.0, 1.0), (10.0, 1.0), (10.5, 1.5), (11.0, 2.0), (400.0, 2.0)] {
        assert_eq!(shown(&store, moment), [(1, x)]);
    }
}

/// INT-08
#[test]
fn the_ring_has_as_many_places_as_it_was_made_with() {
    let mut store = store();
    (1..=100).for_each(|tick| _ = store.apply(Tick(tick * 2), [pawn(1, 0.0)]));
    assert_eq!(store.ring.len(), 16);
    assert_eq!(store.apply(Tick(169), [pawn(9, 0.0)]), Turnover::default());
    assert_eq!(store.ring.front().map(|it| it.tick), Some(Tick(170)), "too old for a place");
}

#[test]
fn who_was_just_listed_stands_at_the_first_known_pose_until_the_moment_gets_there() {
    let mut store = store();
    store.apply(Tick(10), [pawn(1, 0.0)]);
    store.apply(Tick(11), [pawn(1, 0.0)]);
    store.apply(Tick(12), [pawn(1, 0.0), pawn(2, 5.0)]);
    store.apply(Tick(13), [pawn(1, 0.0), pawn(2, 6.0)]);
    assert_eq!(
        [10.0, 11.5, 12.0, 12.5].map(|moment| shown(&store, moment)[1]),
        [(2, 5.0), (2, 5.0), (2, 5.0), (2, 5.5)]
    );
}

proptest! {
    /// GEN-02, INT-01
    #[test]
    fn in_any_order_of_arrival_the_same_snapshots_show_the_same_world(
        order in Just((1_u32..=12).collect::<Vec<_>>()).prop_shuffle(), moment in 0.0_f64..14.0
    ) {
        let listing = |tick: u32| {
            let x = f32::from(u16::try_from(tick * tick).unwrap());
            (tick % 3..6).map(move |id| pawn(id, x))
        };
        let (mut even, mut wild) = (store(), store());
        (1..=12).for_each(|tick| _ = even.apply(Tick(tick), listing(tick)));
        order.iter().for_each(|tick| _ = wild.apply(Tick(*tick), listing(*tick)));
        prop_assert_eq!(shown(&even, moment), shown(&wild, moment));
    }
}
