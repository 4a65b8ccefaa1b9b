//! Lines of peers' consoles that are for the server: who may have them run, and who is answered.
//! Over QUIC only: whoever comes through memory is the host, and may do everything.

use dh_messages::{ConsoleAnswer, ConsoleLine};

use super::*;

/// The answer to a line of a peer's console.
async fn ask(world: &mut World, peer: PeerId, line: &str) -> String {
    let before = world.records().peer(peer).answers.len();
    let id = u32::try_from(before).unwrap() + 1;
    world.client(peer).console(id, line);
    world.run_for(MOMENT).await;
    let records = world.records();
    let answers = &records.peer(peer).answers[before..];
    let [(number, answer)] = answers else { panic!("{line}: {answers:?}") };
    assert_eq!(*number, id);
    answer.clone()
}

fn answers(raw: &Raw) -> Vec<ConsoleAnswer> {
    let answer = |it| if let ToClient::ConsoleAnswer(it) = it { Some(it) } else { None };
    raw.told().into_iter().filter_map(answer).collect()
}

/// WHO-06, WHO-19, sessions OQ-11
#[test]
fn an_operator_gets_the_whole_listing_until_it_is_none_any_more() {
    world(Transport::Quic, async |world, server| {
        let ada = player(world, server, "ada").await;
        let bob = player(world, server, "bob").await;
        let made = console(world, server, "op #1").await;
        assert!(made.starts_with("op: key:") && made.ends_with(" is an operator"), "{made}");
        let listed = ask(world, bob, "players").await;
        let lines: Vec<&str> = listed.lines().collect();
        assert_eq!((lines.len(), lines[0]), (3, "players: 2/16 connected"));
        assert!(lines[1].ends_with("overrides=0") && lines[2].ends_with("overrides=0  op"));
        let kept = world.records().server(server).kept["server.operators"].clone();
        assert!(made.contains(&kept), "{kept}");
        assert!(ask(world, bob, "ops").await.ends_with("(#1 bob)"));
        assert!(ask(world, bob, "deop #1").await.ends_with("is no operator any more"));
        assert_eq!(world.records().server(server).kept["server.operators"], "");
        let refused = ask(world, bob, "players").await;
        assert_eq!(refused, "players: only an operator can do that on this server");
        let listed = console(world, server, "players").await;
        assert!(listed.lines().all(|line| !line.ends_with("  op")), "{listed}");
        assert!(world.records().peer(ada).answers.is_empty(), "nobody else hears of it");
    });
}

/// WHO-21, CHAT-23, sessions OQ-41
#[test]
fn a_guest_is_refused_and_nothing_of_what_it_asked_for_crosses_the_wire() {
    world(Transport::Quic, async |world, server| {
        let ada = player(world, server, "ada").await;
        let eve = raw(world, server, Transport::Quic, "eve").await;
        let lines = ["players", "say hi", "kick #0", "stop", "op #1"];
        for (id, text) in (1..).zip(lines) {
            eve.send(ConsoleLine { id, text: text.into() });
        }
        world.run_for(SECOND).await;
        let want: Vec<ConsoleAnswer> = (1..)
            .zip(lines)
            .map(|(id, line)| {
                let word = line.split(' ').next().unwrap();
                let text = format!("{word}: only an operator can do that on this server");
                ConsoleAnswer { id, text: text.as_str().into() }
            })
            .collect();
        assert_eq!(answers(&eve), want);
        let adas = b"identity=";
        let leaked = eve
            .heard()
            .messages
            .iter()
            .any(|(_, body)| body.windows(adas.len()).any(|window| window == adas));
        assert!(!leaked && world.is_playing(ada));
        assert!(feed(world, ada).iter().all(|(kind, ..)| *kind != ChatKind::Server));
        assert!(!world.records().server(server).stop_asked);
    });
}

/// CHAT-23, sessions OQ-11
#[test]
fn the_host_inside_the_process_is_always_an_operator() {
    world(Transport::Quic, async |world, server| {
        let host = world.peer(PeerSetup::new("alice").inside());
        stage::play(world, server, host).await;
        let bob = player(world, server, "bob").await;
        assert_eq!(ask(world, host, "say hi").await, "say: it reached 2 players");
        assert_eq!(feed(world, bob).last(), Some(&row(ChatKind::Server, NONE, "", "hi")));
        assert!(ask(world, host, "kick #1 enough").await.contains("enough"));
        world.run_for(MOMENT).await;
        assert!(!world.is_playing(bob));
        assert!(ask(world, host, "respawn #0").await.starts_with("respawn: #0"), "by the world");
        assert!(ask(world, host, "map none:assets/x.dh-map").await.starts_with("map: "));
        assert_eq!(ask(world, host, "server.maxPlayers 3").await, "server.maxPlayers = 3");
    });
}

/// Sessions OQ-11
#[test]
fn operators_come_from_the_preference_and_stay_through_a_reconnect() {
    world(Transport::Quic, async |world, server| {
        let bob = player(world, server, "bob").await;
        console(world, server, "op #0").await;
        world.disconnect(bob);
        world.run_for(MOMENT).await;
        stage::play(world, server, bob).await;
        assert!(ask(world, bob, "players").await.ends_with("  op"));
        console(world, server, "server.operators key:somebody-else").await;
        assert!(ask(world, bob, "players").await.contains("only an operator"));
    });
}

#[test]
fn a_flood_of_console_lines_is_answered_at_its_pace_and_harms_nobody() {
    world(Transport::Quic, async |world, server| {
        let ada = player(world, server, "ada").await;
        let eve = raw(world, server, Transport::Quic, "eve").await;
        console(world, server, "op #1").await;
        for id in 0..2_000 {
            eve.send(ConsoleLine { id, text: "players".into() });
            if id % 100 == 0 {
                world.run_for(Micros(16_667)).await;
            }
        }
        world.run_for(SECOND).await;
        assert!((8..=11).contains(&answers(&eve).len()), "{}", answers(&eve).len());
        assert!(world.is_playing(ada));
        nobody_panicked(world.runtime());
    });
}
