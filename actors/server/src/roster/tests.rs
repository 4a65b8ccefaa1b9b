//! What the roster decides: presences and lines in, messages and answers out.

mod console;
mod forwarded;
mod recovery;
mod room;

use std::sync::Arc;

use dh_machine::{Machine, Micros, Outbox};
use dh_messages::{ChatKind, EntityId, PlayerList, ServerChat};
use dh_prefs::Prefs;

use super::{
    ConsoleLine, Effect, Forwarded, Kept, Ping, Presence, Roster, RosterMsg, Standing, Told, Typed,
};
use crate::chat::Spoken;
use crate::{Identity, PeerId};

/// A roster, and everybody who talks to it.
struct Room {
    roster: Roster,
}

impl Room {
    fn new() -> Self {
        Self { roster: Roster::new(Arc::new(Prefs::default())) }
    }

    fn tell(&mut self, msg: RosterMsg) -> Vec<Effect> {
        let mut out = Outbox::default();
        self.roster.handle(Micros(0), msg, &mut out);
        out.drain().collect()
    }

    fn present(&mut self, presence: &Presence) -> Vec<Effect> {
        self.tell(RosterMsg::Present(presence.clone()))
    }

    fn left(&mut self, peer: u32) -> Vec<Effect> {
        self.tell(RosterMsg::Left(PeerId(peer)))
    }

    /// Everything that happens when a peer of this name and identity goes all the way into play.
    fn play(&mut self, who: &mut Presence) -> Vec<Effect> {
        let mut effects = self.present(&identified(who, Standing::Loading));
        effects.extend(self.present(&identified(who, Standing::Spawning)));
        let Some(slot) = seat(&effects, who.peer) else { return effects };
        who.slot = Some(slot);
        effects.extend(self.present(who));
        (who.standing, who.pawn) = (Standing::Playing, Some(pawn(who.peer.0)));
        effects.extend(self.present(who));
        effects
    }

    /// The answer to a line of the console.
    fn console(&mut self, line: &str) -> String {
        let effects = self.type_line(line);
        let answers: Vec<_> = effects.into_iter().filter_map(answer).collect();
        let [answer] = &answers[..] else { panic!("{} answers to {line}", answers.len()) };
        answer.clone()
    }

    fn type_line(&mut self, line: &str) -> Vec<Effect> {
        self.tell(RosterMsg::Console(ConsoleLine { id: 5, text: line.to_owned() }))
    }
}

fn answer(effect: Effect) -> Option<String> {
    match effect {
        Effect::Reply(id, text) => {
            assert_eq!(id, 5);
            Some(text)
        }
        _ => None,
    }
}

/// A peer that proves a key of its own.
fn peer(number: u32, name: &str) -> Presence {
    let endpoint = format!("127.0.0.1:{}", 7_000 + number);
    Presence {
        name: Some(name.to_owned()),
        identity: Some(Identity::Key(format!("key:{number:032x}"))),
        ..Presence::new(PeerId(number), endpoint, false)
    }
}

fn identified(who: &mut Presence, standing: Standing) -> Presence {
    who.standing = standing;
    who.clone()
}

fn pawn(peer: u32) -> EntityId {
    EntityId::new(peer + 1, 0)
}

/// The slot a peer was given.
fn seat(effects: &[Effect], whose: PeerId) -> Option<u8> {
    effects.iter().rev().find_map(|effect| match effect {
        Effect::Seat { peer, slot } if *peer == whose => Some(*slot),
        _ => None,
    })
}

/// Lines that everybody is to read.
fn lines(effects: &[Effect]) -> Vec<ServerChat> {
    let lines = effects.iter().filter_map(|effect| match effect {
        Effect::Chat(line) => Some(line.compose()),
        _ => None,
    });
    lines.collect()
}

/// Lists told, with who was told.
fn lists(effects: &[Effect]) -> Vec<(Vec<u32>, PlayerList)> {
    let lists = effects.iter().filter_map(|effect| match effect {
        Effect::Tell(peers, Told::Players(list)) => Some((numbers(peers), list.clone())),
        _ => None,
    });
    lists.collect()
}

fn kicked(effects: &[Effect]) -> Vec<(u32, &str)> {
    let kicked = effects.iter().filter_map(|effect| match effect {
        Effect::Kick(peer, reason) => Some((peer.0, reason.as_str())),
        _ => None,
    });
    kicked.collect()
}

fn transcript(effects: &[Effect]) -> Vec<String> {
    lines(effects).iter().map(ServerChat::to_log_line).collect()
}

fn numbers(peers: &[PeerId]) -> Vec<u32> {
    peers.iter().map(|peer| peer.0).collect()
}

fn chat(kind: ChatKind, slot: u8, name: &str, text: &str) -> ServerChat {
    ServerChat { kind, slot, name: name.into(), text: text.into() }
}
