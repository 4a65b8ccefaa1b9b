//! Reliable messages: whole, in order, bounded.

use super::ear::{BOTH, Ear, Over, Told, join, join_with, lossy, real, simulated, sleep_ms};
use crate::net::{By, Links, SendError, code, limit};

/// The bodies of `count` messages, of many lengths.
fn bodies(count: u32) -> Vec<Vec<u8>> {
    let body = |n: u32| {
        let length = [0, 4, 40, 1_400, 9_000][n as usize % 5];
        let mut body = vec![n.to_le_bytes()[0]; length];
        body.extend(n.to_le_bytes());
        body
    };
    (0..count).map(body).collect()
}

async fn messages(ear: &Ear, count: usize) -> Vec<(u8, Vec<u8>)> {
    let mut heard = Vec::new();
    while heard.len() < count {
        if let Told::Message((id, body)) = ear.next().await {
            heard.push((id, body.to_vec()));
        }
    }
    heard
}

/// PLAT-03
#[test]
fn a_thousand_mixed_messages_arrive_in_sending_order_under_ten_percent_loss() {
    for over in BOTH {
        simulated(3, async |net| {
            let joined = join(&net, over, lossy(30, 10, 100_000)).await;
            let sent = bodies(1_000);
            for body in &sent {
                joined.client.send(7, body).unwrap();
                joined.server.send(7, body).unwrap();
                sleep_ms(2).await;
            }
            for ear in [&joined.server_ear, &joined.client_ear] {
                let heard = messages(ear, sent.len()).await;
                assert!(heard.iter().map(|(_, body)| body).eq(&sent), "{over:?}");
            }
            assert!(joined.client.stats().packets_lost > 100, "the link did lose packets");
        });
    }
}

#[test]
fn the_largest_message_passes_and_a_larger_one_is_refused_by_its_sender() {
    for over in BOTH {
        simulated(1, async |net| {
            let joined = join(&net, over, Links::IDEAL).await;
            let (client, server_ear) = (&joined.client, &joined.server_ear);
            let body = vec![7; limit::BODY_MAX + 1];
            assert_eq!(client.send(1, &body), Err(SendError::TooLong));
            client.send(2, &body[1..]).unwrap();
            let heard = messages(server_ear, 1).await;
            assert_eq!(heard, [(2, body[1..].to_vec())], "{over:?}");
        });
    }
}

#[test]
fn a_full_port_stops_the_reader_and_loses_nothing() {
    for over in BOTH {
        simulated(2, async |net| {
            let small = |_| Ear::with_room(&net, 4);
            let joined = join_with(&net, over, Links::IDEAL, small).await;
            let sent = bodies(200);
            sent.iter().for_each(|body| joined.client.send(9, body).unwrap());
            sleep_ms(3_000).await;
            let heard = messages(&joined.server_ear, 200).await;
            assert!(heard.iter().map(|(_, body)| body).eq(&sent), "{over:?}");
        });
    }
}

#[test]
fn a_peer_that_never_reads_is_closed_as_too_slow_within_the_bound() {
    for over in BOTH {
        simulated(2, async |net| {
            let small = |_| Ear::with_room(&net, 4);
            let joined = join_with(&net, over, Links::IDEAL, small).await;
            let body = vec![1; 60_000];
            let mut taken = 0;
            let refused = loop {
                match joined.client.send(1, &body) {
                    Ok(()) => taken += body.len(),
                    Err(refused) => break refused,
                }
                sleep_ms(5).await;
            };
            assert_eq!(refused, SendError::TooSlow, "{over:?}");
            let windows = 3 * limit::STREAM_WINDOW as usize + 8 * body.len();
            assert!(taken <= (4 << 20) + windows, "{taken}");
            let (closed, _) = joined.client_ear.closed().await;
            assert_eq!((closed.by, closed.code), (By::Local, code::CLOSED));
            assert_eq!(closed.reason, b"reads too slowly");
            assert_eq!(joined.client.send(1, b""), Err(SendError::Closed));
        });
    }
}

#[test]
fn messages_pass_over_real_sockets() {
    real(async |net| {
        let joined = join(&net, Over::Quic, Links::IDEAL).await;
        for (n, body) in (0..).zip(bodies(50)) {
            joined.client.send(n, &body).unwrap();
            joined.server.send(n, &body).unwrap();
        }
        for ear in [&joined.server_ear, &joined.client_ear] {
            let heard = messages(ear, 50).await;
            assert!(heard.iter().map(|(_, body)| body).eq(&bodies(50)));
        }
    });
}
