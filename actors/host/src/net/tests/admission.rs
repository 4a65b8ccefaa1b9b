//! Admission: knocks and verdicts, handshakes that come to nothing, floods.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dh_machine::Micros;

use super::ear::{
    Ear, Over, Told, dial_options, identity, listen, lossy, real, simulated, sleep_ms, welcome,
};
use crate::net::configs::Source;
use crate::net::{
    Congestion, Dialed, Endpoint, Incoming, Knock, Remote, SimulatedNetwork, Verdict, limit,
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
        endpoint.answer(first.id, Verdict::Retry);
        let _server = welcome(&endpoint, &knocks).await;
        assert!(matches!(ear.next().await, Told::Dialed(Dialed::Connected(_))));
        let took = net.shared.clock.now().since(began);
        assert!(took <= Micros::from_secs(1), "{took:?}");
        assert!(endpoint.stats().shed >= 1);
        // Who is in is not shed.
        endpoint.shed(false);
    });
}

/// First packets from made-up loopback addresses, so many a second, until told to stop.
fn flood(to: SocketAddr, per_second: u64, stop: &AtomicBool) -> u64 {
    let socket = quinn::udp::UdpSocketState::new;
    let sender = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    let state = socket((&sender).into()).unwrap();
    let mut packet = vec![0_u8; 1200];
    packet[..7].copy_from_slice(&[0xc3, 0, 0, 0, 1, 8, 0]);
    let (began, mut sent) = (Instant::now(), 0);
    while !stop.load(Ordering::Relaxed) {
        let due = u64::try_from(began.elapsed().as_micros()).unwrap() * per_second / 1_000_000;
        while sent < due {
            sent += 1;
            let made_up = Ipv4Addr::from(0x7f01_0000 + u32::try_from(sent).unwrap());
            packet[6..14].copy_from_slice(&sent.to_be_bytes());
            packet[14] = 0;
            let transmit = quinn::udp::Transmit {
                destination: to,
                ecn: None,
                contents: &packet,
                segment_size: None,
                src_ip: Some(made_up.into()),
            };
            let _ = state.try_send((&sender).into(), &transmit);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    sent
}

/// Each answer is a Retry, a tenth of a first packet: so few of them keep the bytes out far below
/// three times the bytes in.
#[test]
fn ten_thousand_first_packets_a_second_cost_little_and_a_real_client_joins_meanwhile() {
    real(async |net| {
        let (endpoint, knocks) = listen(&net);
        let idle = cpu_share(answer_all(&endpoint, &knocks, Duration::from_millis(500))).await.0;
        let stop = Arc::new(AtomicBool::new(false));
        let (to, told) = (endpoint.address(), Arc::clone(&stop));
        let flooder = std::thread::spawn(move || flood(to, 10_000, &told));
        let retried = answer_all(&endpoint, &knocks, Duration::from_millis(500)).await;
        let flooded = cpu_share(answer_all(&endpoint, &knocks, Duration::from_secs(2))).await;
        // What this test's own listening costs is no part of it.
        let (share, retried) = (flooded.0 - idle, retried + flooded.1);
        let ear = Ear::new(&net);
        let began = Instant::now();
        net.dial(dial_options(&endpoint, Over::Quic), ear.dialed());
        let joined = loop {
            answer_all(&endpoint, &knocks, Duration::from_millis(2)).await;
            if let Some(Told::Dialed(Dialed::Connected(_))) = ear.take() {
                break began.elapsed();
            }
            assert!(began.elapsed() < Duration::from_secs(10), "no join");
        };
        stop.store(true, Ordering::Relaxed);
        let sent = flooder.join().unwrap();
        let shed = endpoint.stats().shed;
        println!("{sent} sent, {shed} shed, {retried} answered, {share:.3} of a core, {joined:?}");
        assert!(shed * 10 > sent * 9, "{shed} of {sent}");
        assert!(retried * 100 < sent, "{retried} of {sent} were answered");
        assert!(share <= 0.05, "{share} of a core");
        assert!(joined <= Duration::from_secs(1), "{joined:?}");
    });
}

/// Answer as a listener under load does; how many were answered.
async fn answer_all(endpoint: &Endpoint, knocks: &Ear, span: Duration) -> u64 {
    let (began, mut answered) = (Instant::now(), 0);
    while began.elapsed() < span {
        while let Some(told) = knocks.take() {
            let Told::Knock(Knock::Incoming(incoming)) = told else { continue };
            let verdict = if incoming.validated { Verdict::Accept } else { Verdict::Retry };
            endpoint.answer(incoming.id, verdict);
            answered += 1;
        }
        sleep_ms(1).await;
    }
    answered
}

/// Which part of a core this thread used while it waited for something.
async fn cpu_share<T>(something: impl Future<Output = T>) -> (f64, T) {
    let (cpu, wall) = (thread_cpu(), Instant::now());
    let output = something.await;
    ((thread_cpu() - cpu).as_secs_f64() / wall.elapsed().as_secs_f64(), output)
}

fn thread_cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_nsec).unwrap())
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
fn the_bound_on_waiting_knocks_is_named_and_held() {
    simulated(9, async |net| {
        let (endpoint, knocks) = listen(&net);
        let ear = Ear::new(&net);
        let count = limit::KNOCKS_MAX + 10;
        for _ in 0..count {
            net.dial(dial_options(&endpoint, Over::Memory), ear.dialed());
        }
        sleep_ms(10).await;
        let stats = endpoint.stats();
        assert_eq!(stats.knocks, limit::KNOCKS_MAX as u64);
        assert_eq!(stats.overflowed, 10);
        assert!(knocks.take().is_some());
    });
}
