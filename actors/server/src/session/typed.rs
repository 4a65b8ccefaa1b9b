//! What a peer types: chat, and lines for the server's console. Each has its bucket here, so that
//! whatever a peer floods with, nobody else's mailbox sees it.

use dh_machine::{Micros, Outbox};
use dh_messages::{ClientChat, ClientNotice, ConsoleLine, Severity, ToClient};

use super::bucket::Drawn;
use super::rate::Rate;
use super::state::{Effect, Session};
use crate::chat::Spoken;

impl Session {
    /// A line of chat. What shows nothing costs nothing.
    pub(super) fn chat(&mut self, now: Micros, line: &ClientChat, out: &mut Outbox<Effect>) {
        let Some(spoken) = Spoken::read(&line.text) else { return };
        match self.chat_bucket.draw(now) {
            Drawn::Token => {
                self.keep(out);
                out.push(Effect::Chat(spoken));
            }
            drawn => self.too_many(drawn, Rate::Chat, "chat", out),
        }
    }

    /// A line for the console; whether it may be run is decided where it is.
    pub(super) fn forward(&mut self, now: Micros, line: ConsoleLine, out: &mut Outbox<Effect>) {
        match self.console_bucket.draw(now) {
            Drawn::Token => {
                self.keep(out);
                out.push(Effect::Forward(line));
            }
            drawn => self.too_many(drawn, Rate::Console, "console", out),
        }
    }

    /// Every line that is dropped is counted. The first is told; the next ones are not until one
    /// was taken again.
    fn too_many(&mut self, drawn: Drawn, rate: Rate, what: &str, out: &mut Outbox<Effect>) {
        out.push(Effect::Over(rate));
        if drawn == Drawn::Emptied {
            let text =
                format!("{what}: too many lines at once; what comes now is dropped, wait a bit");
            let notice = ClientNotice { severity: Severity::Warning, text: text.as_str().into() };
            self.say(ToClient::ClientNotice(notice), out);
        }
    }
}
