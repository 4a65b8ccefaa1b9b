//! Paths that are cut, healed, isolated, narrowed and moved while somebody plays over them.

use std::time::Duration;

use bytes::Bytes;
use dh_machine::Micros;

use super::ear::{
    BOTH, Ear, Joined, Over, Told, dial_options, join_at, listen, lossy, real, simulated, sleep_ms,
    welcome,
};
use crate::net::{
    Burst, ClientPath, Cut, Dialed, Link, Links, Net, PacketFate, RebindError, Remote, Trace,
};

/// A client behind the link model, its path in hand.
async fn join(net: &Net, over: Over, links: Links) -> (Joined, ClientPath) {
    let path = ClientPath::default();
    let (endpoint, knocks) = listen(net);
    let mut options = dial_options(&endpoint, over);
    (options.links, options.shaped, options.path) = (links, true, path.clone());
    let ear = Ear::new(net);
    net.dial(options, ear.dialed());
    let server = welcome(&endpoint, &knocks).await;
    let Told::Dialed(Dialed::Connected(client)) = ear.next().await else {
        panic!("not connected");
    };
    let (client_ear, server_ear) = (Ear::new(net), Ear::new(net));
    client.deliver(client_ear.events());
    server.deliver(server_ear.events());
    (Joined { endpoint, knocks, client, server, client_ear, server_ear }, path)
}

/// Datagrams each way for a while: how many arrive, up and down.
async fn arrive(joined: &Joined, count: u8, length: usize) -> (usize, usize) {
    for number in 0..count {
        joined.client.send_datagrams([Bytes::from(vec![number; length])]);
        joined.server.send_datagrams([Bytes::from(vec![number; length])]);
        sleep_ms(5).await;
    }
    sleep_ms(200).await;
    let heard = |ear: &Ear| std::iter::from_fn(|| ear.take()).count();
    (heard(&joined.server_ear), heard(&joined.client_ear))
}

/// One way at a time, then whole: what arrives says which.
async fn cut_and_heal(joined: &Joined, path: &ClientPath) {
    assert_eq!(arrive(joined, 20, 50).await, (20, 20));
    path.cut(Cut::UP);
    assert_eq!(arrive(joined, 20, 50).await, (0, 20));
    path.cut(Cut::DOWN);
    assert_eq!(arrive(joined, 20, 50).await, (20, 0));
    path.cut(Cut::BOTH);
    assert_eq!(path.what_is_cut(), Cut::BOTH);
    assert_eq!(arrive(joined, 20, 50).await, (0, 0));
    path.heal();
    assert_eq!(arrive(joined, 20, 50).await, (20, 20));
}

#[test]
fn each_way_of_a_path_is_cut_and_healed_by_itself() {
    for over in BOTH {
        simulated(1, async |net| {
            let (joined, path) = join(&net, over, Links::IDEAL).await;
            cut_and_heal(&joined, &path).await;
        });
    }
}

#[test]
fn a_real_path_that_began_ideal_is_cut_healed_and_relinked_too() {
    real(async |net| {
        let (joined, path) = join(&net, Over::Quic, Links::IDEAL).await;
        cut_and_heal(&joined, &path).await;
        path.set_links(lossy(40, 0, 0));
        let began = net.shared.clock.now();
        joined.client.send(1, b"slow").unwrap();
        joined.server_ear.next().await;
        assert!(net.shared.clock.now().since(began) >= Micros::from_millis(40));
    });
}

#[test]
fn links_that_change_while_a_path_is_cut_count_once_it_heals() {
    simulated(1, async |net| {
        let (joined, path) = join(&net, Over::Memory, lossy(10, 0, 0)).await;
        path.cut(Cut::BOTH);
        joined.client.set_links(lossy(70, 0, 0));
        joined.client.send_datagrams([Bytes::from_static(b"lost")]);
        path.heal();
        let began = net.shared.clock.now();
        joined.client.send_datagrams([Bytes::from_static(b"kept")]);
        let told = joined.server_ear.next().await;
        assert!(matches!(&told, Told::Datagram(bytes) if bytes[..] == *b"kept"), "{told:?}");
        let took = net.shared.clock.now().since(began);
        assert!((70_000..=72_000).contains(&took.0), "{took:?}");
    });
}

#[test]
fn a_dial_over_a_path_that_is_cut_comes_through_when_it_heals() {
    for over in BOTH {
        simulated(3, async |net| {
            let (endpoint, knocks) = listen(&net);
            let mut options = dial_options(&endpoint, over);
            let path = options.path.clone();
            path.cut(Cut::DOWN);
            options.path = path.clone();
            let ear = Ear::new(&net);
            net.dial(options, ear.dialed());
            let accepting = net.shared.handle.spawn({
                let (endpoint, knocks) = (endpoint.clone(), knocks.clone());
                async move { welcome(&endpoint, &knocks).await }
            });
            sleep_ms(600).await;
            assert!(ear.take().is_none(), "{over:?}");
            path.heal();
            assert!(matches!(ear.next().await, Told::Dialed(Dialed::Connected(_))), "{over:?}");
            drop(accepting.await.unwrap());
        });
    }
}

