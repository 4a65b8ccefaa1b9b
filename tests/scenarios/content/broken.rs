//! Broken: an actor that breaks over something that is said once, of a map or of a session.

use dh_client::EndKind;
use dh_host::net::{Link, Links};
use dh_machine::Micros;
use dh_messages::PawnFlags;
use dh_scenario::{PeerId, PeerSetup, Scenario, ServerId, Transport, World};

use super::stage::{HIGH, LOW, Stage, plays};
use crate::stage::{SECOND, console};

/// A world on this map in which nothing fails but what is told to.
fn world(name: &str, map: &str, course: impl AsyncFnOnce(&mut World, ServerId, &Stage)) {
    let stage = Stage::new();
    let setup = stage.setup(map);
    let scenario = Scenario::new(name, 17).transport(Transport::Memory).closely();
    let report = scenario.run(async |world| {
        let server = world.server(setup);
        course(world, server, &stage).await;
    });
    report.assert_passed();
}

/// Have somebody play who keeps content of its own.
async fn play(world: &mut World, server: ServerId, stage: &Stage, name: &str) -> PeerId {
    let peer = world.peer(PeerSetup::new(name).keeping(stage.kept(name)));
    world.join(peer, server);
    plays(world, peer).await;
    peer
}

/// What a peer has on its screen.
struct Seen {
    loading: Option<String>,
    /// What stands around.
    boxes: String,
    /// Who is there, and where.
    players: Vec<(String, [f32; 3])>,
    lines: usize,
}

impl Seen {
    async fn by(peer: PeerId, world: &mut World) -> Self {
        world.present(peer);
        world.run_for(Micros::from_millis(100)).await;
        let view = world.records().peer(peer).view.clone().unwrap();
        let players = view.players.iter().map(|it| (it.name.clone(), it.feet.to_array()));
        let mut players: Vec<_> = players.collect();
        players.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let (boxes, lines) = (format!("{:?}", view.scene.boxes), view.hud.lines.len());
        Self { loading: view.loading.clone(), boxes, players, lines }
    }
}

fn panics(world: &World, path: &str) -> u64 {
    world.runtime().registry().report(path).unwrap().panics
}

#[test]
fn a_picture_is_whole_again_whatever_its_presenter_broke_over() {
    for kind in ["Joined", "Spawned", "Players", "Awaited", "Scene", "Present", "Left"] {
        world(kind, HIGH, async |world, server, stage| {
            let ada = play(world, server, stage, "ada").await;
            let slow = Links::both(Link { rate: 100_000, queue: SECOND, ..Link::IDEAL });
            let bob = PeerSetup::new("bob").keeping(stage.kept("bob")).over(slow);
            let bob = world.peer(bob);
            let presenter = world.peer_path(bob, "presenter");
            world.runtime().registry().faults().panic_at_kind(&presenter, kind);
            world.join(bob, server);
            world.run_for(SECOND).await;
            assert_eq!(Seen::by(bob, world).await.loading.as_deref(), Some(HIGH), "{kind}");
            plays(world, bob).await;
            world.run_for(SECOND).await;
            let (hers, his) = (Seen::by(ada, world).await, Seen::by(bob, world).await);
            assert_eq!((his.loading, his.boxes), (None, hers.boxes), "{kind}");
            let names: Vec<&str> = his.players.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, ["ada", "bob"], "{kind}");
            world.disconnect(bob);
            world.run_for(SECOND).await;
            let alone = Seen::by(bob, world).await;
            assert_eq!((alone.players.len(), alone.lines), (0, 0), "{kind}");
            assert_eq!(panics(world, &presenter), 1, "{kind}");
        });
    }
}

/// Change to a map and wait until everybody has loaded it.
async fn switch(world: &mut World, server: ServerId, peers: &[PeerId]) {
    let answer = console(world, server, &format!("map {HIGH}")).await;
    assert!(answer.contains(" stands (generation 2)"), "{answer}");
    let all = |it: &World| {
        let records = it.records();
        peers.iter().all(|peer| records.peer(*peer).loaded.last() == Some(&2))
    };
    world.expect_within(Micros::from_secs(20), "everybody loads it", all).await;
    world.run_for(SECOND).await;
}

/// Whether a peer that walks for a moment comes anywhere.
async fn walks(world: &mut World, peer: PeerId) -> bool {
    let before = Seen::by(peer, world).await.players;
    world.walk(peer, 0, 100);
    world.run_for(Micros::from_millis(500)).await;
    world.walk(peer, 0, 0);
    world.run_for(Micros::from_millis(500)).await;
    Seen::by(peer, world).await.players != before
}

#[test]
fn what_is_ordered_of_the_world_is_done_whatever_the_tick_broke_over() {
    for kind in ["Join", "Arrived", "Install", "Command", "Prefs", "Leave"] {
        world(kind, LOW, async |world, server, stage| {
            let ada = play(world, server, stage, "ada").await;
            let tick = world.server_path(server, "tick");
            world.runtime().registry().faults().panic_at_kind(&tick, kind);
            let bob = play(world, server, stage, "bob").await;
            switch(world, server, &[ada, bob]).await;
            assert!(walks(world, ada).await && walks(world, bob).await, "{kind}");
            let answer = console(world, server, "tp #0 3 20 4").await;
            assert_eq!(answer, "tp: #0 is at 3.00 20.00 4.00", "{kind}");
            world.run_for(SECOND).await;
            let [x, _, z] = Seen::by(ada, world).await.players[0].1;
            assert!((x - 3.0).abs() < 0.1 && (z - 4.0).abs() < 0.1, "{kind}: {x} {z}");
            console(world, server, "world.timeScale 0.5").await;
            let ticks = |world: &World| world.records().server(server).last_tick.unwrap().0.0;
            let before = ticks(world);
            world.run_for(SECOND).await;
            assert!((28..=32).contains(&(ticks(world) - before)), "{kind}");
            world.disconnect(bob);
            world.run_for(SECOND).await;
            assert_eq!(world.records().server(server).pawns, 1, "{kind}");
            assert_eq!(panics(world, &tick), 1, "{kind}");
        });
    }
}

