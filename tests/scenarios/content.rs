//! Content: maps that are fetched, proved, stood in and switched, by whole servers and clients.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use dh_client::{ClientContent, EndKind};
use dh_host::disk::RealDisk;
use dh_machine::Micros;
use dh_pallet::{About, Writer, pack, xxh128};
use dh_scenario::{PeerId, PeerSetup, Report, Scenario, ServerId, ServerSetup, Transport, World};
use dh_server::Shelf;
use dh_store::{Options, Store};
use dh_tests::noise;
use tempfile::TempDir;

use crate::stage::{self, BOTH, SECOND};

/// A floor at this height with a spawn on it.
fn map(height: f32) -> String {
    format!(
        r#"{{"objects":[
            {{"id":"floor","transform":{{"position":[0,{floor},0]}},
              "components":{{"dh.box":{{"size":[40,1,40]}}}}}},
            {{"id":"spawn","transform":{{"position":[0,{height},0]}},
              "components":{{"dh.spawn":{{"radius":5}}}}}}]}}"#,
        floor = height - 0.5,
    )
}

/// A pallet with one map, `main`, and so much noise, written into a folder.
fn pallet(folder: &Path, id: &str, height: f32, noise_bytes: usize) -> String {
    let mut writer = Writer::new(About { id: id.to_owned(), ..About::default() }).unwrap();
    let (map, noise) = (map(height).into_bytes(), noise(noise_bytes));
    writer.put("assets/main.dh-map", pack(&map).in_memory()).unwrap();
    writer.put("files/noise", pack(&noise).in_memory()).unwrap();
    let mut bytes = Vec::new();
    writer.write(&mut bytes, xxh128, &mut |_, _| {}).unwrap();
    let path = folder.join(format!("{id}.pallet"));
    fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A server's pallets, and folders for clients.
struct Stage {
    folder: TempDir,
    files: Vec<String>,
}

impl Stage {
    /// A low map, `low`, and a high one, `high`, which weighs 300 KB.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let files = vec![
            pallet(folder.path(), "low", 0.0, 1_000),
            pallet(folder.path(), "high", 20.0, 300_000),
        ];
        Self { folder, files }
    }

    fn setup(&self, map: &str) -> ServerSetup {
        let shelf = Shelf { files: self.files.clone(), ..Shelf::default() };
        ServerSetup { shelf, map: Some(map.to_owned()), ..ServerSetup::default() }
    }

    /// What a client keeps under this name.
    fn kept(&self, name: &str) -> ClientContent {
        let cache = self.cache(name);
        let store = Store::open(Arc::new(RealDisk), Options::new(&cache)).unwrap();
        ClientContent { store, core: None, cook: None, picture_side_max: None }
    }

    fn cache(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    /// Names of what lies in a client's cache.
    fn cached(&self, name: &str) -> Vec<String> {
        let listed = fs::read_dir(self.cache(name)).unwrap();
        let mut names: Vec<String> =
            listed.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

const LOW: &str = "low:assets/main.dh-map";
const HIGH: &str = "high:assets/main.dh-map";

fn world(
    transport: Transport,
    setup: ServerSetup,
    course: impl AsyncFnOnce(&mut World, ServerId),
) -> Report {
    let scenario = Scenario::new("content", 17).transport(transport);
    let report = scenario.run(async |world: &mut World| {
        let server = world.server(setup);
        course(world, server).await;
        stage::nobody_panicked(world.runtime());
    });
    report.assert_passed();
    report
}

fn received(world: &World, peer: PeerId) -> u64 {
    world.records().peer(peer).download.map_or(0, |progress| progress.received)
}

async fn plays(world: &mut World, peer: PeerId) {
    let within = Micros::from_secs(20);
    world.expect_within(within, "it plays", |it| it.is_playing(peer)).await;
}

/// How high the feet of those a peer sees are, itself included.
async fn heights(world: &mut World, peer: PeerId) -> Vec<f32> {
    world.run_for(SECOND).await;
    world.present(peer);
    world.run_for(Micros::from_millis(100)).await;
    let view = world.records().peer(peer).view.clone();
    view.unwrap().players.iter().map(|player| player.feet.y).collect()
}

/// MR-01, MR-18, MR-37, MR-43, MR-151
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
            let again = world.peer(PeerSetup::new("ada again").keeping(stage.kept("ada")));
            world.join(again, server);
            plays(world, again).await;
            assert_eq!(received(world, again), 0);
        });
        let cached = stage.cached("ada");
        assert!(cached.len() == 1 && cached[0].ends_with(".pallet"), "{cached:?}");
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

/// MR-156, MR-161
#[test]
fn a_map_that_cannot_be_made_ready_leaves_the_former_one_standing_and_says_why() {
    let stage = Stage::new();
    let bad = stage.folder.path().join("bad.pallet");
    let mut bytes = fs::read(&stage.files[1]).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&bad, &bytes[..last]).unwrap();
    let mut setup = stage.setup(LOW);
    setup.shelf.files.push(bad.to_str().unwrap().to_owned());
    world(Transport::Quic, setup, async |world, server| {
        let ada = world.peer(PeerSetup::new("ada").keeping(stage.kept("ada")));
        world.join(ada, server);
        plays(world, ada).await;
        for (map, why) in [
            ("nowhere:assets/main.dh-map", "no pallet 'nowhere'"),
            ("low:assets/other.dh-map", "the pallet holds low:assets/main.dh-map"),
            ("low", "is no barcode"),
        ] {
            let answer = stage::console(world, server, &format!("map {map}")).await;
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

/// MR-42: and one that lies is passed over and fetched.
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
            kept.store.set_given(vec![folder.to_str().unwrap().to_owned()]);
            let peer = world.peer(PeerSetup::new(name).keeping(kept));
            world.join(peer, server);
            plays(world, peer).await;
            assert_eq!(received(world, peer) > 0, fetched, "{name}");
            assert_eq!(stage.cached(name).is_empty(), !fetched);
        }
    });
}
