//! Builds: peers and servers whose schemas differ play together, and what that costs them.

use dh_machine::Micros;
use dh_messages::{
    BlobKind, BlobRequest, ConnectRequest, Content, Hash128, Own, PROTOCOL_VERSION, SCHEMA_WORDS,
    SchemaText, ToClient, schema_hash,
};
use dh_scenario::{OtherBuild, PeerId, PeerSetup, Report, ServerId, ServerSetup, Transport, World};
use dh_wire::schema::{Edit, identity, pack};

use crate::log::lines_of;
use crate::raw::{Dial, Raw};
use crate::stage::{self, BOTH, SECOND, console, play, player};

fn named(name: &str) -> OtherBuild {
    OtherBuild::named(name).unwrap_or_else(|| panic!("no build {name}"))
}

fn world(
    transport: Transport,
    build: Option<&str>,
    course: impl AsyncFnOnce(&mut World, ServerId),
) -> Report {
    let build = build.map(named);
    stage::world(transport, ServerSetup { build, ..ServerSetup::default() }, course)
}

/// A peer of a build, under its build's name.
fn of(world: &mut World, name: &str, build: Option<&str>) -> PeerId {
    let setup = PeerSetup::new(name);
    world.peer(PeerSetup { build: build.map(named), ..setup })
}

fn short(build: Option<&str>) -> String {
    let hash = build
        .map_or_else(schema_hash, |name| identity(named(name).schema().unwrap().text().as_bytes()));
    hash.short().to_string()
}

fn lines(world: &World, peer: PeerId) -> Vec<String> {
    world.records().peer(peer).lines.clone()
}

/// JOIN-27, JOIN-30, PLAN-04, PLAN-05
#[test]
fn a_peer_of_another_build_joins_walks_and_is_where_the_server_says_it_is() {
    for transport in BOTH {
        world(transport, None, async |world, server| {
            let ada = of(world, "ada", Some("newer-3"));
            play(world, server, ada).await;
            world.walk(ada, 0, 127);
            world.run_for(Micros::from_secs(2)).await;
            let records = world.records();
            let session = records.server(server).session_of("ada").unwrap();
            assert!(session.applied.len() > 100, "{}", session.applied.len());
            let peer = records.peer(ada);
            assert!(peer.confirmed > 100 && peer.corrections.is_empty(), "{:?}", peer.corrections);
            assert!(peer.endings.is_empty());
        });
    }
}

/// JOIN-27, JOIN-28, JOIN-29, JOIN-32, FIX-08
#[test]
fn every_build_plays_on_a_server_of_every_build_and_is_told_once_where_they_differ() {
    let builds: Vec<Option<&str>> = OtherBuild::NAMES.into_iter().map(Some).chain([None]).collect();
    for here in &builds {
        world(Transport::Memory, *here, async |world, server| {
            let mut peers = Vec::new();
            for there in &builds {
                let peer = of(world, there.unwrap_or("own"), *there);
                play(world, server, peer).await;
                world.walk(peer, 127, 127);
                peers.push(peer);
            }
            world.run_for(SECOND).await;
            for (there, peer) in builds.iter().zip(&peers) {
                let who = format!("{there:?} on {here:?}");
                let told = lines(world, *peer);
                let told: Vec<&String> = told.iter().filter(|it| it.contains("mismatch")).collect();
                let (yours, ours) = (short(*there), short(*here));
                let line = format!("[server] Protocol mismatch: yours {yours}, server {ours}");
                let want = if there == here { vec![] } else { vec![&line] };
                assert_eq!(told, want, "{who}");
                world.client(*peer).present();
                world.run_for(Micros::from_millis(50)).await;
                let records = world.records();
                let record = records.peer(*peer);
                assert!(record.endings.is_empty() && record.is_playing(), "{who}");
                let view = record.view.clone().unwrap();
                assert_eq!(view.players.len(), builds.len(), "{who} sees everybody");
                let name = there.unwrap_or("own");
                let session = records.server(server).session_of(name).unwrap();
                assert!(session.applied.len() > 40, "{who}: {}", session.applied.len());
            }
        });
    }
}