#[test]
fn an_isolated_server_is_reached_by_nobody_and_the_others_are() {
    for over in BOTH {
        simulated(2, async |net| {
            let (here, _) = join(&net, over, lossy(5, 0, 0)).await;
            let mut there = crate::net::ListenOptions::new(
                "10.0.0.2:27015".parse().unwrap(),
                super::ear::identity(1),
            );
            there.congestion = crate::net::Congestion::Bbr;
            let knocks = Ear::new(&net);
            let endpoint = net.listen(there, knocks.knocks()).unwrap();
            let room = |_| Ear::new(&net);
            let there = join_at(&net, over, lossy(5, 0, 0), room, (endpoint, knocks)).await;
            net.isolate(here.endpoint.address());
            assert_eq!(arrive(&here, 20, 50).await, (0, 0), "{over:?}");
            assert_eq!(arrive(&there, 20, 50).await, (20, 20), "{over:?}");
            net.reunite(here.endpoint.address());
            assert_eq!(arrive(&here, 20, 50).await, (20, 20), "{over:?}");
        });
    }
}

#[test]
fn a_real_server_can_be_isolated_from_those_behind_the_model() {
    real(async |net| {
        let (joined, _path) = join(&net, Over::Quic, Links::IDEAL).await;
        net.isolate(joined.endpoint.address());
        assert_eq!(arrive(&joined, 20, 50).await, (0, 0));
        net.reunite(joined.endpoint.address());
        assert_eq!(arrive(&joined, 20, 50).await, (20, 20));
    });
}

#[test]
fn datagrams_above_the_largest_packet_are_lost_and_messages_are_not() {
    for over in BOTH {
        simulated(4, async |net| {
            let (joined, path) = join(&net, over, lossy(5, 0, 0)).await;
            sleep_ms(2_000).await;
            let before = joined.client.datagram_max();
            assert_eq!(before, 1_200);
            path.set_links(Links::both(Link { mtu: 1_200, ..lossy(5, 0, 0).up }));
            assert_eq!(arrive(&joined, 20, 900).await, (20, 20), "{over:?}");
            joined.client.send(1, &[7; 30_000]).unwrap();
            // QUIC has to find out by losing; then it says so.
            sleep_ms(5_000).await;
            while joined.server_ear.take().is_some() {}
            for _ in 0..40 {
                joined.client.send_datagrams([Bytes::from(vec![1; 1_200])]);
                joined.client.send(2, &[7; 5_000]).unwrap();
                sleep_ms(100).await;
            }
            sleep_ms(1_000).await;
            let after = joined.client.datagram_max();
            assert!((1_100..1_200).contains(&after), "{over:?}: {after}");
            let mut messages = 0;
            while let Some(told) = joined.server_ear.take() {
                assert!(matches!(told, Told::Message(_)), "{over:?}: {told:?}");
                messages += 1;
            }
            assert_eq!(messages, 40, "{over:?}");
        });
    }
}

#[test]
fn copies_are_made_on_the_way_and_nobody_hears_a_thing_twice() {
    for over in BOTH {
        simulated(5, async |net| {
            let links = Links::both(Link { duplicate_ppm: 300_000, ..lossy(20, 10, 0).up });
            let (joined, _path) = join(&net, over, links).await;
            let network = net.network().unwrap();
            network.keep_records(true);
            joined.client.send(1, b"once").unwrap();
            let (up, down) = arrive(&joined, 100, 60).await;
            assert!((98..=101).contains(&up) && (97..=100).contains(&down), "{up} {down}");
            let records = network.take_records();
            let copied = |fate: PacketFate| matches!(fate, PacketFate::Copied(_));
            let copies = records.iter().filter(|record| copied(record.fate)).count();
            let share = copies * 100 / (records.len() - copies);
            assert!((22..38).contains(&share), "{over:?}: {share} %");
            assert!(network.trace().copied >= u64::try_from(copies).unwrap());
        });
    }
}

#[test]
fn of_two_copies_the_first_to_come_is_heard() {
    for over in BOTH {
        simulated(8, async |net| {
            let (joined, path) = join(&net, over, lossy(10, 0, 0)).await;
            // A copy is not held back as the packet itself is.
            let (reorder, every) = (Micros::from_secs(1), 1_000_000);
            let link = lossy(10, 0, 0).up;
            let link = Link { reorder_ppm: every, reorder, duplicate_ppm: every, ..link };
            path.set_links(Links::both(link));
            joined.client.send_datagrams([Bytes::from_static(b"once")]);
            sleep_ms(100).await;
            assert!(matches!(joined.server_ear.take(), Some(Told::Datagram(_))), "{over:?}");
        });
    }
}

