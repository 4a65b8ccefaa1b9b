//! The server's console: the listing, and what each command does.

use super::*;
use crate::tick::{Deed, Place, TickCommand};

fn set(room: &mut Room, line: &str) {
    assert!(room.type_line(line).iter().any(|effect| matches!(effect, Effect::Changed(_))));
}

/// WHO-05, WHO-07, WHO-10, WHO-13, WHO-14, WHO-16, WHO-17
#[test]
fn the_listing_reads_as_it_is_documented() {
    let mut room = Room::new();
    set(&mut room, "server.maxPlayers 4");
    let mut alice = Presence {
        identity: Some(Identity::Local("alice".to_owned())),
        endpoint: "loopback".to_owned(),
        is_host: true,
        ping_ms: Some(0),
        ..peer(0, "alice")
    };
    let bobs = Identity::Local("bobbington".to_owned());
    let mut bob = Presence { identity: Some(bobs), ..peer(1, "bobbington") };
    let mut carol = Presence {
        identity: Some(Identity::Key("key:00ff".to_owned())),
        ping_ms: Some(31),
        ..peer(2, "carol")
    };
    room.play(&mut alice);
    room.play(&mut bob);
    room.present(&identified(&mut carol, Standing::Loading));
    room.tell(RosterMsg::Ping(Ping { peer: PeerId(1), millis: 12 }));
    let want = "players: 3/4 connected
  #0   alice       identity=local:alice  addr=loopback  state=playing  pawn=1:0  ping=0ms  \
overrides=0  op
  #1   bobbington  identity=local:bobbington  addr=127.0.0.1:7001  state=playing  pawn=2:0  \
ping=12ms  overrides=0
  #-   carol       identity=key:00ff  addr=127.0.0.1:7002  state=loading  pawn=-  ping=31ms  \
overrides=-";
    assert_eq!(room.console("players"), want);
}

/// WHO-09, WHO-11, WHO-12, WHO-15, WHO-20
#[test]
fn every_session_has_a_line_and_what_is_not_known_is_a_dash() {
    let mut room = Room::new();
    let unknown = |number| Presence::new(PeerId(number), format!("127.0.0.1:{number}"), false);
    room.present(&unknown(3));
    room.present(&Presence { standing: Standing::Handshaking, ..unknown(2) });
    room.present(&identified(&mut peer(1, "lee"), Standing::Loading));
    room.play(&mut peer(9, "ada"));
    let listed = room.console("players");
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines.len(), 5);
    assert_eq!(lines[0], "players: 4/16 connected");
    assert!(lines[1].starts_with("  #0   ada "), "{}", lines[1]);
    let after = |line: &str, key: &str| {
        line.split_once(key).unwrap().1.split_whitespace().next().unwrap().to_owned()
    };
    let states: Vec<String> = lines[1..].iter().map(|line| after(line, "state=")).collect();
    assert_eq!(states, ["playing", "loading", "handshaking", "connecting"], "by arrival");
    for line in &lines[3..] {
        assert!(line.starts_with("  #-   -           identity=-  addr=127"), "{line}");
        assert!(line.ends_with("pawn=-  ping=-  overrides=-"), "{line}");
    }
    room.left(3);
    assert_eq!(room.console("players").lines().count(), 4);
}

/// WHO-22
#[test]
fn the_cap_is_read_live() {
    let mut room = Room::new();
    assert_eq!(room.console("players"), "players: 0/16 connected");
    set(&mut room, "server.maxPlayers 3");
    assert_eq!(room.console("players"), "players: 0/3 connected");
    assert!(room.console("server.maxPlayers").contains('3'));
    assert!(room.console("server.maxPlayers 65").contains("65"), "refused with its own number");
    assert_eq!(room.console("players"), "players: 0/3 connected");
}

/// CHAT-06, CHAT-22, CHAT-25
#[test]
fn say_reaches_everybody_admitted_and_says_how_many() {
    let mut room = Room::new();
    assert_eq!(room.console("say anyone?"), "say: it reached no one");
    room.present(&Presence::new(PeerId(7), "127.0.0.1:7".to_owned(), false));
    assert_eq!(room.console("say anyone?"), "say: it reached no one", "it is not let in yet");
    room.play(&mut peer(0, "ada"));
    let effects = room.type_line("say  mind the gap ");
    let line = chat(ChatKind::Server, ServerChat::NO_SLOT, "", "mind the gap");
    assert_eq!(lines(&effects), [line]);
    assert_eq!(transcript(&effects), ["[server] mind the gap"]);
    assert_eq!(room.console("say again"), "say: it reached 1 player");
    room.play(&mut peer(1, "bob"));
    assert_eq!(room.console("say again"), "say: it reached 2 players");
    let effects = room.type_line("say \u{202e}\u{7}");
    assert!(lines(&effects).is_empty());
}

