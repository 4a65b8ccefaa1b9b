//! The roster: numbers, the listing, the cap, takeover, and what the console does to players.

use std::collections::BTreeSet;

use dh_client::EndKind;
use dh_host::net::{By, Link, Links};
use dh_machine::Micros;
use dh_messages::{SpawnAck, ToClient};
use dh_scenario::{PeerId, PeerSetup, Report, Scenario, ServerId, ServerSetup, Transport, World};

use crate::raw::{Dial, Raw};
use crate::stage::{self, BOTH, SECOND, console, play, player};

/// A world with a server for so many players.
fn world(
    transport: Transport,
    players: u32,
    course: impl AsyncFnOnce(&mut World, ServerId),
) -> Report {
    let setup = ServerSetup::default().with(&format!("server.maxPlayers={players}"));
    stage::world(transport, setup, course)
}

async fn leave(world: &mut World, peer: PeerId) {
    world.disconnect(peer);
    world.run_for(Micros::from_millis(100)).await;
}

fn slot(raw: &Raw) -> Option<u8> {
    raw.find(
        |it| if let ToClient::SpawnAck(SpawnAck { slot, .. }) = it { Some(slot) } else { None },
    )
}

/// WHO-01
#[test]
fn a_number_is_free_once_its_pawn_has_gone_and_the_lowest_is_given_first() {
    for transport in BOTH {
        world(transport, 8, async |world, server| {
            let peers: Vec<PeerId> =
                ["a", "b", "c", "d"].map(|name| world.peer(PeerSetup::new(name))).to_vec();
            for (want, peer) in (0..3).zip(&peers) {
                assert_eq!(play(world, server, *peer).await, want);
            }
            leave(world, peers[0]).await;
            leave(world, peers[1]).await;
            assert_eq!(play(world, server, peers[3]).await, 0);
        });
    }
}

/// WHO-02
#[test]
fn a_player_keeps_its_number_through_twenty_reconnects() {
    world(Transport::Quic, 8, async |world, server| {
        let [ada, bob] = ["ada", "bob"].map(|name| world.peer(PeerSetup::new(name)));
        play(world, server, ada).await;
        assert_eq!(play(world, server, bob).await, 1);
        leave(world, ada).await;
        for _ in 0..20 {
            leave(world, bob).await;
            assert_eq!(play(world, server, bob).await, 1, "though 0 is free");
        }
    });
}

/// WHO-03
#[test]
fn numbers_stay_unique_while_a_crowd_comes_and_goes() {
    for seed in 1..=4 {
        let scenario = Scenario::new("a crowd comes and goes", seed).transport(Transport::Memory);
        let report = scenario.closely().run(async |world: &mut World| {
            let server = world.server(ServerSetup::default());
            let peers: Vec<PeerId> =
                (0..8).map(|number| world.peer(PeerSetup::new(format!("peer-{number}")))).collect();
            let mut dice = world.runtime().seeds().bytes("crowd").into_iter().cycle();
            for _ in 0..60 {
                let peer = peers[usize::from(dice.next().unwrap()) % peers.len()];
                if world.is_playing(peer) {
                    world.disconnect(peer);
                } else {
                    world.join(peer, server);
                }
                world.run_for(Micros::from_millis(40)).await;
                let records = world.records();
                let playing = peers.iter().filter(|peer| records.peer(**peer).is_playing());
                let slots: Vec<u8> =
                    playing.map(|peer| records.peer(*peer).spawns.last().unwrap().0).collect();
                let unique: BTreeSet<u8> = slots.iter().copied().collect();
                assert_eq!(unique.len(), slots.len(), "{slots:?}");
            }
        });
        report.assert_passed();
    }
}

/// WHO-05, WHO-07, WHO-10, WHO-12, WHO-13, WHO-14, WHO-16, WHO-17
#[test]
fn the_listing_tells_the_host_from_those_who_came_over_the_network() {
    world(Transport::Quic, 4, async |world, server| {
        let host = world.peer(PeerSetup::new("alice").inside());
        let ping = Links::both(Link { latency: Micros::from_millis(10), ..Link::IDEAL });
        let bob = world.peer(PeerSetup::new("bob").over(ping));
        play(world, server, host).await;
        play(world, server, bob).await;
        world.run_for(SECOND).await;
        let listed = console(world, server, "players").await;
        let [header, alice, bob] = listed.lines().collect::<Vec<_>>()[..] else {
            panic!("{listed}")
        };
        assert_eq!(header, "players: 2/4 connected");
        let want = "  #0   alice       identity=local:alice  addr=loopback  state=playing  \
                    pawn=1:0  ping=0ms  overrides=0  op";
        assert_eq!(alice, want);
        let columns: Vec<&str> = bob.split_whitespace().collect();
        let [number, name, identity, address, "state=playing", "pawn=2:0", ping, "overrides=0"] =
            columns[..]
        else {
            panic!("{bob}")
        };
        assert_eq!((number, name), ("#1", "bob"));
        let key = identity.strip_prefix("identity=key:").unwrap();
        assert!(key.len() == 32 && key.bytes().all(|digit| digit.is_ascii_hexdigit()), "{key}");
        let address = address.strip_prefix("addr=").unwrap();
        assert!(address.parse::<std::net::SocketAddr>().is_ok(), "{address}");
        let ping = ping.strip_prefix("ping=").unwrap().strip_suffix("ms").unwrap();
        assert!((20..40).contains(&ping.parse::<u32>().unwrap()), "{ping}");
    });
}

