//! A simulated server's journal, played again outside its world.

use dh_client::Manner;
use dh_host::{Runtime, Simulation};
use dh_machine::Micros;

use super::*;
use crate::{PeerSetup, Scenario, ServerSetup, Transport, World};

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

#[test]
fn what_is_no_journal_is_refused_in_one_line() {
    let refused = replay(b"{\"traceEvents\":[]}", None).unwrap_err().to_string();
    assert!(refused.starts_with("byte 0: expected a journal"), "{refused}");
}