/// Which message of the tick says that a peer has loaded the next map: one of these.
fn arrivals() -> std::ops::RangeInclusive<u64> {
    let mut numbers = None;
    world("nothing breaks", LOW, async |world, server, stage| {
        let ada = play(world, server, stage, "ada").await;
        world.run_for(SECOND).await;
        let tick = world.server_path(server, "tick");
        let had = |world: &World| {
            let port = world.runtime().registry().report(&tick).unwrap().port;
            let arrived = port.kinds.iter().find(|(kind, _)| *kind == "Arrived").unwrap();
            (arrived.1.handled, port.total().handled)
        };
        world.console(server, &format!("map {HIGH}"));
        let before = had(world).0;
        while had(world).0 == before {
            let from = had(world).1;
            world.run_for(Micros::from_millis(1)).await;
            numbers = Some(from + 1..=had(world).1);
        }
        assert!(world.is_playing(ada));
    });
    numbers.expect("a map was loaded")
}

#[test]
fn whoever_cannot_be_let_move_on_a_map_is_told_so() {
    let mut told = 0;
    for nth in arrivals() {
        world("an arrival breaks twice", LOW, async |world, server, stage| {
            let ada = play(world, server, stage, "ada").await;
            world.run_for(SECOND).await;
            let tick = world.server_path(server, "tick");
            let faults = world.runtime().registry().faults();
            (0..2).for_each(|_| faults.panic_at(&tick, nth));
            world.console(server, &format!("map {HIGH}"));
            world.run_for(SECOND + SECOND).await;
            let endings: Vec<_> = world.records().peer(ada).endings.clone();
            match &endings[..] {
                [] => assert!(walks(world, ada).await, "{nth}"),
                [end] => {
                    let reason = "the world failed over your arrival; connect again";
                    assert_eq!((end.kind, &*end.detail()), (EndKind::Removed, reason));
                    told += 1;
                }
                more => panic!("{nth}: {more:?}"),
            }
        });
    }
    assert_eq!(told, 1);
}

#[test]
fn an_arrival_that_breaks_the_world_twice_as_its_player_joins_costs_it_nothing() {
    world("an arrival that nothing waits for", LOW, async |world, server, stage| {
        let tick = world.server_path(server, "tick");
        // The first asks for a pawn.
        (0..2).for_each(|_| world.runtime().registry().faults().panic_at(&tick, 2));
        let ada = play(world, server, stage, "ada").await;
        assert!(walks(world, ada).await && world.records().peer(ada).endings.is_empty());
        let port = world.runtime().registry().report(&tick).unwrap().port;
        let lost = port.kinds.iter().filter(|(_, counts)| 0 < counts.lost);
        assert_eq!(lost.map(|(kind, _)| *kind).collect::<Vec<_>>(), ["Arrived"]);
    });
}

/// A peer whose messages take a while, and who walks all the time.
async fn stroll(world: &mut World, server: ServerId, stage: &Stage, name: &str) -> PeerId {
    let far = Links::both(Link { latency: Micros::from_millis(60), ..Link::IDEAL });
    let peer = world.peer(PeerSetup::new(name).keeping(stage.kept(name)).over(far));
    world.join(peer, server);
    plays(world, peer).await;
    world.walk(peer, 0, 100);
    peer
}

#[test]
fn who_has_loaded_a_map_that_is_given_up_moves_on_the_next_as_soon_as_that_is_loaded() {
    world("an arrival is too late", LOW, async |world, server, stage| {
        let ada = stroll(world, server, stage, "ada").await;
        let bob = stroll(world, server, stage, "bob").await;
        let tick = world.server_path(server, "tick");
        let breaks = |world: &World, kind| {
            world.runtime().registry().faults().panic_at_kind(&tick, kind);
        };
        for _ in 0..2 {
            breaks(world, "Command");
            console(world, server, "tp #0 3 20 4").await;
        }
        // Both arrive at one moment. The third fault costs the map before the second has.
        breaks(world, "Arrived");
        world.console(server, &format!("map {HIGH}"));
        let mut waiting = 0;
        while world.records().peer(bob).loaded.last() != Some(&3) {
            world.run_for(Micros::from_millis(5)).await;
            let records = world.records();
            let frame = records.server(server).frames.back().unwrap();
            let are_held =
                frame.owners().iter().all(|it| it.state.flags.contains(PawnFlags::FROZEN));
            if frame.generation() == 3 {
                assert!(are_held, "nobody moves before they have loaded it");
                waiting += 1;
            }
        }
        assert!(0 < waiting, "they load it after it came to stand");
        assert!(walks(world, ada).await && walks(world, bob).await);
        for peer in [ada, bob] {
            let records = world.records();
            let record = records.peer(peer);
            assert_eq!((&record.endings[..], &record.loaded[..]), (&[][..], &[1, 2, 3][..]));
        }
    });
}
