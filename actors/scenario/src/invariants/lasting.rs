//! What is broken only where it lasts, or comes after something else: the order in which a peer is
//! shown ticks, pawns that nobody owns, inputs that wait ever longer.

use std::collections::BTreeMap;

use dh_machine::Micros;
use dh_messages::Snapshot;

use super::settled::FOLLOW_MAX;
use super::{Broken, Invariant};
use crate::peer::PeerId;
use crate::records::Records;
use crate::server::ServerId;
use crate::world::World;

/// How long a pawn may outlive the session of its player.
const ORPHAN_MAX: Micros = Micros::from_secs(5);
/// Inputs that wait on average where a clock does not follow: more than any margin asks for.
const WAITING_MAX: f32 = 9.5;
/// The share of the newest snapshot in that average.
const NEWEST_SHARE: f32 = 1.0 / 64.0;

/// What was seen in the ticks before.
#[derive(Debug, Default)]
pub(super) struct Lasting {
    shown: BTreeMap<PeerId, Shown>,
    orphans: BTreeMap<ServerId, Micros>,
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
        broken: &mut Broken,
    ) {
        let shown = self.shown.entry(peer).or_default();
        if shown.attempt != attempt {
            *shown = Shown { attempt, restarts: shown.restarts, ..Shown::default() };
        }
        let (tick, last) = (snapshot.head.tick, shown.tick);
        shown.tick = tick;
        if tick <= last && !shown.has_forgotten(world, peer) {
            let name = world.peer_name(peer);
            let what = format!("{name} is shown tick {tick} after tick {last}");
            broken.push((Invariant::Order, what));
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
            let what = format!("the inputs of {name} wait ever longer: its clock does not follow");
            broken.push((Invariant::Clock, what));
        }
    }

    /// Inputs of a peer that wait on average; below 0 for ticks that found none.
    pub(super) fn waiting(&self, peer: PeerId) -> f32 {
        self.shown.get(&peer).map_or(0.0, |shown| shown.waiting)
    }

    /// Every pawn of a server that ticks has a player, or had one a moment ago.
    pub(super) fn pawns(
        &mut self,
        records: &Records,
        server: ServerId,
        now: Micros,
        broken: &mut Broken,
    ) {
        let record = records.server(server);
        let ticks = record.last_tick.is_some_and(|(_, at)| now.since(at) < ORPHAN_MAX);
        let open = record.sessions.values().filter(|session| session.ended.is_none()).count();
        if !ticks || record.pawns as usize <= open {
            self.orphans.remove(&server);
        } else if ORPHAN_MAX < now.since(*self.orphans.entry(server).or_insert(now)) {
            let pawns = record.pawns;
            let what = format!("a server has {pawns} pawns and {open} sessions");
            broken.push((Invariant::Owned, what));
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

#[cfg(test)]
mod tests {
    use dh_machine::TickRate;
    use dh_server::ServerEvent;
    use dh_sim::Answer;

    use super::*;

    #[test]
    fn one_pawn_more_than_there_are_sessions_is_told_once_that_lasts() {
        let (server, mut records) = (ServerId(0), Records::default());
        let mut sim = dh_sim::World::gray_box(TickRate::DEFAULT);
        for slot in 0..2 {
            sim.spawn_pawn(slot).unwrap();
        }
        let (peer, name) = (dh_server::PeerId(0), Some("ada".to_owned()));
        let stands = ServerEvent::Stands { peer, name, key: None, state: "playing" };
        records.note_server(server, Micros(0), stands);
        let (mut lasting, mut broken) = (Lasting::default(), Broken::new());
        let mut told = [0; 8];
        for (second, told) in (0..).zip(&mut told) {
            let now = Micros::from_secs(second);
            let frame = sim.publish(|_| Answer::default());
            records.note_server(server, now, ServerEvent::Ticked { frame, digest: 0 });
            lasting.pawns(&records, server, now, &mut broken);
            *told = broken.len();
        }
        assert_eq!(told, [0, 0, 0, 0, 0, 0, 1, 2]);
        assert!(broken.iter().all(|(what, _)| *what == Invariant::Owned), "{broken:?}");
    }
}
