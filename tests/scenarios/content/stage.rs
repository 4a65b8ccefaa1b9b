//! Stage: a server's pallets, folders for its clients, and a world that they play in.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use dh_client::ClientContent;
use dh_host::disk::RealDisk;
use dh_machine::{Disk, Micros};
use dh_pallet::{About, Writer, pack, xxh128};
use dh_scenario::{PeerId, Report, Scenario, ServerId, ServerSetup, Transport, World};
use dh_store::{Options, Shelf, Store};
use dh_tests::noise;
use tempfile::TempDir;

use crate::stage;

/// A floor at this height with a spawn on it.
pub(super) fn map(height: f32) -> String {
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
pub(super) fn pallet(folder: &Path, id: &str, height: f32, noise_bytes: usize) -> String {
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
pub(super) struct Stage {
    pub(super) folder: TempDir,
    pub(super) files: Vec<String>,
}

impl Stage {
    /// A low map, `low`, and a high one, `high`, which weighs 300 KB.
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let files = vec![
            pallet(folder.path(), "low", 0.0, 1_000),
            pallet(folder.path(), "high", 20.0, 300_000),
        ];
        Self { folder, files }
    }

    pub(super) fn setup(&self, map: &str) -> ServerSetup {
        self.setup_on(Arc::new(RealDisk), map)
    }

    /// A server that sees its pallets through this disk.
    pub(super) fn setup_on(&self, disk: Arc<dyn Disk>, map: &str) -> ServerSetup {
        let store = self.store(disk, "server");
        store.set_given(self.files.clone());
        let shelf = Some(Shelf::of(store));
        ServerSetup { shelf, map: Some(map.to_owned()), ..ServerSetup::default() }
    }

    /// What a client keeps under this name.
    pub(super) fn kept(&self, name: &str) -> ClientContent {
        self.kept_on(Arc::new(RealDisk), name)
    }

    /// The same through this disk.
    pub(super) fn kept_on(&self, disk: Arc<dyn Disk>, name: &str) -> ClientContent {
        ClientContent { shelf: Shelf::of(self.store(disk, name)), picture_side_max: None }
    }

    fn store(&self, disk: Arc<dyn Disk>, name: &str) -> Store {
        Store::open(disk, Options::new(&self.cache(name))).unwrap()
    }

    pub(super) fn cache(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    /// Names of what lies in a client's cache.
    pub(super) fn cached(&self, name: &str) -> Vec<String> {
        let listed = fs::read_dir(self.cache(name)).unwrap();
        let mut names: Vec<String> =
            listed.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

pub(super) const LOW: &str = "low:assets/main.dh-map";
pub(super) const HIGH: &str = "high:assets/main.dh-map";

pub(super) fn world(
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

pub(super) fn received(world: &World, peer: PeerId) -> u64 {
    world.records().peer(peer).download.map_or(0, |progress| progress.received)
}

pub(super) async fn plays(world: &mut World, peer: PeerId) {
    let within = Micros::from_secs(20);
    world.expect_within(within, "it plays", |it| it.is_playing(peer)).await;
}
