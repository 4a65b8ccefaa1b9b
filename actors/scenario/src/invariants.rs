//! What must hold at every moment of every scenario, without being asked for.
//!
//! No lane holds more than its bound, and what every port was offered is accounted for. Whatever a
//! peer is shown of a tick is what its server published of it, on the map that the peer has loaded;
//! no input is acknowledged that was not simulated; a peer whose path is whole is not left behind.

mod lasting;

use std::collections::BTreeMap;
use std::sync::Arc;

use dh_host::Registry;
use dh_host::net::{Link, Links};
use dh_machine::{Micros, Tick};
use dh_messages::Snapshot;
use dh_sim::Frame;

use self::lasting::Lasting;
use crate::peer::PeerId;
use crate::records::{PeerRecord, Records, ServerRecord};
use crate::world::World;

/// How long after a change of its path a peer may need to catch up.
const SETTLE: Micros = Micros::from_secs(8);
/// How far behind its server the newest snapshot of a settled peer may be.
const BEHIND_MAX: Micros = Micros::from_secs(2);
/// Up to here a path lets a peer follow.
const FAIR_LOSS_PPM: u32 = 100_000;
const FAIR_LATENCY: Micros = Micros::from_millis(500);
const FAIR_RATE: u32 = 60_000;

/// Checks each tick; tells each thing that broke once.
#[derive(Debug, Default)]
pub(crate) struct Invariants {
    told: Vec<String>,
    /// Which peer has the map that stands, by its generation, and since when.
    arrived: BTreeMap<PeerId, (u32, Micros)>,
    lasting: Lasting,
}

impl Invariants {
    /// What is broken now and was not told before.
    pub(crate) fn check(&mut self, world: &World) -> Vec<String> {
        let mut broken = Vec::new();
        ports(world.runtime().registry(), &mut broken);
        let mut records = world.records();
        for (peer, attempt, snapshot) in records.take_unchecked() {
            let name = world.peer_name(peer);
            shown(&records, peer, name, &snapshot, &mut broken);
            self.lasting.shown(world, (peer, attempt), &snapshot, &mut broken);
        }
        for server in world.server_ids() {
            self.lasting.pawns(&records, server, world.runtime().now(), &mut broken);
        }
        for (peer, server, links, disturbed) in world.paths() {
            let Some(server) = server else { continue };
            let now = world.runtime().now();
            let ticks = self.lasting.ticks(&records, server, now);
            let server = records.server(server);
            let arrived = self.arrives(peer, records.peer(peer), server, now);
            if is_fair(links) && SETTLE < now.since(disturbed) && arrived && ticks {
                keeps_up(&records, peer, world.peer_name(peer), server, now, &mut broken);
            }
        }
        broken.retain(|what| !self.told.contains(what));
        self.told.extend(broken.iter().cloned());
        broken
    }

    /// Whether a peer has had the map that stands for long enough. Whoever still fetches it is
    /// shown nothing: there is nothing it could be shown.
    fn arrives(
        &mut self,
        peer: PeerId,
        record: &PeerRecord,
        server: &ServerRecord,
        now: Micros,
    ) -> bool {
        let standing = server.frames.back().map(|frame| frame.generation());
        let Some(standing) = standing.filter(|it| record.loaded.last() == Some(it)) else {
            self.arrived.remove(&peer);
            return false;
        };
        let arrived = self.arrived.entry(peer).or_insert((standing, now));
        if arrived.0 != standing {
            *arrived = (standing, now);
        }
        BEHIND_MAX < now.since(arrived.1)
    }
}

fn ports(registry: &Registry, broken: &mut Vec<String>) {
    for report in registry.unbalanced() {
        for lane in [report.port.control, report.port.data] {
            if lane.max < lane.peak {
                let (path, max, peak) = (&report.path, lane.max, lane.peak);
                broken.push(format!("{path}: a lane of {max} held {peak} messages"));
            }
        }
        if !report.port.balanced() {
            broken.push(format!("{}: the accounting of its port does not add up", report.path));
        }
    }
}

/// A snapshot that a peer applied.
fn shown(
    records: &Records,
    peer: PeerId,
    name: &str,
    snapshot: &Snapshot,
    broken: &mut Vec<String>,
) {
    let head = &snapshot.head;
    let tick = Tick(head.tick);
    let record = records.peer(peer);
    // The map is told as loaded a moment before what is shown is of it.
    if !record.loaded.is_empty() && !record.loaded.contains(&head.map_generation) {
        let (standing, loaded) = (head.map_generation, &record.loaded);
        broken.push(format!("{name} is shown map {standing} and has loaded {loaded:?}: torn"));
    }
    let published = records.servers().filter_map(|server| Some((server, server.frame(tick)?)));
    let published: Vec<(&ServerRecord, &Arc<Frame>)> = published.collect();
    if published.is_empty() {
        return;
    }
    if !published.iter().any(|(_, frame)| is_of(snapshot, frame)) {
        broken.push(format!("{name} is shown another tick {} than its server published", tick.0));
    }
    let simulated = published.iter().filter_map(|(server, _)| server.simulated(name, tick)).max();
    if let Some(newest) = simulated
        && newest < head.input_ack
    {
        let ack = head.input_ack;
        broken.push(format!("{name} is told that input {ack} was simulated when {newest} was"));
    }
}

fn is_of(snapshot: &Snapshot, frame: &Frame) -> bool {
    snapshot.head.map_generation == frame.generation()
        && snapshot.records.iter().eq(frame.records())
}

/// A peer whose path has been whole for long enough.
fn keeps_up(
    records: &Records,
    peer: PeerId,
    name: &str,
    server: &ServerRecord,
    now: Micros,
    broken: &mut Vec<String>,
) {
    let record = records.peer(peer);
    let Some(session) = server.session_of(name) else { return };
    let Some((newest, at)) = server.last_tick else { return };
    let stands = session.ended.is_none()
        && session.playing_since.is_some_and(|since| SETTLE < now.since(since));
    if !record.is_playing() || !stands || Micros::from_millis(200) < now.since(at) {
        return;
    }
    let behind = match &record.newest {
        Some((when, snapshot)) if now.since(*when) < BEHIND_MAX => {
            let ticks = u64::from(newest.0.saturating_sub(snapshot.head.tick));
            Micros(ticks * 1_000_000 / 60)
        }
        _ => BEHIND_MAX,
    };
    if BEHIND_MAX <= behind {
        broken.push(format!("{name} is left behind though its path is whole"));
    }
}

fn is_fair(links: Links) -> bool {
    [links.up, links.down].iter().all(|link: &Link| {
        link.loss_ppm <= FAIR_LOSS_PPM
            && link.latency + link.draw <= FAIR_LATENCY
            && (link.rate == 0 || FAIR_RATE <= link.rate)
    })
}
