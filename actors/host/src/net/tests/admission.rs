//! Admission: knocks and verdicts, and handshakes that come to nothing.

use std::net::SocketAddr;
use std::sync::Arc;

use dh_machine::Micros;

use super::ear::{
    Ear, Over, Told, dial_options, identity, listen, lossy, simulated, sleep_ms, welcome,
};
use crate::net::configs::Source;
use crate::net::{
    Congestion, Dialed, Incoming, Knock, Remote, SimulatedNetwork, Target, Verdict, Whose,
};

async fn knock(knocks: &Ear) -> Incoming {
    match knocks.next().await {
        Told::Knock(Knock::Incoming(incoming)) => incoming,
        other => panic!("no knock: {other:?}"),
    }
}

#[test]
fn an_arrival_told_to_retry_comes_back_validated_and_can_then_be_accepted() {
    simulated(1, async |net| {
        let (endpoint, knocks) = listen(&net);
        let ear = Ear::new(&net);
        net.dial(dial_options(&endpoint, Over::Quic), ear.dialed());
        let first = knock(&knocks).await;
        assert!(!first.validated);
        endpoint.answer(first.id, Verdict::Retry);
        let second = knock(&knocks).await;
        assert!(second.validated && second.id != first.id);
        assert_eq!(second.remote, first.remote);
        endpoint.answer(second.id, Verdict::Accept);
        let Told::Knock(Knock::Arrived { id, connection }) = knocks.next().await else {
            panic!("did not arrive");
        };
        assert_eq!((id, connection.remote()), (second.id, first.remote));
        assert!(matches!(ear.next().await, Told::Dialed(Dialed::Connected(_))));
        // An answer to a number that is gone, or never was, is left alone.
        endpoint.answer(first.id, Verdict::Accept);
        endpoint.answer(999, Verdict::Retry);
    });
}

#[test]
fn an_ignored_arrival_hears_nothing_at_all() {
    simulated(2, async |net| {
        let (endpoint, knocks) = listen(&net);
        let ear = Ear::new(&net);
        net.dial(dial_options(&endpoint, Over::Quic), ear.dialed());
        net.network().unwrap().keep_records(true);
        for _ in 0..3 {
            let incoming = knock(&knocks).await;
            endpoint.answer(incoming.id, Verdict::Ignore);
        }
        let records = net.network().unwrap().take_records();
        assert!(records.iter().all(|record| record.from != endpoint.address()), "{records:?}");
    });
}

#[test]
fn a_client_sends_its_first_packet_again_within_300_ms() {
    simulated(3, async |net| {
        let (endpoint, knocks) = listen(&net);
        let ear = Ear::new(&net);
        net.dial(dial_options(&endpoint, Over::Quic), ear.dialed());
        let first = knock(&knocks).await;
        endpoint.answer(first.id, Verdict::Ignore);
        let began = net.shared.clock.now();
        knock(&knocks).await;
        let after = net.shared.clock.now().since(began);
        assert!(after <= Micros::from_millis(300), "{after:?}");
    });
}

/// A client that says its first word and no other.
fn half_open(network: &SimulatedNetwork, to: SocketAddr) -> quinn::Endpoint {
    let source = Source::of(Some(network));
    let links = lossy(10, 0, 0);
    let socket = network.bind(network.next_address(), links).unwrap();
    let shaper = socket.shaper();
    let quinn = quinn::Endpoint::new_with_abstract_socket(
        source.endpoint(),
        None,
        socket,
        Arc::new(quinn::TokioRuntime),
    )
    .unwrap();
    let (config, _) = source.client(&identity(3), None, Congestion::Bbr).unwrap();
    let connecting = quinn.connect_with(config, to, "driftholm").unwrap();
    tokio::spawn(async move {
        sleep_ms(1).await;
        shaper.set(crate::net::Links::CUT);
        let _ = connecting.await;
    });
    quinn
}

#[test]
fn half_open_handshakes_by_the_hundred_each_end_after_three_seconds() {
    simulated(4, async |net| {
        let (endpoint, knocks) = listen(&net);
        let began = net.shared.clock.now();
        let network = net.network().unwrap();
        let mut clients = Vec::new();
        for _ in 0..300 {
            clients.push(half_open(network, endpoint.address()));
            // Slower than what the gate takes for a flood.
            sleep_ms(2).await;
        }
        let mut failed = 0;
        while failed < clients.len() {
            match knocks.next().await {
                Told::Knock(Knock::Incoming(incoming)) => {
                    endpoint.answer(incoming.id, Verdict::Accept);
                }
                Told::Knock(Knock::Failed(failure)) => {
                    assert_eq!(failure.why, "the handshake took too long");
                    failed += 1;
                }
                other => panic!("{other:?}"),
            }
        }
        let took = net.shared.clock.now().since(began);
        assert!(took < Micros::from_millis(4_300), "{took:?}");
    });
}

