//! What peers type: who it is told as, and what their consoles may do.

use super::*;
use crate::roster::tickets::WAITING_MAX;

const BOB: &str = "key:00000000000000000000000000000001";

fn say(room: &mut Room, peer: u32, text: &str) -> Vec<ServerChat> {
    let spoken = Spoken::read(text).unwrap();
    lines(&room.tell(RosterMsg::Typed(Typed { peer: PeerId(peer), spoken })))
}

fn forward(room: &mut Room, peer: u32, text: &str) -> Vec<Effect> {
    let line = Forwarded { peer: PeerId(peer), id: 9, text: text.to_owned() };
    room.tell(RosterMsg::Forwarded(line))
}

/// What one peer is answered, and nobody else.
fn answered(effects: &[Effect], whom: u32) -> String {
    let answers: Vec<_> = effects
        .iter()
        .filter_map(|it| match it {
            Effect::Tell(peers, Told::Answer(answer)) => {
                assert_eq!((numbers(peers), answer.id), (vec![whom], 9));
                Some(answer.text.as_str().to_owned())
            }
            _ => None,
        })
        .collect();
    let [answer] = &answers[..] else { panic!("{effects:?}") };
    answer.clone()
}

/// The host's name is ada; bob and eve came over the network.
fn room() -> Room {
    let mut room = Room::new();
    room.play(&mut Presence { is_host: true, ..peer(0, "ada") });
    room.play(&mut peer(1, "bob"));
    room.play(&mut peer(2, "eve"));
    room
}

/// CHAT-02, CHAT-03, CHAT-05
#[test]
fn what_a_player_says_is_told_under_its_name_and_slot_as_the_roster_has_them() {
    let mut room = room();
    let line = chat(ChatKind::Player, 1, "bob", "[server] hi");
    assert_eq!(say(&mut room, 1, "[server] hi"), [line]);
}

/// CHAT-11
#[test]
fn nobody_speaks_before_it_plays_or_after_it_has_left() {
    let mut room = room();
    let mut lee = peer(3, "lee");
    for standing in [Standing::Loading, Standing::Spawning] {
        room.present(&identified(&mut lee, standing));
        assert!(say(&mut room, 3, "hi").is_empty(), "{standing:?}");
    }
    assert!(say(&mut room, 77, "hi").is_empty());
    room.left(1);
    assert!(say(&mut room, 1, "hi").is_empty());
}

/// WHO-21, CHAT-23, sessions OQ-41
#[test]
fn a_guest_is_refused_with_the_one_sentence_before_anything_is_composed() {
    let mut room = room();
    for line in [
        "players",
        "say hi",
        "kick #0",
        "map core:assets/x.dh-map",
        "op #1",
        "ops",
        "stop",
        "server.operators",
        "tp #0 #1",
        "world.cheats on",
    ] {
        let effects = forward(&mut room, 1, line);
        let word = line.split(' ').next().unwrap();
        let want = format!("{word}: only an operator can do that on this server");
        assert_eq!(answered(&effects, 1), want);
        assert_eq!(effects.len(), 1, "{line}: nothing but the refusal");
    }
}

/// WHO-06, CHAT-23
#[test]
fn an_operator_is_answered_as_the_console_is_and_the_log_names_it() {
    let mut room = room();
    room.type_line(&format!("op {BOB}"));
    let effects = forward(&mut room, 1, "players");
    assert_eq!(answered(&effects, 1), room.console("players"));
    let Some(Effect::Log(line)) = effects.first() else { panic!("{effects:?}") };
    assert_eq!(*line, format!("console of bob ({BOB}, 127.0.0.1:7001): players"));
    let effects = forward(&mut room, 1, "say hi");
    assert_eq!(answered(&effects, 1), "say: it reached 3 players");
    assert_eq!(lines(&effects), [chat(ChatKind::Server, ServerChat::NO_SLOT, "", "hi")]);
    assert!(answered(&forward(&mut room, 1, "plaiers"), 1).contains("did you mean players?"));
    assert!(forward(&mut room, 1, "  ").is_empty());
}

/// WHO-06, CHAT-16
#[test]
fn what_the_log_says_of_an_operators_line_is_one_line_that_steers_nothing() {
    let mut room = room();
    let line = format!("say hi\nbob: \x1b[31m{}", "x".repeat(300));
    let effects = forward(&mut room, 0, &line);
    let Some(Effect::Log(logged)) = effects.first() else { panic!("{effects:?}") };
    let (_, said) = logged.split_once("): ").unwrap();
    assert!(said.starts_with("say hibob: [31mxxx"), "{said}");
    assert_eq!(said.len(), 200, "{said}");
}