/// JOIN-11, JOIN-13, JOIN-14, JOIN-41, PLAN-01, PLAN-03
#[test]
fn each_text_crosses_once_a_process_and_both_logs_say_what_crossed() {
    let lines = lines_of(|| {
        world(Transport::Quic, None, async |world, server| {
            let ada = of(world, "ada", Some("newer-1"));
            play(world, server, ada).await;
            let bob = of(world, "bob", Some("newer-1"));
            play(world, server, bob).await;
            world.disconnect(ada);
            world.run_for(SECOND).await;
            play(world, server, ada).await;
        });
    });
    let schema: Vec<&String> = lines.iter().filter(|it| it.starts_with("schema: ")).collect();
    assert_eq!(schema.len(), 6, "{schema:?}");
    let (theirs, ours) = (short(Some("newer-1")), short(None));
    let sent = Own::this().packed().len();
    let text = named("newer-1").schema().unwrap().text();
    let packed = pack(&text, SCHEMA_WORDS).len();
    let here = |up: usize, down: usize| match up + down {
        0 => "(hash only, 16 bytes each way)".to_owned(),
        _ => format!("(full schema: {up} bytes sent, {down} received, beside 16-byte hashes)"),
    };
    let at_server = |name: &str, cost: String| {
        let line = schema.iter().filter(|it| it.starts_with(&format!("schema: {name} (")));
        let want = format!(
            ") writes schema {theirs}, this server writes {ours}; reading it by name {cost}"
        );
        line.filter(|it| it.ends_with(&want)).count()
    };
    assert_eq!(at_server("ada", here(sent, packed)), 1, "{schema:?}");
    // The server knows the build by then, and the client's process does not know the server's.
    assert_eq!(at_server("bob", here(sent, 0)), 1, "{schema:?}");
    assert_eq!(at_server("ada", here(0, 0)), 1, "{schema:?}");
    let at_client = |cost: String| {
        let want = format!(
            "schema: this server writes schema {ours}, ours {theirs}; reading it by name {cost}"
        );
        schema.iter().filter(|it| ***it == want).count()
    };
    let both = (at_client(here(packed, sent)), at_client(here(0, sent)), at_client(here(0, 0)));
    assert_eq!(both, (1, 1, 1), "{schema:?}");
}

/// JOIN-07, JOIN-12, PLAN-02
#[test]
fn a_build_that_is_the_servers_costs_a_hash_each_way_and_no_round_trip() {
    let logged = lines_of(|| {
        world(Transport::Quic, Some("older-3"), async |world, server| {
            let ada = of(world, "ada", Some("older-3"));
            play(world, server, ada).await;
            assert_eq!(lines(world, ada), ["ada joined"]);
        });
    });
    let schema: Vec<&String> = logged.iter().filter(|it| it.starts_with("schema: ")).collect();
    let [at_client, at_server] = &schema[..] else { panic!("{schema:?}") };
    let (cost, hash) = ("(hash only, 16 bytes each way)", short(Some("older-3")));
    let want = format!("schema: this server writes this client's schema {hash} {cost}");
    assert_eq!(**at_client, want);
    assert!(at_server.starts_with("schema: ada ("), "{at_server}");
    let want = format!(") writes this server's schema {hash} {cost}");
    assert!(at_server.ends_with(&want), "{at_server}");
}

fn ask(raw: &Raw, text: &str) {
    let schema_hash = identity(text.as_bytes());
    raw.send(ConnectRequest { version: PROTOCOL_VERSION, schema_hash });
}

/// JOIN-08, JOIN-09, JOIN-10, PLAN-01
#[test]
fn a_first_peer_of_a_build_pays_for_two_texts_and_a_second_for_two_hashes() {
    for transport in BOTH {
        world(transport, None, async |world, server| {
            let schema = named("newer-1").schema().unwrap();
            let text = schema.text();
            let packed = pack(&text, SCHEMA_WORDS);
            assert!(packed.len() * 10 <= text.len() * 3 && packed.len() <= 8 << 10);
            for (nth, wants_text) in [(0, true), (1, false)] {
                let raw = Raw::dial(world, server, Dial::new(1, transport));
                raw.connect(world).await;
                ask(&raw, &text);
                world.run_for(Micros::from_millis(200)).await;
                assert_eq!(raw.ids(), [44], "who the server is waits for the text");
                let mut down: usize = raw.heard().messages.iter().map(|it| it.1.len()).sum();
                assert_eq!(down, 17, "a hash, and whether a text is wanted");
                let ToClient::SchemaHash(told) = &raw.told()[0] else { panic!() };
                assert_eq!(told.wants_text, nth == 0);
                let packed = if nth == 0 { packed.clone() } else { Vec::new() };
                raw.send(SchemaText { wants_text, packed: packed.into() });
                world.run_for(Micros::from_millis(200)).await;
                let ids = raw.ids();
                assert_eq!(ids, if nth == 0 { vec![44, 45, 2] } else { vec![44, 2] });
                if nth == 0 {
                    down = raw.heard().messages[1].1.len();
                    assert_eq!(down, Own::this().packed().len());
                }
            }
        });
    }
}

