//! The stream of blobs: in order, bounded, and out of the way of everything else.

use dh_machine::Micros;
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::ear::{BOTH, Ear, Joined, Over, Told, join, lossy, real, simulated, sleep_ms};
use crate::net::{BlobEvent, Connection, InMessage, Link, Links, Net, SendError, limit};

/// Both ends told of blobs, the client's port holding at most `room` frames.
fn hear_blobs(net: &Net, joined: &Joined, room: usize) -> (Ear, Ear) {
    let (client, server) = (Ear::with_room(net, room), Ear::new(net));
    joined.client.deliver_blobs(client.blobs());
    joined.server.deliver_blobs(server.blobs());
    (client, server)
}

fn frame(number: u32) -> Vec<u8> {
    let mut body = number.to_le_bytes().to_vec();
    body.resize(1_024, number.to_le_bytes()[0]);
    body
}

/// Send `count` frames and never let more than `window` wait.
async fn send_all(server: &Connection, ear: &Ear, count: u32, window: usize) {
    for number in 0..count {
        while server.blobs_waiting() >= window {
            assert!(matches!(ear.next().await, Told::Blob(BlobEvent::Room)));
        }
        server.send_blob(14, &frame(number)).unwrap();
    }
}

async fn hear(ear: &Ear, number: u32) {
    match ear.next().await {
        Told::Blob(BlobEvent::Frame(InMessage { id: 14, body })) => {
            assert_eq!(body[..], frame(number));
        }
        other => panic!("{other:?}"),
    }
}

/// MR-44, MR-59, D9
#[test]
fn frames_arrive_whole_and_in_order_on_links_that_lose_and_never_as_datagrams() {
    for over in BOTH {
        simulated(5, async |net| {
            let joined = join(&net, over, lossy(30, 10, 20_000)).await;
            let (client, server) = hear_blobs(&net, &joined, 10_000);
            send_all(&joined.server, &server, 3_000, 512).await;
            for number in 0..3_000 {
                hear(&client, number).await;
            }
            assert_eq!(joined.server.stats().datagrams_offered, 0, "{over:?}");
        });
    }
}

#[test]
fn frames_arrive_over_real_sockets() {
    real(async |net| {
        let joined = join(&net, Over::Quic, Links::IDEAL).await;
        let (client, server) = hear_blobs(&net, &joined, 10_000);
        send_all(&joined.server, &server, 2_000, 64).await;
        for number in 0..2_000 {
            hear(&client, number).await;
        }
        assert_eq!(joined.server.blobs_waiting(), 0);
    });
}

/// MR-50, MR-58
#[test]
fn a_reader_that_takes_no_blobs_fills_the_queue_and_holds_up_no_message() {
    for over in BOTH {
        simulated(6, async |net| {
            let joined = join(&net, over, Links::IDEAL).await;
            let (client, _server) = hear_blobs(&net, &joined, 4);
            joined.client.send(1, b"hello").unwrap();
            let mut sent = 0;
            while joined.server.send_blob(14, &frame(sent)) != Err(SendError::Full) {
                sent += 1;
                if sent.is_multiple_of(100) {
                    sleep_ms(10).await;
                }
            }
            assert_eq!(joined.server.blobs_waiting(), limit::BLOB_QUEUE_MAX);
            let held = usize::try_from(sent).unwrap() - limit::BLOB_QUEUE_MAX;
            assert!(held <= 2 * limit::BLOB_WINDOW as usize / 1_024, "{over:?}: {held} in flight");
            joined.server.send(9, b"quick").unwrap();
            loop {
                match joined.client_ear.next().await {
                    Told::Message((id, body)) => {
                        break assert_eq!((id, &body[..]), (9, &b"quick"[..]));
                    }
                    _ => continue,
                }
            }
            for number in 0..sent {
                hear(&client, number).await;
            }
        });
    }
}

/// MR-50: a message overtakes the half a mebibyte that waits for a slow link.
#[test]
fn a_message_does_not_wait_for_the_blobs_that_were_sent_before_it() {
    simulated(8, async |net| {
        let down = Link { rate: 100_000, queue: Micros::from_millis(100), ..Link::IDEAL };
        let joined = join(&net, Over::Quic, Links { down, ..Links::IDEAL }).await;
        let (client, _server) = hear_blobs(&net, &joined, 10_000);
        joined.client.send(1, b"hello").unwrap();
        (0..512).for_each(|number| joined.server.send_blob(14, &frame(number)).unwrap());
        sleep_ms(1_000).await;
        joined.server.send(9, b"quick").unwrap();
        sleep_ms(500).await;
        assert!(matches!(joined.client_ear.take(), Some(Told::Message((9, _)))));
        for number in 0..512 {
            hear(&client, number).await;
        }
    });
}

/// Beside a stream that is read in order, as quinn reads it.
#[test]
fn a_lost_packet_holds_up_none_of_those_behind_it() {
    simulated(9, async |net| {
        let path = Link { latency: Micros::from_millis(50), ..Link::IDEAL };
        let queue = Micros::from_millis(100);
        let down = Link { loss_ppm: 5_000, rate: 12_500_000, queue, ..path };
        let links = Links { up: path, down };
        let joined = join(&net, Over::Quic, links).await;
        let (client, server) = hear_blobs(&net, &joined, 100_000);
        let began = Instant::now();
        send_all(&joined.server, &server, 16_384, 512).await;
        for number in 0..16_384 {
            hear(&client, number).await;
        }
        let ours = began.elapsed().as_secs_f64();
        let ordered = net.raw_stream(16_384 * 1_024, links).await.unwrap().as_secs_f64();
        assert!(ours < ordered * 0.8, "{ours} s, {ordered} s in order");
    });
}

#[test]
fn nothing_is_taken_once_the_connection_closes() {
    for over in BOTH {
        simulated(7, async |net| {
            let joined = join(&net, over, Links::IDEAL).await;
            let (_client, _server) = hear_blobs(&net, &joined, 10);
            joined.server.close(0, b"over");
            assert_eq!(joined.server.send_blob(14, b"late"), Err(SendError::Closed), "{over:?}");
            let too_long = vec![0; limit::BODY_MAX + 1];
            assert_eq!(joined.server.send_blob(14, &too_long), Err(SendError::TooLong));
        });
    }
}

#[test]
fn nobody_reads_blobs_once_the_connection_has_ended() {
    for over in BOTH {
        let left_by = |reads: bool| {
            simulated(10, async |net| {
                let joined = join(&net, over, Links::IDEAL).await;
                let _ears = reads.then(|| hear_blobs(&net, &joined, 10));
                joined.server.close(0, b"over");
                joined.client_ear.closed().await;
                joined.server_ear.closed().await;
                sleep_ms(60_000).await;
                Handle::current().metrics().num_alive_tasks()
            })
        };
        assert_eq!(left_by(true), left_by(false), "{over:?}");
    }
}
