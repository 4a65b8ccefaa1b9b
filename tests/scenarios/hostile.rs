//! Hostile peers: whatever one sends or refuses to read, it is refused or bounded, told and
//! counted, and nobody else's tick or snapshot is late for it.

use bytes::Bytes;
use dh_client::EndKind;
use dh_machine::Micros;
use dh_messages::{
    Buttons, ClientInfo, ClientReady, CloseCode, ConnectRequest, Few8, Input, Message,
    PROTOCOL_VERSION, PlayerInput, SnapshotAck, ToClient, encode, schema_hash,
};
use dh_scenario::{PeerId, PeerSetup, Report, ServerId, ServerSetup, Transport, World};

use crate::log::lines_of;
use crate::raw::{Dial, Raw};
use crate::stage::{self, BOTH, SECOND, nobody_panicked, player};

const ADA: PeerId = PeerId(0);

/// A world in which ada plays and must not notice anything.
fn world(transport: Transport, course: impl AsyncFnOnce(&mut World, ServerId)) -> Report {
    let report = stage::world(transport, ServerSetup::default(), async |world, server| {
        let ada = player(world, server, "ada").await;
        world.walk(ada, 20, 100);
        course(world, server).await;
        world.expect("ada still plays", world.is_playing(ada));
        nobody_panicked(world.runtime());
        let tick = world.runtime().registry().report("server-0/tick").unwrap();
        assert!(tick.late.max_ns <= 1_000_000, "no tick was late: {:?}", tick.late);
    });
    sees_every_tick_on_time(&report);
    report
}

/// Ada's snapshots came one a tick, each within two milliseconds of when it was due.
fn sees_every_tick_on_time(report: &Report) {
    let seen = &report.records.peer(ADA).snapshots;
    let (start, first) = seen[0];
    for (number, (at, tick)) in (0..).zip(seen) {
        assert_eq!(tick.0, first.0 + number);
        let due = start + Micros(u64::from(number) * 1_000_000 / 60);
        assert!(at.0.abs_diff(due.0) <= 2_000, "tick {} came at {at:?}, due {due:?}", tick.0);
    }
}

/// Words that follow from a number, as hostile as they come.
struct Noise(u64);

impl Noise {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        self.0 >> 24
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.word()).unwrap() % bound
    }

    fn bytes(&mut self, most: usize) -> Vec<u8> {
        let count = self.below(most + 1);
        (0..count).map(|_| self.word().to_le_bytes()[0]).collect()
    }

    /// A message that may once have been an honest one.
    fn message(&mut self) -> (u8, Vec<u8>) {
        let (id, mut body) = match self.below(4) {
            0 => honest(ConnectRequest { version: PROTOCOL_VERSION, schema_hash: schema_hash() }),
            1 => honest(ClientInfo { name: "eve".into(), ..ClientInfo::default() }),
            2 => honest(ClientReady { map_generation: 1 }),
            _ => (self.word().to_le_bytes()[0], self.bytes(300)),
        };
        match self.below(4) {
            0 => body.truncate(self.below(body.len() + 1)),
            1 => body.extend(self.bytes(40)),
            2 if !body.is_empty() => {
                let at = self.below(body.len());
                body[at] ^= 1 << self.below(8);
            }
            // A length or a count as large as it can be.
            _ => body.iter_mut().take(3).for_each(|byte| *byte = 0xff),
        }
        (id, body)
    }
}

fn honest<M: Message>(mut message: M) -> (u8, Vec<u8>) {
    let mut body = Vec::new();
    encode(&mut message, &mut body).unwrap();
    (M::ID, body)
}

/// How a peer got its last word, and that it is a word we know.
fn told_why(raw: &Raw) -> CloseCode {
    let end = raw.find(|it| if let ToClient::SessionEnd(end) = it { Some(end) } else { None });
    let end = end.unwrap_or_else(|| panic!("closed without a word: {:?}", raw.heard().closed));
    assert!(!end.reason.is_empty());
    let closed = raw.heard().closed.clone().unwrap();
    assert_eq!(closed.code, u32::from(end.code.value()));
    end.code
}