/// JOIN-08
#[test]
fn a_peer_that_keeps_its_text_to_itself_learns_nothing_and_is_sent_home_in_time() {
    world(Transport::Quic, None, async |world, server| {
        let schema = named("older-1").schema().unwrap();
        let raw = Raw::dial(world, server, Dial::new(1, Transport::Quic));
        raw.connect(world).await;
        ask(&raw, &schema.text());
        let closed = raw.end(world).await;
        assert_eq!((closed.code, raw.ids()), (2, vec![44, 52]));
        assert_eq!(closed.reason, b"no schemaText within 10 s of the schemaHash");
    });
}

/// What a peer may not know: texts that are none, and some that would take for ever.
#[test]
fn hostile_texts_are_refused_with_a_reason_and_nobody_else_notices() {
    let own = dh_messages::schema_text();
    let head: String = own.split_inclusive('\n').take(3).collect();
    let deep =
        format!("{head}record A\n  a {}u8{}\n", "optional(".repeat(10_000), ")".repeat(10_000));
    let texts = [
        format!("{head}message toServer 4 clientReady stream A\nrecord A\n  a A\n"),
        format!("{head}record A\n  a hyper128\n"),
        format!("{head}record A\n  a list16(1000000000, u8)\n"),
        deep,
        format!("{head}record A\n{}", "  a u8\n".repeat(40_000)),
        "a".repeat(32 << 20),
    ];
    let logged = lines_of(|| {
        world(Transport::Quic, None, async |world, server| {
            let ada = player(world, server, "ada").await;
            for text in &texts {
                let raw = Raw::dial(world, server, Dial::new(1, Transport::Quic));
                raw.connect(world).await;
                ask(&raw, text);
                let packed = pack(text, SCHEMA_WORDS);
                raw.send(SchemaText { wants_text: true, packed: packed.into() });
                let closed = raw.end(world).await;
                let reason = String::from_utf8(closed.reason).unwrap();
                assert_eq!((closed.code, raw.ids()), (3, vec![44, 52]), "{reason}");
                assert!(reason.starts_with("unreadable schemaText: its schema "), "{reason}");
            }
            let raw = Raw::dial(world, server, Dial::new(1, Transport::Quic));
            raw.connect(world).await;
            ask(&raw, "anything");
            raw.send(SchemaText { wants_text: true, packed: vec![0; 70_000].into() });
            assert_eq!(raw.end(world).await.code, 3);
            assert!(world.is_playing(ada));
        });
    });
    let told = logged.iter().filter(|it| it.contains("unreadable schemaText: ")).count();
    assert_eq!(told, texts.len() + 1);
}

/// JOIN-33, JOIN-34, PLAN-28
#[test]
fn what_a_peer_has_no_name_for_is_sent_to_the_others_and_its_absence_is_logged_once() {
    let quiet = OtherBuild {
        name: "quiet".to_owned(),
        edits: vec![Edit::Drop { message: "serverChat".to_owned() }],
    };
    let logged = lines_of(|| {
        world(Transport::Memory, None, async |world, server| {
            let ada = player(world, server, "ada").await;
            let alice = world.peer(PeerSetup::new("alice").of(quiet));
            play(world, server, alice).await;
            for _ in 0..100 {
                console(world, server, "say mind the gap").await;
            }
            let heard = lines(world, ada);
            assert_eq!(heard.iter().filter(|it| it.contains("mind the gap")).count(), 100);
            assert!(lines(world, alice).is_empty(), "not even that it is of another build");
            assert!(world.is_playing(alice));
        });
    });
    let held: Vec<&String> = logged.iter().filter(|it| it.starts_with("not sending ")).collect();
    let [line] = &held[..] else { panic!("{held:?}") };
    assert!(line.starts_with("not sending serverChat to alice ("), "{line}");
    assert!(line.ends_with("): its schema does not list it"), "{line}");
}

