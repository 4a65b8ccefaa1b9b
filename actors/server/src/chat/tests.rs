//! What the chat tells: lines in, messages out.

use dh_machine::{Machine, Micros, Outbox};
use dh_messages::{ChatKind, ServerChat};

use super::{Chat, ChatMsg, Effect, Line, Speaker, Spoken};

fn told(line: Line) -> (ServerChat, String) {
    let mut out = Outbox::default();
    Chat::default().handle(Micros(0), ChatMsg::Line(line), &mut out);
    let effects: Vec<Effect> = out.drain().collect();
    let [Effect::Transcript(text), Effect::Broadcast(line)] = &effects[..] else {
        panic!("{effects:?}")
    };
    (line.clone(), text.clone())
}

fn spoken(text: &str) -> Spoken {
    Spoken::read(text).unwrap()
}

fn ada() -> Speaker {
    Speaker { slot: 3, name: "ada".to_owned() }
}

fn chat(kind: ChatKind, slot: u8, name: &str, text: &str) -> ServerChat {
    ServerChat { kind, slot, name: name.into(), text: text.into() }
}

/// CHAT-05, CHAT-06, CHAT-09
#[test]
fn each_kind_of_line_rides_the_one_message_with_its_speaker() {
    let none = ServerChat::NO_SLOT;
    for (line, message, text) in [
        (Line::Player(ada(), spoken("hi")), chat(ChatKind::Player, 3, "ada", "hi"), "ada: hi"),
        (Line::Server(spoken("hi")), chat(ChatKind::Server, none, "", "hi"), "[server] hi"),
        (Line::Join(ada()), chat(ChatKind::Join, 3, "ada", ""), "ada joined"),
        (Line::Leave(ada()), chat(ChatKind::Leave, 3, "ada", ""), "ada left"),
    ] {
        assert_eq!(told(line), (message, text.to_owned()));
    }
}

/// CHAT-03
#[test]
fn a_line_that_looks_like_the_servers_is_still_its_speakers() {
    let (line, text) = told(Line::Player(ada(), spoken("[server] hi")));
    assert_eq!((line.kind, line.slot, line.name.as_str()), (ChatKind::Player, 3, "ada"));
    assert_eq!(text, "ada: [server] hi");
}

/// CHAT-13
#[test]
fn a_line_is_cut_to_200_characters_and_knows_it() {
    for (typed, heard) in [(199, 199), (200, 200), (201, 200), (250, 200)] {
        let line = spoken(&"x".repeat(typed));
        assert_eq!((line.text().len(), line.is_cut()), (heard, heard < typed));
    }
    assert!(!spoken("  mind\u{7} the gap ").is_cut(), "what nobody could read was not cut");
}

/// CHAT-15, sessions OQ-14
#[test]
fn a_character_at_the_cut_is_there_whole_or_not_at_all() {
    let ascii = |count| "x".repeat(count);
    let emoji = '\u{1f600}';
    assert_eq!(spoken(&format!("{}{emoji}", ascii(199))).text(), ascii(199), "it takes two units");
    let whole = format!("{}{emoji}", ascii(198));
    assert_eq!(spoken(&whole).text(), whole);
    let euros = "\u{20ac}".repeat(201);
    assert_eq!(spoken(&euros).text().chars().count(), 200);
    let (line, _) = told(Line::Server(spoken(&"\u{ffff}".repeat(200))));
    assert_eq!(line.text.as_str().chars().count(), 200, "the longest line fits the message");
}

/// CHAT-16
#[test]
fn control_characters_are_removed_and_not_escaped() {
    assert_eq!(spoken("a\nb\x1b[31mc").text(), "ab[31mc");
    assert_eq!(spoken("a\u{2028}b\u{202e}c\r\n").text(), "abc");
    let (_, text) = told(Line::Player(ada(), spoken("one\nbob: two")));
    assert_eq!(text, "ada: onebob: two", "the log has one line");
}

/// CHAT-17
#[test]
fn what_shows_nothing_is_no_line() {
    for blank in ["", "   ", "\t", "\x1b\x1b", "\u{2028} \n", "\u{200f}"] {
        assert_eq!(Spoken::read(blank), None, "{blank:?}");
    }
}
