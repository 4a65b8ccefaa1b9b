//! The room: slots, who is told of whom, takeover.

use std::collections::{BTreeMap, BTreeSet};

use dh_messages::PlayerEntry;
use proptest::prelude::*;

use super::*;
use crate::roster::remembered::REMEMBERED_MAX;

/// WHO-01
#[test]
fn a_slot_is_free_again_once_its_player_has_gone_and_the_lowest_goes_first() {
    let mut room = Room::new();
    let slots: Vec<_> = (0..3)
        .map(|number| {
            let mut who = peer(number, "x");
            room.play(&mut who);
            who.slot
        })
        .collect();
    assert_eq!(slots, [Some(0), Some(1), Some(2)]);
    room.left(0);
    room.left(1);
    let mut newcomer = peer(9, "new");
    room.play(&mut newcomer);
    assert_eq!(newcomer.slot, Some(0));
}

/// WHO-02
#[test]
fn the_same_identity_gets_its_number_back_however_often_it_comes() {
    let mut room = Room::new();
    let (mut ada, mut bob) = (peer(0, "ada"), peer(1, "bob"));
    room.play(&mut ada);
    room.play(&mut bob);
    room.left(0);
    for connection in 2..22 {
        room.left(connection - 1);
        let mut again =
            Presence { peer: PeerId(connection), slot: None, pawn: None, ..bob.clone() };
        room.play(&mut again);
        assert_eq!(again.slot, Some(1), "slot 0 is free, and is not its own");
    }
}

#[test]
fn a_number_that_somebody_else_has_meanwhile_is_not_given_back() {
    let mut room = Room::new();
    room.play(&mut peer(0, "ada"));
    room.left(0);
    room.play(&mut peer(1, "bob"));
    let mut again = Presence { peer: PeerId(2), ..peer(0, "ada") };
    room.play(&mut again);
    assert_eq!(again.slot, Some(1));
}

#[test]
fn only_so_many_identities_are_remembered_and_the_oldest_is_forgotten() {
    let mut room = Room::new();
    let mut holder = peer(0, "holder");
    room.play(&mut holder);
    let mut first = peer(1, "first");
    room.play(&mut first);
    room.left(1);
    for number in 2..=u32::try_from(REMEMBERED_MAX).unwrap() + 1 {
        let mut passing = peer(number, "passing");
        room.play(&mut passing);
        room.left(number);
    }
    room.left(0);
    let mut again = Presence { peer: PeerId(9_999), ..peer(1, "first") };
    room.play(&mut again);
    assert_eq!(again.slot, Some(0));
}

proptest! {
    /// WHO-03
    #[test]
    fn numbers_are_unique_among_those_who_play(
        steps in proptest::collection::vec((0_u32..12, any::<bool>()), 1..80)
    ) {
        let mut room = Room::new();
        let mut playing: BTreeMap<u32, (PeerId, u8)> = BTreeMap::new();
        for (connection, (who, joins)) in (100..).zip(steps) {
            match (joins, playing.remove(&who)) {
                // One that plays already joins again: its old session ends, now or never.
                (true, _) => {
                    let mut comes = Presence { peer: PeerId(connection), ..peer(who, "x") };
                    room.play(&mut comes);
                    playing.insert(who, (comes.peer, comes.slot.unwrap()));
                }
                (false, Some((peer, _))) => drop(room.left(peer.0)),
                (false, None) => (),
            }
            let slots: BTreeSet<u8> = playing.values().map(|(_, slot)| *slot).collect();
            prop_assert_eq!(slots.len(), playing.len());
        }
    }
}

/// JOIN-20
#[test]
fn a_newcomer_hears_who_plays_when_it_is_admitted_and_not_before() {
    let mut room = Room::new();
    let mut ada = peer(0, "ada");
    room.play(&mut ada);
    let mut bob = peer(1, "bob");
    for standing in [Standing::Connecting, Standing::Handshaking] {
        assert!(room.present(&identified(&mut bob, standing)).is_empty());
    }
    let entry = PlayerEntry { slot: 0, pawn: pawn(0), name: "ada".into(), colour: 0 };
    let introduced = PlayerList { upserts: vec![entry].into(), ..PlayerList::default() };
    let effects = room.present(&identified(&mut bob, Standing::Loading));
    assert_eq!(lists(&effects), [(vec![1], introduced)]);
}

