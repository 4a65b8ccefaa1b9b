//! What the player types for others, and what comes back.

use dh_messages::limit::CONSOLE_LINE_BYTES_MAX;
use dh_messages::{ChatKind, ClientChat, ConsoleAnswer, ConsoleLine, ServerChat};

use super::*;
use crate::connection::ServerLine;

fn chat(text: &str) -> ConnectionMsg {
    ConnectionMsg::Chat(text.to_owned())
}

fn console(text: &str) -> ConnectionMsg {
    ConnectionMsg::Console(ServerLine { id: 7, text: text.to_owned() })
}

fn answers(rig: &Rig) -> Vec<(u32, &str)> {
    let answer = |it: &'_ ClientEvent| matches!(it, ClientEvent::Answer { .. });
    let answers = rig.told().filter(|it| answer(it)).map(|it| match it {
        ClientEvent::Answer { id, text } => (*id, text.as_str()),
        _ => (0, ""),
    });
    answers.collect()
}

/// CHAT-01
#[test]
fn what_is_said_leaves_as_text_and_only_where_there_is_a_pawn() {
    let mut rig = Rig::playing();
    let line = ToServer::ClientChat(ClientChat { text: "hi".into() });
    assert_eq!(sent(rig.tell(chat("hi"))), [&line]);
    rig.hear(map_load(4));
    assert_eq!(sent(rig.tell(chat("hi"))), [&line], "also while the next map loads");
    for mut rig in [Rig::new(), Rig::attempting(), Rig::loading()] {
        assert!(sent(rig.tell(chat("hi"))).is_empty());
        assert_eq!(rig.lines(), ["chat: not in play; nothing was said"]);
    }
}

fn map_load(generation: u32) -> ToClient {
    let map = MapAdvert { generation, ..MapAdvert::default() };
    ToClient::MapLoad(dh_messages::MapLoad { map })
}

#[test]
fn a_line_for_the_servers_console_leaves_with_its_number_once_there_is_a_server() {
    let line = ToServer::ConsoleLine(ConsoleLine { id: 7, text: "players".into() });
    for mut rig in [Rig::loading(), Rig::playing()] {
        assert_eq!(sent(rig.tell(console("players"))), [&line]);
    }
    for mut rig in [Rig::new(), Rig::attempting()] {
        assert!(sent(rig.tell(console("players"))).is_empty());
        assert_eq!(answers(&rig), [(7, "not connected; nothing was sent")]);
    }
}

#[test]
fn a_line_that_does_not_fit_is_not_sent_by_half() {
    let mut rig = Rig::playing();
    let longest = "x".repeat(CONSOLE_LINE_BYTES_MAX);
    assert_eq!(sent(rig.tell(console(&longest))).len(), 1);
    assert!(sent(rig.tell(console(&format!("{longest}x")))).is_empty());
    let want = "a line has at most 2048 bytes, this one has 2049; nothing was sent";
    assert_eq!(answers(&rig), [(7, want)]);
}

#[test]
fn what_a_hostile_server_says_does_nothing_to_a_terminal() {
    let mut rig = Rig::playing();
    let (name, text) = ("a\x1bda".into(), "one\n\x1b[31mtwo".into());
    rig.hear(ToClient::ServerChat(ServerChat { kind: ChatKind::Player, slot: 3, name, text }));
    let text = "players: 1/4 connected\n  #0 \x1b[31mred".into();
    rig.hear(ToClient::ConsoleAnswer(ConsoleAnswer { id: 9, text }));
    assert_eq!(answers(&rig), [(9, "players: 1/4 connected\n  #0 [31mred")]);
    let told = rig.told().find_map(|it| match it {
        ClientEvent::Chat(line) => Some(line.to_log_line()),
        _ => None,
    });
    assert_eq!(told.as_deref(), Some("ada: one[31mtwo"));
    let mut early = Rig::attempting();
    early.hear(ToClient::ConsoleAnswer(ConsoleAnswer::default()));
    assert_eq!(early.hang_ups(), [CloseCode::Unreadable]);
}
