//! What the listener answers, script by script.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use dh_machine::{Machine, Micros, Outbox};

use super::state::{Admission, Arriving, Effect, Listener, PREFIX_MAX, UNFINISHED_MAX, UNVALIDATED_MAX};
use super::ListenerMsg;
use crate::PeerId;

fn tell(listener: &mut Listener, msg: ListenerMsg) -> Vec<Effect> {
    let mut out = Outbox::default();
    listener.handle(Micros(0), msg, &mut out);
    out.drain().collect()
}

/// The `id`-th arrival, each from a /24 of its own.
fn arriving(id: u64, validated: bool) -> ListenerMsg {
    let [high, low] = u16::try_from(id).unwrap().to_be_bytes();
    let address = SocketAddr::from(([127, high, low, 9], 4000));
    ListenerMsg::Incoming(Arriving { id, address: Some(address), validated })
}

fn empty() -> Listener {
    Listener::new(4, BTreeSet::new(), 0)
}

#[test]
fn unvalidated_arrivals_prove_their_address_once_64_handshakes_are_unfinished() {
    let mut listener = empty();
    for id in 0..UNVALIDATED_MAX as u64 {
        let effects = tell(&mut listener, arriving(id, false));
        assert_eq!(effects[0], Effect::Answer(id, Admission::Accept));
    }
    assert_eq!(tell(&mut listener, arriving(900, false)), [Effect::Answer(900, Admission::Retry)]);
    assert_eq!(tell(&mut listener, arriving(901, true)), [Effect::Answer(901, Admission::Accept)]);
}

#[test]
fn the_gate_is_told_to_shed_while_64_handshakes_are_unfinished_and_not_after() {
    let mut listener = empty();
    let mut effects = vec![];
    (0..UNVALIDATED_MAX as u64).for_each(|id| effects.extend(tell(&mut listener, arriving(id, true))));
    assert_eq!(effects.iter().filter(|e| **e == Effect::Shed(true)).count(), 1);
    assert_eq!(effects.last(), Some(&Effect::Shed(true)));
    assert_eq!(tell(&mut listener, ListenerMsg::Failed(3)), [Effect::Shed(false)]);
}

#[test]
fn nobody_is_answered_above_1024_unfinished_handshakes() {
    let mut listener = empty();
    (0..UNFINISHED_MAX as u64).for_each(|id| drop(tell(&mut listener, arriving(id, true))));
    assert_eq!(tell(&mut listener, arriving(5000, true)), [Effect::Answer(5000, Admission::Ignore)]);
}

#[test]
fn one_network_holds_at_most_32_unfinished_handshakes_and_gets_them_back() {
    let mut listener = empty();
    let from = |id: u64| {
        let address = SocketAddr::from(([10, 0, 0, u8::try_from(id % 250).unwrap()], 4000));
        ListenerMsg::Incoming(Arriving { id, address: Some(address), validated: true })
    };
    (0..u64::from(PREFIX_MAX)).for_each(|id| drop(tell(&mut listener, from(id))));
    assert_eq!(tell(&mut listener, from(40)), [Effect::Answer(40, Admission::Ignore)]);
    assert_eq!(tell(&mut listener, arriving(41, true)), [Effect::Answer(41, Admission::Accept)]);
    tell(&mut listener, ListenerMsg::Failed(7));
    assert_eq!(tell(&mut listener, from(42)), [Effect::Answer(42, Admission::Accept)]);
}

/// WHO-24, WHO-25
#[test]
fn a_full_server_says_so_before_any_session_exists() {
    let mut listener = empty();
    for id in 0..4 {
        tell(&mut listener, arriving(id, true));
        let peer = PeerId(u32::try_from(id).unwrap());
        assert_eq!(tell(&mut listener, ListenerMsg::Arrived(id)), [Effect::Open { knock: id, peer }]);
    }
    tell(&mut listener, arriving(9, true));
    let reason = "server is full (4 players)".to_owned();
    assert_eq!(tell(&mut listener, ListenerMsg::Arrived(9)), [Effect::TurnAway { knock: 9, reason }]);
}

/// WHO-22
#[test]
fn a_raised_cap_and_a_closed_session_each_make_a_place() {
    let mut listener = Listener::new(1, BTreeSet::from([PeerId(0)]), 1);
    let mut prefs = dh_prefs::Prefs::default();
    prefs.set_console("server.maxPlayers", "2").unwrap();
    tell(&mut listener, ListenerMsg::Prefs(std::sync::Arc::new(prefs)));
    let opened = |knock, peer| [Effect::Open { knock, peer: PeerId(peer) }];
    assert_eq!(tell(&mut listener, ListenerMsg::Arrived(1)), opened(1, 1));
    tell(&mut listener, ListenerMsg::Closed(PeerId(0)));
    assert_eq!(tell(&mut listener, ListenerMsg::Arrived(2)), opened(2, 2));
}
