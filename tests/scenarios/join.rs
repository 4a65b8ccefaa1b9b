//! Joining, walking, leaving.

use dh_client::Manner;
use dh_host::net::{Link, Links};
use dh_machine::Micros;
use dh_scenario::{PeerSetup, Scenario, ServerSetup, Transport, World};

/// JOIN-22
#[test]
fn one_headless_peer_joins_and_walks_in_the_gray_box() {
    for transport in [Transport::Memory, Transport::Quic] {
        let report = Scenario::new("one peer joins and walks", 1).transport(transport).closely().run(
            async |world: &mut World| {
                let server = world.server(ServerSetup::default());
                let ada = world.peer(PeerSetup::new("ada"));
                world.join(ada, server);
                world
                    .expect_within(Micros::from_secs(2), "ada plays", |world| world.is_playing(ada))
                    .await;
                world.walk(ada, 0, 127);
                world.run_for(Micros::from_secs(2)).await;
                let records = world.records();
                eprintln!("{:?}", records.peer(ada).state);
                eprintln!("{:?}", records.server(server).sessions.values().next().map(|s| (s.applied.len(), s.starved.len())));
                eprintln!("{:?} corr {:?}", records.peer(ada).confirmed, records.peer(ada).corrections);
                eprintln!("{:?}", records.peer(ada).clock.last());
                eprintln!("{:?}", records.peer(ada).lines);
            },
        );
        eprintln!("{:?} speed {} split {:?} hashes {:?}", transport, report.speed(), report.split, report.hashes);
        report.assert_passed();
    }
    let _ = (Manner::Idle, Link::IDEAL, Links::IDEAL);
}
