//! What the roster decides: who holds which slot, who is told what, what a console line does. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dh_machine::planted::{self, Bug};
use dh_machine::{Digest, Machine, Micros, Outbox};
use dh_messages::{
    ClientNotice, ConsoleAnswer, PlayerEntry, PlayerList, ServerChat, Severity, Str16, ToClient,
};
use dh_prefs::{Change, Prefs};

use super::remembered::Remembered;
use super::tickets::Tickets;
use super::{ConsoleLine, Presence, RosterMsg, Standing};
use crate::chat::{Line, Speaker};
use crate::tick::TickCommand;
use crate::{Identity, PeerId};

/// Messages that are held until the room is whole; what comes then is taken as things stand.
const HELD_MAX: usize = 128;
/// Restarts that what is held waits through.
const WAITED_MAX: u32 = 4;
/// Slots there are; the one number above them stands for none.
const SLOTS: u8 = ServerChat::NO_SLOT;
/// What a player reads whose identity has joined again from elsewhere.
const REPLACED: &str = "this identity joined again from elsewhere";

/// A reliable message the roster sends.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// Who plays.
    Players(PlayerList),
    /// A fact about the server.
    Notice(ClientNotice),
    /// What a line of its console is answered.
    Answer(ConsoleAnswer),
}

impl From<Told> for ToClient {
    fn from(told: Told) -> Self {
        match told {
            Told::Players(list) => Self::PlayerList(list),
            Told::Notice(notice) => Self::ClientNotice(notice),
            Told::Answer(answer) => Self::ConsoleAnswer(answer),
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
    /// Have everybody read this.
    Chat(Line),
    /// End the session with a told reason.
    Kick(PeerId, String),
    /// The world is to do something with a pawn.
    Tick(TickCommand),
    /// Answer the console's line of this number.
    Reply(u32, String),
    /// A preference has a new value: whoever lives by it is told.
    Changed(Arc<Prefs>),
    /// Change to the map of this barcode; the map switch answers.
    Switch(ConsoleLine),
    /// End the server in order.
    StopServer,
    /// A preference has a value that is to hold at the next start too.
    Keep(Change),
    /// A line for the log.
    Log(String),
    /// Keep this for a restart.
    Remember(Kept),
}

/// What outlives a panic of the machine: nobody else knows it.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    pub(super) remembered: Arc<Remembered>,
    /// Peers that wait for an answer to a line of theirs.
    pub(super) tickets: Tickets,
    /// Those of whom everybody was told that they play, and not yet that they left.
    pub(super) told: Arc<BTreeMap<PeerId, Speaker>>,
    /// What waits until the room is whole again, and through how many restarts it has.
    pub(super) held: Vec<RosterMsg>,
    waited: u32,
}

impl Kept {
    /// One more restart. What has waited through too many may be what breaks the roster: it is
    /// handed out and waits no longer.
    pub(super) fn give_up(&mut self) -> Vec<RosterMsg> {
        self.waited += u32::from(!self.held.is_empty());
        if self.waited <= WAITED_MAX {
            return Vec::new();
        }
        self.waited = 0;
        std::mem::take(&mut self.held)
    }
}

/// Slots, lines, and the server's preferences.
#[derive(Debug)]
pub struct Roster {
    pub(super) room: BTreeMap<PeerId, Presence>,
    pub(super) prefs: Arc<Prefs>,
    pub(super) kept: Kept,
    /// Those who were told to go, and why; their goodbye is still on its way.
    leaving: BTreeMap<PeerId, String>,
    /// Those who were here before a restart and have not said yet where they stand. Nobody new is
    /// seated meanwhile: the slot might be theirs.
    awaited: BTreeSet<PeerId>,
}

impl Roster {
    /// An empty room under these preferences.
    #[must_use]
    pub fn new(prefs: Arc<Prefs>) -> Self {
        Self {
            room: BTreeMap::new(),
            prefs,
            kept: Kept::default(),
            leaving: BTreeMap::new(),
            awaited: BTreeSet::new(),
        }
    }

    /// A roster after a fault. Each of `peers` will say where it stands, or that it left.
    #[must_use]
    pub fn remade(prefs: Arc<Prefs>, peers: impl IntoIterator<Item = PeerId>, kept: Kept) -> Self {
        Self { awaited: peers.into_iter().collect(), kept, ..Self::new(prefs) }
    }

    /// A session says where it stands. What changed since it last did decides what others hear.
    fn present(&mut self, mut presence: Presence, out: &mut Outbox<Effect>) {
        let peer = presence.peer;
        if let Some(reason) = self.leaving.get(&peer) {
            // It may have missed that it is to go.
            return out.push(Effect::Kick(peer, reason.clone()));
        }
        let before = self.room.get(&peer);
        let is_new = presence.is_admitted() && !before.is_some_and(Presence::is_admitted);
        let knows_slot = presence.slot.is_some();
        presence.slot = presence.slot.or_else(|| before.and_then(|before| before.slot));
        if is_new && self.is_replaced(&presence, out) {
            return;
        }
        if let (Some(identity), Some(slot)) = (presence.identity.clone(), presence.slot) {
            self.remember(identity, slot, out);
        }
        let standing = presence.standing;
        self.room.insert(peer, presence);
        if is_new {
            self.introduce_room_to(peer, out);
        }
        match standing {
            Standing::Spawning if !knows_slot => self.seat(peer, out),
            // After the roster's own restart the peers know each other already.
            Standing::Playing if !self.kept.told.contains_key(&peer) => {
                self.announce_entry(peer, out);
            }
            _ => (),
        }
    }

