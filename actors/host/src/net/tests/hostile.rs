//! Hostile peers: bounded, told, and nobody else's loss.

use std::net::UdpSocket;
use std::sync::Arc;

use super::ear::{
    BOTH, Ear, Joined, Over, Told, dial, identity, join, listen, lossy, real, simulated, sleep_ms,
    welcome,
};
use crate::net::configs::Source;
use crate::net::{By, Congestion, Dialed, Links, Net, code};

/// A client of its own making on the simulated network, past the handshake.
async fn raw(net: &Net, joined: &Joined) -> quinn::Connection {
    let network = net.network().unwrap();
    let source = Source::of(Some(network));
    let socket = network.bind(network.next_address(), lossy(5, 0, 0)).unwrap();
    let quinn = quinn::Endpoint::new_with_abstract_socket(
        source.endpoint(),
        None,
        socket,
        Arc::new(quinn::TokioRuntime),
    )
    .unwrap();
    let (config, _) = source.client(&identity(66), None, Congestion::Bbr).unwrap();
    let address = joined.endpoint.address();
    quinn.connect_with(config, address, "driftholm").unwrap().await.unwrap()
}

/// Let one more in; its connection at the server with an ear.
fn admit(net: &Net, joined: &Joined) -> tokio::task::JoinHandle<(crate::net::Connection, Ear)> {
    let (endpoint, knocks) = (joined.endpoint.clone(), joined.knocks.clone());
    let ear = Ear::new(net);
    net.shared.handle.spawn(async move {
        let connection = welcome(&endpoint, &knocks).await;
        connection.deliver(ear.events());
        (connection, ear)
    })
}

#[test]
fn a_huge_announced_length_ends_the_connection_as_unreadable() {
    simulated(1, async |net| {
        let joined = join(&net, Over::Quic, Links::IDEAL).await;
        let admitted = admit(&net, &joined);
        let hostile = raw(&net, &joined).await;
        let (_server, ear) = admitted.await.unwrap();
        let (mut send, _recv) = hostile.open_bi().await.unwrap();
        send.write_all(&[0, 0, 0, 0, 5, 0xff, 0xff, 0xff, 0x7f, 1, 2, 3]).await.unwrap();
        let (closed, before) = ear.closed().await;
        assert_eq!((closed.by, closed.code), (By::Local, code::UNREADABLE));
        assert_eq!(closed.reason, b"announced a message of 2147483647 bytes");
        assert!(matches!(&before[..], [Told::Message((5, _))]), "{before:?}");
        let told = hostile.closed().await.to_string();
        assert!(told.contains("announced a message"), "{told}");
        joined.client.send(1, b"undisturbed").unwrap();
        assert!(matches!(joined.server_ear.next().await, Told::Message(_)));
    });
}

#[test]
fn a_second_stream_or_one_towards_the_client_cannot_be_opened() {
    simulated(2, async |net| {
        let joined = join(&net, Over::Quic, Links::IDEAL).await;
        let admitted = admit(&net, &joined);
        let hostile = raw(&net, &joined).await;
        let (server, ear) = admitted.await.unwrap();
        let (mut send, mut recv) = hostile.open_bi().await.unwrap();
        send.write_all(&[0, 0, 0, 0, 5]).await.unwrap();
        ear.next().await;
        let second = async {
            let _ = hostile.open_bi().await;
        };
        let third = async {
            let _ = hostile.open_uni().await;
        };
        for opened in [
            tokio::time::timeout(std::time::Duration::from_secs(5), second).await.is_ok(),
            tokio::time::timeout(std::time::Duration::from_secs(5), third).await.is_ok(),
        ] {
            assert!(!opened);
        }
        server.send(1, b"answer").unwrap();
        let mut answer = [0; 11];
        recv.read_exact(&mut answer).await.unwrap();
        assert_eq!(answer, *b"\x06\0\0\0\x01answer");
    });
}

