//! Joining: the order of messages, who is refused and how, what each side knows when, and how a
//! session is seen to end.

use dh_client::EndKind;
use dh_host::net::{By, Link, Links};
use dh_machine::Micros;
use dh_messages::{
    ClientChat, CloseCode, ConnectRequest, ConsoleLine, MapAdvert, PROTOCOL_VERSION, SchemaHash,
    ServerInfo, SessionEnd, SpawnAck, ToClient, schema_hash,
};
use dh_prefs::Address;
use dh_scenario::{PeerId, PeerSetup, Report, ServerId, ServerSetup, Transport, World};

use crate::log::lines_of;
use crate::raw::{Dial, Raw};
use crate::stage::{self, BOTH, SECOND, console, player};

/// A world with a server called Harbour.
fn world(transport: Transport, course: impl AsyncFnOnce(&mut World, ServerId)) -> Report {
    stage::world(transport, ServerSetup::default().with("server.name=Harbour"), course)
}

/// JOIN-01, JOIN-06, JOIN-07, JOIN-15, JOIN-22, MR-10, MR-11, MR-17
#[test]
fn a_join_goes_through_its_messages_in_order_and_tells_what_it_should() {
    for transport in BOTH {
        world(transport, async |world, server| {
            let raw = Raw::dial(world, server, Dial::new(1, transport));
            raw.join(world, "ada").await;
            let steps: Vec<u8> =
                raw.ids().into_iter().filter(|id| [2, 5, 44, 52].contains(id)).collect();
            assert_eq!(steps, [44, 2, 5]);
            let told = raw.told();
            let hash = SchemaHash { hash: schema_hash(), wants_text: false };
            assert_eq!(told[0], ToClient::SchemaHash(hash));
            let ToClient::ServerInfo(info) = &told[1] else { panic!("{told:?}") };
            let want = ServerInfo {
                version: PROTOCOL_VERSION,
                tick_rate: 60,
                world_id: info.world_id,
                world_name: "Harbour".into(),
                map: MapAdvert { generation: 1, ..MapAdvert::default() },
            };
            assert_eq!(*info, want);
            assert!(info.world_id != dh_messages::Guid::default());
            let ack =
                raw.find(|it| if let ToClient::SpawnAck(ack) = it { Some(ack) } else { None });
            let SpawnAck { slot, pawn, map_generation, .. } = ack.unwrap();
            assert_eq!((slot, map_generation), (0, 1));
            world.run_for(SECOND).await;
            let last = raw.snapshots().pop().unwrap();
            assert_eq!(last.head.owner.pawn, pawn, "one pawn exists, and it is ours");
            assert_eq!(last.records.len(), 1);
        });
    }
}

/// JOIN-01, JOIN-17
#[test]
fn a_client_says_who_it_is_before_anything_else() {
    for transport in BOTH {
        world(transport, async |world, _| {
            let address = "10.0.0.77:27015".parse().unwrap();
            let server = Raw::listen(world, address);
            let ada = world.peer(PeerSetup::new("ada").with("client.seedColour=#123456"));
            world.client(ada).connect(Some(Address { host: "10.0.0.77".into(), port: 27_015 }));
            server.connect(world).await;
            let asked = server.clone();
            world.expect_within(SECOND, "it asks to join", |_| asked.has(1)).await;
            assert_eq!(server.ids(), [1], "nothing follows before it is answered");
            server.send(SchemaHash { hash: schema_hash(), wants_text: false });
            server.send(ServerInfo { version: PROTOCOL_VERSION, tick_rate: 60, ..info() });
            world.run_for(Micros::from_millis(20)).await;
            assert_eq!(server.ids(), [1, 20, 4]);
            let body = server.heard().messages[1].1.clone();
            let said: dh_messages::ClientInfo = dh_messages::decode(&body).unwrap();
            assert_eq!((said.name.as_str(), said.seed_colour), ("ada", 0x0012_3456));
            assert!(said.avatar.is_empty());
        });
    }
}

fn info() -> ServerInfo {
    ServerInfo { map: MapAdvert { generation: 1, ..MapAdvert::default() }, ..ServerInfo::default() }
}

