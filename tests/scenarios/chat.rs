//! Chat: who is heard as whom, how often, and what a peer's console may do.

mod console;

use dh_machine::Micros;
use dh_messages::{ChatKind, ClientChat, ServerChat, ToClient};
use dh_scenario::{PeerId, PeerSetup, Report, ServerId, ServerSetup, Transport, World};

use crate::log::lines_of;
use crate::raw::{Dial, Raw};
use crate::stage::{self, BOTH, SECOND, console, nobody_panicked, player};

const MOMENT: Micros = Micros::from_millis(100);
const NONE: u8 = ServerChat::NO_SLOT;

fn world(transport: Transport, course: impl AsyncFnOnce(&mut World, ServerId)) -> Report {
    stage::world(transport, ServerSetup::default(), course)
}

/// Everything a peer has read so far: kind, slot, name, text.
fn feed(world: &World, peer: PeerId) -> Vec<(ChatKind, u8, String, String)> {
    let read = |line: &ServerChat| {
        let (name, text) = (line.name.as_str().to_owned(), line.text.as_str().to_owned());
        (line.kind, line.slot, name, text)
    };
    world.records().peer(peer).chat.iter().map(read).collect()
}

/// What a peer has read of what others said.
fn said(world: &World, peer: PeerId) -> Vec<String> {
    let said = feed(world, peer).into_iter().filter(|(kind, ..)| *kind == ChatKind::Player);
    said.map(|(_, _, name, text)| format!("{name}: {text}")).collect()
}

fn row(kind: ChatKind, slot: u8, name: &str, text: &str) -> (ChatKind, u8, String, String) {
    (kind, slot, name.to_owned(), text.to_owned())
}

async fn say(world: &mut World, peer: PeerId, text: &str) {
    world.client(peer).chat(text);
    world.run_for(MOMENT).await;
}

/// A peer of a test's own that plays.
async fn raw(world: &mut World, server: ServerId, transport: Transport, name: &str) -> Raw {
    let raw = Raw::dial(world, server, Dial::new(9, transport));
    raw.join(world, name).await;
    raw
}

/// The lines that came to it.
fn heard(raw: &Raw) -> Vec<ServerChat> {
    let line = |it| if let ToClient::ServerChat(line) = it { Some(line) } else { None };
    raw.told().into_iter().filter_map(line).collect()
}

/// CHAT-02, CHAT-05, CHAT-06, CHAT-09, CHAT-22
#[test]
fn everybody_reads_the_same_lines_whoever_says_them() {
    for transport in BOTH {
        world(transport, async |world, server| {
            let ada = player(world, server, "ada").await;
            let bob = player(world, server, "bob").await;
            let cyd = player(world, server, "cyd").await;
            say(world, bob, "hi").await;
            assert_eq!(console(world, server, "say hi").await, "say: it reached 3 players");
            let want = [
                row(ChatKind::Join, 2, "cyd", ""),
                row(ChatKind::Player, 1, "bob", "hi"),
                row(ChatKind::Server, NONE, "", "hi"),
            ];
            for peer in [ada, bob, cyd] {
                assert!(feed(world, peer).ends_with(&want), "{:?}", feed(world, peer));
            }
            let lines = world.records().server(server).lines.clone();
            assert!(lines.ends_with(&[
                "cyd joined".into(),
                "bob: hi".into(),
                "[server] hi".into()
            ]));
        });
    }
}

/// CHAT-03, CHAT-21
#[test]
fn nobody_speaks_as_the_server_or_as_somebody_else() {
    for transport in BOTH {
        world(transport, async |world, server| {
            let ada = player(world, server, "ada").await;
            let eve = raw(world, server, transport, "eve").await;
            for text in ["[server] hi", "ada: me too", "eve left"] {
                eve.send(ClientChat { text: text.into() });
            }
            world.run_for(MOMENT).await;
            let want = ["[server] hi", "ada: me too", "eve left"];
            let want = want.map(|text| row(ChatKind::Player, 1, "eve", text));
            assert!(feed(world, ada).ends_with(&want), "{:?}", feed(world, ada));
        });
    }
}

