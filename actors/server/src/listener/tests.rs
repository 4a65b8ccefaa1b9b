//! What the listener answers, script by script.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use dh_host::net::{Identity, PeerKey};
use dh_machine::{ActorMessage, Machine, Micros, Outbox, Overflow};
use dh_prefs::Prefs;

use super::{Admission, Arrived, Arriving, Effect, Listener, ListenerMsg};
use crate::PeerId;

fn tell(listener: &mut Listener, msg: ListenerMsg) -> Vec<Effect> {
    tell_at(listener, Micros(0), msg)
}

fn tell_at(listener: &mut Listener, now: Micros, msg: ListenerMsg) -> Vec<Effect> {
    let mut out = Outbox::default();
    listener.handle(now, msg, &mut out);
    out.drain().collect()
}

fn wake(listener: &mut Listener, now: Micros) -> Vec<Effect> {
    let mut out = Outbox::default();
    listener.wake(now, &mut out);
    out.drain().collect()
}

/// The `id`-th arrival, each from a /24 of its own.
fn arriving(id: u64, validated: bool) -> ListenerMsg {
    let [high, low] = u16::try_from(id).unwrap().to_be_bytes();
    let address = SocketAddr::from(([127, high, low, 9], 4000));
    ListenerMsg::Incoming(Arriving { id, address: Some(address), validated })
}

/// The handshake of that arrival is done, by somebody without a key.
fn arrived(knock: u64) -> ListenerMsg {
    ListenerMsg::Arrived(Arrived { knock, key: None })
}

fn empty() -> Listener {
    Listener::new(4, BTreeMap::new(), 0)
}

fn key(of: u8) -> Option<PeerKey> {
    Some(Identity::from_secret(&[of; 32]).key())
}

fn opens(knock: u64, peer: u32) -> [Effect; 1] {
    [Effect::Open { knock, peer: PeerId(peer) }]
}

fn full(knock: u64, players: u32) -> [Effect; 1] {
    let players = if players == 1 { "1 player".to_owned() } else { format!("{players} players") };
    [Effect::TurnAway { knock, reason: format!("server is full ({players})") }]
}

/// D23
#[test]
fn unvalidated_arrivals_prove_their_address_once_64_handshakes_are_unfinished() {
    let mut listener = empty();
    for id in 0..64 {
        let effects = tell(&mut listener, arriving(id, false));
        assert_eq!(effects[0], Effect::Answer(id, Admission::Accept));
    }
    assert_eq!(tell(&mut listener, arriving(900, false)), [Effect::Answer(900, Admission::Retry)]);
    assert_eq!(tell(&mut listener, arriving(901, true)), [Effect::Answer(901, Admission::Accept)]);
}

/// D23
#[test]
fn the_gate_is_told_to_shed_while_64_handshakes_are_unfinished_and_not_after() {
    let mut listener = empty();
    let mut effects = vec![];
    for id in 0..64 {
        effects.extend(tell(&mut listener, arriving(id, true)));
    }
    assert_eq!(effects.iter().filter(|effect| **effect == Effect::Shed(true)).count(), 1);
    assert_eq!(effects.last(), Some(&Effect::Shed(true)));
    assert_eq!(tell(&mut listener, ListenerMsg::Failed(3)), [Effect::Shed(false)]);
}

/// D23
#[test]
fn nobody_is_let_in_above_1024_proved_unfinished_handshakes() {
    let mut listener = empty();
    (6_000..6_064).for_each(|id| drop(tell(&mut listener, arriving(id, false))));
    (0..1_024).for_each(|id| drop(tell(&mut listener, arriving(id, true))));
    assert_eq!(
        tell(&mut listener, arriving(5000, true)),
        [Effect::Answer(5000, Admission::Ignore)]
    );
    assert_eq!(
        tell(&mut listener, arriving(5001, false)),
        [Effect::Answer(5001, Admission::Retry)]
    );
}

/// The `id`-th arrival, all from one /24.
fn neighbour(id: u64, validated: bool) -> ListenerMsg {
    let address = SocketAddr::from(([10, 0, 0, u8::try_from(id % 250).unwrap()], 4000));
    ListenerMsg::Incoming(Arriving { id, address: Some(address), validated })
}

/// D23
#[test]
fn one_network_holds_at_most_32_proved_unfinished_handshakes_and_gets_them_back() {
    let mut listener = empty();
    (0..32).for_each(|id| drop(tell(&mut listener, neighbour(id, true))));
    let answer = |listener: &mut Listener, msg| tell(listener, msg).remove(0);
    let ignored = Effect::Answer(40, Admission::Ignore);
    assert_eq!(answer(&mut listener, neighbour(40, true)), ignored);
    let accepted = |id| Effect::Answer(id, Admission::Accept);
    assert_eq!(answer(&mut listener, arriving(41, true)), accepted(41));
    tell(&mut listener, ListenerMsg::Failed(7));
    assert_eq!(answer(&mut listener, neighbour(42, true)), accepted(42));
}

