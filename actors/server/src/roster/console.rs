//! The server's console: what each line does, and the one answer it gets.

use std::sync::Arc;

use dh_machine::Outbox;
use dh_prefs::{Command, Destination, Prefs, Side, Target, help, parse};

use super::listing::listing;
use super::state::{Effect, Roster};
use super::{ConsoleLine, Presence, operators};
use crate::chat::{LINE_UNITS_MAX, Line, Spoken};
use crate::players_max;
use crate::tick::{Deed, Place, TickCommand};

impl Roster {
    /// One line of the console. Whatever it is, it is answered.
    pub(super) fn console(&mut self, line: &ConsoleLine, out: &mut Outbox<Effect>) {
        let id = line.id;
        let answer = match parse(Side::Server, &line.text) {
            Ok(Some(command)) => self.run(id, command, out),
            Ok(None) => None,
            Err(error) => Some(error.to_string()),
        };
        if let Some(text) = answer {
            out.push(Effect::Reply(id, text));
        }
    }

    /// The answer, or `None` where somebody else gives it.
    pub(super) fn run(
        &mut self,
        id: u32,
        command: Command,
        out: &mut Outbox<Effect>,
    ) -> Option<String> {
        match command {
            Command::Players => {
                let cap = Some(players_max(&self.prefs));
                Some(listing(self.room.values(), cap, &self.operators()))
            }
            Command::Say(text) => Some(self.say(&text, out)),
            Command::Kick { target, reason } => Some(self.kick(&target, reason, out)),
            Command::Teleport { target, to } => {
                let to = match to {
                    Destination::Point(point) => Place::Point(point),
                    Destination::Player(other) => match self.slot_of(&other) {
                        Ok(slot) => Place::Beside(slot),
                        Err(refusal) => return Some(refusal),
                    },
                };
                self.order(id, &target, Deed::Teleport(to), out)
            }
            Command::Noclip { target, on } => self.order(id, &target, Deed::Noclip(on), out),
            Command::Respawn(target) => self.order(id, &target, Deed::Respawn, out),
            Command::Map(barcode) => {
                out.push(Effect::Switch(ConsoleLine { id, text: barcode }));
                None
            }
            Command::Op(target) => Some(self.op(&target, out)),
            Command::Deop(target) => Some(self.deop(&target, out)),
            Command::Ops => Some(self.ops()),
            Command::Stop => {
                out.push(Effect::StopServer);
                Some("stopping".to_owned())
            }
            Command::Help(topic) => Some(help(Side::Server, topic.as_deref())),
            Command::Show(preference) => Some(self.prefs.show(preference)),
            Command::Set { preference, text } => Some(self.set(preference.key, &text, out)),
            Command::Connect(_) | Command::Disconnect | Command::Quit | Command::Chat(_) => {
                Some("that belongs to a client's console".to_owned())
            }
        }
    }

    fn say(&self, text: &str, out: &mut Outbox<Effect>) -> String {
        let Some(spoken) = Spoken::read(text) else {
            return "say: nothing to say".to_owned();
        };
        let heard = self.admitted().len();
        let cut = match spoken.is_cut() {
            true => format!(", cut to {LINE_UNITS_MAX} characters"),
            false => String::new(),
        };
        out.push(Effect::Chat(Line::Server(spoken)));
        match heard {
            0 => format!("say: it reached no one{cut}"),
            1 => format!("say: it reached 1 player{cut}"),
            heard => format!("say: it reached {heard} players{cut}"),
        }
    }

    fn kick(
        &mut self,
        target: &Target,
        reason: Option<String>,
        out: &mut Outbox<Effect>,
    ) -> String {
        let Some(presence) = self.find(target) else { return no_such_player(target) };
        let peer = presence.peer;
        let reason = reason.unwrap_or_else(|| "kicked".to_owned());
        let answer = format!("kick: {target} is gone ({reason})");
        self.dismiss(peer, reason, out);
        answer
    }

    /// Hand the deed to the world, which answers; a target nobody holds is answered here.
    fn order(
        &self,
        id: u32,
        target: &Target,
        deed: Deed,
        out: &mut Outbox<Effect>,
    ) -> Option<String> {
        match self.slot_of(target) {
            Ok(slot) => {
                out.push(Effect::Tick(TickCommand { id, slot, deed }));
                None
            }
            Err(refusal) => Some(refusal),
        }
    }

    pub(super) fn set(&mut self, key: &str, text: &str, out: &mut Outbox<Effect>) -> String {
        let mut prefs = Prefs::clone(&self.prefs);
        match prefs.set_console(key, text) {
            Ok(change) => {
                self.prefs = Arc::new(prefs);
                out.push(Effect::Changed(Arc::clone(&self.prefs)));
                let line = change.line();
                if key == operators::KEY {
                    out.push(Effect::Keep(change));
                }
                line
            }
            Err(error) => error.to_string(),
        }
    }

    pub(super) fn find(&self, target: &Target) -> Option<&Presence> {
        self.room.values().find(|presence| match target {
            Target::Slot(slot) => presence.slot == Some(*slot),
            Target::Identity(text) => {
                presence.identity.as_ref().is_some_and(|identity| identity.to_string() == *text)
            }
        })
    }

    fn slot_of(&self, target: &Target) -> Result<u8, String> {
        let presence = self.find(target).ok_or_else(|| no_such_player(target))?;
        presence.slot.ok_or_else(|| format!("{target} has no pawn yet"))
    }
}

pub(super) fn no_such_player(target: &Target) -> String {
    format!("{target}: nobody here has it; `players` lists who is here")
}
