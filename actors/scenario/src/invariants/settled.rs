//! What a peer may rely on whose path has been whole for long enough, while its server ticks: it
//! sees what is new, its inputs are used, and it gets to where it wants to be.

use std::collections::BTreeMap;

use dh_host::net::{Burst, Link, Links};
use dh_machine::Micros;

use super::heard::{Line, Talk};
use super::lasting::Lasting;
use super::{Broken, Invariant};
use crate::peer::PeerId;
use crate::records::{PeerRecord, Records, ServerRecord};
use crate::server::ServerId;
use crate::world::World;

/// How long after a change of its path a peer may need to catch up.
const SETTLE: Micros = Micros::from_secs(8);
/// How far behind its server the newest snapshot of a settled peer may be.
const BEHIND_MAX: Micros = Micros::from_secs(2);
/// Up to here a path lets a peer follow.
const FAIR_LOSS_PPM: u64 = 60_000;
/// Bursts of no more than eight packets on average.
const FAIR_LEAVE_PPM: u32 = 125_000;
const FAIR_LATENCY: Micros = Micros::from_millis(300);
const FAIR_RATE: u32 = 40_000;
const RATE_OF_A_PAWN: u32 = 2_000;
/// What is a pause between two ticks.
const PAUSE_MIN: Micros = Micros::from_millis(200);
/// How long after a pause peers may not have heard of a tick.
const HEARD_AFTER: Micros = Micros::from_secs(2);

/// How long a settled peer may wait while nothing comes of it.
const WAITING_MAX: Micros = Micros::from_secs(8);
/// How long no input of a settled peer may be used.
const UNUSED_MAX: Micros = Micros::from_secs(5);
/// Ticks without input, on average, of which each but a few found none.
const LATE_MAX: f32 = -1.0;
/// How long a clock may need to follow.
pub(super) const FOLLOW_MAX: Micros = Micros::from_secs(10);

/// What was seen in the ticks before.
#[derive(Debug, Default)]
pub(super) struct Settled {
    ticks: BTreeMap<ServerId, Ticks>,
    peers: BTreeMap<PeerId, Peer>,
}

/// How one peer has stood.
#[derive(Debug, Default)]
struct Peer {
    /// The map that stands, by its generation, where the peer has loaded it.
    map: Lasts<Option<u32>>,
    /// While it is on its way to play: what would change if it came any further.
    way: Lasts<Option<Way>>,
    /// While it plays: the newest of its inputs that were used.
    used: Lasts<Option<u32>>,
    /// Whether its inputs come too late on average.
    late: Lasts<bool>,
    talk: Talk,
}

/// How far a peer is that does not play yet.
#[derive(Debug, PartialEq)]
struct Way {
    state: &'static str,
    attempts: u32,
    maps: usize,
    bytes: Option<u64>,
}

/// Something that is as it is since a moment.
#[derive(Debug, Default)]
struct Lasts<T> {
    is: T,
    since: Micros,
}

impl<T: PartialEq> Lasts<T> {
    /// It is this now; for how long it has been.
    fn is(&mut self, is: T, now: Micros) -> Micros {
        if self.is != is {
            *self = Self { is, since: now };
        }
        now.since(self.since)
    }
}

/// When a server ticked last, and when it last did so after a pause.
#[derive(Clone, Copy, Debug)]
struct Ticks {
    last: Micros,
    resumed: Micros,
}

/// A peer, its server, and the moment they are looked at.
pub(super) struct Look<'a> {
    name: &'a str,
    key: &'a str,
    pub(super) record: &'a PeerRecord,
    pub(super) server: &'a ServerRecord,
    /// Its inputs that wait on average; below 0 for ticks that found none.
    waiting: f32,
    pub(super) now: Micros,
}

impl Settled {
    /// Look at every peer whose path is whole.
    pub(super) fn check(
        &mut self,
        world: &World,
        records: &Records,
        lasting: &Lasting,
        broken: &mut Broken,
    ) {
        let now = world.runtime().now();
        for (id, server, links, disturbed) in world.paths() {
            let Some(home) = server else { continue };
            let ticks = self.ticks(records, home, now);
            let (record, server) = (records.peer(id), records.server(home));
            let (name, waiting) = (world.peer_name(id), lasting.waiting(id));
            let look = Look { name, key: world.peer_key(id), record, server, waiting, now };
            let peer = self.peers.entry(id).or_default();
            let has_map = peer.has_map(&look);
            let fair = is_fair(links, server.pawns).then_some(disturbed);
            let settled = fair.is_some_and(|since| SETTLE < now.since(since)) && ticks;
            peer.gets_on(&look, settled, broken);
            if peer.talk.is_unheard((world, records), &look, (fair, ticks)) {
                let what = format!("a line of {name} comes back to nobody, itself among them");
                broken.push((Invariant::Heard, what));
            }
            peer.is_heard(&look, settled && has_map && look.plays(), broken);
            if settled && has_map && look.plays() && look.is_behind() {
                let what = format!("{name} is left behind though its path is whole");
                broken.push((Invariant::KeepsUp, what));
            }
        }
    }

    /// A peer says something to its server.
    pub(super) fn says(&mut self, said: Line) {
        self.peers.entry(said.peer).or_default().talk.says(said);
    }

    /// Whether a server ticks, and has done so for long enough that peers have heard of it.
    fn ticks(&mut self, records: &Records, server: ServerId, now: Micros) -> bool {
        let Some((_, at)) = records.server(server).last_tick else { return false };
        let ticks = self.ticks.entry(server).or_insert(Ticks { last: at, resumed: at });
        if PAUSE_MIN < at.since(ticks.last) {
            ticks.resumed = at;
        }
        ticks.last = at;
        now.since(at) <= PAUSE_MIN && HEARD_AFTER < now.since(ticks.resumed)
    }
}

