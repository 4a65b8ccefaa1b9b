//! A simulated server's journal, played again outside its world.

use std::sync::Arc;

use dh_client::Manner;
use dh_host::disk::MemoryDisk;
use dh_host::{Runtime, Simulation};
use dh_machine::{Disk as _, Micros};
use dh_store::{Options, Store};

use super::*;
use crate::script::MadePallet;
use crate::{Conditions, PeerSetup, Scenario, Script, ServerSetup, Transport, World};

/// What `course` leaves in the journal of its one server.
fn journal_of(course: impl AsyncFnOnce(&mut World)) -> Vec<u8> {
    let play = async |runtime: Runtime| {
        let scenario = Scenario::new("a journal is kept", 7).transport(Transport::Memory);
        let report = scenario.play(runtime.clone(), course).await;
        assert!(report.failures.is_empty(), "{:?}", report.failures);
        let mut journals = runtime.flight().journals();
        assert_eq!(journals.len(), 1);
        journals.remove(0).1
    };
    Simulation::new(7).recording(true).run(play)
}

async fn six_players(world: &mut World, span: Micros) {
    let server = world.server(ServerSetup::default());
    for at in 0..6 {
        let setup = PeerSetup::new(format!("p{at}"));
        let peer = world.peer(setup.flown(Manner::Jumper));
        world.join(peer, server);
        world.run_for(Micros::from_millis(300)).await;
    }
    world.run_for(span).await;
}

#[test]
fn forty_seconds_of_six_players_are_played_again_to_the_same_digests() {
    let journal = journal_of(async |world| six_players(world, Micros::from_secs(40)).await);
    let replayed = replay(&journal, None).unwrap();
    assert_eq!(replayed.first_difference, None, "{replayed}");
    assert!(replayed.ticks >= 1_800 && replayed.faults == 0, "{replayed}");
}

#[test]
fn what_came_after_a_fault_of_the_tick_is_played_again_too() {
    let journal = journal_of(async |world| {
        let faults = world.runtime().clone();
        faults.registry().faults().panic_at("server-0/tick", 500);
        six_players(world, Micros::from_secs(5)).await;
    });
    let replayed = replay(&journal, None).unwrap();
    assert_eq!((replayed.first_difference, replayed.faults), (None, 1), "{replayed}");
    assert!(replayed.ticks > 300, "{replayed}");
}

#[test]
fn one_seed_writes_one_journal() {
    let run = || journal_of(async |world| six_players(world, Micros::from_secs(3)).await);
    assert_eq!(run(), run());
}

/// A scenario on a floor of its own, recorded: the journal of its server, and what it made up.
fn on_a_hall() -> (Vec<u8>, MadePallet) {
    let script = Script::new(
        "it.rhai",
        "scenario(#{ seconds: 6, pallets: #{ hall: #{ floor: 1.0, bytes: 100000 } },
            peers: #{ ada: #{ role: \"jumper\" } } });
        at(3, || server(\"main\").map(\"hall\"));",
    );
    let play = async |runtime: Runtime| {
        let mut ran = script.perform(runtime.clone(), &Conditions::default()).await.unwrap();
        assert!(ran.passed(), "{:?} {:?}", ran.report.failures, ran.mistake);
        (runtime.flight().journals().remove(0).1, ran.pallets.remove(0))
    };
    Simulation::new(7).recording(true).run(play)
}

/// A shelf with this file of a pallet.
fn shelf_of(pallet: &[u8]) -> Shelf {
    let disk = MemoryDisk::default();
    disk.make_dir("given").unwrap();
    disk.create("given/it.pallet").unwrap().write_at(0, pallet).unwrap();
    let store = Store::open(Arc::new(disk), Options::new("cache")).unwrap();
    store.set_given(vec!["given".to_owned()]);
    Shelf::of(store)
}

#[test]
fn what_stood_on_a_map_that_was_made_up_is_played_again_on_exactly_that_map() {
    let (journal, MadePallet { file, bytes }) = on_a_hall();
    assert!(file.starts_with("hall.") && file.ends_with(".pallet"), "{file}");
    let replayed = replay(&journal, Some(&shelf_of(&bytes))).unwrap();
    assert_eq!(replayed.first_difference, None, "{replayed}");
    assert!(replayed.ticks > 300, "{replayed}");
    let refused = |shelf: &Shelf| match replay(&journal, Some(shelf)).unwrap_err() {
        ReplayError::Map { map, error } => {
            assert_eq!(map, "hall:assets/main.dh-map");
            error
        }
        error @ ReplayError::Journal(_) => panic!("{error}"),
    };
    // Nothing of it can be changed unseen, wherever that is.
    for at in (0..bytes.len()).step_by(bytes.len() / 97) {
        let mut altered = bytes.to_vec();
        altered[at] ^= 1;
        let came = replay(&journal, Some(&shelf_of(&altered)));
        assert!(matches!(came, Ok(it) if it == replayed) || came.is_err(), "byte {at}: {came:?}");
    }
    let mut altered = bytes.to_vec();
    altered[200] ^= 1;
    assert!(matches!(refused(&shelf_of(&altered)), MapError::Damaged(_)));
    assert!(matches!(refused(&shelf_of(&bytes[..bytes.len() / 2])), MapError::Damaged(_)));
    let other = dh_compile::build_bundled(dh_compile::core_sources()).unwrap();
    let missing = refused(&shelf_of(&other));
    assert!(matches!(missing, MapError::Missing(_)), "{missing}");
    assert!(missing.to_string().starts_with("no pallet 'hall' with root "), "{missing}");
}

#[test]
fn what_is_no_journal_is_refused_in_one_line() {
    let refused = replay(b"{\"traceEvents\":[]}", None).unwrap_err().to_string();
    assert!(refused.starts_with("byte 0: expected a journal"), "{refused}");
}