/// CHAT-07, CHAT-08, CHAT-11, CHAT-12
#[test]
fn everybody_admitted_hears_who_enters_and_who_leaves() {
    let mut room = Room::new();
    let mut ada = peer(0, "ada");
    let mut loading = peer(1, "lee");
    room.play(&mut ada);
    room.present(&identified(&mut loading, Standing::Loading));
    let mut bob = Presence { colour: 0x00aa_bbcc, ..peer(2, "bob") };
    let effects = room.play(&mut bob);
    let entry = PlayerEntry { slot: 1, pawn: pawn(2), name: "bob".into(), colour: 0x00aa_bbcc };
    let entered = PlayerList { upserts: vec![entry].into(), ..PlayerList::default() };
    assert_eq!(lists(&effects).last(), Some(&(vec![0, 1, 2], entered)));
    assert_eq!(lines(&effects), [chat(ChatKind::Join, 1, "bob", "")]);
    assert_eq!(transcript(&effects), ["bob joined"]);
    let effects = room.left(2);
    let removed = PlayerList { removed: vec![1].into(), ..PlayerList::default() };
    assert_eq!(lists(&effects), [(vec![0, 1], removed)]);
    assert_eq!(lines(&effects), [chat(ChatKind::Leave, 1, "bob", "")]);
    assert_eq!(transcript(&effects), ["bob left"]);
    assert!(room.left(1).is_empty(), "nobody knew one that never played");
    assert!(room.left(1).is_empty() && room.left(77).is_empty());
}

/// JOIN-25
#[test]
fn two_of_one_name_both_play_under_two_numbers() {
    let mut room = Room::new();
    let (mut one, mut two) = (peer(0, "alice"), peer(1, "alice"));
    room.play(&mut one);
    let effects = room.play(&mut two);
    assert!(kicked(&effects).is_empty());
    assert_eq!((one.slot, two.slot), (Some(0), Some(1)));
    let listed = room.console("players");
    assert_eq!(listed.matches(" alice ").count(), 2);
}

const REPLACED: &str = "this identity joined again from elsewhere";

#[test]
fn a_second_connection_of_one_key_ends_the_first_and_takes_its_slot() {
    let mut room = Room::new();
    let (mut ada, mut bob) = (peer(0, "ada"), peer(1, "bob"));
    room.play(&mut ada);
    room.play(&mut bob);
    let mut again = Presence { peer: PeerId(5), ..peer(0, "ada") };
    let effects = room.play(&mut again);
    assert_eq!(kicked(&effects), [(0, REPLACED)]);
    assert_eq!(again.slot, Some(0));
    assert_eq!(transcript(&effects), ["ada left", "ada joined"]);
    // What the first one still says changes nothing for the second.
    let effects = room.present(&ada);
    assert_eq!(kicked(&effects), [(0, REPLACED)]);
    assert!(room.left(0).is_empty());
    assert!(room.console("players").starts_with("players: 2/16"));
}

#[test]
fn a_name_takes_nothing_over() {
    for identity in [Identity::Guest("ada".to_owned()), Identity::Local("ada".to_owned())] {
        let mut room = Room::new();
        let mut one = Presence { identity: Some(identity), ..peer(0, "ada") };
        let mut two = Presence { peer: PeerId(1), ..one.clone() };
        room.play(&mut one);
        assert!(kicked(&room.play(&mut two)).is_empty());
        assert_ne!(one.slot, two.slot);
    }
}

#[test]
fn who_asks_again_for_a_slot_hears_of_the_one_it_has() {
    let mut room = Room::new();
    let mut ada = peer(0, "ada");
    room.present(&identified(&mut ada, Standing::Loading));
    for _ in 0..3 {
        let effects = room.present(&identified(&mut ada, Standing::Spawning));
        assert_eq!(seat(&effects, ada.peer), Some(0));
    }
    let mut bob = peer(1, "bob");
    room.play(&mut bob);
    assert_eq!(bob.slot, Some(1), "it is taken, though its holder has not heard of it");
}
