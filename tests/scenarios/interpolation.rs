//! How remote players are drawn when snapshots are lost, late, or come in bursts.

use dh_host::net::{Link, Links};
use dh_machine::Micros;
use dh_scenario::{PeerId, PeerSetup, Scenario, ServerId, ServerSetup, World};

/// A frame and a little: one view of each.
const FRAME: Micros = Micros(16_667);

/// A watcher over `links`, and a pilot who flies through everything at one metre a second.
async fn stage(world: &mut World, server: ServerId, links: Links) -> PeerId {
    let bob = world.peer(PeerSetup::new("bob"));
    let ada = world.peer(PeerSetup::new("ada").over(links));
    for peer in [bob, ada] {
        world.join(peer, server);
        world.expect_within(Micros::from_secs(5), "it plays", |world| world.is_playing(peer)).await;
    }
    world.console(server, "noclip #0 on");
    world.walk(bob, 0, 127);
    world.run_for(Micros::from_secs(1)).await;
    ada
}

fn flight() -> ServerSetup {
    ServerSetup::default().with("world.noclipSpeed=1")
}

/// What the watcher sees: where bob is drawn, and the counters of its overlay.
#[derive(Clone, Debug, PartialEq)]
struct Sight {
    feet: glam::Vec3,
    held: u64,
    snaps: u64,
    burst: u64,
}

async fn look(world: &mut World, ada: PeerId) -> Sight {
    world.present(ada);
    world.run_for(Micros(1_000)).await;
    let records = world.records();
    let view = records.peer(ada).view.as_ref().unwrap();
    let bob = view.players.iter().find(|player| player.name == "bob").unwrap();
    let line = view.hud.lines.iter().find(|line| line.starts_with("interp")).unwrap();
    let after = |word: &str| {
        let (_, rest) = line.split_once(word).unwrap();
        rest.split_whitespace().next().unwrap().parse().unwrap()
    };
    Sight { feet: bob.feet, held: after("held "), snaps: after("snaps "), burst: after("burst ") }
}

/// INT-06: one snapshot in ten is lost, and nobody can tell.
#[test]
fn lost_snapshots_are_bridged_without_a_held_frame() {
    let lossy = Link { latency: Micros(30_000), loss_ppm: 100_000, ..Link::IDEAL };
    let links = Links { down: lossy, up: Link { loss_ppm: 0, ..lossy } };
    Scenario::new("one in ten", 31)
        .run(async |world: &mut World| {
            let server = world.server(flight());
            let ada = stage(world, server, links).await;
            world.run_for(Micros::from_secs(20)).await;
            let mut sights = vec![look(world, ada).await];
            for _ in 0..40 {
                world.run_for(Micros(24 * FRAME.0)).await;
                sights.push(look(world, ada).await);
            }
            let (first, last) = (&sights[0], sights.last().unwrap());
            assert!(last.held - first.held <= 2 && last.snaps == 0, "{first:?} {last:?}");
            assert_even(&sights);
        })
        .assert_passed();
}

/// Over about 0.4 s each, motion is within 10 % of even.
fn assert_even(sights: &[Sight]) {
    let steps: Vec<f32> = sights.windows(2).map(|it| it[0].feet.distance(it[1].feet)).collect();
    let even = steps.iter().sum::<f32>() / steps.len() as f32;
    for step in &steps {
        assert!((step - even).abs() < even * 0.1, "{step} of {even}: {steps:?}");
    }
}

/// INT-07: with nothing to go by the pose stays, and each such frame is counted.
#[test]
fn three_hundred_milliseconds_of_loss_hold_the_pose_and_count_the_frames() {
    let path = Links::both(Link { latency: Micros(30_000), ..Link::IDEAL });
    Scenario::new("a gap", 32)
        .run(async |world: &mut World| {
            let server = world.server(flight());
            let ada = stage(world, server, path).await;
            world.run_for(Micros::from_secs(5)).await;
            let before = look(world, ada).await;
            assert_eq!((before.held, before.snaps), (0, 0));
            world.relink(ada, Links { down: Link::CUT, ..path });
            world.run_for(Micros::from_millis(200)).await;
            let still = look(world, ada).await;
            world.run_for(Micros::from_millis(99)).await;
            let stiller = look(world, ada).await;
            assert_eq!(still.feet, stiller.feet, "no extrapolation");
            world.relink(ada, path);
            world.run_for(Micros::from_secs(1)).await;
            let after = look(world, ada).await;
            // 300 ms without news, of which three ticks and the way of what was sent are covered.
            assert!((12..=17).contains(&after.held), "{after:?}");
            assert_eq!(stiller.held - still.held, 6, "each frame of 100 ms");
            assert!(still.feet.distance(after.feet) > 0.5, "and it goes on");
        })
        .assert_passed();
}

/// INT-15: a server that wakes 83 ms late sends five ticks at once. After the margin has adapted,
/// a minute passes with no held and no snapped frame, and motion is even.
#[test]
fn five_tick_bursts_neither_freeze_nor_jump_remote_players() {
    Scenario::new("bursts", 33)
        .run(async |world: &mut World| {
            let server = world.server(flight().with("server.tick.maxCatchUp=5"));
            let links = Links::both(Link { latency: Micros(20_000), ..Link::IDEAL });
            let ada = stage(world, server, links).await;
            let faults = world.runtime().registry().faults();
            for _ in 0..75 * 12 {
                faults.delay_deadline("server-0/tick", Micros(66_700));
            }
            world.run_for(Micros::from_secs(10)).await;
            let mut sights = vec![look(world, ada).await];
            for _ in 0..150 {
                world.run_for(Micros(24 * FRAME.0 - 1_000)).await;
                sights.push(look(world, ada).await);
            }
            let (first, last) = (&sights[0], sights.last().unwrap());
            assert_eq!(last.burst, 5, "{last:?}");
            assert_eq!((last.held, last.snaps), (first.held, first.snaps), "{first:?} {last:?}");
            assert_even(&sights);
        })
        .assert_passed();
}