/// CHAT-24: and whoever said it is told.
#[test]
fn what_is_said_at_length_is_cut_to_200_characters_and_told() {
    let mut room = Room::new();
    room.play(&mut peer(0, "ada"));
    let said = |room: &mut Room, length: usize| {
        let effects = room.type_line(&format!("say {}", "x".repeat(length)));
        let heard = lines(&effects)[0].text.len();
        (heard, effects.into_iter().find_map(answer).unwrap())
    };
    assert_eq!(said(&mut room, 200), (200, "say: it reached 1 player".to_owned()));
    let cut = "say: it reached 1 player, cut to 200 characters";
    assert_eq!(said(&mut room, 201), (200, cut.to_owned()));
    let effects = room.type_line("say mind\n\u{7} the gap");
    assert_eq!(lines(&effects)[0].text.as_str(), "mind the gap");
    let answer = effects.into_iter().find_map(answer).unwrap();
    assert_eq!(answer, "say: it reached 1 player", "what nobody could read was not cut");
}

#[test]
fn a_clients_preference_is_not_the_servers_to_set() {
    let mut room = Room::new();
    for line in ["client.name", "client.name bob"] {
        let effects = room.type_line(line);
        assert!(matches!(&effects[..], [Effect::Reply(5, text)] if text.contains("a client's")));
    }
}

/// Sessions OQ-17
#[test]
fn kick_ends_a_session_by_slot_or_identity_and_tells_it_the_reason() {
    let mut room = Room::new();
    room.play(&mut peer(0, "ada"));
    room.play(&mut peer(1, "bob"));
    let effects = room.type_line("kick #0 mind your language");
    assert_eq!(kicked(&effects), [(0, "mind your language")]);
    assert!(effects.into_iter().find_map(answer).unwrap().contains("mind your language"));
    let effects = room.type_line("kick key:00000000000000000000000000000001");
    assert_eq!(kicked(&effects), [(1, "kicked")]);
    for nobody in ["kick #7", "kick local:ada"] {
        let effects = room.type_line(nobody);
        assert!(kicked(&effects).is_empty());
        assert!(effects.into_iter().find_map(answer).unwrap().contains("nobody here has it"));
    }
    let told = room.console("kick ada");
    assert!(told.starts_with("kick: `ada`: names are no targets"), "{told}");
}

#[test]
fn what_is_done_to_pawns_is_handed_to_the_world_which_answers() {
    let mut room = Room::new();
    room.play(&mut peer(0, "ada"));
    room.play(&mut peer(1, "bob"));
    for (line, deed) in [
        ("tp #0 #1", Deed::Teleport(Place::Beside(1))),
        ("tp #0 1 2 3", Deed::Teleport(Place::Point([1.0, 2.0, 3.0]))),
        ("noclip #0 on", Deed::Noclip(Some(true))),
        ("noclip #0", Deed::Noclip(None)),
        ("respawn #0", Deed::Respawn),
    ] {
        let effects = room.type_line(line);
        let [Effect::Tick(command)] = &effects[..] else { panic!("{line}: {effects:?}") };
        assert_eq!(*command, TickCommand { id: 5, slot: 0, deed });
    }
    let answer = room.tell(RosterMsg::Answer(ConsoleLine { id: 5, text: "done".to_owned() }));
    assert!(matches!(&answer[..], [Effect::Reply(5, text)] if text == "done"));
    for nobody in ["tp #9 #0", "tp #0 #9", "noclip #9", "respawn #9"] {
        assert!(room.console(nobody).contains("#9"), "{nobody}");
    }
    let mut loading = peer(2, "lee");
    room.present(&identified(&mut loading, Standing::Loading));
    let lees = loading.identity.unwrap();
    assert!(room.console(&format!("respawn {lees}")).contains("no pawn yet"));
}

#[test]
fn every_line_is_answered_and_a_blank_one_is_none() {
    let mut room = Room::new();
    assert!(room.type_line("   ").is_empty());
    assert!(room.console("plaiers").contains("players"), "the nearest is named");
    assert!(room.console("connect here").contains("a client's"));
    assert!(room.console("help").contains("respawn"));
    assert!(room.console("help kick").contains("kick"));
    let effects = room.type_line("stop");
    assert!(matches!(effects[..], [Effect::StopServer, Effect::Reply(5, _)]));
}

#[test]
fn a_new_value_is_told_to_whoever_lives_by_it() {
    let mut room = Room::new();
    let effects = room.type_line("world.timeScale 0.5");
    assert!(effects.iter().all(|it| !matches!(it, Effect::Keep(_))), "only until the next start");
    let Some(Effect::Changed(prefs)) = effects.into_iter().next() else { panic!() };
    let scale = prefs.get(dh_prefs::key::TIME_SCALE);
    assert!((scale - 0.5).abs() < f32::EPSILON);
    assert_eq!(room.roster.prefs.get(dh_prefs::key::TIME_SCALE).to_bits(), scale.to_bits());
}