    /// One who was here before a restart has been heard of. After the last of them the room is
    /// whole: whoever waits for a slot gets one, everybody hears who is here and who is gone, and
    /// what waited for that is done.
    fn heard_of(&mut self, peer: PeerId, out: &mut Outbox<Effect>) {
        if !self.awaited.remove(&peer) || !self.awaited.is_empty() {
            return;
        }
        let waits = |it: &&Presence| it.standing == Standing::Spawning && it.slot.is_none();
        let waiting: Vec<PeerId> = self.room.values().filter(waits).map(|it| it.peer).collect();
        waiting.into_iter().for_each(|peer| self.seat(peer, out));
        out.push(Effect::Tell(self.admitted(), Told::Players(self.whole_list())));
        let told = Arc::clone(&self.kept.told);
        for gone in told.keys().filter(|it| !self.room.contains_key(it)).collect::<Vec<_>>() {
            self.tell_gone(*gone, out);
        }
        self.release(out);
    }

    /// The room is whole: what waited for that is done.
    fn release(&mut self, out: &mut Outbox<Effect>) {
        let held = std::mem::take(&mut self.kept.held);
        if held.is_empty() {
            return;
        }
        self.kept.waited = 0;
        held.into_iter().for_each(|msg| self.take(msg, out));
        self.keep(out);
    }

    /// A proved identity has one connection, the newest, which finds the slot free again. Whether
    /// the newcomer is not that one.
    fn is_replaced(&mut self, newcomer: &Presence, out: &mut Outbox<Effect>) -> bool {
        let Some(identity) = newcomer.identity.as_ref().filter(|id| id.is_proved()) else {
            return false;
        };
        let same: Vec<PeerId> = self
            .room
            .values()
            .filter(|other| other.identity.as_ref() == Some(identity))
            .map(|other| other.peer)
            .collect();
        let is_replaced = same.iter().any(|other| newcomer.peer < *other);
        if is_replaced {
            self.dismiss(newcomer.peer, REPLACED.to_owned(), out);
            self.room.remove(&newcomer.peer);
        } else {
            for earlier in same.into_iter().filter(|other| *other != newcomer.peer) {
                self.dismiss(earlier, REPLACED.to_owned(), out);
                self.take_out(earlier, out);
            }
        }
        is_replaced
    }

    /// Tell a session to go. It stays listed until it has gone.
    pub(super) fn dismiss(&mut self, peer: PeerId, reason: String, out: &mut Outbox<Effect>) {
        self.leaving.insert(peer, reason.clone());
        out.push(Effect::Kick(peer, reason));
    }

    fn introduce_room_to(&self, peer: PeerId, out: &mut Outbox<Effect>) {
        let upserts: Vec<PlayerEntry> = self.room.values().filter_map(Presence::entry).collect();
        if !upserts.is_empty() {
            let list = PlayerList { upserts: upserts.into(), ..PlayerList::default() };
            out.push(Effect::Tell(vec![peer], Told::Players(list)));
        }
    }

    /// Everybody who plays, and every other slot as free.
    fn whole_list(&self) -> PlayerList {
        let upserts: Vec<PlayerEntry> = self.room.values().filter_map(Presence::entry).collect();
        let taken: BTreeSet<u8> = upserts.iter().map(|entry| entry.slot).collect();
        let removed: Vec<u8> = (0..SLOTS).filter(|slot| !taken.contains(slot)).collect();
        PlayerList { upserts: upserts.into(), removed: removed.into() }
    }

    /// Find a slot for a peer: the one it has, or held before if that is free, or the lowest free.
    fn seat(&mut self, peer: PeerId, out: &mut Outbox<Effect>) {
        let Some(presence) = self.room.get(&peer) else { return };
        if presence.slot.is_none() && !self.awaited.is_empty() {
            return;
        }
        let others = self.room.values().filter(|other| other.peer != peer);
        let others =
            others.filter(|other| !planted::is(Bug::SlotTakenLate) || other.entry().is_some());
        let taken: BTreeSet<u8> = others.filter_map(|other| other.slot).collect();
        let identity = presence.identity.clone();
        let earlier = identity.as_ref().and_then(|id| self.kept.remembered.slot_of(id));
        let kept = presence.slot.or(earlier).filter(|slot| !taken.contains(slot));
        let lowest = || (0..SLOTS).find(|slot| !taken.contains(slot));
        let Some(slot) = kept.or_else(lowest) else {
            return self.dismiss(peer, "every player slot is taken".to_owned(), out);
        };
        if let Some(seated) = self.room.get_mut(&peer) {
            seated.slot = Some(slot);
        }
        if let Some(identity) = identity {
            self.remember(identity, slot, out);
        }
        out.push(Effect::Seat { peer, slot });
    }

