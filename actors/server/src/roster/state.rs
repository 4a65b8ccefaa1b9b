//! What the roster decides: who holds which slot, who is told what, what a console line does. Pure.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use dh_machine::{Digest, Machine, Micros, Outbox};
use dh_messages::{ChatKind, ClientNotice, PlayerEntry, PlayerList, ServerChat, Severity, Str8, Str16, ToClient};
use dh_prefs::Prefs;

use super::{Presence, RosterMsg, Standing};
use crate::tick::TickCommand;
use crate::{Identity, PeerId};

/// Identities whose slot is remembered after they left.
const REMEMBERED_MAX: usize = 1_024;

/// A reliable message the roster sends.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// A line of the feed.
    Chat(ServerChat),
    /// Who plays.
    Players(PlayerList),
    /// A fact about the server.
    Notice(ClientNotice),
}

impl From<Told> for ToClient {
    fn from(told: Told) -> Self {
        match told {
            Told::Chat(line) => Self::ServerChat(line),
            Told::Players(list) => Self::PlayerList(list),
            Told::Notice(notice) => Self::ClientNotice(notice),
        }
    }
}

/// What the roster wants done.
#[derive(Debug)]
pub enum Effect {
    /// The session may ask the tick for a pawn.
    Seat {
        /// Whose session.
        peer: PeerId,
        /// The slot it holds from now on.
        slot: u8,
    },
    /// Send one message to these peers, encoded once.
    Tell(Vec<PeerId>, Told),
    /// End the session with a told reason.
    Kick(PeerId, String),
    /// The world is to do something with a pawn.
    Tick(TickCommand),
    /// Answer the console's line of this number.
    Reply(u32, String),
    /// A preference has a new value: whoever lives by it is told.
    Changed(Arc<Prefs>),
    /// End the server in order.
    StopServer,
    /// A line for the transcript.
    Transcript(String),
}

/// Slots, lines, and the server's preferences.
#[derive(Debug)]
pub struct Roster {
    pub(super) room: BTreeMap<PeerId, Presence>,
    pub(super) prefs: Arc<Prefs>,
    remembered: BTreeMap<Identity, u8>,
    remembered_order: VecDeque<Identity>,
}

impl Roster {
    /// An empty room under these preferences.
    #[must_use]
    pub fn new(prefs: Arc<Prefs>) -> Self {
        Self {
            room: BTreeMap::new(),
            prefs,
            remembered: BTreeMap::new(),
            remembered_order: VecDeque::new(),
        }
    }

    /// A session says where it stands. What changed since it last did decides what others hear.
    fn present(&mut self, presence: Presence, out: &mut Outbox<Effect>) {
        let before = self.room.insert(presence.peer, presence.clone());
        let stood = before.as_ref().map(|presence| presence.standing);
        if presence.is_admitted() && !before.as_ref().is_some_and(Presence::is_admitted) {
            self.replace_earlier(&presence, out);
            self.introduce_room_to(presence.peer, out);
        }
        match presence.standing {
            Standing::Spawning if stood != Some(Standing::Spawning) => self.seat(&presence, out),
            Standing::Playing if stood != Some(Standing::Playing) => {
                // After the roster's own restart the peers know each other already.
                if stood.is_some() {
                    self.announce_entry(&presence, out);
                }
            }
            Standing::Connecting
            | Standing::Handshaking
            | Standing::Loading
            | Standing::Spawning
            | Standing::Playing => (),
        }
    }

    /// A proved identity has one connection: the newer one, which finds the slot free again.
    fn replace_earlier(&mut self, newcomer: &Presence, out: &mut Outbox<Effect>) {
        let Some(identity) = newcomer.identity.as_ref().filter(|id| id.is_proved()) else { return };
        let earlier: Vec<PeerId> = self
            .room
            .values()
            .filter(|other| other.peer != newcomer.peer && other.identity.as_ref() == Some(identity))
            .map(|other| other.peer)
            .collect();
        for peer in earlier {
            out.push(Effect::Kick(peer, "this identity joined again from elsewhere".to_owned()));
            self.left(peer, out);
        }
    }

    fn introduce_room_to(&self, peer: PeerId, out: &mut Outbox<Effect>) {
        let upserts: Vec<PlayerEntry> = self.room.values().filter_map(Presence::entry).collect();
        if !upserts.is_empty() {
            let list = PlayerList { upserts: upserts.into(), ..PlayerList::default() };
            out.push(Effect::Tell(vec![peer], Told::Players(list)));
        }
    }

