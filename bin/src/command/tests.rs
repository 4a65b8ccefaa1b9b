//! What is typed, and what is understood.

use super::*;

fn typed(line: &str) -> Result<Command, Error> {
    let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    read(&words)
}

fn refusal(line: &str) -> String {
    let error = typed(line).expect_err("a refusal");
    assert!(error.use_stderr(), "{line} is refused");
    error.to_string()
}

#[test]
fn the_table_of_flags_is_sound() {
    Command::command().debug_assert();
}

#[test]
fn without_a_verb_the_flags_are_those_of_play() {
    let bare = typed("dh --peers 3 --picture a.png --json").unwrap();
    assert!(bare.verb.is_none() && bare.shared.json);
    assert_eq!(bare.play.peers, Some(3));
    let Some(Verb::Play(play)) = typed("dh play --peers 3").unwrap().verb else { panic!("play") };
    assert_eq!(play.peers, Some(3));
}

#[test]
fn a_flag_of_play_before_another_verb_is_refused_and_not_dropped() {
    let told = refusal("dh --seconds 5 server");
    assert!(told.contains("dh server --seconds"), "{told}");
    assert!(typed("dh --json -v server --seconds 5").unwrap().shared.json);
}

#[test]
fn an_unknown_verb_or_flag_is_answered_with_the_nearest() {
    for (line, nearest) in [
        ("dh servr", "'server'"),
        ("dh version", "'--version'"),
        ("dh --server", "'server'"),
        ("dh server --listne 0.0.0.0:1", "'--listen'"),
        ("dh bench movr", "'mover'"),
        ("dh identity fogret x", "'forget'"),
        ("dh client --connect a --nmae b", "'--name'"),
    ] {
        let told = refusal(line);
        let tip = told.lines().find(|line| line.contains("tip:")).unwrap_or_default();
        assert!(tip.contains(nearest), "{line}: {told}");
    }
    for far in ["dh --bogus", "dh frobnicate", "dh prefs put a b", "dh bench zzz"] {
        assert!(!refusal(far).contains("similar"), "{far}: {}", refusal(far));
    }
}

#[test]
fn a_mistake_of_a_script_is_told_as_json() {
    let told = |line: &str| {
        let told = mistake(&typed(line).unwrap_err());
        (told.exit, told.cause, told.remedy)
    };
    let (exit, cause, remedy) = told("dh servr --json");
    assert_eq!((exit, cause.as_str()), (Exit::Usage, "unrecognized subcommand 'servr'"));
    assert_eq!(remedy.as_deref(), Some("a similar subcommand exists: 'server'"));
    assert_eq!(told("dh server --seconds x --json").2.as_deref(), Some("dh --help"));
    for (line, missing) in [
        ("dh prefs get --json", "<KEY>"),
        ("dh prefs set --json", "<KEY>, <VALUE>"),
        ("dh client --json", "--connect <HOST[:PORT]>"),
    ] {
        let wanted = format!("the following required arguments were not provided: {missing}");
        assert_eq!(told(line).1, wanted, "{line}");
    }
}

#[test]
fn a_refused_value_is_told_with_its_flag_and_an_example_or_its_range() {
    let long = "x".repeat(100);
    for (line, flag, expected) in [
        ("dh server --listen 27015", "--listen", "as in 0.0.0.0:27015"),
        ("dh play --listen here:27015", "--listen", "as in 0.0.0.0:27015"),
        ("dh --peers 64", "--peers", "0..=63"),
        (&format!("dh client --connect a --name {long}"), "--name", "expected "),
    ] {
        let told = refusal(line);
        assert!(told.contains(flag) && told.contains(expected), "{line}: {told}");
    }
}

#[test]
fn a_process_to_look_at_is_named_by_address_or_by_name() {
    let at = |to: &str| match typed(&format!("dh inspect --connect {to}")).unwrap().verb {
        Some(Verb::Inspect(inspect)) => inspect.connect.unwrap(),
        other => panic!("{other:?}"),
    };
    assert_eq!(at("127.0.0.1:9170").to_string(), "127.0.0.1:9170");
    assert!(at("localhost:9170").ip().is_loopback());
    let told = refusal("dh inspect --connect 9170");
    assert!(told.contains("127.0.0.1:9100"), "{told}");
}

#[test]
fn every_simulated_peer_finds_a_place_beside_the_local_player() {
    let places = dh_prefs::find("server.maxPlayers").unwrap().kind;
    assert_eq!(places, dh_prefs::Kind::Int { min: 1, max: PEERS_MAX + 1 });
}

#[test]
fn a_seed_that_is_no_number_is_told_with_what_was_expected_and_found() {
    for wrong in ["abc", "-1", "1.5"] {
        let told = refusal(&format!("dh scenario run --seed {wrong} a"));
        let part = format!("expected a whole number from 0 to {}, found {wrong:?}", u64::MAX);
        assert!(told.contains(&part), "{told}");
    }
}

#[test]
fn flags_of_later_days_do_not_exist() {
    for line in ["dh build x --watch", "dh server --noMapReload", "dh blueprint info x"] {
        refusal(line);
    }
}

#[test]
fn a_server_is_named_by_host_and_perhaps_port_and_is_never_port_0() {
    let typed = |server: &str| typed(&format!("dh client --connect {server}"));
    let Some(Verb::Client(client)) = typed("a.example").unwrap().verb else { panic!("client") };
    assert_eq!(client.connect.to_string(), "a.example:27015");
    for wrong in ["a:0", "a:b", ":5"] {
        assert!(typed(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn seconds_and_peers_have_bounds() {
    for line in ["dh --seconds -1", "dh --seconds nan", "dh --seconds 1e9", "dh --peers 64"] {
        refusal(line);
    }
    let stage = typed("dh --seconds 0.5").unwrap().play.stage;
    assert_eq!(stage.seconds, Some(Duration::from_millis(500)));
}

#[test]
fn each_v_and_q_counts() {
    assert_eq!(typed("dh -vv doctor -q").unwrap().shared.verbosity(), 1);
    assert_eq!(typed("dh -qq").unwrap().shared.verbosity(), -2);
}

#[test]
fn help_is_no_mistake() {
    assert!(!typed("dh server --help").unwrap_err().use_stderr());
}
