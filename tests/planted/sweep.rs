//! The panic sweep: every supervised kind of actor, at each of its first messages. Whoever is
//! struck is whole again within a quarter of a second, its peer included; where the spare of that
//! message breaks the next machine too, only the one it serves may lose its session, and is told
//! why.

use std::env;

use dh_scenario::{Conditions, PeerId, Script};

const PLAY: &str = include_str!("courses/play.rhai");
const DOOR: &str = include_str!("courses/door.rhai");
const MAPS: &str = include_str!("courses/maps.rhai");
const CHECKS: &str = include_str!("courses/checks.rhai");

/// The first so many messages of each actor are struck; all of them at night.
const MESSAGES: u64 = 200;
/// By day the first so many, and then each of so many.
const FIRST: u64 = 12;
const STRIDE: usize = 6;
/// Who joins once somebody was struck.
const NEWCOMER: PeerId = PeerId(0);

/// Who is struck, and in which course.
struct Subject {
    actor: &'static str,
    of_server: bool,
    course: &'static str,
}

const fn server(actor: &'static str, course: &'static str) -> Subject {
    Subject { actor, of_server: true, course }
}

const fn client(actor: &'static str, course: &'static str) -> Subject {
    Subject { actor, of_server: false, course }
}

fn is_nightly() -> bool {
    env::var("DH_NIGHTLY").is_ok_and(|it| it == "1")
}

/// The messages that are struck, by day or by night.
fn numbers() -> Vec<u64> {
    let stride = if is_nightly() { 1 } else { STRIDE };
    (1..=FIRST).chain((FIRST + 1..=MESSAGES).step_by(stride)).collect()
}

const OF_PLAY: &[Subject] = &[
    server("tick", PLAY),
    server("peer-1/session", PLAY),
    client("connection", PLAY),
    client("predictor", PLAY),
    client("presenter", PLAY),
];
const OF_THE_DOOR: &[Subject] =
    &[server("listener", DOOR), server("roster", DOOR), server("chat", DOOR)];
const OF_MAPS: &[Subject] = &[
    server("map-switch", MAPS),
    server("peer-1/blobs", MAPS),
    client("downloader", MAPS),
    client("map-loader", MAPS),
];

/// Strike a subject over one message, so many times; what is wrong then.
fn strike(subject: &Subject, nth: u64, times: u32) -> Result<(), String> {
    let Subject { actor, of_server, course } = subject;
    let head = format!(
        "let actor = \"{actor}\"; let nth = {nth}; let of_server = {of_server}; \
         let times = {times};\n"
    );
    let name = format!("{actor} at message {nth}, {times} times");
    let script = Script::new(name.clone(), [&head, *course, CHECKS].concat());
    let ran = script.simulate(&Conditions { seed: 1, ..Conditions::default() }).unwrap();
    if let Some(mistake) = ran.mistake {
        return Err(format!("{name}: {mistake}"));
    }
    if !ran.report.failures.is_empty() {
        return Err(format!("{name}: {:?}", ran.report.failures));
    }
    if ran.report.records.peer(NEWCOMER).attempts == 0 {
        return Err(format!("{name}: the course has no such message"));
    }
    Ok(())
}

/// Strike each of these subjects at each of its messages.
fn sweep(subjects: &[Subject], numbers: &[u64], times: u32) {
    let mut failed = Vec::new();
    for subject in subjects {
        let wrong = numbers.iter().filter_map(|nth| strike(subject, *nth, times).err());
        let before = failed.len();
        failed.extend(wrong);
        let struck = numbers.len() - (failed.len() - before);
        println!("{}: {struck} of {} messages, {times} times", subject.actor, numbers.len());
    }
    assert!(failed.is_empty(), "{} failed\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn an_actor_of_play_that_panics_at_any_of_its_messages_is_whole_within_a_quarter_of_a_second() {
    sweep(OF_PLAY, &numbers(), 1);
}

#[test]
fn an_actor_at_the_door_that_panics_at_any_of_its_messages_turns_nobody_away() {
    sweep(OF_THE_DOOR, &numbers(), 1);
}

#[test]
fn an_actor_of_maps_that_panics_at_any_of_its_messages_has_everybody_on_the_next_map_all_the_same()
{
    sweep(OF_MAPS, &numbers(), 1);
}

#[test]
fn a_message_that_breaks_an_actor_twice_costs_nobody_else_anything_and_is_told() {
    let numbers: Vec<u64> = (1..=if is_nightly() { MESSAGES } else { FIRST }).collect();
    for subjects in [OF_PLAY, OF_THE_DOOR, OF_MAPS] {
        sweep(subjects, &numbers, 2);
    }
}
