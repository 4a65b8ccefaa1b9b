//! The conversation: each reliable message of a server, and what follows from it.

use std::sync::Arc;

use dh_machine::{Micros, Outbox, Tick, TickRate};
use dh_messages::{
    Channel, ClientInfo, ClientReady, MapAdvert, ServerInfo, SpawnAck, Str8, Str16, Terms,
    ToClient, ToServer, WireError,
};

use super::exchange::Exchange;
use super::state::{Connecting, Effect, Phase};
use super::typed::{answered, readable};
use crate::content::{StandingMap, Wanted};
use crate::downloader::Failure;
use crate::ending::{EndKind, SessionEnd};
use crate::event::ClientEvent;
use crate::numbered::Numbered;

/// How long after each failure a map is tried again by one who plays; after the last it ends.
const FETCH_AGAIN_AFTER: [Micros; 3] =
    [Micros::from_millis(100), Micros::from_millis(400), Micros::from_millis(1_600)];

impl Connecting {
    /// One reliable message. Which ones are legal depends on where the client stands.
    pub(super) fn message(&mut self, now: Micros, id: u8, body: &[u8], out: &mut Outbox<Effect>) {
        let message = match self.read(id, body) {
            Ok(Some(message)) => message,
            // A server of another build says what this one has no name for.
            Ok(None) => return,
            Err(error) => return self.unreadable(&format!("{id}: {error}"), out),
        };
        let admitted = matches!(self.it.phase, Phase::Loading { .. } | Phase::Playing { .. });
        match (&mut self.it.phase, message) {
            (_, ToClient::SessionEnd(end)) => self.told(&end, out),
            (Phase::Attempting { exchange: Exchange::Unsaid, .. }, ToClient::SchemaHash(told)) => {
                self.settle(told, out);
            }
            (
                Phase::Attempting { exchange: Exchange::Asked { theirs, sent }, .. },
                ToClient::SchemaAnswer(text),
            ) => {
                let asked = (*theirs, *sent);
                self.exchange(asked, &text, out);
            }
            (Phase::Attempting { exchange: Exchange::Agreed, .. }, ToClient::ServerInfo(info)) => {
                self.informed(&info, out);
            }
            (Phase::Loading { map_generation }, ToClient::SpawnAck(ack)) => {
                let generation = *map_generation;
                self.spawned(now, generation, ack, out);
            }
            (_, ToClient::MapLoad(load)) if admitted => self.load(&load.map, out),
            (_, ToClient::PlayerList(list)) if admitted => out.push(Effect::Players(list)),
            (_, ToClient::ServerChat(chat)) if admitted => {
                out.push(Effect::Tell(ClientEvent::Chat(readable(&chat))));
            }
            (_, ToClient::ConsoleAnswer(answer)) if admitted => {
                out.push(Effect::Tell(answered(&answer)));
            }
            (_, ToClient::ClientNotice(notice)) if admitted => {
                let line = format!("[notice] {}", notice.text.as_str());
                out.push(Effect::Tell(ClientEvent::Line(line)));
            }
            (_, other) => self.unreadable(&format!("{} came out of order", other.name()), out),
        }
    }

    fn read(&mut self, id: u8, body: &[u8]) -> Result<Option<ToClient>, WireError> {
        let dialect = self.it.terms.as_ref().map_or_else(|| self.own.native(), Terms::dialect);
        dialect.read(Channel::Stream, id, body, &mut self.scratch)
    }

    /// The server has said what it is: who we are goes back at once, before any map work.
    fn informed(&mut self, info: &ServerInfo, out: &mut Outbox<Effect>) {
        let Some(rate) = TickRate::new(info.tick_rate) else {
            let what = format!("a tick rate of {} Hz, expected 10 to 240", info.tick_rate);
            return self.unreadable(&what, out);
        };
        let who = ClientInfo {
            name: Str8::clipped(&self.it.profile.name),
            seed_colour: self.it.profile.colour,
            avatar: Str16::default(),
        };
        self.say(ToServer::ClientInfo(who), out);
        out.push(Effect::Tell(ClientEvent::Informed {
            world_name: info.world_name.as_str().to_owned(),
            map: info.map.name.as_str().to_owned(),
        }));
        out.push(Effect::Tell(ClientEvent::Stands("loading")));
        if let Some(line) = self.schema_line() {
            out.push(Effect::Log(line));
        }
        out.push(Effect::Joined(rate));
        self.load(&info.map, out);
    }