#[test]
fn copies_arrive_on_real_sockets_as_well() {
    real(async |net| {
        let links = Links::both(Link { duplicate_ppm: 500_000, ..Link::IDEAL });
        let (joined, _path) = join(&net, Over::Quic, links).await;
        assert_eq!(arrive(&joined, 100, 60).await, (100, 100));
        let (sent, got) = (joined.server.stats(), joined.client.stats());
        let more = got.bytes_received as f64 / sent.bytes_sent as f64;
        assert!((1.25..1.75).contains(&more), "{more}");
    });
}

/// A peer whose address changes twice in mid session: the trace of it all.
fn moving(over: Over) -> Trace {
    simulated(6, async |net| {
        let links = Links::both(Link { burst: Burst::of(10_000, 3), ..lossy(30, 5, 0).up });
        let (joined, path) = join(&net, over, links).await;
        let network = net.network().unwrap();
        network.keep_records(true);
        let first = path.address().unwrap();
        let mut addresses = vec![first];
        for number in 0..600_u32 {
            if number == 200 || number == 400 {
                addresses.push(path.rebind().unwrap());
            }
            joined.client.send_datagrams([Bytes::from(number.to_le_bytes().to_vec())]);
            joined.server.send_datagrams([Bytes::from(number.to_le_bytes().to_vec())]);
            if number % 10 == 0 {
                joined.client.send(1, &number.to_le_bytes()).unwrap();
                joined.server.send(1, &number.to_le_bytes()).unwrap();
            }
            sleep_ms(16).await;
        }
        sleep_ms(1_000).await;
        for (ear, least) in [(&joined.server_ear, 560), (&joined.client_ear, 540)] {
            let (mut messages, mut datagrams) = (0, 0);
            while let Some(told) = ear.take() {
                match told {
                    Told::Message((_, body)) => {
                        assert_eq!(body[..], u32::to_le_bytes(messages * 10));
                        messages += 1;
                    }
                    Told::Datagram(_) => datagrams += 1,
                    other => panic!("{over:?}: {other:?}"),
                }
            }
            assert_eq!(messages, 60, "{over:?}");
            assert!(datagrams >= least, "{over:?}: {datagrams}");
        }
        let last = addresses[2];
        assert!(addresses[0] != addresses[1] && addresses[1] != last);
        let expected = if over == Over::Quic { Remote::Udp(last) } else { Remote::Loopback };
        assert_eq!(joined.server.remote(), expected);
        let records = network.take_records();
        assert!(addresses.iter().all(|it| records.iter().any(|record| record.from == *it)));
        let datagrams = network.take_datagrams();
        assert!(datagrams.iter().all(|datagram| datagram.from == first || datagram.to == first));
        let lost = datagrams.iter().filter(|datagram| datagram.arrived.is_none()).count();
        assert!(lost < 100, "{over:?}: {lost} of {}", datagrams.len());
        network.trace()
    })
}

#[test]
fn a_peer_whose_address_changes_plays_on_and_the_run_repeats() {
    for over in BOTH {
        assert_eq!(moving(over), moving(over), "{over:?}");
    }
}

#[test]
fn a_path_that_moved_is_found_where_it_is_and_no_more_where_it_was() {
    for over in BOTH {
        simulated(7, async |net| {
            let (joined, path) = join(&net, over, lossy(5, 0, 0)).await;
            let old = path.address().unwrap();
            let new = path.rebind().unwrap();
            assert!(!net.set_links(old, Links::CUT), "{over:?}");
            assert!(net.set_links(new, Links::CUT), "{over:?}");
            assert_eq!(arrive(&joined, 20, 50).await, (0, 0), "{over:?}");
        });
    }
}

#[test]
fn a_real_peer_whose_port_changes_plays_on() {
    real(async |net| {
        let (joined, path) = join(&net, Over::Quic, Links::IDEAL).await;
        let before = joined.server.remote();
        let port = path.rebind().unwrap().port();
        joined.client.send(1, b"from elsewhere").unwrap();
        assert!(matches!(joined.server_ear.next().await, Told::Message(_)));
        joined.server.send(1, b"to elsewhere").unwrap();
        assert!(matches!(joined.client_ear.next().await, Told::Message(_)));
        let Remote::Udp(after) = joined.server.remote() else { panic!("not over UDP") };
        assert!(Remote::Udp(after) != before && after.port() == port, "{after}");
    });
}

#[test]
fn an_address_that_cannot_change_says_why() {
    assert!(matches!(ClientPath::default().rebind(), Err(RebindError::NotDialled)));
    real(async |net| {
        let (endpoint, knocks) = listen(&net);
        let options = dial_options(&endpoint, Over::Quic);
        let path = options.path.clone();
        let ear = Ear::new(&net);
        net.dial(options, ear.dialed());
        let server = welcome(&endpoint, &knocks).await;
        let refused = path.rebind().unwrap_err();
        assert!(matches!(refused, RebindError::NotShaped), "{refused}");
        drop((server, ear));
        tokio::time::sleep(Duration::from_millis(1)).await;
    });
}
