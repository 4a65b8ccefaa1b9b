//! Leaving: what peers who came and went leave behind in the process of their server.

use std::collections::BTreeSet;

use dh_host::inspect::{Collector, PlayersRow, Process, Snapshot};
use dh_host::{Registry, Runtime};
use dh_machine::Micros;
use dh_scenario::{PeerId, PeerSetup, Scenario, ServerId, ServerSetup, Transport, World};

use crate::stage::SECOND;

/// Peers that play at once, and how often others take their places.
const PEERS: usize = 50;
const WAVES: usize = 20;
/// Series of `/metrics`, however many peers there were.
const SERIES_MAX: usize = 500;

fn looked_at(runtime: &Runtime) -> Snapshot {
    Collector::new(runtime.clone(), Process::default()).take(1, None)
}

/// The names of all series, with their labels.
fn series(snapshot: &Snapshot) -> BTreeSet<String> {
    let text = snapshot.metrics();
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    samples.map(|line| line.rsplit_once(' ').unwrap().0.to_owned()).collect()
}

fn paths(snapshot: &Snapshot) -> Vec<&str> {
    snapshot.actors.iter().map(|actor| actor.path.as_str()).collect()
}

/// Peers of a wave come, play, leave, and their processes end.
async fn wave(world: &mut World, server: ServerId, wave: usize) -> Snapshot {
    let setup = |n| PeerSetup::new(format!("{wave} {n}"));
    let peers: Vec<PeerId> = (0..PEERS).map(|n| world.peer(setup(n))).collect();
    peers.iter().for_each(|peer| world.join(*peer, server));
    let play = |world: &World| peers.iter().all(|peer| world.is_playing(*peer));
    world.expect_within(SECOND + SECOND, "all of a wave play", play).await;
    let playing = looked_at(world.runtime());
    peers.iter().for_each(|peer| world.disconnect(*peer));
    world.run_for(Micros::from_millis(300)).await;
    peers.iter().for_each(|peer| world.kill_peer(*peer));
    world.run_for(Micros::from_millis(50)).await;
    playing
}

#[test]
fn a_thousand_peers_who_came_and_went_leave_no_series_no_row_and_no_byte_more() {
    let scenario = Scenario::new("a thousand come and go", 11).transport(Transport::Memory);
    let report = scenario.run(async |world: &mut World| {
        let server = world.server(ServerSetup::default().with("server.maxPlayers=64"));
        world.run_for(SECOND).await;
        let before = looked_at(world.runtime());

        let playing = wave(world, server, 0).await;
        let sessions = playing.actors.iter().filter(|actor| actor.kind == "session");
        assert_eq!((sessions.count(), playing.link_totals.live), (PEERS, 2 * PEERS as u64));
        assert!(series(&playing).len() < SERIES_MAX, "{}", series(&playing).len());
        let nobody = PlayersRow { max: 64, ..PlayersRow::default() };
        let all = PlayersRow { playing: PEERS as u64, ..nobody };
        assert_eq!(playing.figures.players, Some(all));
        let first = looked_at(world.runtime());
        for number in 1..WAVES {
            wave(world, server, number).await;
        }
        let last = looked_at(world.runtime());

        assert_eq!(series(&last), series(&first), "nobody has a series of its own");
        assert!(series(&last).len() < SERIES_MAX, "{}", series(&last).len());
        assert_eq!(last.figures.players, Some(nobody));
        assert_eq!((paths(&last), last.links.len()), (paths(&before), 0));
        let made = 2 * (PEERS * WAVES) as u64;
        assert_eq!((last.link_totals.made, last.link_totals.live), (made, 0));
        let players = last.limits.iter().find(|limit| limit.limit == "server.players").unwrap();
        assert_eq!((players.used, players.peak), (Some(0), Some(PEERS as u64)));
        let started = last.kinds.iter().find(|kind| kind.kind == "session").unwrap();
        assert_eq!((started.started, started.live), ((PEERS * WAVES) as u64, 0));

        // What is told of the process is as long as after the first fifty, but for longer numbers
        // and buckets that were empty.
        let bytes = |snapshot: &Snapshot| serde_json::to_vec(snapshot).unwrap().len();
        let without_ticks = |snapshot: &Snapshot| Snapshot { ticks: vec![], ..snapshot.clone() };
        let [first, last] = [&first, &last].map(|it| bytes(&without_ticks(it)));
        assert!(last < first + first / 4, "{last} after {first}");
        assert!(world.runtime().registry().endings().len() <= Registry::ENDINGS_MAX);
    });
    report.assert_passed();
}
