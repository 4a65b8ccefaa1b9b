//! Content: maps that are fetched, proved, stood in and switched, by whole servers and clients.

mod broken;
mod builds;
mod in_flight;
mod kept;
mod stage;
mod trouble;

use std::fs;
use std::sync::Arc;
use std::time::SystemTime;

use dh_client::EndKind;
use dh_machine::Micros;
use dh_scenario::{OtherBuild, PeerId, PeerSetup, Scenario, ServerSetup, Transport, World};
use dh_store::load::Core;

use self::stage::{HIGH, LOW, Stage, plays, received, world};
use crate::stage::{self as room, BOTH, SECOND};

/// How high the feet of those a peer sees are, itself included.
async fn heights(world: &mut World, peer: PeerId) -> Vec<f32> {
    world.run_for(SECOND).await;
    world.present(peer);
    world.run_for(Micros::from_millis(100)).await;
    let view = world.records().peer(peer).view.clone();
    view.unwrap().players.iter().map(|player| player.feet.y).collect()
}

/// MR-01, MR-18, MR-37, MR-43, MR-142, MR-151
#[test]
fn a_map_that_is_not_here_is_fetched_proved_and_stood_in_and_a_second_join_moves_no_byte() {
    for transport in BOTH {
        let stage = Stage::new();
        world(transport, stage.setup(HIGH), async |world, server| {
            let ada = world.peer(PeerSetup::new("ada").keeping(stage.kept("ada")));
            world.join(ada, server);
            plays(world, ada).await;
            assert!(received(world, ada) > 300_000);
            let feet = heights(world, ada).await;
            assert!(feet.iter().all(|feet| (feet - 20.0).abs() < 0.1), "{feet:?}");
            world.disconnect(ada);
            world.run_for(SECOND).await;
            // Long ago, for those who prune.
            let kept = format!("{}/{}", stage.cache("ada"), stage.cached("ada")[0]);
            let kept = fs::File::options().write(true).open(kept).unwrap();
            kept.set_modified(SystemTime::UNIX_EPOCH).unwrap();
            let again = world.peer(PeerSetup::new("ada again").keeping(stage.kept("ada")));
            world.join(again, server);
            plays(world, again).await;
            assert_eq!(received(world, again), 0);
            let used = kept.metadata().unwrap().modified().unwrap();
            assert!(used > SystemTime::UNIX_EPOCH, "it counts as used");
        });
        let cached = stage.cached("ada");
        assert!(cached.len() == 1 && cached[0].ends_with(".pallet"), "{cached:?}");
    }
}

/// JOIN-27, JOIN-31
#[test]
fn builds_that_differ_fetch_a_map_of_each_other_and_the_next_one() {
    for (here, there) in [(None, Some("newer-2")), (Some("newer-2"), None)] {
        let stage = Stage::new();
        let build = |name: Option<&str>| name.and_then(OtherBuild::named);
        let setup = ServerSetup { build: build(here), ..stage.setup(HIGH) };
        world(Transport::Quic, setup, async |world, server| {
            let setup = PeerSetup::new("ada").keeping(stage.kept("ada"));
            let ada = world.peer(PeerSetup { build: build(there), ..setup });
            world.join(ada, server);
            plays(world, ada).await;
            assert!(received(world, ada) > 300_000);
            let feet = heights(world, ada).await;
            assert!(feet.iter().all(|feet| (feet - 20.0).abs() < 0.1), "{feet:?}");
            for map in [LOW, HIGH] {
                world.console(server, &format!("map {map}"));
                world.run_for(Micros::from_secs(2)).await;
            }
            assert_eq!(world.records().peer(ada).loaded, [1, 2, 3]);
            assert!(world.is_playing(ada));
            let feet = heights(world, ada).await;
            assert!(feet.iter().all(|feet| (feet - 20.0).abs() < 0.1), "{feet:?}");
            let records = world.records();
            let told = records.peer(ada).lines.iter().filter(|it| it.contains("mismatch")).count();
            assert_eq!(told, 1, "a later map does not say it again");
        });
    }
}

