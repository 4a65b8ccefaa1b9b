//! Sessions: how a client comes from one server to another, and how each ending is told.

use std::net::SocketAddr;

use dh_client::{EndKind, SessionEnd};
use dh_host::net::{Link, Links};
use dh_machine::Micros;
use dh_messages::{CloseCode, Message as _, SchemaHash, ServerInfo, SpawnAck, schema_hash};
use dh_prefs::Address;
use dh_scenario::{PeerId, PeerSetup, ServerId, ServerSetup, SessionRecord, Transport, World};

use crate::raw::Raw;
use crate::stage::{BOTH, SECOND, play, player, world};

const ALIEN: &str = "10.0.0.77:27015";

fn setup() -> ServerSetup {
    ServerSetup::default()
}

fn connect(world: &World, peer: PeerId, to: &str) {
    let (host, port) = to.rsplit_once(':').unwrap();
    let address = Address { host: host.to_owned(), port: port.parse().unwrap() };
    world.client(peer).connect(Some(address));
}

fn address(world: &World, server: ServerId) -> String {
    world.running(server).address().to_string()
}

fn ends(world: &World, peer: PeerId) -> Vec<SessionEnd> {
    world.records().peer(peer).endings.clone()
}

fn lines(world: &World, peer: PeerId) -> Vec<String> {
    let lines = world.records().peer(peer).lines.clone();
    lines
        .into_iter()
        .filter(|line| line.starts_with("connect") || line.starts_with("dis"))
        .collect()
}

fn stands(world: &World, peer: PeerId) -> &'static str {
    world.records().peer(peer).state
}

/// The next ending of a peer, within `span`.
async fn end(world: &mut World, peer: PeerId, span: Micros) -> SessionEnd {
    let before = ends(world, peer).len();
    let ended = move |world: &World| before < ends(world, peer).len();
    world.expect_within(span, "a session ends", ended).await;
    ends(world, peer)[before].clone()
}

/// An alien server, and a peer whose connection to it stands.
async fn alien(world: &mut World) -> (Raw, PeerId) {
    let raw = Raw::listen(world, ALIEN.parse::<SocketAddr>().unwrap());
    let peer = world.peer(PeerSetup::new("ada"));
    connect(world, peer, ALIEN);
    raw.connect(world).await;
    (raw, peer)
}

fn hello() -> SchemaHash {
    SchemaHash { hash: schema_hash(), wants_text: false }
}

/// SES-03, SES-05: one server is left before the next is dialled, and what the first connection
/// still tells is no drop.
#[test]
fn connect_while_playing_changes_servers_without_a_word() {
    for transport in BOTH {
        world(transport, setup(), async |world, first| {
            let second = world.server(setup());
            let far = Links::both(Link { latency: Micros::from_millis(150), ..Link::IDEAL });
            let ada = world.peer(PeerSetup::new("ada").over(far));
            world.join(ada, first);
            let playing = |it: &World| it.is_playing(ada);
            world.expect_within(Micros::from_secs(5), "she plays on the first", playing).await;
            world.join(ada, second);
            let twice = |it: &World| it.records().peer(ada).spawns.len() == 2;
            world.expect_within(Micros::from_secs(5), "she plays on the second", twice).await;
            world.run_for(Micros::from_secs(12)).await;
            assert_eq!((stands(world, ada), lines(world, ada)), ("playing", vec![]));
            assert_eq!(
                ends(world, ada).iter().map(|it| it.kind).collect::<Vec<_>>(),
                [EndKind::Quiet]
            );
            let records = world.records();
            let left = |server| records.server(server).session_of("ada").unwrap().ended.clone();
            assert_eq!((left(first).as_deref(), left(second)), (Some("Left"), None));
            assert_eq!(records.server(first).sessions.len(), 1);
        });
    }
}