/// JOIN-04, JOIN-05
#[test]
fn another_version_is_told_both_numbers_and_no_name_crosses() {
    for transport in BOTH {
        world(transport, async |world, server| {
            let raw = Raw::dial(world, server, Dial::new(1, transport));
            raw.connect(world).await;
            raw.send(ConnectRequest { version: 80, schema_hash: schema_hash() });
            let closed = raw.end(world).await;
            assert_eq!((closed.by, closed.code), (By::Peer, 1));
            let told = raw.told();
            let [ToClient::SessionEnd(end)] = &told[..] else { panic!("{told:?}") };
            let SessionEnd { code, server_version, client_version, .. } = end;
            let want = (CloseCode::ProtocolMismatch, PROTOCOL_VERSION, 80);
            assert_eq!((*code, *server_version, *client_version), want);
            assert!(!end.reason.contains("Harbour"));
        });
    }
}

/// JOIN-04, JOIN-38, JOIN-39, JOIN-40
#[test]
fn a_build_from_before_the_schema_exchange_is_refused_by_its_shape() {
    let lines = lines_of(|| {
        world(Transport::Quic, async |world, server| {
            for opening in [&b"\x50\0\0\0"[..], b"\x50\0\0\0\x05alice", b"\x02\0\0\0"] {
                let raw = Raw::dial(world, server, Dial::new(1, Transport::Quic));
                raw.connect(world).await;
                raw.send_raw(1, opening);
                let closed = raw.end(world).await;
                let theirs = u32::from(opening[0]);
                let reason = format!(
                    "This server speaks protocol {PROTOCOL_VERSION}; this client speaks {theirs}"
                );
                assert_eq!((closed.code, closed.reason), (1, reason.into_bytes()));
            }
        });
    });
    let lines: Vec<&String> = lines.iter().filter(|line| line.contains("refused ")).collect();
    assert_eq!(lines.len(), 3);
    let (who, rest) = lines[0].strip_prefix("refused ").unwrap().split_once(": ").unwrap();
    assert!(who.parse::<std::net::SocketAddr>().is_ok(), "{who}");
    let want = format!(
        "it speaks protocol 80, a build from before the schema exchange; this server speaks \
         {PROTOCOL_VERSION}, and that client has to be updated to join"
    );
    assert_eq!(rest, want);
}

/// JOIN-18, WHO-09, WHO-11, WHO-13, WHO-15, WHO-16, WHO-20
#[test]
fn the_listing_follows_a_peer_from_its_first_packet_into_play() {
    world(Transport::Quic, async |world, server| {
        let raws: Vec<Raw> =
            (1..=4).map(|key| Raw::dial(world, server, Dial::new(key, Transport::Quic))).collect();
        for raw in &raws {
            raw.connect(world).await;
        }
        raws[1..].iter().for_each(Raw::greet);
        raws[2..].iter().for_each(|raw| raw.identify("lee"));
        raws[3].ready();
        world.run_for(Micros::from_millis(200)).await;
        let listed = console(world, server, "players").await;
        let lines: Vec<&str> = listed.lines().collect();
        assert_eq!(lines[0], "players: 4/16 connected");
        let [playing, connecting, handshaking, loading] = lines[1..] else { panic!("{listed}") };
        assert!(playing.starts_with("  #0   lee ") && playing.contains("state=playing  pawn=1:0"));
        for (line, state) in [(connecting, "connecting"), (handshaking, "handshaking")] {
            assert!(line.starts_with("  #-   -           identity=-  addr=10."), "{line}");
            assert!(line.contains(&format!("state={state}  pawn=-  ping=")), "{line}");
        }
        assert!(loading.starts_with("  #-   lee         identity=key:"), "{loading}");
        assert!(loading.contains("state=loading  pawn=-"), "{loading}");
    });
}

/// JOIN-19, JOIN-20
#[test]
fn before_it_has_said_who_it_is_a_peer_hears_nothing_of_others() {
    for transport in BOTH {
        world(transport, async |world, server| {
            player(world, server, "ada").await;
            let silent = Raw::dial(world, server, Dial::new(1, transport));
            silent.connect(world).await;
            silent.greet();
            world.run_for(Micros::from_millis(100)).await;
            world.console(server, "say welcome");
            let bob = player(world, server, "bob").await;
            world.disconnect(bob);
            world.run_for(SECOND).await;
            assert_eq!(silent.ids(), [44, 2]);
            assert!(silent.heard().datagrams.is_empty());
            silent.send(ClientChat { text: "hi".into() });
            silent.send(ConsoleLine { id: 1, text: "players".into() });
            world.run_for(Micros::from_millis(100)).await;
            assert_eq!(silent.ids(), [44, 2], "nor has what it types any effect");
            silent.identify("eve");
            world.run_for(Micros::from_millis(200)).await;
            world.console(server, "say now");
            world.run_for(Micros::from_millis(200)).await;
            assert_eq!(silent.ids(), [44, 2, 53, 54], "who plays, and what is said from now on");
        });
    }
}