/// MR-12, MR-153, MR-159, MR-160, MR-163, MR-193, SWAP-03
#[test]
fn twenty_switches_between_two_maps_lose_nobody_and_leave_the_world_as_it_was() {
    for transport in BOTH {
        let stage = Stage::new();
        world(transport, stage.setup(LOW), async |world, server| {
            let mut peers = Vec::new();
            for number in 0..8 {
                let name = format!("peer {number}");
                // The last two have nothing and fetch in the middle of it.
                let kept = if number < 6 { "shared".to_owned() } else { name.clone() };
                let setup = PeerSetup::new(name).keeping(stage.kept(&kept));
                let peer = world.peer(setup);
                world.join(peer, server);
                plays(world, peer).await;
                peers.push(peer);
            }
            let mut actors = 0;
            for number in 0..20 {
                let map = if number % 2 == 0 { HIGH } else { LOW };
                let answer = world.console(server, &format!("map {map}"));
                let stands = |world: &World| {
                    let records = world.records();
                    records
                        .server(server)
                        .answers
                        .iter()
                        .any(|(id, text)| *id == answer && text.contains("stands (generation"))
                };
                world.expect_within(SECOND, "the map stands", stands).await;
                let generation = number + 2;
                let all = |world: &World| {
                    let records = world.records();
                    peers.iter().all(|it| {
                        let record = records.peer(*it);
                        record.is_playing() && record.loaded.last() == Some(&generation)
                    })
                };
                world.expect_within(Micros::from_secs(20), "everybody loaded it", all).await;
                world.run_for(Micros::from_millis(500)).await;
                if number == 1 {
                    // Everybody has fetched what it lacked.
                    actors = world.runtime().registry().reports().len();
                }
            }
            let feet = heights(world, peers[0]).await;
            assert!(feet.len() == 8 && feet.iter().all(|feet| feet.abs() < 0.1), "{feet:?}");
            for peer in &peers {
                let records = world.records();
                let record = records.peer(*peer);
                assert!(record.endings.is_empty(), "{:?}", record.endings);
                let spawns: Vec<_> = record.spawns.iter().map(|(slot, ..)| slot).collect();
                assert!(spawns.windows(2).all(|pair| pair[0] == pair[1]), "{spawns:?}");
            }
            assert_eq!(world.runtime().registry().reports().len(), actors, "none is left over");
        });
    }
}

/// MR-Q22, MR-Q24: `low` is here, `high` is not and takes three seconds.
#[test]
fn a_map_that_changes_there_and_back_while_its_pallet_moves_is_fetched_in_the_end() {
    for transport in BOTH {
        let stage = Stage::new();
        world(transport, stage.setup(HIGH), async |world, server| {
            let kept = stage.kept("ada");
            kept.shelf.store.set_given(vec![stage.files[0].clone()]);
            let mut setup = PeerSetup::new("ada").keeping(kept);
            setup.links.down.rate = 100_000;
            setup.links.down.queue = Micros::from_secs(30);
            let ada = world.peer(setup.with("client.net.connectTimeout=20"));
            world.join(ada, server);
            for (map, bytes) in [(LOW, 50_000), (HIGH, 0), (LOW, 20_000), (HIGH, 0)] {
                let some = |world: &World| received(world, ada) > bytes;
                world.expect_within(Micros::from_secs(10), "some of it comes", some).await;
                world.console(server, &format!("map {map}"));
                world.run_for(Micros::from_millis(300)).await;
            }
            let loaded = |world: &World| world.records().peer(ada).loaded.last() == Some(&5);
            world.expect_within(Micros::from_secs(30), "it stands in the last", loaded).await;
            plays(world, ada).await;
            assert!(world.records().peer(ada).endings.is_empty());
        });
        assert_eq!(stage.cached("ada").len(), 1);
    }
}

/// MR-15
#[test]
fn a_pallet_with_one_map_is_enough_of_a_name_and_is_advertised_as_the_whole() {
    let stage = Stage::new();
    world(Transport::Memory, stage.setup("low"), async |world, server| {
        assert_eq!(world.running(server).directory().advert().name.as_str(), LOW);
        let answer = room::console(world, server, "map high").await;
        assert_eq!(answer, "map: high stands (generation 2)");
        assert_eq!(world.running(server).directory().advert().name.as_str(), HIGH);
        assert_eq!(world.records().server(server).maps, [(HIGH.to_owned(), 2)]);
    });
}

