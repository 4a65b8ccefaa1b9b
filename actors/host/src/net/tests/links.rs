//! Link models on real sockets and inside the process.

use bytes::Bytes;
use dh_machine::Micros;

use super::ear::{
    BOTH, Ear, Over, Told, dial_options, join, listen, lossy, real, simulated, sleep_ms, welcome,
};
use crate::net::link::Fate;
use crate::net::shaper::{Isolated, Shaper, Way};
use crate::net::{By, Links};

#[test]
fn a_link_delays_and_loses_on_real_sockets_too() {
    real(async |net| {
        let joined = join(&net, Over::Quic, lossy(30, 5, 100_000)).await;
        for number in 0..100_u8 {
            joined.client.send(1, &[number]).unwrap();
            joined.client.send_datagrams([Bytes::from(vec![number; 50])]);
            sleep_ms(5).await;
        }
        sleep_ms(1_500).await;
        let (mut messages, mut datagrams) = (0, 0);
        while let Some(told) = joined.server_ear.take() {
            match told {
                Told::Message((_, body)) => {
                    assert_eq!(body[..], [messages]);
                    messages += 1;
                }
                Told::Datagram(_) => datagrams += 1,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(messages, 100);
        assert!((70..100).contains(&datagrams), "{datagrams}");
        let rtt = joined.client.rtt().unwrap();
        assert!(rtt >= Micros::from_millis(50), "{rtt:?}");
    });
}

#[test]
fn what_an_isolated_end_loses_shifts_no_draw_of_what_comes_after() {
    let [near, far] = ["10.1.0.1:5000", "10.0.0.1:27015"].map(|it| it.parse().unwrap());
    let isolated = Isolated::default();
    let path = |isolated: &Isolated| {
        let links = lossy(50, 9, 300_000);
        Shaper::new(links, 7, "path", near, isolated.clone())
    };
    let (whole, torn) = (path(&Isolated::default()), path(&isolated));
    for number in 0..300 {
        let is_isolated = (100..200).contains(&number);
        isolated.set(far, is_isolated);
        let carry = |path: &Shaper| path.carry(Way::Up, far, Micros(0), 100);
        let (whole, torn) = (carry(&whole), carry(&torn));
        assert_eq!(torn, if is_isolated { Fate::Lost } else { whole }, "{number}");
    }
}

#[test]
fn links_can_change_while_a_connection_lives() {
    for over in BOTH {
        simulated(1, async |net| {
            let joined = join(&net, over, Links::IDEAL).await;
            joined.client.set_links(lossy(250, 0, 0));
            let began = net.shared.clock.now();
            joined.client.send(1, b"slow").unwrap();
            joined.server_ear.next().await;
            let took = net.shared.clock.now().since(began);
            let expected = Micros::from_millis(250)..=Micros::from_millis(252);
            assert!(expected.contains(&took), "{over:?} {took:?}");
        });
    }
}

#[test]
fn the_path_of_whoever_dialled_from_an_address_can_be_cut_as_if_its_process_had_died() {
    for over in BOTH {
        simulated(4, async |net| {
            let (endpoint, knocks) = listen(&net);
            let mut options = dial_options(&endpoint, over);
            let from = "10.7.7.7:5000".parse().unwrap();
            options.from = Some(from);
            let ear = Ear::new(&net);
            net.dial(options, ear.dialed());
            let server = welcome(&endpoint, &knocks).await;
            server.deliver(ear.events());
            let client = ear.next().await;
            assert!(net.set_links(from, Links::CUT));
            sleep_ms(100).await;
            // Dropping the client's end says goodbye, but nobody hears it.
            drop(client);
            let (closed, _) = ear.closed().await;
            assert_eq!(closed.by, By::Timeout, "{over:?}");
            drop(server);
            sleep_ms(10_000).await;
            assert!(!net.set_links(from, Links::IDEAL), "the path is forgotten");
        });
    }
}

#[test]
fn a_short_cut_is_survived_and_nothing_reliable_is_lost() {
    for over in BOTH {
        simulated(2, async |net| {
            let joined = join(&net, over, lossy(20, 0, 0)).await;
            for number in 0..60_u8 {
                match number {
                    10 => joined.client.set_links(Links::CUT),
                    40 => joined.client.set_links(lossy(20, 0, 0)),
                    _ => (),
                }
                joined.client.send(1, &[number]).unwrap();
                sleep_ms(100).await;
            }
            for number in 0..60_u8 {
                let told = joined.server_ear.next().await;
                assert!(
                    matches!(&told, Told::Message((1, body)) if body[..] == [number]),
                    "{over:?} {told:?}"
                );
            }
        });
    }
}

#[test]
fn the_round_trip_is_that_of_the_links() {
    for over in BOTH {
        simulated(3, async |net| {
            let joined = join(&net, over, lossy(60, 0, 0)).await;
            sleep_ms(3_000).await;
            let rtt = joined.client.rtt().unwrap();
            let expected = Micros::from_millis(119)..=Micros::from_millis(150);
            assert!(expected.contains(&rtt), "{over:?} {rtt:?}");
        });
    }
}

#[test]
fn each_end_knows_its_player_and_how_long_its_peer_is_silent_though_neither_has_a_word_to_say() {
    for over in BOTH {
        simulated(5, async |net| {
            let joined = join(&net, over, lossy(20, 0, 0)).await;
            joined.server.carries("ada");
            sleep_ms(6_000).await;
            let live = net.connections().live;
            let silent = || {
                let now = net.shared.clock.now();
                let since = |face: &crate::net::Face| now.since(face.heard().unwrap()).0 / 1_000;
                live.iter().map(|(_, face, _)| since(face)).collect::<Vec<_>>()
            };
            assert!(silent().iter().all(|ms| *ms < 1_100), "{over:?} {:?}", silent());
            let mut ends: Vec<_> =
                live.iter().map(|(_, face, _)| (face.end().name(), face.player())).collect();
            ends.sort();
            assert_eq!(ends, [("client", None), ("server", Some("ada".into()))]);
            joined.client.set_links(Links::CUT);
            sleep_ms(4_000).await;
            let all = silent();
            assert!(all.len() == 2 && all.iter().all(|ms| (3_900..5_100).contains(ms)), "{all:?}");
        });
    }
}