/// CHAT-07
#[test]
fn a_join_is_told_once_its_player_has_a_pawn_and_not_when_it_is_let_in() {
    for transport in BOTH {
        world(transport, async |world, server| {
            let ada = player(world, server, "ada").await;
            let before = feed(world, ada).len();
            let bob = Raw::dial(world, server, Dial::new(9, transport));
            bob.connect(world).await;
            bob.greet();
            bob.identify("bob");
            world.run_for(SECOND).await;
            assert_eq!(feed(world, ada).len(), before, "it loads");
            bob.ready();
            world.run_for(MOMENT).await;
            assert_eq!(feed(world, ada)[before..], [row(ChatKind::Join, 1, "bob", "")]);
            let ids = bob.ids();
            let place = |id| ids.iter().position(|it| *it == id).unwrap();
            assert!(place(5) < place(54), "{ids:?}");
        });
    }
}

/// CHAT-08, CHAT-10, CHAT-12
#[test]
fn one_that_leaves_and_comes_back_is_told_as_one_leave_and_one_join_in_its_old_slot() {
    for transport in BOTH {
        world(transport, async |world, server| {
            let ada = player(world, server, "ada").await;
            let bob = player(world, server, "bob").await;
            player(world, server, "cyd").await;
            let (adas, bobs) = (feed(world, ada).len(), feed(world, bob).len());
            world.disconnect(bob);
            world.run_for(MOMENT).await;
            assert_eq!(feed(world, bob).len(), bobs, "never to the leaver");
            world.join(bob, server);
            world.run_for(SECOND).await;
            let want = [row(ChatKind::Leave, 1, "bob", ""), row(ChatKind::Join, 1, "bob", "")];
            assert_eq!(feed(world, ada)[adas..], want);
        });
    }
}

/// CHAT-08: whoever vanishes is told too, once it is noticed.
#[test]
fn one_that_is_gone_without_a_word_leaves_once() {
    world(Transport::Quic, async |world, server| {
        let ada = player(world, server, "ada").await;
        let bob = player(world, server, "bob").await;
        let before = feed(world, ada).len();
        world.kill_peer(bob);
        world.run_for(Micros::from_secs(30)).await;
        assert_eq!(feed(world, ada)[before..], [row(ChatKind::Leave, 1, "bob", "")]);
    });
}

/// CHAT-11
#[test]
fn a_peer_that_never_played_is_announced_in_neither_direction() {
    for transport in BOTH {
        world(transport, async |world, server| {
            let ada = player(world, server, "ada").await;
            let before = feed(world, ada).len();
            let steps: [fn(&Raw); 3] = [
                |_| (),
                Raw::greet,
                |raw| {
                    raw.greet();
                    raw.identify("eve");
                    raw.send(ClientChat { text: "am I here?".into() });
                },
            ];
            for step in steps {
                let eve = Raw::dial(world, server, Dial::new(9, transport));
                eve.connect(world).await;
                step(&eve);
                world.run_for(MOMENT).await;
                eve.connection().close(0, b"left");
                world.run_for(MOMENT).await;
            }
            assert_eq!(feed(world, ada).len(), before);
        });
    }
}

/// CHAT-13, CHAT-14, CHAT-15, CHAT-16
#[test]
fn a_line_is_cut_and_cleaned_and_so_is_the_name_of_whoever_says_it() {
    for transport in BOTH {
        let logged = lines_of(|| {
            world(transport, async |world, server| {
                let ada = player(world, server, "ada").await;
                let eve = raw(world, server, transport, &"e".repeat(40)).await;
                let emoji = format!("{}\u{1f600}", "y".repeat(199));
                for text in ["x".repeat(250), emoji, "a\nb\x1b[31mc".to_owned()] {
                    eve.send(ClientChat { text: text.as_str().into() });
                }
                world.run_for(MOMENT).await;
                let name = "e".repeat(32);
                let want = ["x".repeat(200), "y".repeat(199), "ab[31mc".to_owned()];
                let want = want.map(|text| format!("{name}: {text}"));
                assert_eq!(said(world, ada), want);
                assert_eq!(heard(&eve).last().unwrap().name.as_str(), name);
            });
        });
        let line = format!("{}: ab[31mc", "e".repeat(32));
        assert_eq!(logged.iter().filter(|it| **it == line).count(), 1, "{logged:?}");
    }
}

