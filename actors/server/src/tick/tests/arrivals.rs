//! Arrivals: pawns that wait in a new map, and players who have loaded it or another.
#![expect(clippy::float_cmp, reason = "what is compared exactly is exact")]

use super::*;
use crate::map_switch::PreparedMap;

fn installed(it: &mut Loop) {
    it.tell(TickMsg::Install(Arc::new(PreparedMap::gray_box())));
    it.other.clear();
}

#[test]
fn an_arrival_in_a_map_that_was_replaced_meanwhile_lets_nobody_move_in_the_next() {
    let mut it = Loop::new();
    let pawn = it.join(1, 0);
    (0..2).for_each(|_| installed(&mut it));
    it.run(1);
    let start = it.feet(pawn);
    it.arrive(1, 2);
    let told = format!("{:?}", it.other);
    assert_eq!(told, "[Detail(\"peer 1 has loaded map 2, and map 3 stands\")]");
    (1..=4).for_each(|sequence| it.walk(1, sequence));
    it.run(4);
    assert_eq!(it.feet(pawn), start, "it waits for its player");
    it.arrive(1, 3);
    (5..=20).for_each(|sequence| it.walk(1, sequence));
    it.run(16);
    assert_ne!(it.feet(pawn), start);
}

#[test]
fn a_pawn_waits_for_its_player_in_the_map_that_stands_and_in_no_other() {
    let mut it = Loop::new();
    it.join(1, 0);
    let awaits =
        |it: &Loop, peer, generation| it.ticking.awaits(Arrival { peer: PeerId(peer), generation });
    assert!(!awaits(&it, 1, 1), "who joins has loaded it");
    installed(&mut it);
    let waits = [(1, 1), (1, 2), (1, 3), (2, 2)].map(|(peer, map)| awaits(&it, peer, map));
    assert_eq!(waits, [false, true, false, false]);
    it.arrive(1, 2);
    assert!(!awaits(&it, 1, 2));
}
