//! What the player types for others: chat, lines for the server's console; and what comes of it.

use dh_machine::Outbox;
use dh_messages::limit::CONSOLE_LINE_BYTES_MAX;
use dh_messages::{ClientChat, ConsoleAnswer, ConsoleLine, ServerChat, Str8, Str16, ToServer};
use dh_prefs::printable;

use super::ServerLine;
use super::state::{Connecting, Effect, Phase};
use crate::event::ClientEvent;

/// Why what was typed goes nowhere.
const NO_NAME: &str = "this server's build has no such message";

impl Connecting {
    /// What is said before there is a pawn would be said by nobody.
    pub(super) fn chat(&mut self, text: &str, out: &mut Outbox<Effect>) {
        let why = if self.it.has_played {
            let text = Str16::clipped(text);
            if self.say(ToServer::ClientChat(ClientChat { text }), out) {
                return;
            }
            NO_NAME
        } else {
            "not in play"
        };
        let line = format!("chat: {why}; nothing was said");
        out.push(Effect::Tell(ClientEvent::Line(line)));
    }

    /// Half a line could mean something else, so one that is too long is not sent.
    pub(super) fn console(&mut self, line: ServerLine, out: &mut Outbox<Effect>) {
        let ServerLine { id, text } = line;
        let (bytes, most) = (text.len(), CONSOLE_LINE_BYTES_MAX);
        let refused = if !matches!(self.it.phase, Phase::Loading { .. } | Phase::Playing { .. }) {
            "not connected; nothing was sent".to_owned()
        } else if most < bytes {
            format!("a line has at most {most} bytes, this one has {bytes}; nothing was sent")
        } else {
            let text = Str16::clipped(&text);
            if self.say(ToServer::ConsoleLine(ConsoleLine { id, text }), out) {
                return;
            }
            format!("{NO_NAME}; nothing was sent")
        };
        out.push(Effect::Tell(ClientEvent::Answer { id, text: refused }));
    }
}

/// A line of the feed without what a hostile server could do to a terminal by it.
pub(super) fn readable(line: &ServerChat) -> ServerChat {
    ServerChat {
        name: Str8::clipped(&printable(&line.name, usize::MAX)),
        text: Str16::clipped(&printable(&line.text, usize::MAX)),
        ..*line
    }
}

/// An answer, likewise; its lines and what they begin with stay as they are.
pub(super) fn answered(answer: &ConsoleAnswer) -> ClientEvent {
    let shown = |it: &char| *it == '\n' || !it.is_control();
    ClientEvent::Answer { id: answer.id, text: answer.text.chars().filter(shown).collect() }
}
