//! The exchange of schemas: what a server of another build is told and asked, how it is read from
//! then on, and what is not said to it.

use std::mem;
use std::sync::Arc;

use dh_machine::Outbox;
use dh_messages::{
    Build, Direction, Hash128, Passage, SchemaAnswer, SchemaHash, SchemaText, Terms, ToServer,
};

use super::state::{Connecting, Effect, Phase};
use crate::ending::{EndKind, SessionEnd};

/// How far the two have told each other what they write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exchange {
    /// The server has not said what it writes.
    Unsaid,
    /// Its text was asked for: the hash it must have, and what was sent of this client's text.
    Asked { theirs: Hash128, sent: usize },
    /// Both know.
    Agreed,
}

impl Connecting {
    /// The server says what it writes, and whether it wants to know what this client does.
    pub(super) fn settle(&mut self, told: SchemaHash, out: &mut Outbox<Effect>) {
        let (own, theirs) = (Arc::clone(&self.own), told.hash);
        let known = mem::take(&mut self.it.met).find(theirs, Direction::ToClient).cloned();
        if theirs == own.hash() {
            return self.agree(Terms::same(&own), out);
        }
        let packed = if told.wants_text { own.packed() } else { &[] };
        let (wants_text, sent) = (known.is_none(), packed.len());
        let text = SchemaText { wants_text, packed: packed.into() };
        out.push(Effect::Send(ToServer::SchemaText(text)));
        match known {
            Some(build) => {
                out.push(Effect::Remember(Arc::clone(&build)));
                self.agree(Terms::other(&own, build).having(sent, 0), out);
            }
            None => self.stand_at(Exchange::Asked { theirs, sent }),
        }
    }

    /// The server's text, which was asked for.
    pub(super) fn exchange(
        &mut self,
        (theirs, sent): (Hash128, usize),
        text: &SchemaAnswer,
        out: &mut Outbox<Effect>,
    ) {
        let own = Arc::clone(&self.own);
        match Build::read(&own, Direction::ToClient, theirs, &text.packed) {
            Ok(build) => {
                let build = Arc::new(build);
                out.push(Effect::Remember(Arc::clone(&build)));
                self.agree(Terms::other(&own, build).having(sent, text.packed.len()), out);
            }
            Err(error) => self.unreadable(&format!("schemaText: {error}"), out),
        }
    }

    fn agree(&mut self, terms: Terms, out: &mut Outbox<Effect>) {
        if let Some(name) = terms.lacks() {
            let reason = format!(
                "This server's build has no {name}, without which nobody plays there; \
                 join with another build."
            );
            let end = self.ending(EndKind::ProtocolMismatch);
            return self.fail(SessionEnd { reason: Some(reason), ..end }, out);
        }
        out.push(Effect::Speaks(terms.dialect().clone()));
        self.it.terms = Some(terms);
        self.stand_at(Exchange::Agreed);
    }

    fn stand_at(&mut self, now: Exchange) {
        if let Phase::Attempting { exchange, .. } = &mut self.it.phase {
            *exchange = now;
        }
    }

    /// The line of an admission.
    pub(super) fn schema_line(&self) -> Option<String> {
        let terms = self.it.terms.as_ref()?;
        let (cost, theirs, ours) = (terms.cost(), terms.theirs().short(), terms.ours().short());
        Some(if terms.differ() {
            format!(
                "schema: this server writes schema {theirs}, ours {ours}; reading it by name {cost}"
            )
        } else {
            format!("schema: this server writes this client's schema {ours} {cost}")
        })
    }

    /// Send one reliable message, if the server has a name for it; whether it has. The first of
    /// each kind that is held back is logged.
    pub(super) fn say(&mut self, message: ToServer, out: &mut Outbox<Effect>) -> bool {
        let passes = self.passes(message.id(), out);
        if passes {
            out.push(Effect::Send(message));
        }
        passes
    }

    /// Whether the server has a name for this message of ours.
    pub(super) fn passes(&mut self, id: u8, out: &mut Outbox<Effect>) -> bool {
        let Some(terms) = &mut self.it.terms else { return true };
        let passage = terms.pass(Direction::ToServer, id);
        if let Some(line) = passage.line(|| "the server") {
            out.push(Effect::Log(line));
        }
        passage == Passage::Sent
    }
}
