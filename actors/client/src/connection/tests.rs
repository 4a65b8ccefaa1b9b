//! The connection's decisions: messages in, effects out.

mod endings;
mod exchanging;
mod joining;
mod maps;
mod session;
mod typed;

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use dh_host::net::{By, Closed, InMessage};
use dh_machine::{Machine, Micros, Outbox};
use dh_messages::{
    Builds, CloseCode, MapAdvert, Own, SchemaHash, ServerInfo, SessionEnd as EndMessage, SpawnAck,
    ToClient, ToServer, schema_hash,
};
use dh_prefs::Address;

use super::{Connecting, ConnectionMsg, DialFailure, Effect, Kept, Profile};
use crate::ending::SessionEnd;
use crate::event::ClientEvent;
use crate::numbered::Numbered;

/// A connection, what it was told last, and how it answered.
struct Rig {
    machine: Connecting,
    now: Micros,
    /// Everything it wanted since it was made, but for what it wanted kept.
    effects: Vec<Effect>,
    /// What it wanted kept last.
    kept: Kept,
}

impl Rig {
    fn new() -> Self {
        let kept = Kept::new(Arc::new(profile()));
        let machine = Connecting::new(kept.clone(), own(), Micros(0));
        Self { machine, now: Micros(0), effects: Vec::new(), kept }
    }

    /// In the world: dialled, let in, given a pawn.
    fn playing() -> Self {
        let mut rig = Self::loading();
        rig.hear(spawn_ack());
        assert_eq!(rig.stands(), "playing");
        rig
    }

    fn loading() -> Self {
        let mut rig = Self::attempting();
        rig.hear(schema());
        rig.hear(server_info());
        rig
    }

    fn attempting() -> Self {
        let mut rig = Self::new();
        rig.tell(connect("10.0.0.1:27015"));
        rig.tell(rig.dialed());
        rig
    }

    /// Tell it something; what it wants done in answer.
    fn tell(&mut self, msg: ConnectionMsg) -> &[Effect] {
        let mut out = Outbox::default();
        self.machine.handle(self.now, msg, &mut out);
        self.note(out)
    }

    /// The server sends a reliable message.
    fn hear(&mut self, message: ToClient) -> &[Effect] {
        let event = in_message(message);
        self.tell(ConnectionMsg::Message(self.of_now(event)))
    }

    /// It panicked, and another is made in its place.
    fn panics(&mut self) {
        self.machine = Connecting::new(self.kept.clone(), own(), self.now);
    }

    /// Let time pass until then, serving deadlines as they come.
    fn pass(&mut self, until: Micros) {
        while let Some(due) = self.machine.next_deadline().filter(|due| *due <= until) {
            self.now = self.now.max(due);
            let mut out = Outbox::default();
            self.machine.wake(self.now, &mut out);
            self.note(out);
            assert!(self.machine.next_deadline().is_none_or(|next| self.now < next));
        }
        self.now = until;
    }

    fn note(&mut self, mut out: Outbox<Effect>) -> &[Effect] {
        let before = self.effects.len();
        for effect in out.drain() {
            match effect {
                Effect::Keep(kept) => self.kept = *kept,
                effect => self.effects.push(effect),
            }
        }
        &self.effects[before..]
    }

    /// An event of the newest attempt that was dialled.
    fn of_now<T>(&self, event: T) -> Numbered<T> {
        Numbered::new(self.dials().last().map_or(u64::MAX, |(attempt, _)| *attempt), event)
    }

    fn dialed(&self) -> ConnectionMsg {
        ConnectionMsg::Dialed(self.of_now(Builds::default()))
    }

    /// Sent elsewhere, with the server it was on left.
    fn moves_to(&mut self, to: &str) {
        self.tell(connect(to));
        self.tell(self.closed(By::Local, 0, "left"));
    }

    fn closed(&self, by: By, code: u32, reason: &str) -> ConnectionMsg {
        ConnectionMsg::Closed(self.of_now(Closed { by, code, reason: reason.into() }))
    }

    /// Every dial so far: its number and where it went.
    fn dials(&self) -> Vec<(u64, String)> {
        self.effects.iter().filter_map(dial_of).collect()
    }

    fn lines(&self) -> Vec<&str> {
        self.told()
            .filter_map(|it| if let ClientEvent::Line(it) = it { Some(it.as_str()) } else { None })
            .collect()
    }

    fn ends(&self) -> Vec<&SessionEnd> {
        self.told()
            .filter_map(|it| if let ClientEvent::Ended(it) = it { Some(it) } else { None })
            .collect()
    }

    fn stands(&self) -> &'static str {
        let stands =
            |it: &ClientEvent| if let ClientEvent::Stands(it) = it { Some(*it) } else { None };
        self.told().filter_map(stands).last().unwrap_or("disconnected")
    }

    fn told(&self) -> impl Iterator<Item = &ClientEvent> {
        self.effects.iter().filter_map(|it| if let Effect::Tell(it) = it { Some(it) } else { None })
    }

    fn hang_ups(&self) -> Vec<CloseCode> {
        let code =
            |it: &Effect| if let Effect::HangUp { code, .. } = it { Some(*code) } else { None };
        self.effects.iter().filter_map(code).collect()
    }
}

/// This build, made once.
fn own() -> Arc<Own> {
    static OWN: LazyLock<Arc<Own>> = LazyLock::new(|| Arc::new(Own::this()));
    Arc::clone(&OWN)
}

fn dial_of(effect: &Effect) -> Option<(u64, String)> {
    match effect {
        Effect::Dial { attempt, target } => Some((*attempt, target.to_string())),
        _ => None,
    }
}

fn sent(effects: &[Effect]) -> Vec<&ToServer> {
    effects
        .iter()
        .filter_map(|it| if let Effect::Send(it) = it { Some(it) } else { None })
        .collect()
}

fn profile() -> Profile {
    Profile { name: "ada".to_owned(), colour: 0x12_34_56, connect_timeout: Micros::from_secs(10) }
}

fn connect(to: &str) -> ConnectionMsg {
    let (host, port) = to.rsplit_once(':').unwrap();
    let address = Address { host: host.to_owned(), port: port.parse().unwrap() };
    ConnectionMsg::Connect(Some(address))
}

fn in_message(mut message: ToClient) -> InMessage {
    let mut body = Vec::new();
    message.write_body(&mut body).unwrap();
    InMessage { id: message.id(), body: body.into() }
}

fn schema() -> ToClient {
    ToClient::SchemaHash(SchemaHash { hash: schema_hash(), wants_text: false })
}

fn server_info() -> ToClient {
    let map = MapAdvert { generation: 3, ..MapAdvert::default() };
    ToClient::ServerInfo(ServerInfo { version: 2, tick_rate: 60, map, ..ServerInfo::default() })
}

fn spawn_ack() -> ToClient {
    ToClient::SpawnAck(SpawnAck { map_generation: 3, tick: 9, ..SpawnAck::default() })
}

fn session_end(code: CloseCode, versions: (u32, u32), reason: &str) -> ToClient {
    ToClient::SessionEnd(EndMessage {
        code,
        server_version: versions.0,
        client_version: versions.1,
        reason: dh_messages::Str16::clipped(reason),
    })
}
