//! Trouble: content that is missing, damaged, doubled or changed, actors that fail under it, and
//! what is told of that.

use std::fs;
use std::path::Path;

use dh_client::{ClientContent, EndKind};
use dh_machine::Micros;
use dh_pallet::{About, Writer, pack, xxh128};
use dh_scenario::{PeerSetup, Scenario, ServerSetup, Transport, World};
use dh_server::{MapError, StartError};

use super::stage::{HIGH, LOW, Stage, pallet, plays, received, world};
use crate::log::lines_of;
use crate::stage::{self as room, SECOND};

/// A pallet with these maps, written into a folder.
fn with_maps(folder: &Path, id: &str, maps: &[(&str, &str)]) -> String {
    let mut writer = Writer::new(About { id: id.to_owned(), ..About::default() }).unwrap();
    for (path, map) in maps {
        writer.put(path, pack(map.as_bytes()).in_memory()).unwrap();
    }
    let mut bytes = Vec::new();
    writer.write(&mut bytes, xxh128, &mut |_, _| {}).unwrap();
    let path = folder.join(format!("{id}.pallet"));
    fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

fn cut(path: &str, len: u64) {
    fs::OpenOptions::new().write(true).open(path).unwrap().set_len(len).unwrap();
}

/// MR-60: looked at when it is asked for, and not only when it was advertised.
#[test]
fn a_pallet_that_was_cut_short_or_built_anew_is_refused_before_a_byte_of_it_is_sent() {
    let changes: [fn(&Stage); 2] = [
        |stage| cut(&stage.files[1], 100_000),
        |stage| drop(pallet(stage.folder.path(), "high", 21.0, 300_000)),
    ];
    for change in changes {
        let stage = Stage::new();
        world(Transport::Memory, stage.setup(HIGH), async |world, server| {
            change(&stage);
            let ada = world.peer(PeerSetup::new("ada").keeping(stage.kept("ada")));
            world.join(ada, server);
            let ended = |world: &World| !world.records().peer(ada).endings.is_empty();
            world.expect_within(Micros::from_secs(5), "it ends", ended).await;
            let told = world.records().peer(ada).endings[0].detail();
            assert!(told.contains("pallet 'high': it was built anew; join again"), "{told}");
            assert_eq!(received(world, ada), 0);
        });
    }
}

/// Why a server with this setup does not start.
fn refused(setup: ServerSetup) -> MapError {
    let mut refused = None;
    Scenario::new("a start", 5).run(async |world: &mut World| {
        refused = world.try_server(setup).err();
    });
    match refused {
        Some(StartError::Map(why)) => why,
        other => panic!("{other:?}"),
    }
}

/// MR-15
#[test]
fn a_server_without_its_map_does_not_start_and_tells_a_damaged_one_from_one_that_is_not_here() {
    let mut stage = Stage::new();
    let maps = [("assets/a.dh-map", "{}"), ("assets/b.dh-map", "{}")];
    stage.files.push(with_maps(stage.folder.path(), "both", &maps));
    stage.files.push(stage.folder.path().join("gone.pallet").to_str().unwrap().to_owned());
    let several =
        "pallet 'both' holds several maps, name one: both:assets/a.dh-map, both:assets/b.dh-map";
    assert_eq!(refused(stage.setup("both")), MapError::Missing(several.to_owned()));
    assert!(matches!(refused(stage.setup("nowhere")), MapError::Missing(_)));
    cut(&stage.files[1], 1_000);
    assert!(matches!(refused(stage.setup("high")), MapError::Damaged(_)));
}

#[test]
fn of_two_pallets_with_one_id_the_first_is_used_and_the_log_names_both_unless_they_are_equal() {
    let mut stage = Stage::new();
    let [copy, other] = ["copy", "other"].map(|name| stage.folder.path().join(name));
    [&copy, &other].iter().for_each(|folder| fs::create_dir(folder).unwrap());
    stage.files.push(pallet(&copy, "high", 20.0, 300_000));
    stage.files.push(pallet(&other, "high", 30.0, 10));
    let lines = lines_of(|| drop(world(Transport::Memory, stage.setup(HIGH), async |_, _| {})));
    let told: Vec<&String> = lines.iter().filter(|line| line.contains("two pallets")).collect();
    let [used, other] = [1, 3].map(|at| &stage.files[at]);
    assert_eq!(told, [&format!("two pallets have the id high: {used} is used, {other} is not")]);
}

/// MR-156
#[test]
fn a_map_switch_that_fails_after_its_answer_answers_no_line_twice_and_goes_on() {
    let stage = Stage::new();
    room::world(Transport::Memory, stage.setup(LOW), async |world, server| {
        let stands = room::console(world, server, &format!("map {HIGH}")).await;
        assert!(stands.contains("stands"), "{stands}");
        let path = "server-0/map-switch";
        let taken = world.runtime().registry().report(path).unwrap();
        let nth = taken.port.kinds.iter().map(|(_, counts)| counts.handled).sum::<u64>() + 1;
        world.runtime().registry().faults().panic_at(path, nth);
        world.console(server, &format!("map {LOW}"));
        world.run_for(SECOND).await;
        assert_eq!(world.runtime().registry().report(path).unwrap().restarts, 1);
        let stands = room::console(world, server, &format!("map {LOW}")).await;
        assert!(stands.contains("stands"), "{stands}");
        let records = world.records();
        let mut lines: Vec<u32> =
            records.server(server).answers.iter().map(|(id, _)| *id).collect();
        let answers = lines.len();
        lines.dedup();
        assert_eq!(lines.len(), answers, "{:?}", records.server(server).answers);
    });
}

/// MR-104, MR-125: the partial has one writer, who may be the same again.
#[test]
fn a_downloader_that_fails_at_one_of_its_messages_goes_on_with_what_it_has_and_its_peer_plays() {
    for nth in [1, 2, 3, 4, 5, 100, 290] {
        let stage = Stage::new();
        room::world(Transport::Memory, stage.setup(HIGH), async |world, server| {
            world.runtime().registry().faults().panic_at("peer-ada/downloader", nth);
            let ada = world.peer(PeerSetup::new("ada").keeping(stage.kept("ada")));
            world.join(ada, server);
            plays(world, ada).await;
            let report = world.runtime().registry().report("peer-ada/downloader").unwrap();
            assert_eq!(report.restarts, 1, "{nth}");
        });
        assert_eq!(stage.cached("ada").len(), 1);
    }
}

#[test]
fn a_blob_transfer_that_fails_at_one_of_its_messages_sends_what_it_was_asked_for_at_once() {
    for nth in 1..=3 {
        let stage = Stage::new();
        room::world(Transport::Memory, stage.setup(HIGH), async |world, server| {
            let path = "server-0/peer-0/blobs";
            world.runtime().registry().faults().panic_at(path, nth);
            let ada = world.peer(PeerSetup::new("ada").keeping(stage.kept("ada")));
            world.join(ada, server);
            let plays = |world: &World| world.is_playing(ada);
            world.expect_within(Micros::from_secs(5), "it plays", plays).await;
            let report = world.runtime().registry().report(path).unwrap();
            assert_eq!(report.restarts, 1, "{nth}");
        });
    }
}

#[test]
fn a_map_loader_that_fails_at_one_of_its_messages_goes_on_and_one_that_does_twice_is_told() {
    for (nth, times, loads) in
        [(1, 1, true), (2, 1, true), (3, 1, true), (5, 1, true), (1, 2, true), (2, 2, false)]
    {
        let stage = Stage::new();
        room::world(Transport::Memory, stage.setup(HIGH), async |world, server| {
            let path = "peer-ada/map-loader";
            let faults = world.runtime().registry().faults();
            (0..times).for_each(|_| faults.panic_at(path, nth));
            let ada = world.peer(PeerSetup::new("ada").keeping(stage.kept("ada")));
            world.join(ada, server);
            let settled = |world: &World| {
                world.is_playing(ada) || !world.records().peer(ada).endings.is_empty()
            };
            world.expect_within(Micros::from_secs(20), "it is settled", settled).await;
            assert_eq!(world.is_playing(ada), loads, "{nth}");
            let restarts = world.runtime().registry().report(path).unwrap().restarts;
            assert_eq!(restarts, times, "{nth}");
            if !loads {
                let told = world.records().peer(ada).endings[0].detail();
                assert!(told.contains("the log has more"), "{told}");
            }
        });
    }
}

/// MR-41, MR-42: each of two maps, in one session.
#[test]
fn every_damaged_file_is_passed_over_and_fetched_and_not_the_first_one_alone() {
    let stage = Stage::new();
    let given = stage.folder.path().join("given");
    fs::create_dir(&given).unwrap();
    for (file, name) in stage.files.iter().zip(["low", "high"]) {
        let mut bytes = fs::read(file).unwrap();
        // In the group table, which a lookup does not read.
        bytes[130] ^= 1;
        fs::write(given.join(format!("{name}.pallet")), bytes).unwrap();
    }
    world(Transport::Memory, stage.setup(HIGH), async |world, server| {
        let kept = stage.kept("ada");
        kept.shelf.store.set_given(vec![given.to_str().unwrap().to_owned()]);
        let ada = world.peer(PeerSetup::new("ada").keeping(kept));
        world.join(ada, server);
        plays(world, ada).await;
        world.console(server, &format!("map {LOW}"));
        let loaded = |world: &World| world.records().peer(ada).loaded.last() == Some(&2);
        world.expect_within(Micros::from_secs(5), "the second map", loaded).await;
    });
    assert_eq!(stage.cached("ada").len(), 2);
}

/// Another copy of it would lack the same.
#[test]
fn a_good_pallet_that_lacks_a_picture_its_map_names_is_of_no_use_and_not_fetched_again() {
    let mut stage = Stage::new();
    let map = r##"{"materials":{"a":{"texture":"assets/none.png"}},"objects":[]}"##;
    let path = with_maps(stage.folder.path(), "bare", &[("assets/main.dh-map", map)]);
    stage.files.push(path.clone());
    world(Transport::Memory, stage.setup("bare"), async |world, server| {
        let kept = ClientContent { picture_side_max: Some(64), ..stage.kept("ada") };
        kept.shelf.store.set_given(vec![path]);
        let ada = world.peer(PeerSetup::new("ada").keeping(kept));
        world.join(ada, server);
        let ended = |world: &World| !world.records().peer(ada).endings.is_empty();
        world.expect_within(Micros::from_secs(5), "it ends", ended).await;
        let end = world.records().peer(ada).endings[0].clone();
        assert_eq!((end.kind, received(world, ada)), (EndKind::MapUnusable, 0), "{}", end.detail());
    });
    assert!(stage.cached("ada").is_empty());
}
