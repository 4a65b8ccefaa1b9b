//! What a remade roster learns from those who are here, and what it tells again.

use super::*;

const ALL_SLOTS: u8 = ServerChat::NO_SLOT;

/// A remade roster that expects these peers.
fn remade(peers: &[u32]) -> Room {
    keeping(peers, Kept::default())
}

/// The same, where this was kept.
fn keeping(peers: &[u32], kept: Kept) -> Room {
    let peers = peers.iter().copied().map(PeerId);
    Room { roster: Roster::remade(Arc::new(Prefs::default()), peers, kept) }
}

/// What is kept of a room in which these two play.
fn of_two_who_play() -> Kept {
    let mut room = Room::new();
    room.play(&mut peer(0, "ada"));
    kept(room.play(&mut peer(1, "bob")))
}

fn playing(number: u32, name: &str, slot: u8) -> Presence {
    let pawn = Some(pawn(number));
    Presence { standing: Standing::Playing, slot: Some(slot), pawn, ..peer(number, name) }
}

#[test]
fn the_room_is_rebuilt_by_those_in_it_and_nobody_joins_twice() {
    let mut room = keeping(&[0, 1], of_two_who_play());
    let effects = room.present(&playing(0, "ada", 3));
    assert!(lines(&effects).is_empty());
    let effects = room.present(&playing(1, "bob", 1));
    assert!(lines(&effects).is_empty(), "they know each other already");
    let (told, list) = lists(&effects).pop().unwrap();
    assert_eq!(told, [0, 1], "everybody hears who is here once all have spoken");
    let slots: Vec<u8> = list.upserts.iter().map(|entry| entry.slot).collect();
    assert_eq!(slots, [3, 1]);
    let free: Vec<u8> = (0..ALL_SLOTS).filter(|slot| !slots.contains(slot)).collect();
    assert_eq!(list.removed.0, free, "and who is not");
    room.left(1);
    let mut again = Presence { peer: PeerId(7), ..peer(1, "bob") };
    room.play(&mut again);
    assert_eq!(again.slot, Some(1), "numbers are remembered anew");
}

#[test]
fn nobody_is_seated_before_those_who_have_a_slot_have_said_so() {
    let mut room = remade(&[0, 1]);
    let mut newcomer = peer(5, "new");
    let effects = room.play(&mut newcomer);
    assert_eq!(seat(&effects, newcomer.peer), None);
    room.present(&playing(0, "ada", 0));
    let effects = room.left(1);
    assert_eq!(seat(&effects, newcomer.peer), Some(1));
}

#[test]
fn one_that_left_while_the_roster_was_down_is_in_nobodys_list() {
    let mut room = remade(&[0]);
    let effects = room.present(&playing(0, "ada", 0));
    let (_, list) = lists(&effects).pop().unwrap();
    assert!(list.removed.contains(&1), "slot 1 is free, whoever had it");
}

#[test]
fn of_two_with_one_key_the_newer_stays_whoever_speaks_first() {
    for newer_first in [true, false] {
        let mut room = remade(&[0, 5]);
        let older = playing(0, "ada", 0);
        let newer = Presence { identity: older.identity.clone(), ..playing(5, "ada", 1) };
        let (first, second) = if newer_first { (&newer, &older) } else { (&older, &newer) };
        let mut effects = room.present(first);
        effects.extend(room.present(second));
        assert_eq!(kicked(&effects), [(0, "this identity joined again from elsewhere")]);
        assert!(room.console("players").contains("#1 "));
        assert!(room.console("players").starts_with("players: 1/16"));
    }
}

#[test]
fn one_that_missed_its_kick_is_told_again() {
    let mut room = Room::new();
    let mut ada = peer(0, "ada");
    room.play(&mut ada);
    room.type_line("kick #0 enough");
    assert_eq!(kicked(&room.present(&ada)), [(0, "enough")]);
    room.left(0);
    let mut back = peer(0, "ada");
    assert!(kicked(&room.play(&mut back)).is_empty());
}

#[test]
fn who_may_have_missed_something_is_told_the_whole_room() {
    let mut room = Room::new();
    room.play(&mut peer(0, "ada"));
    room.play(&mut peer(1, "bob"));
    let effects = room.tell(RosterMsg::WhoIsHere(PeerId(1)));
    let [(told, list)] = &lists(&effects)[..] else { panic!("{effects:?}") };
    assert_eq!((told, list.upserts.len()), (&vec![1], 2));
    assert_eq!(list.removed.len(), usize::from(ALL_SLOTS) - 2);
    room.present(&Presence::new(PeerId(2), "127.0.0.1:5".to_owned(), false));
    assert!(room.tell(RosterMsg::WhoIsHere(PeerId(2))).is_empty(), "it has said no name yet");
    assert!(room.tell(RosterMsg::WhoIsHere(PeerId(77))).is_empty());
}

#[test]
fn a_notice_reaches_everybody_admitted_once() {
    let mut room = Room::new();
    room.play(&mut peer(0, "ada"));
    room.present(&Presence::new(PeerId(2), "127.0.0.1:5".to_owned(), false));
    let effects = room.tell(RosterMsg::Notice("the world went back".to_owned()));
    let [Effect::Tell(told, Told::Notice(notice))] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!((numbers(told), notice.text.as_str()), (vec![0], "the world went back"));
}

#[test]
fn a_notice_waits_until_those_who_are_to_read_it_have_been_heard_of() {
    let mut room = remade(&[0]);
    assert!(waits(&room.tell(RosterMsg::Notice("the world went back".to_owned()))));
    let effects = room.present(&playing(0, "ada", 0));
    let told = effects.iter().filter_map(|effect| match effect {
        Effect::Tell(told, Told::Notice(notice)) => Some((numbers(told), notice.text.as_str())),
        _ => None,
    });
    assert_eq!(told.collect::<Vec<_>>(), [(vec![0], "the world went back")]);
}