    fn remember(&mut self, identity: Identity, slot: u8, out: &mut Outbox<Effect>) {
        if self.kept.remembered.slot_of(&identity) != Some(slot) {
            Arc::make_mut(&mut self.kept.remembered).note(identity, slot);
            self.keep(out);
        }
    }

    pub(super) fn keep(&self, out: &mut Outbox<Effect>) {
        out.push(Effect::Remember(self.kept.clone()));
    }

    fn announce_entry(&mut self, peer: PeerId, out: &mut Outbox<Effect>) {
        let Some(presence) = self.room.get(&peer) else { return };
        if let Some(entry) = presence.entry() {
            let list = PlayerList { upserts: vec![entry].into(), ..PlayerList::default() };
            out.push(Effect::Tell(self.admitted(), Told::Players(list)));
        }
        if let Some(speaker) = presence.speaker() {
            Arc::make_mut(&mut self.kept.told).insert(peer, speaker.clone());
            self.keep(out);
            out.push(Effect::Chat(Line::Join(speaker)));
        }
    }

    fn left(&mut self, peer: PeerId, out: &mut Outbox<Effect>) {
        self.leaving.remove(&peer);
        if self.kept.tickets.forget(peer) {
            self.keep(out);
        }
        self.take_out(peer, out);
    }

    /// Take a peer out of the room; those who stay hear of it if they knew it.
    fn take_out(&mut self, peer: PeerId, out: &mut Outbox<Effect>) {
        self.room.remove(&peer);
        self.tell_gone(peer, out);
    }

    /// Tell once that a peer is gone of whom was told that it plays.
    fn tell_gone(&mut self, peer: PeerId, out: &mut Outbox<Effect>) {
        if !self.kept.told.contains_key(&peer) {
            return;
        }
        let Some(speaker) = Arc::make_mut(&mut self.kept.told).remove(&peer) else { return };
        self.keep(out);
        let list = PlayerList { removed: vec![speaker.slot].into(), ..PlayerList::default() };
        out.push(Effect::Tell(self.admitted(), Told::Players(list)));
        out.push(Effect::Chat(Line::Leave(speaker)));
    }

    fn who_is_here(&self, peer: PeerId, out: &mut Outbox<Effect>) {
        if self.room.get(&peer).is_some_and(Presence::is_admitted) {
            out.push(Effect::Tell(vec![peer], Told::Players(self.whole_list())));
        }
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

    /// What only a whole room can answer waits for it after a restart.
    fn handle(&mut self, _now: Micros, msg: RosterMsg, out: &mut Outbox<Effect>) {
        let waits = !self.awaited.is_empty() && self.kept.held.len() < HELD_MAX;
        if waits && needs_the_room(&msg) {
            self.kept.held.push(msg);
            return self.keep(out);
        }
        if self.awaited.is_empty() {
            self.release(out);
        }
        self.take(msg, out);
    }

    fn digest(&self, digest: &mut Digest) {
        for presence in self.room.values() {
            digest.word(u64::from(presence.peer.0));
            digest.word(presence.slot.map_or(u64::MAX, u64::from));
        }
    }
}

/// Whether a message is about those who are here, without saying who that is.
fn needs_the_room(msg: &RosterMsg) -> bool {
    match msg {
        RosterMsg::Typed(_) => !planted::is(Bug::TypedIntoNothing),
        RosterMsg::WhoIsHere(_)
        | RosterMsg::Forwarded(_)
        | RosterMsg::Console(_)
        | RosterMsg::Notice(_) => true,
        RosterMsg::Present(_) | RosterMsg::Left(_) | RosterMsg::Answer(_) | RosterMsg::Ping(_) => {
            false
        }
    }
}

impl Roster {
    fn take(&mut self, msg: RosterMsg, out: &mut Outbox<Effect>) {
        match msg {
            RosterMsg::Present(presence) => {
                let peer = presence.peer;
                self.present(presence, out);
                self.heard_of(peer, out);
            }
            RosterMsg::Ping(ping) => {
                if let Some(presence) = self.room.get_mut(&ping.peer) {
                    presence.ping_ms = Some(ping.millis);
                }
            }
            RosterMsg::Left(peer) => {
                self.left(peer, out);
                self.heard_of(peer, out);
            }
            RosterMsg::WhoIsHere(peer) => self.who_is_here(peer, out),
            RosterMsg::Console(line) => self.console(&line, out),
            RosterMsg::Notice(text) => self.notice(&text, out),
            RosterMsg::Answer(line) => self.answer(line.id, line.text, out),
            RosterMsg::Typed(typed) => self.typed(typed, out),
            RosterMsg::Forwarded(line) => self.forwarded(line, out),
        }
    }
}