/// MR-36: even with a store that holds nothing.
#[test]
fn a_map_of_the_core_pallet_is_stood_in_without_a_byte() {
    let stage = Stage::new();
    let core = dh_compile::build_bundled(dh_compile::core_sources()).unwrap();
    let core = Core::new(core).unwrap();
    let mut setup = stage.setup("core:assets/gray-box.dh-map");
    setup.shelf.as_mut().unwrap().core = Some(core.clone());
    world(Transport::Quic, setup, async |world, server| {
        let mut kept = stage.kept("ada");
        kept.shelf.core = Some(core);
        let ada = world.peer(PeerSetup::new("ada").keeping(kept));
        world.join(ada, server);
        plays(world, ada).await;
        assert_eq!(received(world, ada), 0);
    });
    assert!(stage.cached("ada").is_empty());
}

/// MR-48, MR-50: the window of chunks alone decides how much is under way.
#[test]
fn who_fetches_the_next_map_over_a_slow_link_draws_every_frame_meanwhile() {
    let stage = Stage::new();
    world(Transport::Quic, stage.setup(LOW), async |world, server| {
        let mut setup = PeerSetup::new("ada").keeping(stage.kept("ada"));
        setup.links.down.rate = 100_000;
        setup.links.down.queue = Micros::from_secs(30);
        let ada = world.peer(setup);
        world.join(ada, server);
        plays(world, ada).await;
        world.console(server, &format!("map {HIGH}"));
        world.run_for(Micros::from_millis(500)).await;
        let shown = |world: &World| world.records().peer(ada).view.clone();
        for _ in 0..60 {
            let before = shown(world);
            world.present(ada);
            world.run_for(Micros::from_millis(17)).await;
            let after = shown(world).unwrap();
            assert!(before.is_none_or(|before| !Arc::ptr_eq(&before, &after)));
        }
        let download = world.records().peer(ada).download.unwrap();
        assert!(download.received > 0 && download.received < download.total, "{download:?}");
        plays(world, ada).await;
    });
}

/// MR-154, MR-155, MR-158: what a map that is prepared and then not taken leaves behind is nothing.
#[test]
fn preparing_a_map_is_nothing_to_the_world_and_to_the_thread_of_its_ticks() {
    let stage = Stage::new();
    let digests = |lines: &[&str]| {
        let mut digests = Vec::new();
        let scenario = Scenario::new("preparing", 3).closely();
        let report = scenario.run(async |world: &mut World| {
            let server = world.server(stage.setup(LOW));
            let kept = stage.kept("ada");
            kept.shelf.store.set_given(stage.files.clone());
            let ada = world.peer(PeerSetup::new("ada").keeping(kept));
            world.join(ada, server);
            plays(world, ada).await;
            for line in lines {
                world.console(server, line);
            }
            world.run_for(SECOND).await;
            let reports = world.runtime().registry().reports();
            let place = |kind| reports.iter().find(|it| it.kind == kind).unwrap().place;
            assert_ne!(place("map_switch"), place("tick"));
            digests = world.records().server(server).worlds.clone();
        });
        report.assert_passed();
        digests
    };
    let calm = digests(&["help", "help"]);
    let busy = digests(&["map high:assets/none.dh-map", "map high:assets/none.dh-map"]);
    assert!(calm.len() >= 50 && calm == busy);
}

/// MR-156, MR-161
#[test]
fn a_map_that_cannot_be_made_ready_leaves_the_former_one_standing_and_says_why() {
    let mut stage = Stage::new();
    let bad = stage.folder.path().join("bad.pallet");
    let mut bytes = fs::read(&stage.files[1]).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&bad, &bytes[..last]).unwrap();
    stage.files.push(bad.to_str().unwrap().to_owned());
    let setup = stage.setup(LOW);
    world(Transport::Quic, setup, async |world, server| {
        let ada = world.peer(PeerSetup::new("ada").keeping(stage.kept("ada")));
        world.join(ada, server);
        plays(world, ada).await;
        for (map, why) in [
            ("nowhere:assets/main.dh-map", "no pallet 'nowhere'"),
            ("low:assets/other.dh-map", "the pallet holds low:assets/main.dh-map"),
            ("lower", "no pallet 'lower'"),
            ("low:", "is empty"),
        ] {
            let answer = room::console(world, server, &format!("map {map}")).await;
            assert!(answer.contains("was not loaded") && answer.contains(why), "{answer}");
        }
        world.run_for(SECOND).await;
        assert!(world.is_playing(ada) && world.records().server(server).maps.is_empty());
    });
}

