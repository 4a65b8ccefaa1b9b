//! The museum: real models of other people, fetched by `content/museum/fetch.sh`, built, served,
//! fetched, walked in and switched. Three of them for every change, all 82 with `DH_NIGHTLY=1`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, LazyLock};

use dh_client::ClientContent;
use dh_host::disk::{Faults, FaultyDisk, RealDisk};
use dh_machine::Micros;
use dh_pallet::{Entry, GROUP_BYTES, Pallet, PalletError};
use dh_scenario::{PeerId, PeerSetup, Scenario, ServerSetup, Transport, World};
use dh_store::load::{CookCache, Core};
use dh_store::{Options, Shelf, Store, StoreError};
use serde_json::Value;
use tempfile::TempDir;

use crate::session::server_with;

/// Bytes that are proved at once.
const GROUP: u64 = GROUP_BYTES as u64;
const MUSEUM: &str = "museum:assets/museum.dh-map";
const DEMO: &str = "core:assets/demo.dh-map";

/// The museum as a pallet, made once for all tests of this process.
struct Museum {
    folder: TempDir,
    pallet: PathBuf,
}

static BUILT: LazyLock<Option<Museum>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let pallet = build(folder.path(), "one")?;
    Some(Museum { folder, pallet })
});

/// The museum; none, told loudly, where its models were not fetched.
fn museum() -> Option<&'static Museum> {
    BUILT.as_ref()
}

/// The folder of content `name` from the models, and its pallet.
fn build(home: &Path, name: &str) -> Option<PathBuf> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../content/museum");
    let required = std::env::var_os("DH_REQUIRE_MUSEUM").is_some_and(|value| value == "1");
    if !sources.join("models").is_dir() {
        assert!(!required, "DH_REQUIRE_MUSEUM=1, and content/museum/fetch.sh has not run");
        eprintln!("SKIPPED: no models; content/museum/fetch.sh");
        return None;
    }
    let nightly = std::env::var_os("DH_NIGHTLY").is_some();
    let (limit, content) = (if nightly { "82" } else { "3" }, home.join(name));
    let made = Command::new("node")
        .arg(sources.join("generate.mjs"))
        .args(["--limit", limit, "--out"])
        .arg(&content)
        .output();
    let made = match made {
        Err(error) if !required => {
            eprintln!("SKIPPED: node: {error}");
            return None;
        }
        made => made.unwrap(),
    };
    assert!(made.status.success(), "{made:?}");
    let pallet = home.join(format!("{name}.pallet"));
    let built = dh(&["build", text(&content), "--out", text(&pallet)]);
    assert!(built.status.success(), "{built:?}");
    Some(pallet)
}