#[test]
fn a_stream_that_is_reset_ends_the_messages_and_not_the_connection() {
    simulated(3, async |net| {
        let joined = join(&net, Over::Quic, Links::IDEAL).await;
        let admitted = admit(&net, &joined);
        let hostile = raw(&net, &joined).await;
        let (server, ear) = admitted.await.unwrap();
        let (mut send, mut recv) = hostile.open_bi().await.unwrap();
        send.write_all(&[0, 0, 0, 0, 5]).await.unwrap();
        ear.next().await;
        send.reset(quinn::VarInt::from_u32(7)).unwrap();
        recv.stop(quinn::VarInt::from_u32(7)).unwrap();
        sleep_ms(100).await;
        let _ = server.send(1, b"into the void");
        server.close(2, b"go away");
        let (closed, _) = ear.closed().await;
        assert_eq!((closed.by, closed.code), (By::Local, 2));
        assert!(hostile.closed().await.to_string().contains("go away"));
    });
}

#[test]
fn a_flood_of_datagrams_stays_within_the_buffers() {
    simulated(4, async |net| {
        let joined = join(&net, Over::Quic, Links::IDEAL).await;
        let admitted = admit(&net, &joined);
        let hostile = raw(&net, &joined).await;
        let (server, ear) = admitted.await.unwrap();
        for _ in 0..300 {
            for _ in 0..30 {
                let _ = hostile.send_datagram(bytes::Bytes::from(vec![0xee; 1_000]));
            }
            sleep_ms(1).await;
        }
        joined.client.send(1, b"undisturbed").unwrap();
        assert!(matches!(joined.server_ear.next().await, Told::Message(_)));
        let heard = std::iter::from_fn(|| ear.take()).count();
        assert!(heard > 0);
        assert_eq!(server.stats().datagrams_refused, 0);
    });
}

#[test]
fn garbage_before_and_during_the_handshake_hurts_nobody() {
    real(async |net| {
        let (endpoint, knocks) = listen(&net);
        let hostile = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut word = 1_u64;
        let mut garbage = |length: usize, first: u8| -> Vec<u8> {
            let mut bytes = vec![0; length];
            for byte in &mut bytes {
                word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                *byte = word.to_be_bytes()[0];
            }
            if let Some(byte) = bytes.first_mut() {
                *byte = first;
            }
            bytes
        };
        for length in [0, 1, 5, 20, 100, 1_199, 1_200, 1_472, 9_000] {
            for first in [0x00, 0x40, 0x80, 0xc0, 0xd0, 0xe0, 0xf0, 0xff] {
                hostile.send_to(&garbage(length, first), endpoint.address()).unwrap();
                let mut versioned = garbage(length, first);
                if let Some(version) = versioned.get_mut(1..5) {
                    version.copy_from_slice(&[0, 0, 0, 1]);
                }
                hostile.send_to(&versioned, endpoint.address()).unwrap();
            }
        }
        sleep_ms(50).await;
        while knocks.take().is_some() {}
        let ear = Ear::new(&net);
        net.dial(super::ear::dial_options(&endpoint, Over::Quic), ear.dialed());
        let _server = welcome(&endpoint, &knocks).await;
        assert!(matches!(ear.next().await, Told::Dialed(Dialed::Connected(_))));
    });
}

#[test]
fn a_reader_that_never_reads_holds_up_only_itself() {
    for over in BOTH {
        simulated(5, async |net| {
            let joined = join(&net, over, Links::IDEAL).await;
            let deaf = dial_again(&net, &joined, over).await;
            let body = vec![0; 50_000];
            joined.client.send(1, b"hello").unwrap();
            deaf.0.send(1, b"hello").unwrap();
            sleep_ms(50).await;
            let mut sent = 0;
            while deaf.1.send(1, &body).is_ok() {
                joined.server.send(2, b"beat").unwrap();
                sleep_ms(1).await;
                sent += 1;
            }
            assert!(sent * body.len() <= (4 << 20) + (4 << 20), "{over:?}");
            let beats = std::iter::from_fn(|| joined.client_ear.take()).count();
            assert!(beats + 5 >= sent, "{over:?}: {beats} of {sent}");
        });
    }
}

/// One more client, whose events nobody reads; and its server's end.
async fn dial_again(
    net: &Net,
    joined: &Joined,
    over: Over,
) -> (crate::net::Connection, crate::net::Connection) {
    let admitted = admit(net, joined);
    let client = dial(net, super::ear::dial_options(&joined.endpoint, over)).await.unwrap();
    let (server, _) = admitted.await.unwrap();
    (client, server)
}