/// Whether nothing comes of it so far, but that it is kept.
fn waits(effects: &[Effect]) -> bool {
    matches!(effects, [Effect::Remember(_)])
}

/// What a roster has kept after these effects, for the one made in its place.
fn kept(effects: Vec<Effect>) -> Kept {
    let kept = effects.into_iter().filter_map(|effect| match effect {
        Effect::Remember(kept) => Some(kept),
        _ => None,
    });
    kept.last().unwrap_or_default()
}

#[test]
fn what_is_typed_or_asked_meanwhile_waits_until_the_room_is_whole() {
    let mut room = keeping(&[0, 1], of_two_who_play());
    let spoken = Spoken::read("hi").unwrap();
    let asked = Forwarded { peer: PeerId(0), id: 9, text: "players".to_owned() };
    assert!(waits(&room.tell(RosterMsg::Typed(Typed { peer: PeerId(0), spoken }))));
    assert!(waits(&room.tell(RosterMsg::Forwarded(asked))));
    assert!(waits(&room.type_line("players")));
    assert!(lines(&room.present(&playing(0, "ada", 0))).is_empty(), "bob is still awaited");
    let effects = room.present(&playing(1, "bob", 1));
    assert_eq!(transcript(&effects), ["ada: hi"]);
    let told = effects.iter().find_map(|effect| match effect {
        Effect::Tell(told, Told::Answer(answer)) => Some((numbers(told), answer.id)),
        _ => None,
    });
    assert_eq!(told, Some((vec![0], 9)), "a peer is answered");
    let [listing] = &effects.into_iter().filter_map(answer).collect::<Vec<_>>()[..] else {
        panic!("the console is answered once")
    };
    assert!(listing.contains(" ada ") && listing.contains(" bob "), "{listing}");
}

#[test]
fn a_place_and_an_open_question_outlive_the_roster_that_knew_them() {
    let mut room = Room::new();
    room.play(&mut Presence { is_host: true, ..peer(0, "ada") });
    room.play(&mut peer(1, "eve"));
    let mut bob = peer(1, "bob");
    bob.peer = PeerId(2);
    bob.identity = Some(Identity::Key("key:bob".to_owned()));
    room.play(&mut bob);
    room.left(1);
    room.left(2);
    let asked = Forwarded { peer: PeerId(0), id: 9, text: "respawn #0".to_owned() };
    let effects = room.tell(RosterMsg::Forwarded(asked));
    let ticket = effects.iter().find_map(|effect| match effect {
        Effect::Tick(command) => Some(command.id),
        _ => None,
    });
    let mut again = remade(&[0]);
    again.roster.kept = kept(effects);
    again.present(&Presence { is_host: true, ..playing(0, "ada", 0) });
    let mut cyd = peer(7, "cyd");
    let mut back = Presence { peer: PeerId(8), identity: bob.identity, ..peer(8, "bob") };
    again.play(&mut back);
    again.play(&mut cyd);
    assert_eq!((back.slot, cyd.slot), (Some(2), Some(1)), "whoever left finds its place again");
    let done = ConsoleLine { id: ticket.unwrap(), text: "done".to_owned() };
    let effects = again.tell(RosterMsg::Answer(done));
    let told = effects.iter().find_map(|effect| match effect {
        Effect::Tell(told, Told::Answer(answer)) => Some((numbers(told), answer.id)),
        _ => None,
    });
    assert_eq!(told, Some((vec![0], 9)), "an answer finds who asked");
}

#[test]
fn whoever_comes_or_goes_as_the_roster_breaks_is_told_once_all_the_same() {
    let mut room = keeping(&[0, 1, 2], of_two_who_play());
    let effects = room.present(&playing(2, "cyd", 2));
    assert_eq!(transcript(&effects), ["cyd joined"], "the word of it broke the roster before");
    assert_eq!(transcript(&room.left(1)), ["bob left"], "he left before he said where he stood");
    assert!(transcript(&room.present(&playing(0, "ada", 0))).is_empty());
    assert!(transcript(&room.present(&playing(2, "cyd", 2))).is_empty());
    assert_eq!(transcript(&room.left(2)), ["cyd left"]);
}

#[test]
fn one_whose_leaving_was_lost_is_told_as_gone_once_the_room_is_whole() {
    let mut room = keeping(&[0], of_two_who_play());
    assert_eq!(transcript(&room.present(&playing(0, "ada", 0))), ["bob left"]);
    assert!(transcript(&room.left(1)).is_empty());
}

#[test]
fn what_waits_for_the_room_outlives_another_restart() {
    let mut room = keeping(&[0], of_two_who_play());
    let kept_of_it = kept(room.type_line("players"));
    let mut again = keeping(&[0], kept_of_it.clone());
    assert_eq!(again.present(&playing(0, "ada", 0)).into_iter().filter_map(answer).count(), 1);
    let mut alone = keeping(&[], kept_of_it);
    let effects = alone.left(0);
    assert_eq!(effects.into_iter().filter_map(answer).count(), 1, "and everybody's leaving");
}

#[test]
fn what_waits_for_the_room_does_not_break_it_for_ever() {
    let mut room = keeping(&[0], of_two_who_play());
    let mut kept = kept(room.type_line("players"));
    assert!((0..4).all(|_| kept.give_up().is_empty()));
    assert!(matches!(&kept.give_up()[..], [RosterMsg::Console(line)] if line.text == "players"));
    assert!((0..9).all(|_| kept.give_up().is_empty()), "nothing waits any more");
}