    /// A map is to stand here: at a join and at a switch alike. The gray box is code, and here.
    fn load(&mut self, advert: &MapAdvert, out: &mut Outbox<Effect>) {
        let map_generation = advert.generation;
        self.it.phase = Phase::Loading { map_generation };
        (self.it.wanted, self.it.failed, self.it.fetch_at) = (None, 0, None);
        match Wanted::of(advert) {
            Ok(Some(wanted)) => {
                out.push(Effect::Await(Some(wanted.map.to_string())));
                self.it.wanted = Some(wanted);
                self.fetch(out);
            }
            Ok(None) => {
                out.push(Effect::StandOnGrayBox(map_generation));
                self.ready(map_generation, out);
            }
            Err(why) => self.cannot_load(EndKind::MapTransferFailed, why, out),
        }
    }

    /// Have the map that is wanted fetched, for the first time or once more.
    pub(super) fn fetch(&mut self, out: &mut Outbox<Effect>) {
        self.it.fetch_at = None;
        if let Some(wanted) = self.it.wanted.clone() {
            out.push(Effect::Fetch(Numbered::new(self.it.attempt, wanted)));
        }
    }

    /// A map is loaded; one that has been replaced meanwhile is let go of.
    pub(super) fn loaded(&mut self, map: Arc<StandingMap>, out: &mut Outbox<Effect>) {
        let generation = map.generation;
        if self.it.phase == (Phase::Loading { map_generation: generation }) {
            self.it.wanted = None;
            out.push(Effect::Stand(map));
            self.ready(generation, out);
        }
    }

    /// A join ends without its map. One who plays already keeps the world that is shown for as long
    /// as a disk or a server may get well again; then it ends too, since nothing is seen there any
    /// more.
    pub(super) fn load_failed(&mut self, now: Micros, failure: Failure, out: &mut Outbox<Effect>) {
        let Failure { wanted, kind, reason: why } = failure;
        if self.it.phase != (Phase::Loading { map_generation: wanted.generation }) {
            return;
        }
        let gets_well = matches!(kind, EndKind::DiskFailed | EndKind::MapTransferFailed);
        match FETCH_AGAIN_AFTER.get(self.it.failed) {
            Some(after) if self.it.has_played && gets_well => {
                self.it.failed += 1;
                self.it.fetch_at = Some(now + *after);
                let line = format!("map transfer failed: {why}; trying again");
                out.push(Effect::Tell(ClientEvent::Line(line)));
            }
            _ => self.cannot_load(kind, why, out),
        }
    }

    fn cannot_load(&mut self, kind: EndKind, why: String, out: &mut Outbox<Effect>) {
        let end = self.ending(kind);
        self.fail(SessionEnd { reason: Some(why), ..end }, out);
    }

    fn ready(&mut self, map_generation: u32, out: &mut Outbox<Effect>) {
        self.say(ToServer::ClientReady(ClientReady { map_generation }), out);
    }

    fn spawned(&mut self, now: Micros, generation: u32, ack: SpawnAck, out: &mut Outbox<Effect>) {
        if ack.map_generation != generation {
            return;
        }
        self.it.phase = Phase::Playing { map_generation: generation };
        self.ping_at = now;
        self.it.has_played = true;
        out.push(Effect::Spawned(ack.pawn));
        out.push(Effect::Tell(ClientEvent::Stands("playing")));
        let (slot, pawn, tick) = (ack.slot, ack.pawn, Tick(ack.tick));
        out.push(Effect::Tell(ClientEvent::Spawned { slot, pawn, tick }));
    }
}