/// Sessions OQ-11
#[test]
fn the_host_always_is_an_operator() {
    let mut room = room();
    assert!(answered(&forward(&mut room, 0, "players"), 0).starts_with("players: 3/16"));
    assert!(room.console("op #0").contains("is the host"));
    assert!(room.console("deop #0").contains("is the host"));
    assert_eq!(room.console("ops"), "operators: 1\n  ada (the host)");
}

/// Sessions OQ-11, WHO-19
#[test]
fn op_and_deop_change_the_list_the_listing_and_what_is_kept() {
    let mut room = room();
    let kept = |effects: &[Effect]| {
        let kept = effects.iter().find_map(|it| match it {
            Effect::Keep(change) => Some(change.line()),
            _ => None,
        });
        assert!(effects.iter().any(|it| matches!(it, Effect::Changed(_))));
        kept.unwrap()
    };
    let effects = room.type_line("op #1");
    assert_eq!(kept(&effects), format!("server.operators = {BOB}"));
    assert_eq!(
        answer(effects.into_iter().next_back().unwrap()).unwrap(),
        format!("op: {BOB} is an operator")
    );
    assert_eq!(room.console("op #1"), format!("op: {BOB} is one already"));
    let listed = room.console("players");
    let ops: Vec<bool> = listed.lines().skip(1).map(|line| line.ends_with("  op")).collect();
    assert_eq!(ops, [true, true, false]);
    room.type_line("op key:elsewhere");
    let want = format!("operators: 3\n  ada (the host)\n  {BOB} (#1 bob)\n  key:elsewhere");
    assert_eq!(room.console("ops"), want);
    let effects = room.type_line("deop #1");
    assert_eq!(kept(&effects), "server.operators = key:elsewhere");
    assert!(!room.console("players").lines().nth(2).unwrap().ends_with("op"));
    assert_eq!(room.console("deop #1"), format!("deop: {BOB} is none; `ops` lists them"));
    assert!(room.console("op #7").contains("nobody here has it"));
    assert!(room.console("op guest:bob").contains("a guest proves nothing"));
    let refused = room.type_line("server.operators guest:bob");
    assert!(matches!(&refused[..], [Effect::Reply(..)]), "{refused:?}");
}

/// Sessions OQ-11
#[test]
fn while_cheats_are_on_everybody_may_use_them_and_nothing_else() {
    let mut room = room();
    room.type_line("world.cheats on");
    let effects = forward(&mut room, 1, "noclip #1");
    assert!(effects.iter().any(|it| matches!(it, Effect::Tick(_))));
    for line in ["say hi", "world.cheats off"] {
        assert!(answered(&forward(&mut room, 1, line), 1).contains("only an operator"), "{line}");
    }
}

#[test]
fn what_the_world_answers_goes_to_whoever_asked() {
    let mut room = room();
    room.type_line("op #1");
    let ticket = |effects: &[Effect]| {
        effects
            .iter()
            .find_map(|it| match it {
                Effect::Tick(command) => Some(command.id),
                Effect::Switch(line) => Some(line.id),
                _ => None,
            })
            .unwrap()
    };
    let respawn = ticket(&forward(&mut room, 1, "respawn #2"));
    let map = ticket(&forward(&mut room, 1, "map core:assets/x.dh-map"));
    assert_ne!(respawn, map);
    let told = |room: &mut Room, id, text: &str| {
        room.tell(RosterMsg::Answer(ConsoleLine { id, text: text.to_owned() }))
    };
    assert_eq!(answered(&told(&mut room, map, "it stands"), 1), "it stands");
    room.left(1);
    assert!(told(&mut room, respawn, "done").is_empty(), "it has gone");
}

#[test]
fn only_so_many_lines_wait_for_an_answer() {
    let mut room = room();
    for _ in 0..WAITING_MAX {
        assert!(
            forward(&mut room, 0, "respawn #1").iter().all(|it| !matches!(it, Effect::Tell(..)))
        );
    }
    let effects = forward(&mut room, 0, "respawn #1");
    assert!(answered(&effects, 0).contains("ask again"));
}

#[test]
fn a_listing_of_any_length_fits_its_answer() {
    let mut room = Room::new();
    for number in 0..64 {
        let mut who = peer(number, &"\u{20ac}".repeat(32));
        room.play(&mut Presence { is_host: number == 0, ..who.clone() });
        who.slot = None;
    }
    let listed = answered(&forward(&mut room, 0, "players"), 0);
    assert_eq!(listed.lines().count(), 65, "a full server's is whole");
}