#[test]
fn garbage_at_every_step_of_a_join_ends_it_with_a_reason_and_nothing_else() {
    for transport in BOTH {
        let mut refused = 0;
        world(transport, async |world, server| {
            let mut noise = Noise(7);
            for attempt in 0..240 {
                let raw = Raw::dial(world, server, Dial::new(9, transport));
                raw.connect(world).await;
                let steps: [&dyn Fn(); 4] =
                    [&|| (), &|| raw.greet(), &|| raw.identify("eve"), &|| raw.ready()];
                steps[..=attempt % 4].iter().for_each(|step| step());
                for _ in 0..3 {
                    let (id, body) = noise.message();
                    raw.send_raw(id, &body);
                }
                raw.connection().send_datagrams((0..5).map(|_| Bytes::from(noise.bytes(200))));
                world.run_for(Micros::from_millis(30)).await;
                if raw.is_closed() {
                    let code = told_why(&raw);
                    let codes =
                        [CloseCode::ProtocolMismatch, CloseCode::Closed, CloseCode::Unreadable];
                    assert!(codes.contains(&code), "{code:?}");
                    refused += 1;
                }
                raw.connection().close(0, b"");
            }
            world.run_for(SECOND).await;
        });
        assert!(refused > 230, "{refused} of 240 were refused");
    }
}

#[test]
fn a_megabyte_of_nothing_is_read_once_and_refused() {
    for transport in BOTH {
        world(transport, async |world, server| {
            for id in [1, 3, 4, 20, 200] {
                let raw = Raw::dial(world, server, Dial::new(9, transport));
                raw.connect(world).await;
                for _ in 0..3 {
                    raw.send_raw(id, &vec![0xff; 1 << 20]);
                }
                raw.end(world).await;
                told_why(&raw);
            }
        });
    }
}

#[test]
fn a_name_too_long_is_refused_and_one_that_would_deceive_is_shown_plainly() {
    world(Transport::Quic, async |world, server| {
        let long = Raw::dial(world, server, Dial::new(8, Transport::Quic));
        long.connect(world).await;
        long.greet();
        // A name of 255 bytes, where 128 are the most.
        long.send_raw(20, &[&[255][..], &[b'x'; 255], &[0; 6]].concat());
        long.end(world).await;
        assert_eq!(told_why(&long), CloseCode::Unreadable);
        let sly = Raw::dial(world, server, Dial::new(9, Transport::Quic));
        sly.join(world, "ada\n  #0   root\u{202e}\u{7}  op").await;
        let asked = world.console(server, "players");
        world.run_for(SECOND).await;
        let records = world.records();
        let answers = &records.server(server).answers;
        let listing = &answers.iter().find(|(id, _)| *id == asked).unwrap().1;
        assert_eq!(listing.lines().count(), 3, "{listing}");
        let line = listing.lines().nth(2).unwrap();
        assert!(line.starts_with("  #1   ada  #0   root  op identity=key:"), "{line}");
        assert!(line.ends_with("overrides=0"), "{line}");
    });
}

/// PLAT-10
#[test]
fn a_flood_of_datagrams_costs_only_the_one_who_sends_it() {
    for transport in BOTH {
        let lines = lines_of(|| {
            world(transport, async |world, server| {
                let raw = Raw::dial(world, server, Dial::new(9, transport));
                raw.join(world, "eve").await;
                let mut noise = Noise(3);
                for turn in 0..120_u32 {
                    for sequence in 0..50 {
                        raw.send_datagram(input(turn * 50 + sequence, 0.0));
                    }
                    let garbage = (0..500).map(|_| Bytes::from(noise.bytes(60)));
                    raw.connection().send_datagrams(garbage);
                    world.run_for(Micros(16_667)).await;
                }
                assert!(!raw.is_closed(), "it is bounded, not ended");
                raw.connection().close(0, b"left");
                world.run_for(SECOND).await;
            });
        });
        let lines: Vec<&String> = lines.iter().filter(|it| it.contains("dropped so far")).collect();
        let [first, last] = &lines[..] else { panic!("{lines:?}") };
        assert!(first.contains("eve (") && first.contains("; the last: "), "{first}");
        let flooded = last.split(" unreadable, ").nth(1).unwrap().split(' ').next().unwrap();
        assert!(flooded.parse::<u32>().unwrap() > 1_000, "{last}");
    }
}

fn input(sequence: u32, yaw: f32) -> Input {
    let input =
        PlayerInput { sequence, move_z: 127, buttons: Buttons::JUMP, yaw, ..Default::default() };
    Input { snapshot_ack: SnapshotAck::default(), inputs: Few8::of([input]) }
}

