//! How sessions end, what is logged of it, and what a remade session asks for.

use dh_host::net::{By, Closed};
use dh_messages::CloseCode;

use super::*;
use crate::session::state::{GREETING_MAX, Kept};

fn closed(by: By, code: u32, reason: &[u8]) -> SessionMsg {
    SessionMsg::Closed(Closed { by, code, reason: reason.to_vec() })
}

/// D23
#[test]
fn a_connection_that_says_nothing_is_ended_after_two_seconds() {
    assert_eq!(GREETING_MAX, Micros::from_secs(2));
    let mut talk = Talk::new(opening());
    assert_eq!(talk.session.next_deadline(), Some(GREETING_MAX));
    assert!(talk.wake(Micros(GREETING_MAX.0 - 1)).is_empty());
    let effects = talk.wake(GREETING_MAX);
    assert_eq!(ending(&effects).unwrap().code, CloseCode::Closed);
    assert_eq!(talk.session.next_deadline(), None);
    let mut talk = Talk::at(&Phase::Identifying);
    assert_eq!(talk.session.next_deadline(), None, "its idle timeout watches it from now on");
    assert!(talk.wake(Micros::from_secs(60)).is_empty());
}

/// JOIN-26, SES-13
#[test]
fn every_end_of_a_connection_is_logged_with_name_and_endpoint() {
    for (told, word) in [
        (closed(By::Timeout, 0, b"timed out"), "Timeout"),
        (closed(By::Peer, 0, b"left"), "Left"),
        (closed(By::Peer, 3, b"garbage"), "Closed by the peer, code 3: garbage"),
        (closed(By::Local, 2, b"reads too slowly"), "Closed here: reads too slowly"),
        (closed(By::Lost, 0, b"reset"), "Lost: reset"),
    ] {
        let mut talk = Talk::playing();
        let effects = talk.tell(told);
        assert_eq!(logged(&effects), [format!("peer disconnected (ada ({ENDPOINT})): {word}")]);
        assert_eq!(effects.last(), Some(&Effect::Finish(word.to_owned())));
        assert!(talk.has_ended());
    }
    let effects = Talk::at(&Phase::Identifying).tell(closed(By::Timeout, 0, b""));
    assert_eq!(logged(&effects), [format!("peer disconnected ({ENDPOINT}): Timeout")]);
}

#[test]
fn a_session_told_to_end_tells_its_peer_why_and_swallows_what_still_comes() {
    let mut talk = Talk::playing();
    let kicked = Ending::new(CloseCode::Closed, "kicked");
    let effects = talk.tell(SessionMsg::End(kicked.clone()));
    assert_eq!(logged(&effects), [format!("session ended (ada ({ENDPOINT})): kicked")]);
    assert_eq!(ending(&effects), Some(&kicked));
    assert!(talk.tell(SessionMsg::End(kicked)).is_empty());
    assert!(talk.tell(SessionMsg::Published(frame(0))).is_empty());
    assert!(talk.tell(SessionMsg::Datagram(Bytes::from_static(b"\x03"))).is_empty());
    assert!(talk.hear(info("ada")).is_empty());
    let effects = talk.tell(closed(By::Local, 2, b"kicked"));
    assert!(logged(&effects).is_empty(), "once is enough");
}

/// What the last `Keep` of a peer at `phase` holds.
fn kept_at(phase: &Phase) -> Option<Kept> {
    let mut talk = Talk::new(opening());
    let mut kept = None;
    let mut keep = |effects: Vec<Effect>| {
        for effect in effects {
            if let Effect::Keep(it) = effect {
                kept = Some(*it);
            }
        }
    };
    keep(talk.hear(request(PROTOCOL_VERSION, schema_hash())));
    if *phase != Phase::Identifying {
        keep(talk.hear(info("ada")));
        keep(talk.hear(ClientReady { map_generation: 1 }));
        keep(talk.tell(SessionMsg::Seated(4)));
    }
    if matches!(phase, Phase::Playing { .. }) {
        keep(talk.tell(SessionMsg::Spawned(Spawned { pawn: PAWN, tick: Tick(9) })));
    }
    kept
}

#[test]
fn a_remade_session_stands_where_the_peer_stood() {
    for phase in
        [Phase::Identifying, Phase::Spawning { slot: 4 }, Phase::Playing { slot: 4, pawn: PAWN }]
    {
        let kept = kept_at(&phase).unwrap();
        let session = Session::resume(opening(), kept, Micros::from_secs(5));
        assert_eq!(*session.phase(), phase);
        let mut talk = Talk { session, now: Micros::from_secs(5) };
        let effects = talk.tell(SessionMsg::Resumed);
        assert!(presented(&effects).is_some());
        assert_eq!(effects.last(), Some(&Effect::AskRoom));
        let asks_again = effects.contains(&Effect::Join { slot: 4 });
        assert_eq!(asks_again, phase == Phase::Spawning { slot: 4 }, "{phase:?}");
    }
}

#[test]
fn a_remade_session_goes_on_sending_every_frame() {
    let kept = kept_at(&Phase::Playing { slot: 4, pawn: PAWN }).unwrap();
    let session = Session::resume(opening(), kept, Micros(0));
    let mut talk = Talk { session, now: Micros(0) };
    let effects = talk.tell(SessionMsg::Published(frame(0)));
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Datagrams(_))));
}

#[test]
fn somebody_who_forgot_the_peer_is_told_where_it_stands() {
    let effects = Talk::playing().tell(SessionMsg::Announce);
    let [Effect::Present(presence)] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!((presence.slot, presence.pawn), (Some(4), Some(PAWN)));
    let effects = Talk::at(&Phase::Spawning { slot: 4 }).tell(SessionMsg::Announce);
    assert_eq!(effects.last(), Some(&Effect::Join { slot: 4 }));
}