/// PLAN-05
#[test]
fn what_a_server_sends_is_the_same_bytes_whoever_reads_them() {
    world(Transport::Memory, None, async |world, server| {
        let mut heard = Vec::new();
        for build in [None, Some("newer-1")] {
            let raw = Raw::dial(world, server, Dial::new(1, Transport::Memory));
            raw.connect(world).await;
            match build {
                None => raw.greet(),
                Some(name) => {
                    let text = named(name).schema().unwrap().text();
                    ask(&raw, &text);
                    let packed = pack(&text, SCHEMA_WORDS).into();
                    raw.send(SchemaText { wants_text: false, packed });
                }
            }
            world.run_for(Micros::from_millis(100)).await;
            let told = raw.heard().messages.clone();
            heard.push(told.into_iter().find(|(id, _)| *id == 2).unwrap());
        }
        assert_eq!(heard[0], heard[1]);
    });
}

/// MR-67, MR-68, PLAN-28
#[test]
fn who_reads_no_refusal_gets_no_answer_and_is_sent_home_with_the_reason_if_it_was_its_map() {
    let logged = lines_of(|| {
        world(Transport::Quic, None, async |world, server| {
            let raw = Raw::dial(world, server, Dial::new(1, Transport::Quic));
            raw.connect(world).await;
            let mut schema = dh_messages::schema();
            schema.edit(&Edit::Drop { message: "blobRefused".to_owned() }).unwrap();
            let text = schema.text();
            ask(&raw, &text);
            let packed = pack(&text, SCHEMA_WORDS).into();
            raw.send(SchemaText { wants_text: false, packed });
            raw.identify("alice");
            world.run_for(SECOND).await;
            let before = raw.ids();
            for nth in 1..3 {
                let content = Content { fingerprint: Hash128([nth; 16]), ..Content::default() };
                raw.send(BlobRequest { kind: BlobKind::AvatarPallet, content });
                world.run_for(SECOND).await;
            }
            assert!(raw.ids() == before && !raw.is_closed(), "{:?}", raw.ids());
            raw.send(BlobRequest { kind: BlobKind::MapPallet, ..BlobRequest::default() });
            let closed = raw.end(world).await;
            assert_eq!((closed.code, &closed.reason[..]), (2, &b"not held by this server"[..]));
        });
    });
    let held: Vec<&String> = logged.iter().filter(|it| it.starts_with("not sending ")).collect();
    let [line] = &held[..] else { panic!("{held:?}") };
    assert!(line.starts_with("not sending blobRefused to alice ("), "{line}");
}

/// SNAP-15
#[test]
fn a_peer_that_reads_no_fragments_misses_only_the_ticks_that_take_them() {
    let whole = OtherBuild {
        name: "whole".to_owned(),
        edits: vec![Edit::Drop { message: "snapshotFragment".to_owned() }],
    };
    world(Transport::Quic, None, async |world, server| {
        console(world, server, "server.maxPlayers 64").await;
        let alice = world.peer(PeerSetup::new("alice").of(whole));
        play(world, server, alice).await;
        let applied = |world: &World| world.records().peer(alice).snapshots.len();
        world.run_for(SECOND).await;
        assert!(50 < applied(world));
        let crowd: Vec<Raw> =
            (1..=40).map(|key| Raw::dial(world, server, Dial::new(key, Transport::Quic))).collect();
        for raw in &crowd {
            raw.join(world, "one of many").await;
        }
        world.run_for(SECOND).await;
        let before = applied(world);
        world.run_for(SECOND).await;
        assert_eq!(applied(world), before, "each takes two datagrams now");
        for raw in &crowd {
            raw.connection().close(0, b"");
        }
        world.run_for(SECOND).await;
        let before = applied(world);
        world.run_for(SECOND).await;
        assert!(before + 50 < applied(world), "{before}");
        assert!(world.is_playing(alice) && world.records().peer(alice).endings.is_empty());
    });
}
