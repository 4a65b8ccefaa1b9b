//! A server that dies and comes back on the disk it had, in memory.

use std::fs;
use std::sync::Arc;

use dh_client::ClientContent;
use dh_host::disk::{FaultyDisk, MemoryDisk};
use dh_machine::{Disk, Micros};
use dh_scenario::{PeerSetup, ServerSetup, Transport};
use dh_store::{Options, Shelf, Store};

use super::stage::{HIGH, Stage, plays, world};

/// A disk in memory with the stage's pallets on it; their paths.
fn disk(stage: &Stage) -> (MemoryDisk, Vec<String>) {
    let disk = MemoryDisk::default();
    disk.make_dir("/content").unwrap();
    let put = |path: &String| {
        let name = path.rsplit('/').next().unwrap();
        let kept = format!("/content/{name}");
        disk.create(&kept).unwrap().write_at(0, &fs::read(path).unwrap()).unwrap();
        kept
    };
    let paths = stage.files.iter().map(put).collect();
    (disk, paths)
}

fn store(disk: &FaultyDisk, cache: &str) -> Store {
    Store::open(Arc::new(disk.clone()), Options::new(cache)).unwrap()
}

fn setup(disk: &FaultyDisk, paths: &[String]) -> ServerSetup {
    let store = store(disk, "/server");
    store.set_given(paths.to_vec());
    ServerSetup { shelf: Some(Shelf::of(store)), map: Some(HIGH.into()), ..ServerSetup::default() }
}

#[test]
fn a_server_that_is_killed_comes_back_on_its_disk_at_its_address() {
    for transport in [Transport::Quic, Transport::Memory] {
        let stage = Stage::new();
        let (disk, paths) = disk(&stage);
        let disk = FaultyDisk::over(Arc::new(disk));
        world(transport, setup(&disk, &paths), async |world, server| {
            let shelf = Shelf::of(store(&disk, "/ada"));
            let content = ClientContent { shelf, picture_side_max: None };
            let ada = world.peer(PeerSetup::new("ada").keeping(content));
            world.join(ada, server);
            plays(world, ada).await;
            let address = world.running(server).address();
            world.running(server).endpoint().kill();
            world.kill_server(server);
            world.run_for(Micros::from_secs(1)).await;
            assert!(world.is_playing(ada), "{transport:?}: nobody told ada");
            let again = ServerSetup { address: Some(address), ..setup(&disk, &paths) };
            let again = world.server(again);
            assert_eq!(world.running(again).address(), address);
            let ended = |it: &dh_scenario::World| !it.records().peer(ada).endings.is_empty();
            world.expect_within(Micros::from_secs(12), "ada notices the silence", ended).await;
            // What ada keeps is still there, so that no room is needed.
            disk.fill(0);
            world.join(ada, again);
            plays(world, ada).await;
        });
    }
}