/// MR-60, MR-62, MR-63
#[test]
fn a_pallet_that_is_gone_from_the_server_ends_the_join_with_a_reason_that_names_no_folder() {
    for transport in BOTH {
        let stage = Stage::new();
        world(transport, stage.setup(HIGH), async |world, server| {
            fs::remove_file(&stage.files[1]).unwrap();
            let ada = world.peer(PeerSetup::new("ada").keeping(stage.kept("ada")));
            world.join(ada, server);
            let ended = |world: &World| !world.records().peer(ada).endings.is_empty();
            world.expect_within(SECOND, "it ends", ended).await;
            let end = world.records().peer(ada).endings[0].clone();
            assert_eq!(end.kind, EndKind::MapTransferFailed);
            let told = end.detail();
            assert!(told.starts_with("the server couldn't send pallet 'high': "), "{told}");
            assert!(!told.contains('/'), "{told}");
        });
    }
}

/// MR-60: a file that is cut short in the middle of its transfer.
#[test]
fn a_pallet_that_is_cut_short_while_it_is_sent_is_refused_and_the_client_keeps_what_it_proved() {
    let stage = Stage::new();
    let setup = stage.setup(HIGH).with("server.net.blobChunkWindow=16");
    world(Transport::Memory, setup, async |world, server| {
        let mut setup = PeerSetup::new("ada").keeping(stage.kept("ada"));
        // 100 KB a second: the transfer takes three seconds.
        setup.links.down.rate = 100_000;
        setup.links.down.queue = Micros::from_secs(30);
        let ada = world.peer(setup.with("client.net.connectTimeout=20"));
        world.join(ada, server);
        let some = |world: &World| received(world, ada) > 70_000;
        world.expect_within(Micros::from_secs(10), "some of it comes", some).await;
        let file = fs::OpenOptions::new().write(true).open(&stage.files[1]).unwrap();
        file.set_len(1_000).unwrap();
        let ended = |world: &World| !world.records().peer(ada).endings.is_empty();
        world.expect_within(Micros::from_secs(10), "it ends", ended).await;
        let told = world.records().peer(ada).endings[0].detail();
        assert!(told.contains("couldn't send pallet 'high'"), "{told}");
    });
    let cached = stage.cached("ada");
    assert!(cached.len() == 1 && cached[0].ends_with(".partial"), "{cached:?}");
}

/// MR-38, MR-39, MR-40, MR-41, MR-42: and one that lies is passed over and fetched.
#[test]
fn a_given_file_is_used_where_it_lies_under_any_name_and_a_damaged_one_is_passed_over() {
    let stage = Stage::new();
    let given = stage.folder.path().join("given");
    fs::create_dir(&given).unwrap();
    fs::copy(&stage.files[1], given.join("x.pallet")).unwrap();
    let damaged = stage.folder.path().join("damaged");
    fs::create_dir(&damaged).unwrap();
    let mut bytes = fs::read(&stage.files[1]).unwrap();
    // In the map's own bytes, which lie before the noise.
    let at = bytes.len() - 310_000.min(bytes.len() / 2 + 150_000);
    bytes[at] ^= 0x10;
    fs::write(damaged.join("high.pallet"), bytes).unwrap();
    world(Transport::Quic, stage.setup(HIGH), async |world, server| {
        for (name, folder, fetched) in [("ada", &given, false), ("bob", &damaged, true)] {
            let kept = stage.kept(name);
            kept.shelf.store.set_given(vec![folder.to_str().unwrap().to_owned()]);
            let peer = world.peer(PeerSetup::new(name).keeping(kept));
            world.join(peer, server);
            plays(world, peer).await;
            assert_eq!(received(world, peer) > 0, fetched, "{name}");
            assert_eq!(stage.cached(name).is_empty(), !fetched);
        }
    });
}
