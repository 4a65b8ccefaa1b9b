//! The join: each message of a peer that does not play yet, and what follows from it.

use dh_host::net::InMessage;
use dh_machine::{Micros, Outbox};
use dh_messages::{
    BlobChunk, BlobRequest, Channel, ClientChat, ClientInfo, ClientReady, CloseCode,
    ConnectRequest, ConsoleLine, Message as _, Opening, PROTOCOL_VERSION, ServerInfo, SpawnAck,
    Str8, ToClient, ToServer, opening,
};
use dh_prefs::display_name;

use super::Spawned;
use super::state::{Effect, Ending, Phase, Session};
use crate::Identity;

impl Session {
    /// One reliable message. Which ones are legal depends on where the peer stands.
    pub(super) fn message(&mut self, now: Micros, message: &InMessage, out: &mut Outbox<Effect>) {
        if matches!(self.phase, Phase::Greeting { .. })
            && message.id == ConnectRequest::ID
            && let Ok(Opening::Legacy { version }) = opening(&message.body)
        {
            return self.refuse_legacy(version, out);
        }
        let dialect = self.speech.terms.dialect();
        let body = &message.body;
        let decoded = match dialect.read(Channel::Stream, message.id, body, &mut self.scratch) {
            Ok(Some(decoded)) => decoded,
            Ok(None) => return self.unknown(message.id, out),
            Err(error) => {
                let reason = format!("unreadable message {}: {error}", message.id);
                return self.end(Ending::new(CloseCode::Unreadable, reason), out);
            }
        };
        match (&self.phase, decoded) {
            (Phase::Greeting { .. }, ToServer::ConnectRequest(it)) => self.greet(now, &it, out),
            (Phase::Exchanging { theirs, known, .. }, ToServer::SchemaText(it)) => {
                let announced = (*theirs, known.clone());
                self.exchange(announced, &it, out);
            }
            (Phase::Identifying, ToServer::ClientInfo(it)) => self.identify(&it, out),
            (phase, ToServer::ClientReady(it)) if is_admitted(phase) => self.ready(&it, out),
            (phase, ToServer::BlobRequest(it)) if is_admitted(phase) => {
                // Who reads no chunks is told so by the transfer: it waits for an answer.
                let _is_logged = self.passes(BlobChunk::ID, out);
                out.push(Effect::Transfer(it, self.advert.pallet));
            }
            (Phase::Playing { .. }, ToServer::ClientChat(it)) => self.chat(now, &it, out),
            (phase, ToServer::ConsoleLine(it)) if is_admitted(phase) => {
                self.forward(now, it, out);
            }
            (_, ToServer::BlobRequest(_)) => self.early(BlobRequest::NAME, out),
            (_, ToServer::ClientChat(_)) => self.early(ClientChat::NAME, out),
            (_, ToServer::ConsoleLine(_)) => self.early(ConsoleLine::NAME, out),
            (_, other) => self.unexpected(other.name(), out),
        }
    }

    fn refuse_legacy(&mut self, theirs: u32, out: &mut Outbox<Effect>) {
        let who = self.label();
        let line = format!(
            "refused {who}: it speaks protocol {theirs}, a build from before the schema exchange; \
             this server speaks {PROTOCOL_VERSION}, and that client has to be updated to join"
        );
        out.push(Effect::Log(line));
        self.mismatch(theirs, out);
    }

    fn greet(&mut self, now: Micros, request: &ConnectRequest, out: &mut Outbox<Effect>) {
        if request.version != PROTOCOL_VERSION {
            return self.mismatch(request.version, out);
        }
        self.settle(now, request.schema_hash, out);
    }

    /// A peer of another build says what this one has no name for.
    fn unknown(&self, id: u8, out: &mut Outbox<Effect>) {
        let who = self.label();
        out.push(Effect::Detail(format!("message {id} of {who} has no name here: passed over")));
    }

    fn mismatch(&mut self, theirs: u32, out: &mut Outbox<Effect>) {
        let reason =
            format!("This server speaks protocol {PROTOCOL_VERSION}; this client speaks {theirs}");
        let ending = Ending { code: CloseCode::ProtocolMismatch, reason, client_version: theirs };
        self.end(ending, out);
    }

    pub(super) fn server_info(&self) -> ServerInfo {
        ServerInfo {
            version: PROTOCOL_VERSION,
            tick_rate: self.facts.tick_rate.hz(),
            world_id: self.facts.world_id,
            world_name: Str8::clipped(&self.facts.world_name),
            map: self.advert.clone(),
        }
    }

    /// From here on the server knows who this is; everything that needs a name may follow.
    fn identify(&mut self, info: &ClientInfo, out: &mut Outbox<Effect>) {
        let name = display_name(&info.name);
        let trust_names = self.facts.trust_names;
        let key = self.key.as_deref();
        let identity = Identity::resolve(&name, key, self.loopback, trust_names);
        self.presence.identity = Some(identity);
        self.presence.name = Some(name);
        self.presence.colour = info.seed_colour & 0x00ff_ffff;
        out.push(Effect::Log(self.schema_line()));
        self.stand(Phase::Loading, out);
    }

    /// A ready for a map that no longer stands is passed over: the client sends another. One that
    /// plays already has loaded the next map, and its pawn waits for it there.
    fn ready(&mut self, ready: &ClientReady, out: &mut Outbox<Effect>) {
        if ready.map_generation != self.advert.generation {
            return;
        }
        if std::mem::replace(&mut self.is_ready, true) {
            return self.unexpected(ClientReady::NAME, out);
        }
        match self.phase {
            Phase::Loading => self.stand(Phase::Seating, out),
            Phase::Playing { slot, pawn } => {
                self.acknowledge(slot, Spawned { pawn, tick: self.newest.next() }, out);
                self.keep(out);
            }
            _ => self.keep(out),
        }
    }

    /// Nobody is served before it has said who it is, and nobody speaks before it plays.
    fn early(&self, what: &str, out: &mut Outbox<Effect>) {
        let who = self.label();
        out.push(Effect::Detail(format!("{what} of {who} came too early and does nothing")));
    }

    pub(super) fn spawned(&mut self, spawned: Spawned, out: &mut Outbox<Effect>) {
        let Phase::Spawning { slot } = self.phase else { return };
        // One whose map was replaced meanwhile is told once it has loaded the next.
        if self.is_ready {
            self.acknowledge(slot, spawned, out);
        }
        self.stand(Phase::Playing { slot, pawn: spawned.pawn }, out);
    }

    /// The pawn is there and the peer can see where: from here on it is moved.
    fn acknowledge(&mut self, slot: u8, spawned: Spawned, out: &mut Outbox<Effect>) {
        let Spawned { pawn, tick } = spawned;
        let map_generation = self.advert.generation;
        let ack = SpawnAck { slot, pawn, tick: tick.0, map_generation };
        self.say(ToClient::SpawnAck(ack), out);
        self.tell_mismatch(out);
        out.push(Effect::Arrived(map_generation));
    }
}

/// Whether a peer has said who it is.
const fn is_admitted(phase: &Phase) -> bool {
    !matches!(
        phase,
        Phase::Greeting { .. } | Phase::Exchanging { .. } | Phase::Identifying | Phase::Ended
    )
}
