//! What is said is heard, by whoever said it first of all: a line that no rate of the server's
//! refuses comes back, or its session ends.

use dh_machine::Micros;
use dh_messages::ChatKind;

use super::settled::Look;
use crate::peer::PeerId;
use crate::records::{PeerRecord, Records, ServerRecord};
use crate::server::ServerId;
use crate::world::World;

/// After so long a silence a line is within every rate.
const SILENCE: Micros = Micros::from_secs(6);
/// How long a line may need to its server.
const UNDERWAY: Micros = Micros::from_secs(2);
/// How long a peer may wait to hear itself while nothing happens to its path.
const HEARD_AFTER: Micros = Micros::from_secs(6);

/// A line, at the moment it is said.
#[derive(Debug)]
pub(crate) struct Line {
    pub(super) peer: PeerId,
    at: Micros,
    within: Within,
    map: Map,
    /// How much the peer had heard before.
    heard: usize,
    /// Whether the peer plays on the map that stands, as far as both ends know.
    plays: bool,
}

/// What a line may end with: its session, and the fault that broke what carries it twice.
#[derive(Debug, PartialEq, Eq)]
struct Within {
    server: ServerId,
    session: Option<u32>,
    endings: usize,
    lost: u64,
}

/// Maps that stood and maps that were loaded: nobody is heard while one changes.
type Map = (usize, usize);

/// What one peer says.
#[derive(Debug, Default)]
pub(super) struct Talk {
    /// When it said something last.
    spoke: Option<Micros>,
    /// The line that has not come back.
    waits: Option<Line>,
}

impl Line {
    /// A line that a peer says now, if it is anywhere.
    pub(crate) fn of(world: &World, peer: PeerId) -> Option<Self> {
        let server = world.home_of(peer)?;
        let records = world.records();
        let (record, place) = (records.peer(peer), records.server(server));
        let within = Within::of(world, &records, peer, server);
        let has_map = record.loaded.last().copied() == place.standing();
        Some(Self {
            peer,
            at: world.runtime().now(),
            plays: record.is_playing() && has_map && within.session.is_some(),
            within,
            map: map(record, place),
            heard: record.chat.len(),
        })
    }
}

impl Within {
    fn of(world: &World, records: &Records, peer: PeerId, server: ServerId) -> Self {
        let session = records.server(server).session_with(world.peer_key(peer));
        let session = session.filter(|(_, session)| session.ended.is_none()).map(|(id, _)| id);
        let of_server = ["roster", "chat"].map(|actor| world.server_path(server, actor));
        let carriers = of_server.into_iter().chain([world.peer_path(peer, "connection")]);
        let reports = carriers.filter_map(|path| world.runtime().registry().report(&path));
        let lost = reports.map(|report| report.port.total().lost).sum();
        Self { server, session, endings: records.peer(peer).endings.len(), lost }
    }
}

impl Talk {
    /// A line is said.
    pub(super) fn says(&mut self, said: Line) {
        let is_rare = self.spoke.is_none_or(|at| SILENCE <= said.at.since(at));
        self.spoke = Some(said.at);
        if is_rare && said.plays {
            self.waits = Some(said);
        }
    }

    /// Whether a line has not come back for too long; told once. The path has been fair since
    /// `fair`, if it is; nobody can say that of a server that does not tick.
    pub(super) fn is_unheard(
        &mut self,
        (world, records): (&World, &Records),
        look: &Look<'_>,
        (fair, ticks): (Option<Micros>, bool),
    ) -> bool {
        let Some(said) = &mut self.waits else { return false };
        let slot = look.record.spawns.last().map(|(slot, ..)| *slot);
        let mut heard = look.record.chat[said.heard..].iter();
        let is_heard = heard.any(|it| it.kind == ChatKind::Player && Some(it.slot) == slot);
        let is_underway = look.now.since(said.at) <= UNDERWAY;
        let is_upset = fair.is_none() || said.map != map(look.record, look.server);
        if is_heard || is_underway && is_upset {
            self.waits = None;
            return false;
        }
        if !ticks || fair.is_none_or(|fair| look.now.since(fair.max(said.at)) <= HEARD_AFTER) {
            return false;
        }
        let within = |said: &Line| Within::of(world, records, said.peer, said.within.server);
        self.waits.take().is_some_and(|said| said.within == within(&said))
    }
}

fn map(record: &PeerRecord, server: &ServerRecord) -> Map {
    (server.maps.len(), record.loaded.len())
}