#[test]
fn knocks_that_nobody_answers_are_bounded_and_expire() {
    simulated(5, async |net| {
        let (endpoint, knocks) = listen(&net);
        let network = net.network().unwrap();
        let clients: Vec<_> = (0..40).map(|_| half_open(network, endpoint.address())).collect();
        sleep_ms(100).await;
        assert_eq!(endpoint.stats().knocks, 40);
        let stale = knock(&knocks).await;
        sleep_ms(4_000).await;
        let ear = Ear::new(&net);
        net.dial(dial_options(&endpoint, Over::Quic), ear.dialed());
        let _server = welcome(&endpoint, &knocks).await;
        assert_eq!(endpoint.stats().expired, 40);
        endpoint.answer(stale.id, Verdict::Accept);
        drop(clients);
    });
}

#[test]
fn a_listener_that_cannot_take_a_knock_lets_it_go() {
    simulated(6, async |net| {
        let (endpoint, knocks) = listen(&net);
        knocks.deafen();
        let ear = Ear::new(&net);
        net.dial(dial_options(&endpoint, Over::Quic), ear.dialed());
        net.dial(dial_options(&endpoint, Over::Memory), ear.dialed());
        sleep_ms(1_000).await;
        assert!(endpoint.stats().overflowed >= 2);
        assert!(ear.take().is_none());
    });
}

#[test]
fn while_told_to_shed_a_real_client_still_joins_within_a_second() {
    simulated(7, async |net| {
        let (endpoint, knocks) = listen(&net);
        endpoint.shed(true);
        let began = net.shared.clock.now();
        let mut options = dial_options(&endpoint, Over::Quic);
        options.links = lossy(40, 0, 0);
        let ear = Ear::new(&net);
        net.dial(options, ear.dialed());
        let first = knock(&knocks).await;
        assert!(first.validated, "whoever passes has to prove its address before it is a knock");
        endpoint.answer(first.id, Verdict::Accept);
        let _server = welcome(&endpoint, &knocks).await;
        assert!(matches!(ear.next().await, Told::Dialed(Dialed::Connected(_))));
        let took = net.shared.clock.now().since(began);
        assert!(took <= Micros::from_secs(1), "{took:?}");
        let stats = endpoint.stats();
        assert!(stats.shed >= 1 && stats.retried == 1, "{stats:?}");
        // Who is in is not shed.
        endpoint.shed(false);
    });
}

#[test]
fn a_guest_inside_the_process_comes_from_an_address_as_far_as_the_server_can_tell() {
    simulated(8, async |net| {
        let (endpoint, knocks) = listen(&net);
        let mut options = dial_options(&endpoint, Over::Memory);
        options.target = Target::Memory(endpoint.address(), Whose::Guest);
        let ear = Ear::new(&net);
        net.dial(options, ear.dialed());
        let incoming = knock(&knocks).await;
        assert!(matches!(incoming.remote, Remote::Udp(_)), "{:?}", incoming.remote);
        let before = incoming.remote;
        endpoint.answer(incoming.id, Verdict::Accept);
        let Told::Dialed(Dialed::Connected(client)) = ear.next().await else { panic!("refused") };
        let server = welcome(&endpoint, &knocks).await;
        assert_eq!((client.remote(), server.remote()), (Remote::Loopback, before));
    });
}

#[test]
fn inside_the_process_arrivals_are_asked_about_too() {
    simulated(8, async |net| {
        let (endpoint, knocks) = listen(&net);
        let ear = Ear::new(&net);
        net.dial(dial_options(&endpoint, Over::Memory), ear.dialed());
        let incoming = knock(&knocks).await;
        assert_eq!((incoming.remote, incoming.validated), (Remote::Loopback, true));
        assert!(ear.take().is_none());
        endpoint.answer(incoming.id, Verdict::Accept);
        assert!(matches!(ear.next().await, Told::Dialed(Dialed::Connected(_))));
    });
}

#[test]
fn two_thousand_and_forty_eight_knocks_may_wait_and_no_more() {
    simulated(9, async |net| {
        let (endpoint, knocks) = listen(&net);
        let ear = Ear::new(&net);
        let count = 2048 + 10;
        for _ in 0..count {
            net.dial(dial_options(&endpoint, Over::Memory), ear.dialed());
        }
        sleep_ms(10).await;
        let stats = endpoint.stats();
        assert_eq!(stats.knocks, 2048);
        assert_eq!(stats.overflowed, 10);
        assert!(knocks.take().is_some());
    });
}