/// WHO-07, WHO-24, WHO-25
#[test]
fn one_too_many_is_told_so_and_never_listed() {
    for transport in BOTH {
        let report = world(transport, 4, async |world, server| {
            for name in ["a", "b", "c", "d"] {
                player(world, server, name).await;
            }
            let fifth = world.peer(PeerSetup::new("e"));
            world.join(fifth, server);
            for _ in 0..20 {
                let listed = console(world, server, "players").await;
                assert_eq!(listed.lines().count(), 5);
                assert!(listed.starts_with("players: 4/4 connected"));
            }
            // Whatever build it is: it is turned away before a session exists.
            let raw = Raw::dial(world, server, Dial::new(9, transport));
            raw.connect(world).await;
            raw.send_raw(1, b"\x50\0\0\0");
            let closed = raw.end(world).await;
            assert_eq!((closed.by, closed.code), (By::Peer, 4));
            assert_eq!(closed.reason, b"server is full (4 players)");
        });
        let endings = &report.records.peer(PeerId(4)).endings;
        let [end] = &endings[..] else { panic!("{endings:?}") };
        assert_eq!(end.kind, EndKind::ServerFull);
        assert_eq!(end.detail(), "server is full (4 players)");
    }
}

/// WHO-22
#[test]
fn a_new_cap_holds_at_once_and_ends_nobody() {
    world(Transport::Memory, 2, async |world, server| {
        let [a, b, c] = ["a", "b", "c"].map(|name| world.peer(PeerSetup::new(name)));
        play(world, server, a).await;
        play(world, server, b).await;
        console(world, server, "server.maxPlayers 3").await;
        play(world, server, c).await;
        let answer = console(world, server, "server.maxPlayers 1").await;
        assert!(answer.contains('1'), "{answer}");
        let header = console(world, server, "players").await;
        assert!(header.starts_with("players: 3/1 connected"), "{header}");
        assert!([a, b, c].iter().all(|peer| world.is_playing(*peer)));
        leave(world, c).await;
        world.join(c, server);
        world.run_for(SECOND).await;
        assert!(!world.is_playing(c));
    });
}

#[test]
fn a_second_connection_with_the_same_key_takes_the_place_of_the_first() {
    world(Transport::Quic, 2, async |world, server| {
        player(world, server, "other").await;
        let first = Raw::dial(world, server, Dial::new(7, Transport::Quic));
        first.join(world, "ada").await;
        // The server is full, and still its own player gets in again.
        let second = Raw::dial(world, server, Dial::new(7, Transport::Quic));
        second.join(world, "ada").await;
        let closed = first.end(world).await;
        assert_eq!((closed.by, closed.code), (By::Peer, 2));
        assert_eq!(closed.reason, b"this identity joined again from elsewhere");
        assert_eq!((slot(&first), slot(&second)), (Some(1), Some(1)));
        world.run_for(SECOND).await;
        let listed = console(world, server, "players").await;
        assert_eq!(listed.lines().count(), 3, "{listed}");
        assert_eq!(world.records().server(server).pawns, 2);
        // Somebody else's key does not.
        let stranger = Raw::dial(world, server, Dial::new(8, Transport::Quic));
        stranger.connect(world).await;
        assert_eq!(stranger.end(world).await.code, 4);
    });
}

#[test]
fn a_forged_name_is_shown_and_gives_nobody_anything() {
    world(Transport::Quic, 8, async |world, server| {
        let host = world.peer(PeerSetup::new("alice").inside());
        play(world, server, host).await;
        let forger = Raw::dial(world, server, Dial::new(7, Transport::Quic));
        forger.join(world, "alice").await;
        world.run_for(SECOND).await;
        assert!(world.is_playing(host));
        let listed = console(world, server, "players").await;
        let lines: Vec<&str> = listed.lines().collect();
        assert!(lines[1].contains("identity=local:alice") && lines[1].ends_with("  op"));
        assert!(lines[2].contains("identity=key:") && lines[2].ends_with("overrides=0"));
    });
}

/// Sessions OQ-17, OQ-24
#[test]
fn a_kicked_player_is_told_why_and_its_pawn_is_gone() {
    for transport in BOTH {
        let report = world(transport, 8, async |world, server| {
            let [ada, bob] = ["ada", "bob"].map(|name| world.peer(PeerSetup::new(name)));
            play(world, server, ada).await;
            play(world, server, bob).await;
            console(world, server, "kick #0 mind your language").await;
            world.run_for(Micros::from_millis(100)).await;
            assert!(!world.is_playing(ada) && world.is_playing(bob));
            assert_eq!(world.records().server(server).pawns, 1);
            assert!(console(world, server, "kick #0").await.contains("nobody"));
        });
        let endings = &report.records.peer(PeerId(0)).endings;
        let [end] = &endings[..] else { panic!("{endings:?}") };
        assert_eq!((end.kind, &*end.detail()), (EndKind::Removed, "mind your language"));
    }
}

#[test]
fn the_console_moves_pawns_and_their_players_see_it() {
    world(Transport::Quic, 8, async |world, server| {
        let ada = Raw::dial(world, server, Dial::new(1, Transport::Quic));
        ada.join(world, "ada").await;
        let answer = console(world, server, "tp #0 1 5 1").await;
        assert_eq!(answer, "tp: #0 is at 1.00 5.00 1.00");
        world.run_for(Micros::from_millis(100)).await;
        let owner = ada.snapshots().pop().unwrap().head.owner.0;
        assert_eq!((owner.position, owner.spawn_epoch), ([1.0, 5.0, 1.0], 1));
        console(world, server, "respawn #0").await;
        world.run_for(Micros::from_millis(100)).await;
        assert_eq!(ada.snapshots().pop().unwrap().head.owner.0.spawn_epoch, 2);
        assert!(console(world, server, "tp #4 #0").await.contains("#4"));
    });
}
