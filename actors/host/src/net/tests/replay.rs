//! Replay: one seed, one run, byte for byte.

use bytes::Bytes;
use dh_machine::Micros;

use super::ear::{BOTH, Over, Told, identity, join, listen, lossy, real, simulated, sleep_ms};
use crate::net::configs::Source;
use crate::net::{Congestion, Knock, Link, Links, Net, Trace, Verdict};

/// A world in which everything happens: messages, datagrams, loss, reordering, a close.
fn world(seed: u64, over: Over, links: Links) -> Trace {
    simulated(seed, async |net| {
        let joined = join(&net, over, links).await;
        for number in 0..200_u32 {
            joined.client.send(1, &number.to_le_bytes()).unwrap();
            joined.server.send_datagrams((0..3).map(|_| Bytes::from(vec![1; 900])));
            joined.client.send_datagrams([Bytes::from(vec![2; 60])]);
            sleep_ms(17).await;
        }
        joined.server.close(2, b"done");
        joined.client_ear.closed().await;
        sleep_ms(500).await;
        trace(&net)
    })
}

fn trace(net: &Net) -> Trace {
    net.network().unwrap().trace()
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_does_not() {
    for over in BOTH {
        let links = lossy(60, 20, 20_000);
        let first = world(7, over, links);
        assert!(first.sent > 600 && first.lost > 10, "{first:?}");
        assert_eq!(world(7, over, links), first, "{over:?}");
        let other = world(8, over, links);
        assert_ne!((other.shape, other.bytes), (first.shape, first.bytes), "{over:?}");
    }
}

#[test]
fn worlds_on_threads_of_their_own_do_not_disturb_each_other() {
    let links = lossy(30, 10, 10_000);
    let alone: Vec<Trace> = (0..4).map(|seed| world(seed, Over::Quic, links)).collect();
    let threads: Vec<_> =
        (0..4).map(|seed| std::thread::spawn(move || world(seed, Over::Quic, links))).collect();
    let together: Vec<Trace> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(together, alone);
}

/// The one draw of quinn's BBR, taken from the system, must not show: a saturated link takes it
/// through all its modes.
#[test]
fn the_randomness_inside_the_congestion_controller_does_not_show() {
    let slow = Link {
        latency: Micros::from_millis(20),
        rate: 1_000_000,
        queue: Micros::from_secs(5),
        ..Link::IDEAL
    };
    let run = || {
        simulated(1, async |net| {
            let joined = join(&net, Over::Quic, Links::both(slow)).await;
            joined.client.send(1, b"").unwrap();
            for _ in 0..3_000 {
                joined.server.send_datagrams((0..4).map(|_| Bytes::from(vec![1; 1_000])));
                sleep_ms(2).await;
            }
            let stats = joined.server.stats();
            assert!(stats.datagrams_dropped > 100, "the window did not fill: {stats:?}");
            trace(&net)
        })
    };
    let first = run();
    assert!((0..6).all(|_| run() == first));
}

#[test]
fn a_world_that_ends_late_does_not_take_the_randomness_of_the_next() {
    let kept = simulated(1, async |net| net);
    simulated(2, async |net| {
        drop(kept);
        join(&net, Over::Quic, Links::IDEAL).await;
    });
}

#[test]
fn a_client_with_guessable_keys_cannot_reach_a_real_server() {
    let world = simulated(1, async |net| net);
    let source = Source::of(world.network());
    real(async |net| {
        let (endpoint, knocks) = listen(&net);
        let (config, _) = source.client(&identity(2), None, Congestion::Bbr).unwrap();
        let quinn = quinn::Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
        let connecting = quinn.connect_with(config, endpoint.address(), "driftholm").unwrap();
        let Told::Knock(Knock::Incoming(incoming)) = knocks.next().await else {
            panic!("no knock");
        };
        endpoint.answer(incoming.id, Verdict::Accept);
        let error = connecting.await.unwrap_err().to_string();
        assert!(error.contains("known protocol"), "{error}");
        assert!(matches!(knocks.next().await, Told::Knock(Knock::Failed(_))));
    });
}
