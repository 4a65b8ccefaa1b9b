//! The exchange of schemas: what a peer of another build is told and asked, how it is read from
//! then on, and what is not said to it.

use std::mem;
use std::sync::Arc;

use dh_machine::{Micros, Outbox};
use dh_messages::{
    BlobKind, BlobRefused, Build, ChatKind, CloseCode, Direction, Hash128, Message as _, Passage,
    SchemaAnswer, SchemaHash, SchemaText, ServerChat, Str8, Terms, ToClient,
};

use super::state::{Effect, Ending, Phase, Session};

/// How long a peer of another build may take to say what it writes.
pub(super) const EXCHANGE_MAX: Micros = Micros::from_secs(10);

/// What a session knows of the build of its peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Speech {
    /// How the peer is read, and what it has no name for.
    pub(super) terms: Terms,
    /// Whether the peer was told that its build is another.
    mismatch_told: bool,
}

impl Speech {
    pub(super) fn new(terms: Terms) -> Self {
        Self { terms, mismatch_told: false }
    }
}

impl Session {
    /// The peer has said which schema it writes. Nothing is asked of one that writes this server's.
    pub(super) fn settle(&mut self, now: Micros, theirs: Hash128, out: &mut Outbox<Effect>) {
        let own = Arc::clone(self.facts.builds.own());
        let is_same = theirs == own.hash();
        let known = mem::take(&mut self.met).find(theirs, Direction::ToServer).cloned();
        let wants_text = !is_same && known.is_none();
        let told = SchemaHash { hash: own.hash(), wants_text };
        out.push(Effect::Send(ToClient::SchemaHash(told)));
        if is_same {
            return self.agree(Terms::same(&own), out);
        }
        self.stand(Phase::Exchanging { theirs, known, until: now + EXCHANGE_MAX }, out);
    }

    /// What the peer writes comes, where it was asked for, and what it asks for goes.
    pub(super) fn exchange(
        &mut self,
        (theirs, known): (Hash128, Option<Arc<Build>>),
        text: &SchemaText,
        out: &mut Outbox<Effect>,
    ) {
        let own = Arc::clone(self.facts.builds.own());
        let build = match known {
            Some(build) if text.packed.is_empty() => Ok(build),
            Some(_) => Err("a text came that was not asked for".to_owned()),
            None => Build::read(&own, Direction::ToServer, theirs, &text.packed)
                .map(Arc::new)
                .map_err(|error| error.to_string()),
        };
        let build = match build {
            Ok(build) => build,
            Err(why) => {
                let reason = format!("unreadable schemaText: {why}");
                return self.end(Ending::new(CloseCode::Unreadable, reason), out);
            }
        };
        out.push(Effect::Remember(Arc::clone(&build)));
        let mut sent = 0;
        if text.wants_text {
            sent = own.packed().len();
            let packed = own.packed().to_vec().into();
            out.push(Effect::Send(ToClient::SchemaAnswer(SchemaAnswer { packed })));
        }
        self.agree(Terms::other(&own, build).having(sent, text.packed.len()), out);
    }

    /// Both know what the other writes: who the server is comes next, unless the peer's build
    /// cannot play with this one at all.
    fn agree(&mut self, terms: Terms, out: &mut Outbox<Effect>) {
        if let Some(name) = terms.lacks() {
            let reason = format!(
                "This client's build has no {name}, without which nobody plays here; \
                 join with another build"
            );
            return self.end(Ending::new(CloseCode::ProtocolMismatch, reason), out);
        }
        self.speech = Speech::new(terms);
        self.say(ToClient::ServerInfo(self.server_info()), out);
        self.stand(Phase::Identifying, out);
    }

    /// The line of an admission.
    pub(super) fn schema_line(&self) -> String {
        let terms = &self.speech.terms;
        let (who, cost) = (self.label(), terms.cost());
        let (theirs, ours) = (terms.theirs().short(), terms.ours().short());
        if !terms.differ() {
            return format!("schema: {who} writes this server's schema {ours} {cost}");
        }
        format!(
            "schema: {who} writes schema {theirs}, this server writes {ours}; \
             reading it by name {cost}"
        )
    }

    /// One line once a session, to nobody else: the peer is of another build, and plays on.
    pub(super) fn tell_mismatch(&mut self, out: &mut Outbox<Effect>) {
        let terms = &self.speech.terms;
        if !terms.differ() || self.speech.mismatch_told {
            return;
        }
        let (theirs, ours) = (terms.theirs().short(), terms.ours().short());
        self.speech.mismatch_told = true;
        let text = format!("Protocol mismatch: yours {theirs}, server {ours}");
        let line = ServerChat {
            kind: ChatKind::Server,
            slot: ServerChat::NO_SLOT,
            name: Str8::default(),
            text: text.into(),
        };
        self.say(ToClient::ServerChat(line), out);
    }

    /// Send one reliable message, if the peer has a name for it.
    pub(super) fn say(&mut self, message: ToClient, out: &mut Outbox<Effect>) {
        if self.passes(message.id(), out) {
            out.push(Effect::Send(message));
        }
    }

    /// A blob that the peer does not get, and cannot be told so. Without its map it waits for
    /// nothing: that ends its session, with the reason; without any other blob it plays on.
    pub(super) fn unread(&mut self, refused: &BlobRefused, out: &mut Outbox<Effect>) {
        if !self.passes(BlobRefused::ID, out) && refused.kind == BlobKind::MapPallet {
            self.end(Ending::new(CloseCode::Closed, refused.reason.as_str()), out);
        }
    }

    /// Whether the peer has a name for this message of ours. The first of each kind that is held
    /// back is logged.
    pub(super) fn passes(&mut self, id: u8, out: &mut Outbox<Effect>) -> bool {
        let passage = self.speech.terms.pass(Direction::ToClient, id);
        if let Some(line) = passage.line(|| self.label()) {
            out.push(Effect::Log(line));
            self.keep(out);
        }
        passage == Passage::Sent
    }
}
