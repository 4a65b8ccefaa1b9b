//! What each line of a console means, and what is said of lines that mean nothing.

use proptest::prelude::*;

use super::*;

fn server(line: &str) -> Command {
    parse(Side::Server, line).unwrap().unwrap()
}

fn refused(side: Side, line: &str) -> String {
    parse(side, line).unwrap_err().to_string()
}

#[test]
fn a_server_line_becomes_a_typed_command() {
    let slot = Target::Slot(3);
    let identity = Target::Identity("local:alice".to_owned());
    assert_eq!(server("  players "), Command::Players);
    assert_eq!(server("say  hello   all "), Command::Say("hello   all".to_owned()));
    assert_eq!(
        server("kick #3 too many rockets"),
        Command::Kick { target: slot.clone(), reason: Some("too many rockets".to_owned()) }
    );
    assert_eq!(server("kick local:alice"), Command::Kick { target: identity, reason: None });
    let to = Destination::Point([1.0, -2.5, 300.0]);
    assert_eq!(server("tp #3 1 -2.5 3e2"), Command::Teleport { target: slot.clone(), to });
    let to = Destination::Player(Target::Slot(0));
    assert_eq!(server("tp #3 #0"), Command::Teleport { target: slot.clone(), to });
    assert_eq!(server("noclip #3"), Command::Noclip { target: slot.clone(), on: None });
    assert_eq!(server("noclip #3 off"), Command::Noclip { target: slot.clone(), on: Some(false) });
    assert_eq!(server("respawn #3"), Command::Respawn(slot));
    assert_eq!(server("stop"), Command::Stop);
}

/// Sessions OQ-32.
#[test]
fn a_client_line_becomes_a_typed_command() {
    let client = |line| parse(Side::Client, line).unwrap().unwrap();
    assert_eq!(client("connect"), Command::Connect(None));
    let address = Address { host: "::1".to_owned(), port: 27016 };
    assert_eq!(client("connect [::1]:27016"), Command::Connect(Some(address)));
    assert_eq!(client("disconnect"), Command::Disconnect);
    assert_eq!(client("quit"), Command::Quit);
    assert_eq!(client("help connect"), Command::Help(Some("connect".to_owned())));
}

#[test]
fn a_preference_is_shown_by_its_name_and_set_by_what_follows_at_its_own_console() {
    for (side, key) in [(Side::Client, "client.name"), (Side::Server, "server.name")] {
        let preference = find(key).unwrap();
        assert_eq!(parse(side, key), Ok(Some(Command::Show(preference))));
        let set = Command::Set { preference, text: "Edda the Tall".to_owned() };
        assert_eq!(parse(side, &format!("{key}  Edda the Tall ")), Ok(Some(set)));
        assert_eq!(parse(side, "   "), Ok(None));
    }
}

#[test]
fn a_preference_of_the_other_end_is_refused_with_whose_it_is() {
    for preference in TABLE {
        let key = preference.key;
        let (here, whose) = match key.starts_with("client.") {
            true => (Side::Server, "a client's"),
            false => (Side::Client, "the server's"),
        };
        for line in [key.to_owned(), format!("{key} 2")] {
            let told = format!("{key}: that is {whose} preference; only {whose} console knows it");
            assert_eq!(refused(here, &line), told);
        }
    }
    assert!(!refused(Side::Server, "client.nam x").contains("did you mean client"));
}

#[test]
fn what_should_follow_is_told_when_something_else_does() {
    for (line, usage) in [
        ("players now", "usage: players"),
        ("say", "usage: say <message>"),
        ("kick", "usage: kick <#slot or identity> [reason]"),
        ("tp #1", "usage: tp <#slot or identity> <#slot or identity, or x y z>"),
        ("tp #1 1 2", "usage: tp <#slot or identity> <#slot or identity, or x y z>"),
        ("tp #1 1 2 3 4", "usage: tp <#slot or identity> <#slot or identity, or x y z>"),
        ("noclip #1 maybe", "usage: noclip <#slot or identity> [on or off]"),
        ("respawn #1 now", "usage: respawn <#slot or identity>"),
        ("stop it", "usage: stop"),
    ] {
        assert_eq!(refused(Side::Server, line), usage, "{line}");
    }
    assert_eq!(refused(Side::Client, "connect a b"), "usage: connect [host[:port]]");
}

