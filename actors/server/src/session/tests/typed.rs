//! What a peer types: chat, and lines for the server's console.

use dh_messages::{ClientChat, CloseCode, ConsoleLine};

use super::*;
use crate::session::Rate;

fn say(talk: &mut Talk, text: &str) -> Vec<Effect> {
    talk.hear(ClientChat { text: text.into() })
}

/// What was passed on as said.
fn said(effects: &[Effect]) -> Vec<&str> {
    let said = effects.iter().filter_map(|effect| match effect {
        Effect::Chat(spoken) => Some(spoken.text()),
        _ => None,
    });
    said.collect()
}

fn notices(effects: &[Effect]) -> usize {
    sent(effects).iter().filter(|it| matches!(it, ToClient::ClientNotice(_))).count()
}

/// CHAT-13, CHAT-16, CHAT-21
#[test]
fn what_is_said_is_cleaned_on_arrival_whatever_the_sender_checked() {
    let mut talk = Talk::playing();
    assert_eq!(said(&say(&mut talk, "a\nb\x1b[31mc")), ["ab[31mc"]);
    assert_eq!(said(&say(&mut talk, &"x".repeat(250))), ["x".repeat(200)]);
    let effects =
        talk.hear_raw(ClientChat::ID, &[&801_u16.to_le_bytes()[..], &[b'x'; 801]].concat());
    assert_eq!(ending(&effects).unwrap().code, CloseCode::Unreadable);
}

/// CHAT-17
#[test]
fn a_line_that_shows_nothing_does_nothing_and_costs_nothing() {
    let mut talk = Talk::playing();
    for blank in ["   ", "\t", "\x1b\x1b", ""].repeat(4) {
        assert!(say(&mut talk, blank).is_empty(), "{blank:?}");
    }
    assert_eq!((0..5).filter(|_| !said(&say(&mut talk, "hi")).is_empty()).count(), 4);
}

/// CHAT-18
#[test]
fn of_six_lines_at_once_four_are_said_and_the_sender_is_told_once() {
    let mut talk = Talk::playing();
    let effects: Vec<Effect> = (0..6).flat_map(|n| say(&mut talk, &n.to_string())).collect();
    assert_eq!((said(&effects), notices(&effects)), (vec!["0", "1", "2", "3"], 1));
    talk.now = Micros(1_340_000);
    let effects: Vec<Effect> = (6..8).flat_map(|n| say(&mut talk, &n.to_string())).collect();
    assert_eq!((said(&effects), notices(&effects)), (vec!["6"], 1));
}

/// CHAT-18, CHAT-20: a flood ends in the session of whoever floods.
#[test]
fn of_ten_thousand_lines_nobody_hears_more_than_four() {
    let mut talk = Talk::playing();
    let over =
        |effects: &[Effect], rate| effects.iter().filter(|it| **it == Effect::Over(rate)).count();
    let effects: Vec<Effect> = (0..10_000).flat_map(|_| say(&mut talk, "spam")).collect();
    let kept = |it: &&Effect| matches!(it, Effect::Keep(_));
    let told = effects.len() - effects.iter().filter(kept).count();
    assert_eq!((said(&effects).len(), notices(&effects)), (4, 1));
    assert_eq!((over(&effects, Rate::Chat), told), (9_996, 10_001), "and each is counted");
    let forward = |talk: &mut Talk| talk.hear(ConsoleLine { id: 1, text: "players".into() });
    let effects: Vec<Effect> = (0..10_000).flat_map(|_| forward(&mut talk)).collect();
    let told = effects.len() - effects.iter().filter(kept).count();
    let dropped = over(&effects, Rate::Console);
    assert_eq!((notices(&effects), dropped, told), (1, 9_992, 10_001), "nor the console");
}

/// JOIN-19
#[test]
fn before_a_peer_has_said_who_it_is_what_it_types_has_no_effect() {
    for phase in [Phase::Greeting { until: Micros(0) }, Phase::Identifying] {
        let mut talk = Talk::at(&phase);
        let mut effects = say(&mut talk, "hi");
        effects.extend(talk.hear(ConsoleLine { id: 1, text: "players".into() }));
        assert!(effects.iter().all(|it| matches!(it, Effect::Detail(_))), "{effects:?}");
        assert!(!talk.has_ended());
    }
}

/// CHAT-11
#[test]
fn who_does_not_play_yet_reaches_the_console_and_says_nothing() {
    let mut talk = Talk::at(&Phase::Loading);
    assert!(said(&say(&mut talk, "hi")).is_empty());
    let effects = talk.hear(ConsoleLine { id: 7, text: "players".into() });
    let line = ConsoleLine { id: 7, text: "players".into() };
    assert_eq!(effects.last(), Some(&Effect::Forward(line)));
}

#[test]
fn a_restart_is_no_way_to_more_lines() {
    let mut talk = Talk::playing();
    for n in 0..3 {
        say(&mut talk, &n.to_string());
    }
    let kept = say(&mut talk, "the last").into_iter().find_map(|effect| match effect {
        Effect::Keep(kept) => Some(*kept),
        _ => None,
    });
    talk.session = Session::resume(opening(), kept.unwrap(), talk.now);
    assert!(said(&say(&mut talk, "hi")).is_empty());
    talk.now = Micros(1_340_000);
    assert_eq!(said(&say(&mut talk, "hi")), ["hi"]);
}

/// JOIN-20
#[test]
fn nothing_said_reaches_a_peer_before_it_has_said_who_it_is() {
    let line = || SessionMsg::Say(Say { id: 54, body: Bytes::from_static(b"line") });
    for (phase, passes) in [
        (Phase::Greeting { until: Micros(0) }, false),
        (Phase::Identifying, false),
        (Phase::Loading, true),
        (Phase::Playing { slot: 4, pawn: PAWN }, true),
    ] {
        let mut talk = Talk::at(&phase);
        assert_eq!(talk.tell(line()).len() == 1, passes, "{phase:?}");
    }
}
