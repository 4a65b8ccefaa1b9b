//! Operators: who may use every command, and the commands that say so.

use dh_machine::Outbox;
use dh_prefs::{NoOperator, Operators, Target, key};

use super::console::no_such_player;
use super::state::{Effect, Roster};

/// The preference that holds them.
pub(super) const KEY: &str = "server.operators";

impl Roster {
    /// The operators as the preferences have them now.
    pub(super) fn operators(&self) -> Operators {
        let held = self.prefs.get(key::OPERATORS).unwrap_or_default();
        Operators::read(&held).unwrap_or_default()
    }

    pub(super) fn op(&mut self, target: &Target, out: &mut Outbox<Effect>) -> String {
        let mut operators = self.operators();
        let who = match self.named(target) {
            Ok(who) => who,
            Err(refusal) => return refusal,
        };
        if who.is_host {
            return format!("op: {who} is the host and always was one");
        }
        match operators.add(&who.identity) {
            Ok(true) => {
                self.set(KEY, &operators.to_string(), out);
                format!("op: {who} is an operator")
            }
            Ok(false) => format!("op: {who} is one already"),
            Err(why @ NoOperator::Full) => format!("op: {why}"),
            Err(why) => format!("op: {who}: {why}"),
        }
    }

    pub(super) fn deop(&mut self, target: &Target, out: &mut Outbox<Effect>) -> String {
        let mut operators = self.operators();
        let who = match self.named(target) {
            Ok(who) => who,
            Err(refusal) => return refusal,
        };
        if who.is_host {
            return format!("deop: {who} is the host and always will be one");
        }
        if operators.remove(&who.identity) {
            self.set(KEY, &operators.to_string(), out);
            format!("deop: {who} is no operator any more")
        } else {
            format!("deop: {who} is none; `ops` lists them")
        }
    }

    /// A header, then one line for each, with its slot and name where it is here.
    pub(super) fn ops(&self) -> String {
        let operators = self.operators();
        let mut lines: Vec<String> = self
            .room
            .values()
            .filter(|it| it.is_host)
            .map(|host| {
                let name = host.name.as_deref().unwrap_or("-");
                format!("  {name} (the host)")
            })
            .collect();
        lines.extend(operators.iter().map(|identity| {
            let target = Target::Identity(identity.to_owned());
            let here = self.find(&target).and_then(|it| Some((it.slot?, it.name.as_deref()?)));
            match here {
                Some((slot, name)) => format!("  {identity} (#{slot} {name})"),
                None => format!("  {identity}"),
            }
        }));
        lines.insert(0, format!("operators: {}", lines.len()));
        lines.join("\n")
    }

    /// Whose identity a target names: that of a player here, or itself.
    fn named(&self, target: &Target) -> Result<Named, String> {
        let here = self.find(target);
        let identity = here.and_then(|it| it.identity.as_ref()).map(ToString::to_string);
        match (identity, target) {
            (Some(identity), _) => {
                Ok(Named { identity, is_host: here.is_some_and(|it| it.is_host) })
            }
            (None, Target::Identity(text)) => Ok(Named { identity: text.clone(), is_host: false }),
            (None, Target::Slot(_)) => Err(no_such_player(target)),
        }
    }
}

/// Somebody who is named by a command.
struct Named {
    identity: String,
    is_host: bool,
}

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.identity)
    }
}
