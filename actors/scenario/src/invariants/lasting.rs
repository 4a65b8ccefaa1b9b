//! What is broken only where it lasts, or comes after something else: the order in which a peer is
//! shown ticks, pawns that nobody owns, inputs that wait ever longer.

use std::collections::BTreeMap;

use dh_machine::Micros;
use dh_messages::Snapshot;

use crate::peer::PeerId;
use crate::records::Records;
use crate::server::ServerId;
use crate::world::World;

/// What is a pause between two ticks.
const PAUSE_MIN: Micros = Micros::from_millis(200);
/// How long after a pause peers may not have heard of a tick.
const HEARD_AFTER: Micros = Micros::from_secs(2);
/// How long a pawn may outlive the session of its player.
const ORPHAN_MAX: Micros = Micros::from_secs(5);
/// Inputs that wait on average where a clock does not follow: more than any margin asks for.
const WAITING_MAX: f32 = 9.5;
/// The share of the newest snapshot in that average.
const NEWEST_SHARE: f32 = 1.0 / 64.0;
/// How long a clock may need to follow.
const FOLLOW_MAX: Micros = Micros::from_secs(10);

/// What was seen in the ticks before.
#[derive(Debug, Default)]
pub(super) struct Lasting {
    shown: BTreeMap<PeerId, Shown>,
    orphans: BTreeMap<ServerId, Micros>,
    ticks: BTreeMap<ServerId, Ticks>,
}

/// When a server ticked last, and when it last did so after a pause.
#[derive(Clone, Copy, Debug)]
struct Ticks {
    last: Micros,
    resumed: Micros,
}

/// What one peer was shown.
#[derive(Clone, Copy, Debug, Default)]
struct Shown {
    attempt: u32,
    tick: u32,
    /// How often its predictor had started again.
    restarts: u64,
    /// Inputs that wait, smoothed, and since when there are too many.
    waiting: f32,
    since: Option<Micros>,
}

impl Lasting {
    /// One more snapshot that a peer applied in an attempt.
    pub(super) fn shown(
        &mut self,
        world: &World,
        (peer, attempt): (PeerId, u32),
        snapshot: &Snapshot,
        broken: &mut Vec<String>,
    ) {
        let shown = self.shown.entry(peer).or_default();
        if shown.attempt != attempt {
            *shown = Shown { attempt, restarts: shown.restarts, ..Shown::default() };
        }
        let (tick, last) = (snapshot.head.tick, shown.tick);
        shown.tick = tick;
        if tick <= last && !shown.has_forgotten(world, peer) {
            let name = world.peer_name(peer);
            broken.push(format!("{name} is shown tick {tick} after tick {last}"));
        }
        let depth = f32::from(snapshot.head.owner.0.depth);
        shown.waiting += (depth - shown.waiting) * NEWEST_SHARE;
        if shown.waiting <= WAITING_MAX {
            shown.since = None;
            return;
        }
        let now = world.runtime().now();
        if FOLLOW_MAX < now.since(*shown.since.get_or_insert(now)) {
            let name = world.peer_name(peer);
            broken
                .push(format!("the inputs of {name} wait ever longer: its clock does not follow"));
        }
    }

    /// Whether a server ticks, and has done so for long enough that peers have heard of it.
    pub(super) fn ticks(&mut self, records: &Records, server: ServerId, now: Micros) -> bool {
        let Some((_, at)) = records.server(server).last_tick else { return false };
        let ticks = self.ticks.entry(server).or_insert(Ticks { last: at, resumed: at });
        if PAUSE_MIN < at.since(ticks.last) {
            ticks.resumed = at;
        }
        ticks.last = at;
        now.since(at) <= PAUSE_MIN && HEARD_AFTER < now.since(ticks.resumed)
    }

    /// Every pawn of a server that ticks has a player, or had one a moment ago.
    pub(super) fn pawns(
        &mut self,
        records: &Records,
        server: ServerId,
        now: Micros,
        broken: &mut Vec<String>,
    ) {
        let record = records.server(server);
        let ticks = record.last_tick.is_some_and(|(_, at)| now.since(at) < ORPHAN_MAX);
        let open = record.sessions.values().filter(|session| session.ended.is_none()).count();
        if !ticks || record.pawns as usize <= open {
            self.orphans.remove(&server);
        } else if ORPHAN_MAX < now.since(*self.orphans.entry(server).or_insert(now)) {
            let pawns = record.pawns;
            broken.push(format!("a server has {pawns} pawns and {open} sessions"));
        }
    }
}

impl Shown {
    /// Whether the predictor has started again and so knows nothing of what it was shown before.
    fn has_forgotten(&mut self, world: &World, peer: PeerId) -> bool {
        let path = world.peer_path(peer, "predictor");
        let report = world.runtime().registry().report(&path);
        let restarts = report.map_or(self.restarts, |report| report.restarts);
        std::mem::replace(&mut self.restarts, restarts) != restarts
    }
}