#[test]
fn a_target_or_a_place_that_is_none_is_told_with_what_would_be_one() {
    let name = "names are no targets, since two players may have one; `players` lists the #slot \
                and the identity of each";
    let slot = "slots go from #0 to #254";
    let number = "expected a finite number, in metres";
    for (line, word, why) in [
        ("kick Bob", "Bob", name),
        ("kick Bob you are rude", "Bob", name),
        ("tp Bob 1 2 3", "Bob", name),
        ("tp #1 Bob", "Bob", name),
        ("noclip Bob on", "Bob", name),
        ("respawn Bob", "Bob", name),
        ("kick #99999999999", "#99999999999", slot),
        ("tp #1 #255", "#255", slot),
        ("kick #-1", "#-1", slot),
        ("tp #1 nan 0 0", "nan", number),
        ("tp #1 0 -inf 0", "-inf", number),
        ("tp #1 0 0 1e39", "1e39", number),
        ("tp #1 0 0 up", "up", number),
        ("kick key:", "key:", "`players` lists the whole identity of each player"),
    ] {
        let command = line.split(' ').next().unwrap();
        assert_eq!(refused(Side::Server, line), format!("{command}: `{word}`: {why}"));
    }
}

#[test]
fn an_unknown_word_names_the_nearest_command_or_preference_of_this_console() {
    assert_eq!(
        refused(Side::Server, "kcik #1"),
        "kcik: no such command or preference; did you mean kick?"
    );
    assert_eq!(
        refused(Side::Client, "client.nam x"),
        "client.nam: no such command or preference; did you mean client.name?"
    );
    assert_eq!(
        refused(Side::Server, "xyzzy"),
        "xyzzy: no such command or preference; `help` lists them"
    );
    assert_eq!(
        refused(Side::Client, "kick #1"),
        "kick: only the server's console knows that; `help` lists what is here"
    );
    assert!(refused(Side::Server, "quit").starts_with("quit: only a client's console"));
}

#[test]
fn of_a_word_as_long_as_a_line_only_its_first_sixty_characters_are_told_back() {
    let (word, told) = ("\u{e9}".repeat(61), "\u{e9}".repeat(60));
    assert!(refused(Side::Server, &word).starts_with(&format!("{told}: no such command")));
    let kick = refused(Side::Server, &format!("kick {word}"));
    assert!(kick.starts_with(&format!("kick: `{told}`: names are no targets")), "{kick}");
}

#[test]
fn help_lists_what_this_console_knows_and_explains_each() {
    let all = help(Side::Server, None);
    for row in COMMANDS {
        assert_eq!(all.contains(row.help), row.sides.contains(&Side::Server), "{}", row.name);
        assert!(help(Side::Server, Some(row.name)).starts_with(&row.usage()));
    }
    assert!(all.ends_with("Shows or sets a preference."));
    let helps = COMMANDS.iter().filter(|row| row.sides.contains(&Side::Server));
    let mut columns: Vec<_> =
        helps.map(|row| all.lines().find_map(|line| line.find(row.help)).unwrap()).collect();
    columns.dedup();
    assert_eq!(columns.len(), 1, "one column: {all}");
    assert_eq!(
        help(Side::Client, Some("server.maxPlayers")),
        "server.maxPlayers: Sessions at one time. Lowering it ends none. Expects a whole number \
         from 1 to 64; default 16 sessions; applies: live."
    );
    assert!(help(Side::Client, Some("conect")).ends_with("did you mean connect?"));
}

#[test]
fn every_command_of_the_table_can_be_asked_for_by_its_word() {
    for (line, side) in [
        ("players", Side::Server),
        ("say x", Side::Server),
        ("kick #0", Side::Server),
        ("tp #0 #1", Side::Server),
        ("noclip #0", Side::Server),
        ("respawn #0", Side::Server),
        ("op #0", Side::Server),
        ("deop local:ada", Side::Server),
        ("ops", Side::Server),
        ("stop", Side::Server),
        ("map core:assets/demo.dh-map", Side::Server),
        ("connect", Side::Client),
        ("chat hello", Side::Client),
        ("disconnect", Side::Client),
        ("quit", Side::Client),
        ("help", Side::Client),
    ] {
        let command = parse(side, line).unwrap().unwrap();
        assert_eq!(Some(command.word()), line.split(' ').next());
    }
    assert_eq!(COMMANDS.len(), 16, "a new command belongs in this test");
}

proptest! {
    #[test]
    fn no_line_makes_it_panic_and_every_refusal_is_one_line(line in any::<String>()) {
        for side in [Side::Server, Side::Client] {
            if let Err(error) = parse(side, &line) {
                prop_assert!(!error.to_string().contains('\n'));
            }
        }
    }
}