/// SES-03, CHAT-10: the session before is over when the next one begins, on the same server too; so
/// nobody takes over from a connection that has been left, and one leave is told.
#[test]
fn connect_to_the_server_one_is_on_is_one_leave_and_one_join() {
    for (transport, millis) in BOTH.into_iter().flat_map(|it| [(it, 0), (it, 20), (it, 150)]) {
        world(transport, setup(), async |world, server| {
            let link = Link { latency: Micros::from_millis(millis), ..Link::IDEAL };
            let bob = player(world, server, "bob").await;
            let ada = world.peer(PeerSetup::new("ada").over(Links::both(link)));
            for times in 1..=3 {
                world.join(ada, server);
                let spawned = move |it: &World| it.records().peer(ada).spawns.len() == times;
                world.expect_within(Micros::from_secs(5), "she plays", spawned).await;
                world.run_for(Micros::from_millis(300)).await;
            }
            let records = world.records();
            let said = |what: &str| {
                let lines = &records.server(server).lines;
                lines.iter().filter(|line| line.as_str() == what).count()
            };
            assert_eq!((said("ada joined"), said("ada left")), (3, 2), "{transport:?} {millis}");
            let named = |it: &&SessionRecord| it.name.as_deref() == Some("ada");
            let hers = records.server(server).sessions.values().filter(named);
            let ended: Vec<_> = hers.map(|it| it.ended.as_deref()).collect();
            assert_eq!(ended, [Some("Left"), Some("Left"), None], "{transport:?} {millis}");
            let slots: Vec<u8> = records.peer(ada).spawns.iter().map(|it| it.0).collect();
            assert_eq!(slots, [1, 1, 1]);
            assert_eq!(records.peer(bob).spawns.len(), 1);
        });
    }
}

/// SES-04
#[test]
fn connect_gives_up_an_attempt_that_is_not_answered() {
    for transport in BOTH {
        world(transport, setup(), async |world, silent| {
            let second = world.server(setup());
            let ada = world.peer(PeerSetup::new("ada").over(Links::CUT));
            world.join(ada, silent);
            world.run_for(Micros(16_667)).await;
            world.relink(ada, Links::IDEAL);
            play(world, second, ada).await;
            world.run_for(Micros::from_secs(12)).await;
            assert_eq!((stands(world, ada), lines(world, ada)), ("playing", vec![]));
            assert!(world.records().server(silent).sessions.is_empty());
        });
    }
}

/// SES-02, SES-14: what an attempt that was given up would still have become.
#[test]
fn an_attempt_that_was_given_up_is_not_brought_back_by_what_comes_late() {
    for transport in BOTH {
        world(transport, setup(), async |world, _| {
            let raw = Raw::listen(world, ALIEN.parse().unwrap());
            let far = Links::both(Link { latency: Micros::from_millis(400), ..Link::IDEAL });
            let ada = world.peer(PeerSetup::new("ada").over(far));
            connect(world, ada, ALIEN);
            raw.connect(world).await;
            raw.send(hello());
            raw.send(ServerInfo { tick_rate: 60, ..ServerInfo::default() });
            raw.send(SpawnAck::default());
            world.run_for(Micros::from_millis(100)).await;
            world.disconnect(ada);
            world.run_for(Micros::from_secs(12)).await;
            assert_eq!((stands(world, ada), lines(world, ada)), ("disconnected", vec![]));
            assert_eq!(
                ends(world, ada).iter().map(|it| it.kind).collect::<Vec<_>>(),
                [EndKind::Quiet]
            );
            assert!(world.records().peer(ada).spawns.is_empty());
        });
    }
}

/// SES-06
#[test]
fn connect_with_no_address_goes_back_to_the_server_that_was_lost() {
    for transport in BOTH {
        world(transport, setup(), async |world, server| {
            let ada = player(world, server, "ada").await;
            let at = address(world, server);
            world.stop_server(server, "restarting").await;
            world.run_for(SECOND).await;
            world.client(ada).connect(None);
            let end = end(world, ada, Micros::from_secs(12)).await;
            assert_eq!((end.kind.is_failed_dial(), end.address), (true, Some(at)));
        });
    }
}

/// SES-08, SES-09, SES-16, SES-22: nobody listens there.
#[test]
fn a_closed_port_is_one_line_and_could_not_connect() {
    for transport in BOTH {
        world(transport, setup(), async |world, _| {
            let ada = world.peer(PeerSetup::new("ada"));
            connect(world, ada, "10.0.0.9:27015");
            let end = end(world, ada, Micros::from_secs(2)).await;
            assert_eq!(
                (end.kind, end.title()),
                (EndKind::CouldNotReach, Some("Could not connect"))
            );
            assert_eq!(end.message(), "The server did not answer.");
            assert_eq!(end.detail(), "Tried 10.0.0.9:27015.");
            let why = "nobody listens at 10.0.0.9:27015";
            assert_eq!(
                lines(world, ada),
                [format!("connect: could not reach 10.0.0.9:27015 ({why})")]
            );
            assert_eq!(stands(world, ada), "disconnected");
        });
    }
}