impl Peer {
    /// Whether it has had the map that stands for long enough. Whoever still fetches it is shown
    /// nothing: there is nothing it could be shown.
    fn has_map(&mut self, look: &Look<'_>) -> bool {
        let standing = look.server.standing();
        let standing = standing.filter(|it| look.record.loaded.last() == Some(it));
        BEHIND_MAX < self.map.is(standing, look.now) && standing.is_some()
    }

    /// Whoever is on its way to play comes further, or is told that it does not.
    fn gets_on(&mut self, look: &Look<'_>, settled: bool, broken: &mut Broken) {
        let Look { name, record, now, .. } = *look;
        let state = record.state;
        let way = (settled && matches!(state, "connecting" | "loading")).then(|| Way {
            state,
            attempts: record.attempts,
            maps: record.loaded.len(),
            bytes: record.download.as_ref().map(|it| it.received),
        });
        if WAITING_MAX < self.way.is(way, now) && self.way.is.is_some() {
            let what = format!("{name} is kept waiting in `{state}` though its path is whole");
            broken.push((Invariant::GetsOn, what));
        }
    }

    /// The inputs of whoever plays are used, and come in time.
    fn is_heard(&mut self, look: &Look<'_>, plays: bool, broken: &mut Broken) {
        let Look { name, record, now, .. } = *look;
        let head = record.newest.as_ref().filter(|_| plays).map(|(_, snapshot)| &snapshot.head);
        let head = head.filter(|head| !head.owner.0.pawn.is_none());
        let used = head.map(|head| head.input_ack);
        if UNUSED_MAX < self.used.is(used, now) && used.is_some() {
            let what = format!("no input of {name} is used though its path is whole");
            broken.push((Invariant::Used, what));
        }
        let late = head.is_some() && look.waiting < LATE_MAX;
        if FOLLOW_MAX < self.late.is(late, now) && late {
            let what = format!("the inputs of {name} come too late: its clock does not follow");
            broken.push((Invariant::InTime, what));
        }
    }
}

impl Look<'_> {
    /// Whether it has played for long enough, and its server ticks at this moment.
    fn plays(&self) -> bool {
        let Some((_, session)) = self.server.session_with(self.key) else { return false };
        let Some((_, at)) = self.server.last_tick else { return false };
        let long = session.playing_since.is_some_and(|since| SETTLE < self.now.since(since));
        let stands = session.ended.is_none() && long;
        self.record.is_playing() && stands && self.now.since(at) <= PAUSE_MIN
    }

    /// Whether it sees nothing, or what is old.
    fn is_behind(&self) -> bool {
        let Some((newest, _)) = self.server.last_tick else { return false };
        let Some((when, snapshot)) = &self.record.newest else { return true };
        let ticks = u64::from(newest.0.saturating_sub(snapshot.head.tick));
        BEHIND_MAX <= self.now.since(*when) || BEHIND_MAX <= Micros(ticks * 1_000_000 / 60)
    }
}

fn is_fair(links: Links, pawns: u32) -> bool {
    [links.up, links.down].iter().all(|link: &Link| {
        let Burst { enter_ppm, leave_ppm, loss_ppm } = link.burst;
        let ill = u64::from(enter_ppm) * u64::from(loss_ppm);
        let in_bursts = ill / u64::from(enter_ppm.saturating_add(leave_ppm)).max(1);
        u64::from(link.loss_ppm) + in_bursts <= FAIR_LOSS_PPM
            && (enter_ppm == 0 || FAIR_LEAVE_PPM <= leave_ppm)
            && link.latency + link.draw <= FAIR_LATENCY
            && (link.rate == 0 || fair_rate(pawns) <= link.rate)
    })
}

/// Bytes a second in which a peer can be shown so many pawns.
fn fair_rate(pawns: u32) -> u32 {
    FAIR_RATE.saturating_add(pawns.saturating_mul(RATE_OF_A_PAWN))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dh_client::ClientEvent;
    use dh_machine::TickRate;
    use dh_messages::{Snapshot, SnapshotHead};
    use dh_server::ServerEvent;
    use dh_sim::Answer;

    use super::*;

    #[test]
    fn whoever_is_shown_what_is_two_seconds_old_is_behind_however_often_it_is_shown_it() {
        let (server, peer, now) = (ServerId(0), PeerId(0), Micros::from_secs(20));
        let mut sim = dh_sim::World::gray_box(TickRate::DEFAULT);
        for _ in 0..200 {
            sim.step(|_| None);
        }
        let frame = sim.publish(|_| Answer::default());
        assert_eq!(frame.tick().0, 200);
        let is_behind = |tick: u32, shown: Micros| {
            let mut records = Records::default();
            let ticked = ServerEvent::Ticked { frame: Arc::clone(&frame), digest: 0 };
            records.note_server(server, now, ticked);
            let head = SnapshotHead { tick, ..SnapshotHead::default() };
            let applied = ClientEvent::Applied(Arc::new(Snapshot::new(head, Vec::new())));
            records.note_peer(peer, shown, applied);
            let (record, server) = (records.peer(peer), records.server(server));
            Look { name: "ada", key: "", record, server, waiting: 0.0, now }.is_behind()
        };
        assert!(!is_behind(81, now) && is_behind(80, now));
        let long_ago = Micros(now.0 - BEHIND_MAX.0);
        assert!(!is_behind(200, long_ago + Micros(1)) && is_behind(200, long_ago));
    }
}
