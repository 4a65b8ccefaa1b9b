//! What peers type: their chat, stamped by the roster, and their lines for the console, gated.

use dh_machine::Outbox;
use dh_messages::limit::CONSOLE_ANSWER_BYTES_MAX;
use dh_messages::{ConsoleAnswer, Str16};
use dh_prefs::{Command, Facts, Side, gate, key, parse, printable};

use super::state::{Effect, Roster, Told};
use super::tickets::{Asked, Tickets};
use super::{Forwarded, Presence, Standing, Typed};
use crate::chat::Line;

/// Characters of a peer's line that the log shows.
const LOGGED_MAX: usize = 200;
/// Bytes kept for saying how much of an answer was cut.
const REMARK_BYTES: usize = 64;

impl Roster {
    /// Somebody has said something. Who it is is looked up here and taken from nobody else.
    pub(super) fn typed(&self, typed: Typed, out: &mut Outbox<Effect>) {
        let Some(presence) = self.room.get(&typed.peer) else { return };
        if presence.standing == Standing::Playing
            && let Some(speaker) = presence.speaker()
        {
            out.push(Effect::Chat(Line::Player(speaker, typed.spoken)));
        }
    }

    /// A peer's line for the console: run for those who may, and answered to them alone. Nothing
    /// is composed for anybody else.
    pub(super) fn forwarded(&mut self, line: Forwarded, out: &mut Outbox<Effect>) {
        let Forwarded { peer, id, text } = line;
        let asked = Asked { peer, id };
        let answer = match (self.room.get(&peer), parse(Side::Server, &text)) {
            (_, Ok(None)) => return,
            (None, _) => "the server does not know you yet; ask again".to_owned(),
            (Some(_), Err(error)) => error.to_string(),
            (Some(presence), Ok(Some(command))) => {
                if let Err(refusal) = gate(&command, self.facts(presence)) {
                    refusal.to_string()
                } else {
                    out.push(Effect::Log(used(presence, &text)));
                    return self.run_for(asked, command, out);
                }
            }
        };
        reply(asked, &answer, out);
    }

    fn run_for(&mut self, asked: Asked, command: Command, out: &mut Outbox<Effect>) {
        let Some(ticket) = self.kept.tickets.issue(asked) else {
            let text = "too many lines wait for their answers; ask again";
            return reply(asked, text, out);
        };
        self.keep(out);
        if let Some(text) = self.run(ticket, command, out) {
            self.answer(ticket, text, out);
        }
    }

    /// Hand an answer to whoever typed the line.
    pub(super) fn answer(&mut self, id: u32, text: String, out: &mut Outbox<Effect>) {
        if !Tickets::is_ticket(id) {
            out.push(Effect::Reply(id, text));
        } else if let Some(asked) = self.kept.tickets.redeem(id) {
            self.keep(out);
            reply(asked, &text, out);
        }
    }

    /// What the gate is told of somebody.
    fn facts(&self, presence: &Presence) -> Facts {
        Facts {
            host: presence.is_host,
            operator: presence.is_operator(&self.operators()),
            cheats: self.prefs.get(key::CHEATS),
        }
    }
}

fn reply(asked: Asked, text: &str, out: &mut Outbox<Effect>) {
    let text = Str16::clipped(&fitting(text, CONSOLE_ANSWER_BYTES_MAX));
    let answer = ConsoleAnswer { id: asked.id, text };
    out.push(Effect::Tell(vec![asked.peer], Told::Answer(answer)));
}

/// What the log says of a line that was run for a peer.
fn used(presence: &Presence, line: &str) -> String {
    let name = presence.name.as_deref().unwrap_or("-");
    let identity = presence.identity.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
    let line = printable(line, LOGGED_MAX);
    format!("console of {name} ({identity}, {}): {line}", presence.endpoint)
}

/// As many whole lines as fit into `bytes_max`, and how many do not.
fn fitting(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let room = &text[..text.floor_char_boundary(bytes_max - REMARK_BYTES)];
    let kept = room.rfind('\n').map_or(room, |end| &room[..end]);
    let cut = text[kept.len()..].trim_start_matches('\n').lines().count();
    format!("{kept}\n({cut} more lines do not fit into one answer)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_too_long_says_how_many_lines_are_missing() {
        let line = "x".repeat(99);
        let listed = |count| vec![line.as_str(); count].join("\n");
        let exact = format!("{}\n", listed(10));
        assert_eq!(fitting(&exact, 1_000), exact);
        let cut = fitting(&listed(20), 1_000);
        assert_eq!(cut, format!("{}\n(11 more lines do not fit into one answer)", listed(9)));
        assert!(cut.len() <= 1_000);
        let one = fitting(&"\u{20ac}".repeat(1_000), 1_000);
        assert!(one.len() <= 1_000 && one.ends_with("(1 more lines do not fit into one answer)"));
    }
}