/// SES-08, SES-10, SES-23, SES-36, SES-37: the silent server takes the same way, after ten seconds
/// or after whatever the preference says; and nothing is tried again.
#[test]
fn a_silent_server_times_out_after_the_connect_timeout() {
    for (transport, seconds) in BOTH.into_iter().flat_map(|it| [(it, 10), (it, 2)]) {
        world(transport, setup(), async |world, server| {
            let timeout = format!("client.net.connectTimeout={seconds}");
            let ada = world.peer(PeerSetup::new("ada").over(Links::CUT).with(&timeout));
            let at = address(world, server);
            let began = world.runtime().now();
            world.join(ada, server);
            world.run_for(Micros::from_millis(seconds * 1_000 - 100)).await;
            assert_eq!(stands(world, ada), "connecting");
            let end = end(world, ada, Micros::from_millis(150)).await;
            let took = world.runtime().now() - began;
            assert!(took <= Micros(seconds * 1_000_000 + 20_000), "{took:?}");
            assert_eq!((end.kind, end.title()), (EndKind::TimedOut, Some("Could not connect")));
            assert_eq!(end.message(), "The server took too long to answer.");
            assert_eq!(end.detail(), format!("Tried {at}."));
            let line = format!("connect: could not reach {at} (timed out)");
            assert_eq!((stands(world, ada), lines(world, ada)), ("disconnected", vec![line]));

            world.run_for(Micros::from_secs(15)).await;
            let sent = world.runtime().net().network().unwrap().trace().sent;
            world.run_for(Micros::from_secs(300)).await;
            assert_eq!(world.runtime().net().network().unwrap().trace().sent, sent);
        });
    }
}

/// SES-13, SES-15, SES-38: told at once, not by silence; and a second time changes nothing.
#[test]
fn disconnect_is_heard_at_once_and_twice_is_once() {
    for transport in BOTH {
        world(transport, setup(), async |world, server| {
            let ada = player(world, server, "ada").await;
            world.disconnect(ada);
            world.run_for(SECOND).await;
            let ended = world.records().server(server).session_of("ada").unwrap().ended.clone();
            assert_eq!(ended.as_deref(), Some("Left"));
            assert_eq!((stands(world, ada), ends(world, ada).len()), ("disconnected", 1));
            world.disconnect(ada);
            world.run_for(SECOND).await;
            assert_eq!((ends(world, ada).len(), lines(world, ada)), (1, vec![]));
        });
    }
}

/// SES-16, SES-17, SES-18, SES-25: an orderly stop gives its reason to everybody, byte for byte.
#[test]
fn a_server_that_stops_says_why() {
    for transport in BOTH {
        world(transport, setup(), async |world, server| {
            let (ada, bob) =
                (player(world, server, "ada").await, player(world, server, "bob").await);
            world.stop_server(server, "server restarting in 5").await;
            world.run_for(SECOND).await;
            for peer in [ada, bob] {
                let ends = ends(world, peer);
                assert_eq!(ends.len(), 1, "{ends:?}");
                assert_eq!(
                    (ends[0].kind, ends[0].title()),
                    (EndKind::ClosedByServer, Some("Disconnected"))
                );
                assert_eq!(ends[0].message(), "The server ended the session.");
                assert_eq!(ends[0].detail(), "server restarting in 5");
                assert_eq!(stands(world, peer), "disconnected");
                assert_eq!(lines(world, peer), ["disconnected: server restarting in 5"]);
            }
        });
    }
}

/// SES-16, SES-26, PLAT-17: a server that dies, or a path that does, is noticed by its silence.
#[test]
fn a_vanished_server_is_noticed_within_ten_seconds() {
    world(Transport::Quic, setup(), async |world, server| {
        let ada = player(world, server, "ada").await;
        world.relink(ada, Links::CUT);
        world.run_for(Micros::from_secs(9)).await;
        assert_eq!(stands(world, ada), "playing");
        let end = end(world, ada, Micros::from_secs(3)).await;
        assert_eq!((end.kind, end.exit_code()), (EndKind::Lost, 69));
        assert_eq!(end.detail(), "The server closed the connection.");
        let ended = world.records().server(server).session_of("ada").unwrap().ended.clone();
        assert_eq!(ended.as_deref(), Some("Timeout"));
    });
}

/// SES-24: an alien that refuses with its own numbers.
#[test]
fn a_protocol_mismatch_shows_the_numbers_the_server_gave() {
    for transport in BOTH {
        world(transport, setup(), async |world, _| {
            let (raw, ada) = alien(world).await;
            raw.send(dh_messages::SessionEnd {
                code: CloseCode::ProtocolMismatch,
                server_version: 80,
                client_version: 1,
                reason: dh_messages::Str16::clipped("refused"),
            });
            raw.connection().close(1, b"refused");
            let end = end(world, ada, SECOND).await;
            assert_eq!((end.kind, end.title()), (EndKind::ProtocolMismatch, Some("Disconnected")));
            assert_eq!(end.message(), "This server runs a different version of the game.");
            assert_eq!(end.detail(), "This server speaks protocol 80; this client speaks 1.");
        });
    }
}

