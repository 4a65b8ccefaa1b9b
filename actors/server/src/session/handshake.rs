//! The join: each message of a peer that does not play yet, and what follows from it.

use dh_host::net::InMessage;
use dh_machine::Outbox;
use dh_messages::{
    ClientInfo, ClientReady, CloseCode, ConnectRequest, MapAdvert, Message as _, Opening,
    PROTOCOL_VERSION, SchemaHash, ServerInfo, SpawnAck, Str8, ToClient, ToServer, opening,
};
use dh_prefs::display_name;

use super::Spawned;
use super::state::{Effect, Ending, Phase, Session};
use crate::Identity;

impl Session {
    /// One reliable message. Which ones are legal depends on where the peer stands.
    pub(super) fn message(&mut self, message: &InMessage, out: &mut Outbox<Effect>) {
        if matches!(self.phase, Phase::Greeting { .. })
            && message.id == ConnectRequest::ID
            && let Ok(Opening::Legacy { version }) = opening(&message.body)
        {
            return self.refuse_legacy(version, out);
        }
        let decoded = match ToServer::from_stream(message.id, &message.body) {
            Ok(decoded) => decoded,
            Err(error) => {
                let reason = format!("unreadable message {}: {error}", message.id);
                return self.end(Ending::new(CloseCode::Unreadable, reason), out);
            }
        };
        match (&self.phase, decoded) {
            (Phase::Greeting { .. }, ToServer::ConnectRequest(it)) => self.greet(&it, out),
            (Phase::Identifying, ToServer::ClientInfo(it)) => self.identify(&it, out),
            (Phase::Loading, ToServer::ClientReady(it)) => self.ready(&it, out),
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

    fn greet(&mut self, request: &ConnectRequest, out: &mut Outbox<Effect>) {
        if request.version != PROTOCOL_VERSION {
            return self.mismatch(request.version, out);
        }
        let ours = self.facts.schema;
        out.push(Effect::Send(ToClient::SchemaHash(SchemaHash { hash: ours, wants_text: false })));
        if request.schema_hash != ours {
            let (theirs, ours) = (request.schema_hash.short(), ours.short());
            let reason = format!(
                "build differs: yours writes schema {theirs}, this server {ours}; \
                 install the same build on both"
            );
            let client_version = request.version;
            return self.end(Ending { code: CloseCode::Closed, reason, client_version }, out);
        }
        out.push(Effect::Send(ToClient::ServerInfo(self.server_info())));
        self.stand(Phase::Identifying, out);
    }

    fn mismatch(&mut self, theirs: u32, out: &mut Outbox<Effect>) {
        let reason =
            format!("This server speaks protocol {PROTOCOL_VERSION}; this client speaks {theirs}");
        let ending = Ending { code: CloseCode::ProtocolMismatch, reason, client_version: theirs };
        self.end(ending, out);
    }

    fn server_info(&self) -> ServerInfo {
        ServerInfo {
            version: PROTOCOL_VERSION,
            tick_rate: self.facts.tick_rate.hz(),
            world_id: self.facts.world_id,
            world_name: Str8::clipped(&self.facts.world_name),
            map: MapAdvert { generation: self.generation, ..self.facts.advert.clone() },
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
        out.push(Effect::Log(format!(
            "schema: {} writes this server's schema {} (hash only, 16 bytes each way)",
            self.label(),
            self.facts.schema.short()
        )));
        self.stand(Phase::Loading, out);
    }

    /// A ready for a map that no longer stands is passed over: the client sends another.
    fn ready(&mut self, ready: &ClientReady, out: &mut Outbox<Effect>) {
        if ready.map_generation == self.generation {
            self.stand(Phase::Seating, out);
        }
    }

    pub(super) fn spawned(&mut self, spawned: Spawned, out: &mut Outbox<Effect>) {
        let Phase::Spawning { slot } = self.phase else { return };
        out.push(Effect::Send(ToClient::SpawnAck(SpawnAck {
            slot,
            pawn: spawned.pawn,
            tick: spawned.tick.0,
            map_generation: self.generation,
        })));
        self.stand(Phase::Playing { slot, pawn: spawned.pawn }, out);
    }
}