fn dh(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dh"));
    command.args(words).stdin(Stdio::null()).output().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// MR-21, MR-30
#[test]
fn two_folders_with_the_same_models_give_the_same_bytes() {
    let Some(Museum { folder, pallet }) = museum() else { return };
    let other = build(folder.path(), "other").unwrap();
    assert!(fs::read(pallet).unwrap() == fs::read(other).unwrap());
}

/// MR-01, MR-43
#[test]
fn a_client_with_nothing_fetches_proves_joins_walks_and_draws_and_the_next_time_fetches_nothing() {
    let Some(Museum { pallet, .. }) = museum() else { return };
    let (_server, address) = server_with(&["--content", text(pallet)]);
    let home = tempfile::tempdir().unwrap();
    let picture = home.path().join("a.png");
    let mut words = vec!["client", "--connect", &address, "--headless", "--json"];
    words.extend(["--seconds", "2", "--data", text(home.path())]);
    if crate::demo::has_adapter() {
        words.extend(["--picture", text(&picture)]);
    }
    let bytes = fs::metadata(pallet).unwrap().len();
    for expected in [bytes, 0] {
        let ended = dh(&words);
        let told = String::from_utf8(ended.stdout.clone()).unwrap();
        let events = told.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let of = |name: &str| events.clone().find(|it| it["event"] == name);
        assert!(ended.status.success(), "{ended:?}");
        assert_eq!(of("informed").unwrap()["map"], MUSEUM);
        assert_eq!(of("loaded").unwrap()["fetched"], expected);
        assert_eq!(of("downloading").is_some(), expected > 0);
        assert!(of("spawned").is_some());
        if words.contains(&"--picture") {
            assert!(of("picture").unwrap()["worldTriangles"].as_u64() > Some(100), "{told}");
            assert!(picture.exists());
        }
    }
    let cached = fs::read_dir(home.path().join("cache/maps")).unwrap();
    let cached: Vec<PathBuf> = cached.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(cached.len(), 1);
    assert!(fs::read(&cached[0]).unwrap() == fs::read(pallet).unwrap());
}

/// MR-70, MR-72
#[test]
fn two_hundred_bits_that_turned_are_found_by_verify_and_no_wrong_byte_is_ever_used() {
    let Some(Museum { pallet, .. }) = museum() else { return };
    let good = Pallet::open(fs::read(pallet).unwrap(), None).unwrap();
    let content = good.content();
    let entries = &good.manifest().entries;
    let bytes = fs::metadata(pallet).unwrap().len();
    let home = tempfile::tempdir().unwrap();
    let disk = FaultyDisk::over(Arc::new(RealDisk));
    for number in 1..=200 {
        let at = number * 1_000_003 % bytes;
        let store = Store::open(Arc::new(disk.clone()), Options::new(text(home.path()))).unwrap();
        store.set_given(vec![text(pallet).to_owned()]);
        let found = store.resolve(&content).found.expect("its header is good");
        disk.set(Faults { flip: Some((at, ".pallet")), ..Faults::default() });
        let error = store.verify(&found, &mut |_, _| {}).unwrap_err();
        assert!(matches!(error, StoreError::Pallet(_)), "byte {at}: {error}");
        // The same file for a store that has not verified it.
        disk.set(Faults::default());
        let store = Store::open(Arc::new(disk.clone()), Options::new(text(home.path()))).unwrap();
        store.set_given(vec![text(pallet).to_owned()]);
        assert!(store.have(&content));
        disk.set(Faults { flip: Some((at, ".pallet")), ..Faults::default() });
        let Ok(Some(flipped)) = store.pallet(&content) else { continue };
        // The entries around the bit: what is read of them is right, or it is an error.
        let near = |it: &&Entry| {
            let from = good.header().body_at() + it.offset;
            at + GROUP >= from && at <= from + it.stored_bytes + GROUP
        };
        for entry in entries.iter().filter(near) {
            match flipped.read(&entry.path, u64::MAX) {
                Ok(read) => assert!(read == good.read(&entry.path, u64::MAX).unwrap()),
                Err(PalletError::Disk(error)) => panic!("byte {at}: {error}"),
                Err(_) => {}
            }
        }
    }
    disk.set(Faults::default());
}

/// What whoever keeps content under this name has: the core pallet, and these.
fn shelf(home: &Path, name: &str, given: &[&Path]) -> Shelf {
    let core = dh_compile::build_bundled(dh_compile::core_sources()).unwrap();
    let disk = Arc::new(RealDisk);
    let store = Store::open(disk.clone(), Options::new(text(&home.join(name)))).unwrap();
    store.set_given(given.iter().map(|path| text(path).to_owned()).collect());
    let cook = CookCache::new(disk, text(&home.join("cook")));
    Shelf { store, core: Some(Core::new(core).unwrap()), cook: Some(cook) }
}

/// Where the feet of everybody are, as `peer` sees them.
async fn feet(world: &mut World, peer: PeerId) -> Vec<[f32; 3]> {
    world.run_for(Micros::from_secs(2)).await;
    world.present(peer);
    world.run_for(Micros::from_millis(100)).await;
    let view = world.records().peer(peer).view.clone().unwrap();
    let mut feet: Vec<_> = view.players.iter().map(|it| (it.id, it.feet.to_array())).collect();
    feet.sort_by_key(|(id, _)| *id);
    feet.into_iter().map(|(_, feet)| feet).collect()
}

/// SWAP-02, MR-12, MR-152, MR-193: demo, museum and back; the last two of eight fetch meanwhile.
#[test]
fn twenty_switches_to_the_museum_and_back_lose_nobody_and_end_where_they_began() {
    let Some(Museum { pallet, .. }) = museum() else { return };
    let home = tempfile::tempdir().unwrap();
    let scenario = Scenario::new("twenty switches", 23).transport(Transport::Memory);
    let report = scenario.run(async |world: &mut World| {
        let shelf_of = |name: &str, given: &[&Path]| shelf(home.path(), name, given);
        let held = shelf_of("server", &[pallet]);
        let map = Some(DEMO.to_owned());
        let server = world.server(ServerSetup { shelf: Some(held), map, ..ServerSetup::default() });
        let kept = |number| {
            let name = format!("peer {number}");
            let given: &[&Path] = if number < 6 { &[pallet] } else { &[] };
            let content = ClientContent { shelf: shelf_of(&name, given), picture_side_max: None };
            PeerSetup::new(name).keeping(content)
        };
        let peers: Vec<PeerId> = (0..8).map(|number| world.peer(kept(number))).collect();
        peers.iter().for_each(|peer| world.join(*peer, server));
        let all = |world: &World, generation: u32| {
            let records = world.records();
            peers
                .iter()
                .map(|it| records.peer(*it))
                .all(|record| record.is_playing() && record.loaded.last() == Some(&generation))
        };
        let patience = Micros::from_secs(300);
        world.expect_within(patience, "everybody plays", |it| all(it, 1)).await;
        let (mut actors, mut first) = (0, Vec::new());
        for generation in 2..=21 {
            let map = if generation % 2 == 0 { MUSEUM } else { DEMO };
            world.console(server, &format!("map {map}"));
            let name = format!("everybody stands in generation {generation}");
            world.expect_within(patience, &name, |it| all(it, generation)).await;
            if generation == 3 {
                actors = world.runtime().registry().reports().len();
                first = feet(world, peers[0]).await;
                assert_eq!(first.len(), 8);
            }
        }
        assert_eq!(feet(world, peers[0]).await, first, "to the bit");
        assert_eq!(world.runtime().registry().reports().len(), actors, "none is left over");
        let records = world.records();
        assert!(peers.iter().all(|peer| records.peer(*peer).endings.is_empty()));
        let maps = records.server(server).maps.len();
        assert_eq!(maps, 20);
        drop(records);
        assert!(world.runtime().registry().reports().iter().all(|it| it.panics == 0));
    });
    report.assert_passed();
}

/// What freed memory the system's allocator keeps for itself.
const SLACK: u64 = 16 << 20;

#[test]
fn the_memory_of_a_server_does_not_grow_with_the_number_of_its_switches() {
    let Some(Museum { pallet, .. }) = museum() else { return };
    let (mut server, address) = server_with(&["--content", text(pallet)]);
    let mut ada = crate::session::client(&address, "ada");
    ada.line_with("playing as ");
    let mut early = 0;
    for generation in 2..=25 {
        server.type_line(&format!("map {}", if generation % 2 == 0 { DEMO } else { MUSEUM }));
        server.line_with(&format!("stands (generation {generation})"));
        if generation == 5 {
            early = server.resident();
        }
    }
    let late = server.resident();
    assert!(late < early + SLACK, "{early} bytes, then {late}");
    ada.signal(rustix::process::Signal::TERM);
    assert!(ada.end().status.success());
}
