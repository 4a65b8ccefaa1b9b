//! What outlives a fault: the last whole tick, and those who are still here.
#![expect(clippy::float_cmp, reason = "what is compared exactly is exact")]

use dh_messages::MapAdvert;

use super::super::TickActor;
use super::*;
use crate::directory::Directory;
use crate::event::Observer;
use crate::library::Library;
use crate::map_switch::PreparedMap;

/// A loop that goes on from what another one kept.
fn remade(it: &Loop, peers: &[u32]) -> Loop {
    let peers: Vec<PeerId> = peers.iter().copied().map(PeerId).collect();
    let fresh =
        Ticking::new(TickRate::DEFAULT, Ground::gray_box(), Pace::of(&Prefs::default()), it.now);
    Loop::of(fresh.restored(it.kept.as_ref().unwrap(), &peers), it.now)
}

#[test]
fn a_world_goes_on_bit_for_bit_from_the_last_whole_tick() {
    let mut it = Loop::new();
    it.join(1, 0);
    it.join(2, 1);
    (1..=8).for_each(|sequence| it.walk(1, sequence));
    it.run(5);
    let mut again = remade(&it, &[1, 2]);
    assert_eq!((again.ticking.tick(), again.digest()), (Tick(5), it.digest()));
    for tick in 0..20 {
        it.run(1);
        again.run(1);
        assert_eq!(again.digest(), it.digest(), "{tick} ticks later");
    }
    assert_eq!(again.published.len(), 20, "and every tick has its frame");
}

#[test]
fn what_happened_between_two_ticks_is_kept_too() {
    let mut it = Loop::new();
    it.run(1);
    let pawn = it.join(1, 0);
    let mut again = remade(&it, &[1]);
    assert_eq!(again.join(1, 0), pawn, "the peer has its pawn");
    it.command(0, Deed::Teleport(Place::Point([1.0, 2.0, 3.0])));
    let mut again = remade(&it, &[1]);
    again.run(1);
    assert_eq!(again.feet(pawn), [1.0, 2.0, 3.0]);
    it.tell(TickMsg::Leave(PeerId(1)));
    let mut again = remade(&it, &[1]);
    again.run(1);
    assert!(again.frame().is_empty());
}

#[test]
fn who_has_arrived_between_two_ticks_is_not_frozen_again() {
    let mut it = Loop::new();
    let pawn = it.join(1, 0);
    it.tell(TickMsg::Install(Arc::new(PreparedMap::gray_box())));
    it.run(1);
    let start = it.feet(pawn);
    (1..=4).for_each(|sequence| it.walk(1, sequence));
    it.run(4);
    assert_eq!(it.feet(pawn), start, "it waits for its player");
    it.arrive(1, 2);
    let mut again = remade(&it, &[1]);
    (5..=20).for_each(|sequence| again.walk(1, sequence));
    again.run(16);
    assert_ne!(again.feet(pawn), start);
}

#[test]
fn whoever_left_while_the_tick_was_down_leaves_no_pawn_behind() {
    let mut it = Loop::new();
    it.join(1, 0);
    let bob = it.join(2, 1);
    it.run(1);
    let mut again = remade(&it, &[2]);
    again.run(1);
    let left: Vec<_> = again.frame().records().map(|record| record.id).collect();
    assert_eq!(left, [bob]);
    assert_eq!(again.published[0].1, [PeerId(2)]);
}

#[test]
fn a_world_beyond_repair_starts_anew_with_the_same_people_at_the_same_tick() {
    let mut it = Loop::new();
    let pawn = it.join(1, 0);
    it.command(0, Deed::Noclip(None));
    (1..=8).for_each(|sequence| it.walk(1, sequence));
    it.run(8);
    let before = *it.frame().owner(pawn).unwrap();
    let mut again = remade(&it, &[1]);
    again.ticking = again.ticking.anew();
    again.run(1);
    let after = again.frame().owner(pawn).unwrap();
    assert_eq!(again.frame().tick(), Tick(9));
    assert_eq!(after.epoch, before.epoch + 1, "everybody sees that it was placed");
    assert_eq!(after.answer.input_ack, 0);
    again.walk(1, 9);
    again.run(4);
    assert_eq!(again.frame().owner(pawn).unwrap().answer.input_ack, 9, "and it goes on");
}

#[test]
fn the_third_fault_within_ten_seconds_is_beyond_repair_and_the_count_starts_over() {
    let beyond = |faults: &[u64]| {
        let directory = Directory::new(Prefs::default(), Library::new(None), Observer::default());
        let mut actor = TickActor::new(TickRate::DEFAULT, Ground::gray_box(), directory, None);
        let each = faults.iter().map(|at| actor.is_beyond_repair(Micros(*at)));
        each.collect::<Vec<bool>>()
    };
    assert_eq!(beyond(&[0, 1, 9_999_999]), [false, false, true]);
    assert_eq!(beyond(&[0, 1, 10_000_000, 10_000_001]), [false, false, false, false]);
    assert_eq!(beyond(&[0, 1, 2, 3, 4, 5]), [false, false, true, false, false, true]);
}

#[test]
fn a_fault_right_after_a_map_was_given_up_goes_back_to_the_one_that_all_were_told_of() {
    let directory = Directory::new(Prefs::default(), Library::new(None), Observer::default());
    let name = "p:assets/a.dh-map".into();
    directory.set_advert(MapAdvert { name, generation: 1, ..MapAdvert::default() });
    let ground = Ground::gray_box;
    let mut actor = TickActor::new(TickRate::DEFAULT, ground(), directory.clone(), None);
    let mut it = Loop::new();
    it.run(1);
    actor.kept = it.kept;
    let mut remade = || {
        let pace = Pace::of(&Prefs::default());
        let fresh = Ticking::new(TickRate::DEFAULT, ground(), pace, Micros(0));
        actor.recover(Micros(0), fresh).generation()
    };
    assert_eq!([(); 4].map(|()| remade()), [1, 1, 2, 2]);
    assert_eq!(directory.advert().generation, 2);
}

#[test]
fn a_join_asked_for_twice_gives_one_pawn_and_a_slot_has_one_holder() {
    let mut it = Loop::new();
    let pawn = it.join(1, 0);
    assert_eq!(it.join(1, 0), pawn);
    let taken_over = it.join(2, 0);
    assert_ne!(taken_over, pawn);
    it.run(1);
    let pawns: Vec<_> = it.frame().owners().iter().map(|owner| owner.pawn).collect();
    assert_eq!(pawns, [taken_over]);
    it.tell(TickMsg::Leave(PeerId(1)));
    it.run(1);
    assert_eq!(it.frame().len(), 1, "a late goodbye takes nothing of the newcomer");
}

#[test]
fn keeping_each_tick_uses_the_space_of_the_tick_before_the_last() {
    let mut it = Loop::new();
    it.join(1, 0);
    let mut spaces = std::collections::BTreeSet::new();
    for _ in 0..10 {
        it.run(1);
        spaces.insert(Arc::as_ptr(it.kept.as_ref().unwrap()) as usize);
    }
    assert_eq!(spaces.len(), 2);
}
