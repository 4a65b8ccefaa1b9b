//! The panic sweep: every kind of actor, at each of its first messages, as far as the course of a
//! small world goes.

use dh_scenario::{Conditions, PeerId, Script};

const COURSE: &str = include_str!("panic.rhai");
/// The first so many messages of each actor are tried.
const MESSAGES: u64 = 200;
/// After so many messages in a row that nobody was struck at, the course is over. A session whose
/// peer is told to join again is gone before it is seen to have panicked.
const MISSED_MAX: u64 = 8;
/// Who joins once somebody was struck.
const NEWCOMER: PeerId = PeerId(3);

/// Panic an actor at each of its messages, each in a world of its own; how many the course has.
fn sweep(actor: &str, of_server: bool) -> u64 {
    let (mut struck, mut missed) = (0, 0);
    for nth in 1..=MESSAGES {
        let head =
            format!("let actor = \"{actor}\"; let nth = {nth}; let of_server = {of_server};\n");
        let script = Script::new(format!("{actor} at message {nth}"), head + COURSE);
        let ran = script.simulate(&Conditions { seed: 1, ..Conditions::default() }).unwrap();
        assert_eq!(ran.mistake, None, "{actor} at message {nth}");
        let failures = &ran.report.failures;
        assert!(failures.is_empty(), "{actor} at message {nth}: {failures:?}");
        if ran.report.records.peer(NEWCOMER).attempts == 0 {
            missed += 1;
        } else {
            (struck, missed) = (struck + 1, 0);
        }
        if missed == MISSED_MAX {
            break;
        }
    }
    struck
}

#[test]
fn an_actor_of_a_server_that_panics_at_any_of_its_messages_harms_nobody() {
    for (actor, least) in [
        ("listener", 7),
        ("roster", 20),
        ("chat", 20),
        ("map-switch", 4),
        ("tick", 190),
        ("peer-1/session", 150),
        ("peer-1/blobs", 4),
    ] {
        let swept = sweep(actor, true);
        println!("{actor}: {swept}");
        assert!(least <= swept, "{actor}: the course has only {swept} of {least} messages");
    }
}

#[test]
fn an_actor_of_a_client_that_panics_at_any_of_its_messages_harms_nobody_else() {
    for (actor, least) in [
        ("connection", 150),
        ("downloader", 10),
        ("map-loader", 10),
        ("predictor", 190),
        ("presenter", 190),
    ] {
        let swept = sweep(actor, false);
        println!("{actor}: {swept}");
        assert!(least <= swept, "{actor}: the course has only {swept} of {least} messages");
    }
}