/// D23
#[test]
fn unproved_handshakes_of_a_network_are_challenged_above_32_and_keep_no_proved_one_out() {
    let mut listener = empty();
    (0..32).for_each(|id| drop(tell(&mut listener, neighbour(id, false))));
    let answer = |listener: &mut Listener, msg| tell(listener, msg).remove(0);
    let retry = |id| Effect::Answer(id, Admission::Retry);
    assert_eq!(answer(&mut listener, neighbour(40, false)), retry(40));
    let elsewhere = Effect::Answer(41, Admission::Accept);
    assert_eq!(answer(&mut listener, arriving(41, false)), elsewhere);
    for id in 100..132 {
        let accepted = Effect::Answer(id, Admission::Accept);
        assert_eq!(answer(&mut listener, neighbour(id, true)), accepted);
    }
    let ignored = Effect::Answer(140, Admission::Ignore);
    assert_eq!(answer(&mut listener, neighbour(140, true)), ignored);
    // Each gives its own place back.
    (0..32).for_each(|id| drop(tell(&mut listener, ListenerMsg::Failed(id))));
    assert_eq!(answer(&mut listener, neighbour(141, true)), Effect::Answer(141, Admission::Ignore));
    assert_eq!(answer(&mut listener, neighbour(142, false)), retry(142));
}

#[test]
fn a_handshake_whose_end_nobody_tells_is_forgotten_and_its_place_given_back() {
    let mut listener = empty();
    for id in 0..64 {
        tell_at(&mut listener, Micros(id), arriving(id, true));
    }
    assert_eq!(listener.next_deadline(), Some(Micros(5_000_000)));
    assert!(wake(&mut listener, Micros(4_999_999)).is_empty());
    assert_eq!(wake(&mut listener, Micros(5_000_000)), [Effect::Shed(false)]);
    assert_eq!(listener.next_deadline(), Some(Micros(5_000_001)));
    wake(&mut listener, Micros::from_secs(60));
    assert_eq!(listener.next_deadline(), None);
}

#[test]
fn a_knock_told_twice_is_answered_once() {
    let mut listener = empty();
    assert_eq!(tell(&mut listener, arriving(5, true)).len(), 1);
    assert!(tell(&mut listener, arriving(5, true)).is_empty());
}

/// WHO-24, WHO-25
#[test]
fn a_full_server_says_so_before_any_session_exists() {
    let mut listener = empty();
    for id in 0..4 {
        tell(&mut listener, arriving(id, true));
        let peer = u32::try_from(id).unwrap();
        assert_eq!(tell(&mut listener, arrived(id)), opens(id, peer));
    }
    tell(&mut listener, arriving(9, true));
    assert_eq!(tell(&mut listener, arrived(9)), full(9, 4));
}

/// WHO-22
#[test]
fn a_raised_cap_and_a_closed_session_each_make_a_place_and_a_lowered_cap_ends_nobody() {
    let mut listener = Listener::new(1, BTreeMap::from([(PeerId(0), None)]), 1);
    let cap = |listener: &mut Listener, players: &str| {
        let mut prefs = Prefs::default();
        prefs.set_console("server.maxPlayers", players).unwrap();
        assert!(tell(listener, ListenerMsg::Prefs(std::sync::Arc::new(prefs))).is_empty());
    };
    cap(&mut listener, "2");
    assert_eq!(tell(&mut listener, arrived(1)), opens(1, 1));
    cap(&mut listener, "1");
    tell(&mut listener, ListenerMsg::Closed(PeerId(0)));
    assert_eq!(tell(&mut listener, arrived(2)), full(2, 1));
    tell(&mut listener, ListenerMsg::Closed(PeerId(1)));
    assert_eq!(tell(&mut listener, arrived(3)), opens(3, 2));
}

/// sessions OQ-34: every session counts, but for the one that the newcomer replaces.
#[test]
fn a_player_whose_client_died_comes_back_into_a_full_server_once() {
    let mut listener =
        Listener::new(2, BTreeMap::from([(PeerId(0), key(1)), (PeerId(1), key(2))]), 2);
    let arrives = |knock, of| ListenerMsg::Arrived(Arrived { knock, key: key(of) });
    assert_eq!(tell(&mut listener, arrives(1, 3)), full(1, 2));
    assert_eq!(tell(&mut listener, arrives(2, 1)), opens(2, 2));
    assert_eq!(tell(&mut listener, arrives(3, 1)), full(3, 2));
    tell(&mut listener, ListenerMsg::Closed(PeerId(0)));
    assert_eq!(tell(&mut listener, arrives(4, 3)), full(4, 2));
    assert_eq!(tell(&mut listener, arrived(5)), full(5, 2), "no key replaces nobody");
}

#[test]
fn of_several_who_have_shaken_hands_meanwhile_none_takes_the_place_of_another() {
    let overflows = [1, 2].map(|knock| arrived(knock).overflow());
    assert_eq!(overflows, [1, 2].map(Overflow::Coalesce));
}