/// JOIN-19
#[test]
fn what_needs_a_name_before_there_is_one_ends_the_session() {
    world(Transport::Quic, async |world, server| {
        for id in [4, 56] {
            let raw = Raw::dial(world, server, Dial::new(1, Transport::Quic));
            raw.connect(world).await;
            raw.greet();
            raw.send_raw(id, &1_u32.to_le_bytes());
            let closed = raw.end(world).await;
            assert_eq!(closed.code, 3, "{id}");
        }
        let listed = console(world, server, "players").await;
        assert_eq!(listed, "players: 0/16 connected");
    });
}

/// JOIN-21
#[test]
fn all_of_a_join_in_one_breath_is_understood_in_order() {
    for transport in BOTH {
        world(transport, async |world, server| {
            let raw = Raw::dial(world, server, Dial::new(1, transport));
            raw.join(world, "ada").await;
            let listed = console(world, server, "players").await;
            let line = listed.lines().nth(1).unwrap();
            assert!(line.starts_with("  #0   ada ") && !line.contains("identity=-"), "{line}");
        });
    }
}

/// JOIN-25
#[test]
fn two_clients_of_one_name_both_play() {
    for transport in BOTH {
        world(transport, async |world, server| {
            let one = world.peer(PeerSetup::new("one").with("client.name=alice"));
            let two = world.peer(PeerSetup::new("two").with("client.name=alice"));
            world.join(one, server);
            world.join(two, server);
            let both = |it: &World| it.is_playing(one) && it.is_playing(two);
            world.expect_within(SECOND, "both play", both).await;
            world.run_for(SECOND).await;
            assert!(both(world));
            let listed = console(world, server, "players").await;
            assert_eq!(listed.matches(" alice       ").count(), 2, "{listed}");
        });
    }
}

/// JOIN-26
#[test]
fn a_peer_that_falls_silent_is_missed_and_logged_by_name_and_endpoint() {
    let lines = lines_of(|| {
        world(Transport::Quic, async |world, server| {
            let raw = Raw::dial(world, server, Dial::new(1, Transport::Quic));
            raw.join(world, "steamdeck").await;
            raw.connection().set_links(Links::CUT);
            world.run_for(Micros::from_secs(12)).await;
            assert_eq!(console(world, server, "players").await, "players: 0/16 connected");
        });
    });
    let lines: Vec<&String> =
        lines.iter().filter(|line| line.contains("peer disconnected")).collect();
    let [line] = &lines[..] else { panic!("{lines:?}") };
    let who = line.strip_prefix("peer disconnected (steamdeck (").unwrap();
    let endpoint = who.strip_suffix(")): Timeout").unwrap();
    assert!(endpoint.parse::<std::net::SocketAddr>().is_ok(), "{line}");
}

/// SES-13, JOIN-26
#[test]
fn a_peer_that_leaves_is_gone_at_once() {
    for transport in BOTH {
        let report = world(transport, async |world, server| {
            let ada = player(world, server, "ada").await;
            world.disconnect(ada);
            let gone = |it: &World| {
                let records = it.records();
                let session = records.server(server).session_of("ada").unwrap();
                session.ended.as_deref() == Some("Left") && records.server(server).pawns == 0
            };
            world.expect_within(Micros::from_millis(100), "the server knows", gone).await;
            world.run_for(SECOND).await;
        });
        let endings = &report.records.peer(PeerId(0)).endings;
        assert_eq!(endings.iter().map(|end| end.kind).collect::<Vec<_>>(), [EndKind::Quiet]);
    }
}

