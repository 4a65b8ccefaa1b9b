//! Endings: told with who, code and reason, in bounded time.

use dh_machine::Micros;

use super::ear::{
    BOTH, Over, Told, dial, dial_options, identity, join, listen, lossy, real, simulated, sleep_ms,
    welcome,
};
use crate::net::{By, Links, NetEvent};

/// OQ-24
#[test]
fn the_last_message_arrives_before_the_close_with_its_code_even_under_loss() {
    for over in BOTH {
        let mut codes = 0;
        for seed in 0..20 {
            simulated(seed, async |net| {
                let joined = join(&net, over, lossy(40, 10, 100_000)).await;
                sleep_ms(200).await;
                joined.client.send(1, b"hello").unwrap();
                sleep_ms(500).await;
                joined.server.send(52, b"too many cooks").unwrap();
                joined.server.close(2, b"told");
                let (closed, before) = joined.client_ear.closed().await;
                assert_eq!(closed.by, By::Peer, "{over:?} {seed}");
                // The close frame itself may be lost; the message before it never is.
                assert!(closed.code == 2 && closed.reason == b"told" || closed.reason.is_empty());
                codes += u32::from(closed.code == 2);
                assert!(
                    matches!(&before[..], [Told::Message((52, body))] if body == "too many cooks"),
                    "{over:?} {seed}: {before:?}"
                );
                let (closed, _) = joined.server_ear.closed().await;
                assert_eq!((closed.by, closed.code), (By::Local, 2));
            });
        }
        assert!(codes >= 17, "{over:?} {codes}");
    }
}

/// OQ-24
#[test]
fn closing_towards_a_dead_peer_ends_within_the_flush_bound() {
    for over in BOTH {
        simulated(4, async |net| {
            let joined = join(&net, over, Links::IDEAL).await;
            joined.client.set_links(Links::CUT);
            let began = net.shared.clock.now();
            joined.server.send(52, b"reason").unwrap();
            joined.server.close(2, b"reason");
            net.settle().await;
            let (closed, _) = joined.server_ear.closed().await;
            assert_eq!(closed.by, By::Local);
            let took = net.shared.clock.now().since(began);
            let bound = Micros::from_millis(500 + 10);
            assert!(took <= bound, "{over:?} {took:?}");
        });
    }
}

/// PLAT-17, OQ-23
#[test]
fn a_cut_link_ends_both_ends_as_timed_out_after_the_idle_time() {
    for over in BOTH {
        simulated(5, async |net| {
            let joined = join(&net, over, lossy(20, 0, 0)).await;
            sleep_ms(5_000).await;
            joined.client.set_links(Links::CUT);
            let cut = net.shared.clock.now();
            for ear in [&joined.client_ear, &joined.server_ear] {
                let (closed, _) = ear.closed().await;
                assert_eq!(closed.by, By::Timeout, "{over:?}");
                let after = net.shared.clock.now().since(cut);
                let idle = Micros::from_secs(10);
                assert!(idle.since(Micros::from_millis(1_100)) <= after, "{over:?} {after:?}");
                assert!(after <= idle + Micros::from_millis(1_100), "{over:?} {after:?}");
            }
        });
    }
}

/// PLAT-17
#[test]
fn a_silent_connection_is_kept_alive() {
    for over in BOTH {
        simulated(6, async |net| {
            let joined = join(&net, over, lossy(100, 0, 20_000)).await;
            joined.client.send(1, b"hello").unwrap();
            sleep_ms(60_000).await;
            joined.server.send(1, b"still here").unwrap();
            sleep_ms(1_000).await;
            let told = joined.client_ear.take();
            assert!(matches!(told, Some(Told::Message((1, _)))), "{over:?} {told:?}");
        });
    }
}

#[test]
fn a_connection_that_nobody_holds_is_closed() {
    for over in BOTH {
        simulated(7, async |net| {
            let joined = join(&net, over, Links::IDEAL).await;
            let again = joined.client.clone();
            drop(joined.client);
            sleep_ms(100).await;
            assert!(joined.server_ear.take().is_none(), "a clone is left");
            drop(again);
            let (closed, _) = joined.server_ear.closed().await;
            assert_eq!((closed.by, closed.code), (By::Peer, 0), "{over:?}");
        });
    }
}