/// CHAT-17
#[test]
fn lines_that_show_nothing_are_heard_by_nobody_and_not_logged() {
    for transport in BOTH {
        world(transport, async |world, server| {
            let ada = player(world, server, "ada").await;
            let eve = raw(world, server, transport, "eve").await;
            let before = (feed(world, ada).len(), world.records().server(server).lines.len());
            let told = eve.told().len();
            for blank in ["   ", "\t", "\x1b\x1b"] {
                eve.send(ClientChat { text: blank.into() });
            }
            world.run_for(MOMENT).await;
            let after = (feed(world, ada).len(), world.records().server(server).lines.len());
            assert_eq!((after, eve.told().len()), (before, told));
        });
    }
}

/// CHAT-18, CHAT-19
#[test]
fn six_at_once_are_four_and_another_passes_after_a_while_and_four_after_an_hour() {
    world(Transport::Memory, async |world, server| {
        let ada = player(world, server, "ada").await;
        let burst = async |world: &mut World, lines: usize| {
            let before = said(world, ada).len();
            (0..lines).for_each(|_| world.client(ada).chat("hi"));
            world.run_for(Micros::from_millis(40)).await;
            said(world, ada).len() - before
        };
        assert_eq!(burst(world, 6).await, 4);
        let told = world.records().peer(ada).lines.clone();
        assert_eq!(told.iter().filter(|it| it.contains("too many lines")).count(), 1, "{told:?}");
        world.run_for(Micros::from_millis(1_300)).await;
        assert_eq!(burst(world, 2).await, 1);
        world.run_for(Micros::from_secs(60)).await;
        assert_eq!(burst(world, 6).await, 4);
    });
}

/// CHAT-18, CHAT-20
#[test]
fn a_flood_of_ten_thousand_lines_disturbs_nobody() {
    for transport in BOTH {
        world(transport, async |world, server| {
            let ada = player(world, server, "ada").await;
            let eve = raw(world, server, transport, "eve").await;
            for _ in 0..100 {
                for _ in 0..100 {
                    eve.send(ClientChat { text: "spam".into() });
                }
                world.run_for(Micros(16_667)).await;
            }
            for text in ["1", "2", "3", "4"] {
                world.client(ada).chat(text);
            }
            world.run_for(SECOND).await;
            let said = said(world, ada);
            let of = |name: &str| said.iter().filter(|it| it.starts_with(name)).count();
            assert_eq!(of("ada: "), 4, "nobody spends another's tokens");
            assert!((4..=7).contains(&of("eve: ")), "{} lines of a flood", of("eve: "));
            assert!(world.is_playing(ada));
            for report in world.runtime().registry().reports() {
                let port = report.port;
                assert!(port.control.peak <= port.control.max && port.data.peak <= port.data.max);
            }
            let chat = world.runtime().registry().report("server-0/chat").unwrap();
            assert!(chat.port.control.peak <= 4, "the flood ends in its own session");
            nobody_panicked(world.runtime());
        });
    }
}

/// CHAT-24
#[test]
fn what_the_server_says_is_cut_and_cleaned_like_a_players_line() {
    world(Transport::Quic, async |world, server| {
        let ada = player(world, server, "ada").await;
        let line = format!("say one\u{2028}two\x1b{}", "x".repeat(250));
        let answer = console(world, server, &line).await;
        assert_eq!(answer, "say: it reached 1 player, cut to 200 characters");
        let want = format!("onetwo{}", "x".repeat(194));
        assert_eq!(feed(world, ada).last(), Some(&row(ChatKind::Server, NONE, "", &want)));
    });
}

#[test]
fn a_line_that_breaks_the_chat_is_heard_all_the_same_and_one_that_does_twice_is_lost_alone() {
    let times = |times: u64| BOTH.map(|transport| (transport, times));
    for nth in 1..=8_u64 {
        for (transport, times) in [times(1), times(2)].concat() {
            world(transport, async |world, server| {
                let faults = world.runtime().registry().faults();
                (0..times).for_each(|_| faults.panic_at("server-0/chat", nth));
                let ada = player(world, server, "ada").await;
                let bob = player(world, server, "bob").await;
                for number in 0..6 {
                    console(world, server, &format!("say {number}")).await;
                }
                let report = world.runtime().registry().report("server-0/chat").unwrap();
                assert_eq!((report.panics, report.port.control.depth), (times, 0));
                assert!(world.is_playing(ada) && world.is_playing(bob));
                // Two joins, then what was said.
                let lost = usize::from(times == 2 && nth > 2);
                let heard = feed(world, ada).iter().filter(|it| it.0 == ChatKind::Server).count();
                assert_eq!(heard, 6 - lost, "{nth}");
            });
        }
    }
}