#[test]
fn a_server_that_stops_tells_everybody_why() {
    for transport in BOTH {
        let report = world(transport, async |world, server| {
            player(world, server, "ada").await;
            player(world, server, "bob").await;
            world.stop_server(server, "server restarting in 5").await;
            world.run_for(SECOND).await;
        });
        for peer in [PeerId(0), PeerId(1)] {
            let endings = &report.records.peer(peer).endings;
            let [end] = &endings[..] else { panic!("{endings:?}") };
            assert_eq!(
                (end.kind, &*end.detail()),
                (EndKind::ClosedByServer, "server restarting in 5")
            );
        }
    }
}

/// GEN-02
#[test]
fn a_client_that_missed_half_the_snapshots_has_the_servers_entities_as_soon_as_one_arrives() {
    for transport in BOTH {
        world(transport, async |world, server| {
            let lossy = Link { loss_ppm: 500_000, ..Link::IDEAL };
            let mut dial = Dial::new(1, transport);
            dial.links = Links { up: Link::IDEAL, down: lossy };
            let raw = Raw::dial(world, server, dial);
            raw.join(world, "watcher").await;
            let ada = player(world, server, "ada").await;
            let bob = player(world, server, "bob").await;
            world.run_for(SECOND).await;
            world.disconnect(ada);
            world.run_for(SECOND).await;
            raw.connection().set_links(Links::IDEAL);
            let before = raw.ids();
            world.run_for(Micros::from_millis(100)).await;
            assert_eq!(raw.ids(), before, "nothing but snapshots was needed");
            let snapshots = raw.snapshots();
            let came = snapshots.len();
            assert!((30..150).contains(&came), "{came} of about 130");
            let listed: Vec<u32> =
                snapshots[came - 1].records.iter().map(|record| record.id.slot()).collect();
            assert_eq!(listed, [1, 3], "the watcher and bob");
            assert!(world.is_playing(bob));
        });
    }
}

/// SNAP-06
#[test]
fn a_crowd_whose_snapshot_needs_two_datagrams_is_seen_whole() {
    world(Transport::Quic, async |world, server| {
        console(world, server, "server.maxPlayers 64").await;
        let crowd: Vec<Raw> =
            (1..=40).map(|key| Raw::dial(world, server, Dial::new(key, Transport::Quic))).collect();
        for raw in &crowd {
            raw.join(world, "one of many").await;
        }
        let ada = player(world, server, "ada").await;
        world.run_for(SECOND).await;
        world.client(ada).present();
        world.run_for(Micros::from_millis(50)).await;
        let records = world.records();
        let applied = &records.peer(ada).snapshots;
        assert!(applied.len() > 50, "{} snapshots were applied", applied.len());
        let view = records.peer(ada).view.clone().unwrap();
        assert_eq!(view.players.len(), 41);
        let fragments = crowd[0].heard().datagrams.iter().filter(|it| it[0] == 28).count();
        assert!(fragments > 100, "{fragments}");
    });
}

/// What is told to people reaches a client without a picture as text.
#[test]
fn headless_clients_read_who_joins_who_leaves_and_what_is_said() {
    for transport in BOTH {
        world(transport, async |world, server| {
            let ada = player(world, server, "ada").await;
            let bob = player(world, server, "bob").await;
            assert_eq!(
                console(world, server, "say mind the gap").await,
                "say: it reached 2 players"
            );
            world.disconnect(bob);
            world.run_for(Micros::from_millis(200)).await;
            let records = world.records();
            let lines = &records.peer(ada).lines;
            assert_eq!(
                lines[..],
                ["ada joined", "bob joined", "[server] mind the gap", "bob left"]
            );
            let heard = &records.server(server).lines;
            assert_eq!(heard[..], lines[..], "and so does the server's transcript");
        });
    }
}

#[test]
fn names_come_and_go_with_their_players() {
    world(Transport::Memory, async |world, server| {
        let ada = player(world, server, "ada").await;
        let bob = player(world, server, "bob").await;
        let mut names = Vec::new();
        for leaves in [None, Some(bob)] {
            leaves.into_iter().for_each(|peer| world.disconnect(peer));
            world.run_for(Micros::from_millis(500)).await;
            world.client(ada).present();
            world.run_for(Micros::from_millis(50)).await;
            let records = world.records();
            let view = records.peer(ada).view.clone().unwrap();
            let mut seen: Vec<String> = view.players.iter().map(|it| it.name.clone()).collect();
            seen.sort();
            names.push(seen);
        }
        assert_eq!(names, [vec!["ada", "bob"], vec!["ada"]]);
    });
}