#[test]
fn the_first_close_counts_and_what_is_sent_after_it_is_refused() {
    for over in BOTH {
        simulated(8, async |net| {
            let joined = join(&net, over, lossy(10, 0, 0)).await;
            joined.client.close(4, b"first");
            joined.client.close(2, b"second");
            assert!(joined.client.send(1, b"late").is_err());
            let (closed, before) = joined.server_ear.closed().await;
            assert_eq!((closed.code, &closed.reason[..]), (4, &b"first"[..]), "{over:?}");
            assert!(before.is_empty());
        });
    }
}

#[test]
fn a_reason_is_cut_to_its_limit() {
    for over in BOTH {
        simulated(9, async |net| {
            let joined = join(&net, over, Links::IDEAL).await;
            joined.client.close(2, &[b'x'; 5_000]);
            let (closed, _) = joined.server_ear.closed().await;
            assert_eq!(closed.reason.len(), 512, "{over:?}");
        });
    }
}

/// OQ-24
#[test]
fn a_reason_survives_the_close_over_real_sockets() {
    real(async |net| {
        for _ in 0..20 {
            let joined = join(&net, Over::Quic, Links::IDEAL).await;
            joined.client.send(1, b"").unwrap();
            joined.server.send(52, b"reason").unwrap();
            joined.server.close(4, b"full");
            net.settle().await;
            let (closed, before) = joined.client_ear.closed().await;
            assert_eq!((closed.by, closed.code), (By::Peer, 4));
            assert!(matches!(&before[..], [Told::Message((52, _))]), "{before:?}");
        }
    });
}

#[test]
fn a_server_that_closes_before_the_client_spoke_still_tells_its_code() {
    simulated(10, async |net| {
        let (endpoint, knocks) = listen(&net);
        let ear = super::ear::Ear::new(&net);
        net.dial(dial_options(&endpoint, Over::Quic), ear.dialed());
        let server = welcome(&endpoint, &knocks).await;
        server.send(52, b"full").unwrap();
        server.close(4, b"full");
        let Told::Dialed(crate::net::Dialed::Connected(client)) = ear.next().await else {
            panic!("not connected");
        };
        let events = super::ear::Ear::new(&net);
        client.deliver(events.events());
        let (closed, _) = events.closed().await;
        assert_eq!((closed.by, closed.code), (By::Peer, 4));
    });
}

#[test]
fn an_owner_that_is_gone_does_not_keep_the_reader() {
    simulated(11, async |net| {
        let joined = join(&net, Over::Quic, Links::IDEAL).await;
        joined.server_ear.deafen();
        joined.client.send(1, b"to nobody").unwrap();
        sleep_ms(100).await;
        joined.client.close(0, b"");
        let (closed, _) = joined.client_ear.closed().await;
        assert_eq!(closed.by, By::Local);
        assert_eq!(
            joined.server_ear.events().offer(NetEvent::Datagram(bytes::Bytes::new())).err(),
            Some(crate::port::Why::Closed)
        );
    });
}

#[test]
fn an_address_is_free_again_when_its_endpoint_and_connections_are_gone() {
    simulated(12, async |net| {
        let joined = join(&net, Over::Quic, Links::IDEAL).await;
        let address = joined.endpoint.address();
        drop(joined);
        sleep_ms(3_000).await;
        assert!(!net.network().unwrap().is_bound(address));
        let (endpoint, knocks) = listen(&net);
        let options = dial_options(&endpoint, Over::Quic);
        assert_eq!(options.identity.key(), identity(2).key());
        let dialling = dial(&net, options);
        let (client, server) = both(dialling, welcome(&endpoint, &knocks)).await;
        assert_eq!(client.unwrap().key(), Some(identity(1).key()));
        assert_eq!(server.key(), Some(identity(2).key()));
    });
}

/// Run two futures to their ends.
async fn both<A: Future, B: Future>(a: A, b: B) -> (A::Output, B::Output) {
    let (mut a, mut b) = (std::pin::pin!(a), std::pin::pin!(b));
    let (mut out_a, mut out_b) = (None, None);
    std::future::poll_fn(move |cx| {
        if out_a.is_none()
            && let std::task::Poll::Ready(out) = a.as_mut().poll(cx)
        {
            out_a = Some(out);
        }
        if out_b.is_none()
            && let std::task::Poll::Ready(out) = b.as_mut().poll(cx)
        {
            out_b = Some(out);
        }
        if out_a.is_some() && out_b.is_some() {
            return std::task::Poll::Ready((out_a.take().unwrap(), out_b.take().unwrap()));
        }
        std::task::Poll::Pending
    })
    .await
}