/// SES-26
#[test]
fn a_close_without_a_reason_says_that_the_server_closed() {
    for transport in BOTH {
        world(transport, setup(), async |world, _| {
            let (raw, ada) = alien(world).await;
            raw.connection().close(0, b"");
            let end = end(world, ada, SECOND).await;
            assert_eq!(end.kind, EndKind::ClosedByServer);
            assert_eq!(end.detail(), "The server closed the connection.");
        });
    }
}

/// SES-28: cut short, and of the wrong channel.
#[test]
fn a_message_that_cannot_be_read_ends_the_session_in_a_known_state() {
    let truncated = (ServerInfo::ID, vec![2, 0, 0, 0, 60]);
    let misplaced = (dh_messages::Snapshot::ID, vec![0; 40]);
    for (transport, (id, body)) in
        BOTH.into_iter().flat_map(|it| [(it, truncated.clone()), (it, misplaced.clone())])
    {
        world(transport, setup(), async |world, _| {
            let (raw, ada) = alien(world).await;
            raw.send(hello());
            raw.send_raw(id, &body);
            let end = end(world, ada, SECOND).await;
            assert_eq!((end.kind, end.title()), (EndKind::Unreadable, Some("Disconnected")));
            assert_eq!(end.message(), "The server sent something this client could not read.");
            assert_eq!(end.detail(), "The session was ended to keep this client in a known state.");
            let closed = raw.end(world).await;
            assert_eq!(closed.code, u32::from(CloseCode::Unreadable.value()));
        });
    }
}

/// Each actor of a client fails once while it plays, and goes on from what it kept.
#[test]
fn a_client_whose_actors_fail_plays_on() {
    world(Transport::Quic, setup(), async |world, server| {
        let ada = player(world, server, "ada").await;
        world.walk(ada, 0, 127);
        world.run_for(SECOND).await;
        for actor in ["predictor", "presenter", "connection"] {
            let path = format!("peer-ada/{actor}");
            let taken = world.runtime().registry().report(&path).unwrap();
            let nth = taken.port.kinds.iter().map(|(_, counts)| counts.handled).sum::<u64>() + 5;
            world.runtime().registry().faults().panic_at(&path, nth);
        }
        world.run_for(Micros::from_secs(2)).await;
        assert_eq!((stands(world, ada), ends(world, ada).len()), ("playing", 0));
        let corrected = world.records().peer(ada).corrections.len();
        world.run_for(SECOND).await;
        assert_eq!(world.records().peer(ada).corrections.len(), corrected, "it has healed");
        world.present(ada);
        world.run_for(Micros::from_millis(10)).await;
        let view = world.records().peer(ada).view.clone().unwrap();
        assert_eq!(view.players[0].name, "ada", "the list of players is kept");
        let restarts: u64 = world.runtime().registry().reports().iter().map(|it| it.restarts).sum();
        assert_eq!(restarts, 3);
    });
}

/// What breaks a connection once is handed to the one made in its place; twice, and nothing that
/// follows fits.
#[test]
fn a_join_whose_words_break_its_client_goes_on_and_one_broken_twice_ends_as_told() {
    for (nth, times) in (1..=8).flat_map(|nth| [(nth, 1), (nth, 2)]) {
        world(Transport::Quic, setup(), async |world, server| {
            let faults = world.runtime().registry().faults();
            (0..times).for_each(|_| faults.panic_at("peer-ada/connection", nth));
            let ada = world.peer(PeerSetup::new("ada"));
            world.join(ada, server);
            world.run_for(SECOND).await;
            let ended = ends(world, ada);
            let report = world.runtime().registry().report("peer-ada/connection").unwrap();
            assert!(report.panics >= 1, "{nth}");
            if ended.is_empty() {
                assert_eq!(stands(world, ada), "playing", "{nth}, {times} times");
                return;
            }
            assert_eq!((times, ended.len()), (2, 1), "{nth}");
            assert_eq!((ended[0].kind, ended[0].exit_code()), (EndKind::ClientFailed, 70));
            world.join(ada, server);
            let plays = |it: &World| it.is_playing(ada);
            world.expect_within(SECOND, "she plays at the next try", plays).await;
        });
    }
}
