//! Stage: what the scenarios of a server begin with and ask for.

use dh_host::Runtime;
use dh_machine::Micros;
use dh_scenario::{PeerId, PeerSetup, Report, Scenario, ServerId, ServerSetup, Transport, World};

/// Both ways to reach a server.
pub(crate) const BOTH: [Transport; 2] = [Transport::Quic, Transport::Memory];
pub(crate) const SECOND: Micros = Micros::from_secs(1);

/// A world with one server, watched closely; whatever failed in it fails the test.
pub(crate) fn world(
    transport: Transport,
    setup: ServerSetup,
    course: impl AsyncFnOnce(&mut World, ServerId),
) -> Report {
    let scenario = Scenario::new("the course of this test", 11).transport(transport).closely();
    let report = scenario.run(async |world: &mut World| {
        let server = world.server(setup);
        course(world, server).await;
    });
    report.assert_passed();
    report
}

/// A peer of this name that plays.
pub(crate) async fn player(world: &mut World, server: ServerId, name: &str) -> PeerId {
    let peer = world.peer(PeerSetup::new(name));
    play(world, server, peer).await;
    peer
}

/// Have a peer play; its number.
pub(crate) async fn play(world: &mut World, server: ServerId, peer: PeerId) -> u8 {
    let before = world.records().peer(peer).spawns.len();
    world.join(peer, server);
    let spawned = |it: &World| before < it.records().peer(peer).spawns.len();
    world.expect_within(SECOND, "a peer plays", spawned).await;
    let records = world.records();
    records.peer(peer).spawns.last().unwrap().0
}

/// The answer to a line of the server's console.
pub(crate) async fn console(world: &mut World, server: ServerId, line: &str) -> String {
    let asked = world.console(server, line);
    world.run_for(Micros::from_millis(50)).await;
    let records = world.records();
    let answers = &records.server(server).answers;
    let answer = answers.iter().find(|(id, _)| *id == asked);
    answer.map(|(_, text)| text.clone()).unwrap_or_else(|| panic!("no answer to {line}"))
}

/// That nothing panicked in a world in which nothing was meant to.
pub(crate) fn nobody_panicked(runtime: &Runtime) {
    assert!(runtime.registry().reports().iter().all(|it| it.panics == 0));
    assert!(runtime.registry().endings().iter().all(|it| it.panic.is_none()));
}
