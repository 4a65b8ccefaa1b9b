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
        ("dh joinserver", "'server'"),
        ("dh server --listne 0.0.0.0:1", "'--listen'"),
        ("dh --frobnicate", "'--"),
        ("dh prefs put a b", "'"),
        ("dh bench mouse", "'mover'"),
        ("dh identity fogret x", "'forget'"),
        ("dh client --connect a --nmae b", "'--name'"),
    ] {
        let told = refusal(line);
        let tip = told.lines().find(|line| line.contains("tip:")).unwrap_or_default();
        assert!(tip.contains(nearest), "{line}: {told}");
    }
}

#[test]
fn flags_of_later_days_do_not_exist() {
    for line in ["dh build x", "dh play --map a", "dh server --inspect 0:1", "dh scenario run x"] {
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
    for line in ["dh --seconds -1", "dh --seconds nan", "dh --seconds 1e9", "dh --peers 513"] {
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
