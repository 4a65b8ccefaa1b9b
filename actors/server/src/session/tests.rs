//! What a session answers: messages in, effects out.

mod datagrams;
mod endings;
mod exchanging;
mod joining;
mod maps;
mod snapshots;
mod typed;

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use dh_host::KnownBuilds;
use dh_host::net::InMessage;
use dh_machine::{Machine, Micros, Outbox, Tick, TickRate};
use dh_messages::{
    Builds, ClientInfo, ClientReady, ConnectRequest, EntityId, Guid, Hash128, MapAdvert, Message,
    Own, PROTOCOL_VERSION, ToClient, encode, schema_hash,
};
use dh_sim::{Answer, Frame, World};

use super::{Effect, Ending, Kept, Opening, Phase, Say, Session, SessionMsg, Spawned};
use crate::facts::Facts;
use crate::roster::Presence;
use crate::{Identity, PeerId};

const ENDPOINT: &str = "192.168.8.198:51234";
const PAWN: EntityId = EntityId::new(1, 0);

/// A session with its time.
struct Talk {
    session: Session,
    now: Micros,
}

fn facts() -> Facts {
    static OWN: LazyLock<Arc<Own>> = LazyLock::new(|| Arc::new(Own::this()));
    let builds = KnownBuilds::new(Arc::clone(&OWN));
    Facts::new(TickRate::DEFAULT, Guid::from([7; 16]), "Yard".to_owned(), builds)
}

fn opening() -> Opening {
    Opening {
        facts: Arc::new(facts()),
        advert: MapAdvert { generation: 1, ..MapAdvert::default() },
        peer: PeerId(3),
        endpoint: ENDPOINT.to_owned(),
        loopback: false,
        key: Some("key:00ff".to_owned()),
        budget: 1_200,
        watched: false,
    }
}

impl Talk {
    fn new(opening: Opening) -> Self {
        Self::knowing(Builds::default(), opening)
    }

    /// In a process that has met these builds.
    fn knowing(met: Builds, opening: Opening) -> Self {
        Self { session: Session::open(opening, met, Micros(0)), now: Micros(0) }
    }

    /// A peer that has come so far; everything said on the way is left out.
    fn at(phase: &Phase) -> Self {
        let mut talk = Self::new(opening());
        talk.tell(SessionMsg::Opened);
        let steps: [fn(&mut Self); 5] = [
            |talk| drop(talk.hear(request(PROTOCOL_VERSION, schema_hash()))),
            |talk| drop(talk.hear(info("ada"))),
            |talk| drop(talk.hear(ClientReady { map_generation: 1 })),
            |talk| drop(talk.tell(SessionMsg::Seated(4))),
            |talk| drop(talk.tell(SessionMsg::Spawned(Spawned { pawn: PAWN, tick: Tick(9) }))),
        ];
        for step in steps {
            if std::mem::discriminant(talk.session.phase()) == std::mem::discriminant(phase) {
                return talk;
            }
            step(&mut talk);
        }
        assert_eq!(talk.session.phase(), phase);
        talk
    }

    fn playing() -> Self {
        Self::at(&Phase::Playing { slot: 4, pawn: PAWN })
    }

    fn tell(&mut self, msg: SessionMsg) -> Vec<Effect> {
        let mut out = Outbox::default();
        self.session.handle(self.now, msg, &mut out);
        out.drain().collect()
    }

    /// A reliable message of the peer.
    fn hear<M: Message>(&mut self, mut message: M) -> Vec<Effect> {
        let mut body = Vec::new();
        encode(&mut message, &mut body).unwrap();
        self.hear_raw(M::ID, &body)
    }

    fn hear_raw(&mut self, id: u8, body: &[u8]) -> Vec<Effect> {
        let body = Bytes::copy_from_slice(body);
        self.tell(SessionMsg::Message(InMessage { id, body }))
    }

    fn wake(&mut self, now: Micros) -> Vec<Effect> {
        let mut out = Outbox::default();
        self.now = now;
        self.session.wake(now, &mut out);
        out.drain().collect()
    }

    fn has_ended(&self) -> bool {
        *self.session.phase() == Phase::Ended
    }
}

fn request(version: u32, schema_hash: Hash128) -> ConnectRequest {
    ConnectRequest { version, schema_hash }
}

fn info(name: &str) -> ClientInfo {
    ClientInfo { name: name.into(), seed_colour: 0xff12_3456, avatar: "".into() }
}

/// The messages sent to the peer, in order.
fn sent(effects: &[Effect]) -> Vec<&ToClient> {
    let sent = effects.iter().filter_map(|effect| match effect {
        Effect::Send(message) => Some(message),
        _ => None,
    });
    sent.collect()
}

fn logged(effects: &[Effect]) -> Vec<&str> {
    let lines = effects.iter().filter_map(|effect| match effect {
        Effect::Log(line) => Some(line.as_str()),
        _ => None,
    });
    lines.collect()
}

fn ending(effects: &[Effect]) -> Option<&Ending> {
    effects.iter().find_map(|effect| match effect {
        Effect::End(ending) => Some(ending),
        _ => None,
    })
}

/// Where the roster was told the peer stands.
fn presented(effects: &[Effect]) -> Option<&Presence> {
    effects.iter().rev().find_map(|effect| match effect {
        Effect::Present(presence) => Some(presence),
        _ => None,
    })
}

/// A frame of a world with the pawn of slot 4 and so many props.
fn frame(props: u16) -> Arc<Frame> {
    frames(props, 1).pop().unwrap()
}

/// The first so many frames of such a world.
fn frames(props: u16, count: usize) -> Vec<Arc<Frame>> {
    let mut world = World::gray_box(TickRate::DEFAULT);
    assert_eq!(world.spawn_pawn(4).unwrap(), PAWN);
    for x in 0..props {
        world.spawn_prop(prop(dh_messages::NetKind::Prop, f32::from(x))).unwrap();
    }
    let mut next = || {
        world.step(|_| None);
        world.publish(|_| Answer { input_ack: 77, depth: 2 })
    };
    (0..count).map(|_| next()).collect()
}

fn prop(kind: dh_messages::NetKind, x: f32) -> dh_sim::Prop {
    let position = glam::Vec3::new(x, 0.0, 0.0);
    dh_sim::Prop { kind, position, rotation: glam::Quat::IDENTITY }
}