    /// The slot an identity held before if it is free, else the lowest free one.
    fn seat(&mut self, presence: &Presence, out: &mut Outbox<Effect>) {
        let taken: BTreeSet<u8> = self
            .room
            .values()
            .filter(|other| other.peer != presence.peer)
            .filter_map(|other| other.slot)
            .collect();
        let earlier = presence.identity.as_ref().and_then(|id| self.remembered.get(id)).copied();
        let kept = presence.slot.or(earlier).filter(|slot| !taken.contains(slot));
        let Some(slot) = kept.or_else(|| (0..ServerChat::NO_SLOT).find(|slot| !taken.contains(slot))) else {
            out.push(Effect::Kick(presence.peer, "every player slot is taken".to_owned()));
            return;
        };
        if let Some(seated) = self.room.get_mut(&presence.peer) {
            seated.slot = Some(slot);
        }
        if let Some(identity) = presence.identity.clone() {
            self.remember(identity, slot);
        }
        out.push(Effect::Seat { peer: presence.peer, slot });
    }

    fn remember(&mut self, identity: Identity, slot: u8) {
        if self.remembered.insert(identity.clone(), slot).is_none() {
            self.remembered_order.push_back(identity);
        }
        if REMEMBERED_MAX < self.remembered_order.len()
            && let Some(oldest) = self.remembered_order.pop_front()
        {
            self.remembered.remove(&oldest);
        }
    }

    fn announce_entry(&self, presence: &Presence, out: &mut Outbox<Effect>) {
        if let Some(entry) = presence.entry() {
            let list = PlayerList { upserts: vec![entry].into(), ..PlayerList::default() };
            out.push(Effect::Tell(self.admitted(), Told::Players(list)));
        }
        self.chat(ChatKind::Join, Some(presence), "", out);
    }

    fn left(&mut self, peer: PeerId, out: &mut Outbox<Effect>) {
        let Some(gone) = self.room.remove(&peer) else { return };
        if gone.standing != Standing::Playing {
            return;
        }
        if let Some(slot) = gone.slot {
            let list = PlayerList { removed: vec![slot].into(), ..PlayerList::default() };
            out.push(Effect::Tell(self.admitted(), Told::Players(list)));
        }
        self.chat(ChatKind::Leave, Some(&gone), "", out);
    }

    /// Everybody hears the same line, and the transcript holds it too.
    pub(super) fn chat(
        &self,
        kind: ChatKind,
        who: Option<&Presence>,
        text: &str,
        out: &mut Outbox<Effect>,
    ) {
        let name = who.and_then(|who| who.name.clone()).unwrap_or_default();
        let slot = who.and_then(|who| who.slot).unwrap_or(ServerChat::NO_SLOT);
        let line = ServerChat { kind, slot, name: Str8::clipped(&name), text: Str16::clipped(text) };
        out.push(Effect::Transcript(line.to_log_line()));
        out.push(Effect::Tell(self.admitted(), Told::Chat(line)));
    }

    pub(super) fn admitted(&self) -> Vec<PeerId> {
        self.room.values().filter(|p| p.is_admitted()).map(|p| p.peer).collect()
    }

    fn notice(&self, text: &str, out: &mut Outbox<Effect>) {
        let notice = ClientNotice { severity: Severity::Warning, text: Str16::clipped(text) };
        out.push(Effect::Tell(self.admitted(), Told::Notice(notice)));
    }
}

impl Machine for Roster {
    type Msg = RosterMsg;
    type Effect = Effect;

    fn handle(&mut self, _now: Micros, msg: RosterMsg, out: &mut Outbox<Effect>) {
        match msg {
            RosterMsg::Present(presence) => self.present(presence, out),
            RosterMsg::Ping(ping) => {
                if let Some(presence) = self.room.get_mut(&ping.peer) {
                    presence.ping_ms = Some(ping.millis);
                }
            }
            RosterMsg::Left(peer) => self.left(peer, out),
            RosterMsg::Console(line) => self.console(&line, out),
            RosterMsg::Notice(text) => self.notice(&text, out),
            RosterMsg::Answer(line) => out.push(Effect::Reply(line.id, line.text)),
        }
    }

    fn digest(&self, digest: &mut Digest) {
        for presence in self.room.values() {
            digest.word(u64::from(presence.peer.0));
            digest.word(presence.slot.map_or(u64::MAX, u64::from));
        }
    }
}
