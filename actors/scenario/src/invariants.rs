//! What must hold at every moment of every scenario, without being asked for.
//!
//! No lane holds more than its bound, and what every port was offered is accounted for. Whatever a
//! peer is shown of a tick is what its server published of it, on the map that the peer has loaded;
//! no input is acknowledged that was not simulated; a peer whose path is whole is not left behind,
//! not kept waiting, not passed over and not unheard.

mod heard;
mod lasting;
mod settled;

use std::sync::Arc;

use dh_host::Registry;
use dh_machine::Tick;
use dh_messages::Snapshot;
use dh_sim::Frame;

pub(crate) use self::heard::Line;
use self::lasting::Lasting;
use self::settled::Settled;
use crate::peer::PeerId;
use crate::records::{Records, ServerRecord};
use crate::world::World;

macro_rules! invariants {
    ($($(#[$what:meta])+ $name:ident,)+) => {
        /// What no situation excuses.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Invariant { $($(#[$what])+ $name,)+ }

        impl Invariant {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)+];
        }
    };
}

invariants! {
    /// No lane holds more than its bound.
    Bound,
    /// Whatever a port was offered was handled, refused, dropped, or waits.
    Accounting,
    /// A peer is shown only the map that it has loaded.
    WholeMap,
    /// A peer is shown of a tick what its server published of it.
    AsPublished,
    /// No input is acknowledged that was not simulated.
    Acknowledged,
    /// A peer is shown no tick after a newer one.
    Order,
    /// Inputs do not wait ever longer.
    Clock,
    /// Every pawn has a player.
    Owned,
    /// A peer whose path is whole sees what is new.
    KeepsUp,
    /// A peer whose path is whole comes further on its way to play, or is told why not.
    GetsOn,
    /// Inputs of a peer whose path is whole are used.
    Used,
    /// Inputs of a peer whose path is whole do not come ever too late.
    InTime,
    /// What a peer says comes back to it.
    Heard,
}

/// What is broken, each with a sentence that says where.
type Broken = Vec<(Invariant, String)>;

/// Checks each tick; tells each thing that broke once.
#[derive(Debug, Default)]
pub(crate) struct Invariants {
    told: Vec<String>,
    lasting: Lasting,
    settled: Settled,
}

impl Invariants {
    /// What is broken now and was not told before.
    pub(crate) fn check(&mut self, world: &World) -> Broken {
        let mut broken = Broken::new();
        ports(world.runtime().registry(), &mut broken);
        let mut records = world.records();
        for (peer, attempt, snapshot) in records.take_unchecked() {
            shown(world, &records, peer, &snapshot, &mut broken);
            self.lasting.shown(world, (peer, attempt), &snapshot, &mut broken);
        }
        for said in records.take_said() {
            self.settled.says(said);
        }
        for server in world.server_ids() {
            self.lasting.pawns(&records, server, world.runtime().now(), &mut broken);
        }
        self.settled.check(world, &records, &self.lasting, &mut broken);
        broken.retain(|(_, what)| !self.told.contains(what));
        self.told.extend(broken.iter().map(|(_, what)| what.clone()));
        broken
    }
}

fn ports(registry: &Registry, broken: &mut Broken) {
    for report in registry.unbalanced() {
        for lane in [report.port.control, report.port.data] {
            if lane.max < lane.peak {
                let (path, max, peak) = (&report.path, lane.max, lane.peak);
                let what = format!("{path}: a lane of {max} held {peak} messages");
                broken.push((Invariant::Bound, what));
            }
        }
        if !report.port.kinds.iter().all(|(_, counts)| counts.balanced()) {
            let what = format!("{}: the accounting of its port does not add up", report.path);
            broken.push((Invariant::Accounting, what));
        }
    }
}

/// A snapshot that a peer applied.
fn shown(world: &World, records: &Records, peer: PeerId, snapshot: &Snapshot, broken: &mut Broken) {
    let head = &snapshot.head;
    let tick = Tick(head.tick);
    let (record, name, key) = (records.peer(peer), world.peer_name(peer), world.peer_key(peer));
    // The map is told as loaded a moment before what is shown is of it.
    if !record.loaded.is_empty() && !record.loaded.contains(&head.map_generation) {
        let (standing, loaded) = (head.map_generation, &record.loaded);
        let what = format!("{name} is shown map {standing} and has loaded {loaded:?}: torn");
        broken.push((Invariant::WholeMap, what));
    }
    let published = records.servers().filter_map(|server| Some((server, server.frame(tick)?)));
    let published: Vec<(&ServerRecord, &Arc<Frame>)> = published.collect();
    if published.is_empty() {
        return;
    }
    if !published.iter().any(|(_, frame)| is_of(snapshot, frame)) {
        let what = format!("{name} is shown another tick {} than its server published", tick.0);
        broken.push((Invariant::AsPublished, what));
    }
    let simulated = published.iter().filter_map(|(server, _)| server.simulated(key, tick)).max();
    if let Some(newest) = simulated
        && newest < head.input_ack
    {
        let ack = head.input_ack;
        let what = format!("{name} is told that input {ack} was simulated when {newest} was");
        broken.push((Invariant::Acknowledged, what));
    }
}

fn is_of(snapshot: &Snapshot, frame: &Frame) -> bool {
    snapshot.head.map_generation == frame.generation()
        && snapshot.records.iter().eq(frame.records())
}