/// GEN-01
#[test]
fn whatever_a_peer_claims_its_pawn_is_where_the_server_moved_it() {
    for transport in BOTH {
        world(transport, async |world, server| {
            let raw = Raw::dial(world, server, Dial::new(9, transport));
            raw.join(world, "eve").await;
            world.run_for(Micros::from_millis(200)).await;
            let start = raw.snapshots().pop().unwrap().head.owner.position;
            // A hundred steps in one breath, huge angles, sequences from the end of the world.
            for sequence in (1..=100).chain([u32::MAX, u32::MAX - 1, 0, 5]) {
                raw.send_datagram(input(sequence, if sequence % 2 == 0 { 3e38 } else { -3e38 }));
            }
            for _ in 0..30 {
                world.run_for(Micros(16_667)).await;
                raw.send_datagram(input(u32::MAX, 1e30));
            }
            let owner = raw.snapshots().pop().unwrap().head.owner.0;
            let way = owner.position.iter().zip(start).map(|(a, b)| (a - b).powi(2)).sum::<f32>();
            assert!(way.sqrt() < 7.0 * 0.7, "{} m in half a second", way.sqrt());
            assert!(owner.position.iter().all(|it| it.is_finite()));
        });
    }
}

#[test]
fn a_reader_that_never_reads_is_cut_off_when_its_queue_is_full_and_nobody_else_is() {
    for transport in BOTH {
        let lines = lines_of(|| {
            let report = world(transport, async |world, server| {
                let dial = Dial { reads: false, ..Dial::new(9, transport) };
                let raw = Raw::dial(world, server, dial);
                raw.connect(world).await;
                raw.greet();
                raw.identify("deaf");
                raw.ready();
                world.run_for(Micros::from_millis(200)).await;
                let line = format!("say {}", "\u{20ac}".repeat(200));
                let mut said = 0;
                while world.records().server(server).session_of("deaf").unwrap().ended.is_none() {
                    for _ in 0..100 {
                        world.console(server, &line);
                    }
                    said += 100;
                    assert!(said < 10_000, "its queue never fills");
                    world.run_for(Micros(16_667)).await;
                }
                let heard = world.records().peer(ADA).lines.len();
                assert!(heard > said - 200, "ada read {heard} of {said} lines");
            });
            assert!(report.records.peer(ADA).endings.is_empty());
        });
        let lines: Vec<&String> =
            lines.iter().filter(|line| line.contains("peer disconnected")).collect();
        let [line] = &lines[..] else { panic!("{lines:?}") };
        assert!(
            line.contains("deaf (") && line.ends_with("Closed here: reads too slowly"),
            "{line}"
        );
    }
}

#[test]
fn those_who_connect_and_say_nothing_are_sent_away_and_the_next_one_gets_in() {
    for transport in BOTH {
        let report = world(transport, async |world, server| {
            let silent: Vec<Raw> = (0..100)
                .map(|key| Raw::dial(world, server, Dial::new(100 + key, transport)))
                .collect();
            world.run_for(Micros::from_secs(5)).await;
            let reasons = silent.iter().map(|raw| {
                let heard = raw.heard();
                String::from_utf8(heard.closed.as_ref().unwrap().reason.clone()).unwrap()
            });
            let (full, late): (Vec<String>, Vec<String>) =
                reasons.partition(|reason| reason == "server is full (16 players)");
            assert!(full.len() > 60, "ada and fifteen others fill the server: {}", full.len());
            let want = "no connectRequest within 2 s of the handshake";
            assert!(!late.is_empty() && late.iter().all(|reason| reason == want), "{late:?}");
            let bob = world.peer(PeerSetup::new("bob"));
            world.join(bob, server);
            world.expect_within(SECOND, "bob gets in", |it| it.is_playing(bob)).await;
        });
        let endings = &report.records.peer(PeerId(1)).endings;
        assert!(endings.iter().all(|end| end.kind != EndKind::ServerFull));
    }
}

#[test]
fn a_flood_of_messages_waits_at_the_door_of_its_own_session() {
    for transport in BOTH {
        world(transport, async |world, server| {
            let raw = Raw::dial(world, server, Dial::new(9, transport));
            raw.connect(world).await;
            for _ in 0..20_000 {
                raw.send_raw(4, &1_u32.to_le_bytes());
            }
            raw.end(world).await;
            assert_eq!(told_why(&raw), CloseCode::Unreadable);
            let sessions = world.runtime().registry().reports();
            assert_eq!(sessions.iter().filter(|it| it.kind == "session").count(), 1);
        });
    }
}
