//! The thin path through everything: one peer joins, walks and is where the server says it is.

use dh_machine::Micros;
use dh_scenario::{PeerSetup, Scenario, ServerSetup, Transport, World};

/// JOIN-22
#[test]
fn one_headless_peer_joins_and_walks_in_the_gray_box() {
    for transport in [Transport::Memory, Transport::Quic] {
        let scenario = Scenario::new("one peer joins and walks", 1).transport(transport).closely();
        let report = scenario.run(async |world: &mut World| {
            let server = world.server(ServerSetup::default());
            let ada = world.peer(PeerSetup::new("ada"));
            world.join(ada, server);
            let plays = |world: &World| world.is_playing(ada);
            world.expect_within(Micros::from_secs(2), "ada plays", plays).await;
            world.walk(ada, 0, 127);
            world.run_for(Micros::from_secs(2)).await;
            let records = world.records();
            let session = records.server(server).session_of("ada").unwrap();
            assert!(session.applied.len() > 100 && session.starved.is_empty());
            let peer = records.peer(ada);
            assert!(peer.confirmed > 100 && peer.corrections.is_empty(), "{:?}", peer.corrections);
            assert_eq!(peer.lines, ["ada joined"]);
        });
        report.assert_passed();
    }
}
