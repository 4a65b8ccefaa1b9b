//! The panic sweep: every supervised kind of actor, at each of its first messages. Whoever is
//! struck is whole again within a quarter of a second, its peer included; where the spare of that
//! message breaks the next machine too, only the one it serves may lose its session, and is told
//! why.

use std::collections::BTreeSet;
use std::path::Path;
use std::{env, fs};

use dh_host::Simulation;
use dh_machine::Micros;
use dh_scenario::{Conditions, PeerId, Ran, Script};

const PLAY: (&str, f64) = (include_str!("courses/play.rhai"), 2.5);
const DOOR: (&str, f64) = (include_str!("courses/door.rhai"), 0.5);
const MAPS: (&str, f64) = (include_str!("courses/maps.rhai"), 1.2);
const CHECKS: &str = include_str!("courses/checks.rhai");
const PACE: &str = include_str!("courses/pace.rhai");

/// The first so many messages of each actor are struck; all of them at night.
const MESSAGES: u64 = 200;
/// By day the first so many, and then each of so many.
const FIRST: u64 = 12;
const STRIDE: usize = 6;
/// When a course ends at the latest, and by day so long after its blow; seconds.
const ENDS: f64 = 3.7;
const AFTER: f64 = 0.3;
/// Who joins once somebody was struck.
const NEWCOMER: PeerId = PeerId(0);
/// Kinds of actor that nobody strikes, and why.
const SPARED: &[(&str, &str)] = &[
    (
        "supervisor",
        "decides over all others, and is restarted by nobody: its failing ends a process",
    ),
    ("recorder", "is no part of the product: it writes down what a scenario is told"),
    ("inspector", "answers pages over a real socket, so no simulated world has one"),
    ("front", "reads a terminal, so no simulated world has one"),
    ("renderer", "draws on a device, so no simulated world has one"),
    ("asker", "asks a server that runs for its schema and ends: no world has one"),
    ("probe", "is what the runtime's own tests and figures run"),
];

/// Who is struck, and in which course.
#[derive(Clone, Copy)]
struct Subject {
    actor: &'static str,
    of_server: bool,
    course: &'static str,
    /// When the course ends at the soonest: once all that it has to show has happened.
    least: f64,
}

const fn server(actor: &'static str, (course, least): (&'static str, f64)) -> Subject {
    Subject { actor, of_server: true, course, least }
}

const fn client(actor: &'static str, (course, least): (&'static str, f64)) -> Subject {
    Subject { actor, of_server: false, course, least }
}

fn is_nightly() -> bool {
    env::var("DH_NIGHTLY").is_ok_and(|it| it == "1")
}

/// The messages that are struck, by day or by night.
fn numbers() -> Vec<u64> {
    let stride = if is_nightly() { 1 } else { STRIDE };
    (1..=FIRST).chain((FIRST + 1..=MESSAGES).step_by(stride)).collect()
}

/// The first of them by day, all of them by night.
fn first() -> Vec<u64> {
    (1..=if is_nightly() { MESSAGES } else { FIRST }).collect()
}

const OF_PLAY: &[Subject] = &[
    server("tick", PLAY),
    server("peer-1/session", PLAY),
    client("connection", PLAY),
    client("predictor", PLAY),
    client("presenter", PLAY),
];
const OF_THE_DOOR: &[Subject] =
    &[server("listener", DOOR), server("roster", DOOR), server("chat", DOOR), server("tick", DOOR)];
const OF_MAPS: &[Subject] = &[
    server("map-switch", MAPS),
    server("peer-1/blobs", MAPS),
    client("downloader", MAPS),
    client("map-loader", MAPS),
    server("tick", MAPS),
    server("peer-1/session", MAPS),
    client("connection", MAPS),
    client("presenter", MAPS),
];

/// How a subject is struck.
#[derive(Clone, Copy, Debug)]
enum Blow {
    /// At one message.
    Once,
    /// At one message, and once more where it is handed the spare of that.
    Twice,
    /// At one message and at the next.
    InARow,
}

impl Blow {
    /// The messages it is struck at, the first of them this one.
    fn at(self, nth: u64) -> Vec<u64> {
        match self {
            Self::Once => vec![nth],
            Self::Twice => vec![nth, nth],
            Self::InARow => vec![nth, nth + 1],
        }
    }
}

/// A subject's course, in which it is struck at these messages, at most so often at one.
fn script(subject: &Subject, blows: &[u64], times: u32, ends: f64) -> String {
    let Subject { actor, of_server, course, .. } = subject;
    let head = format!(
        "let actor = \"{actor}\"; let of_server = {of_server}; let blows = {blows:?}; \
         let times = {times}; let ends = {ends:.3}; let struck_at = 0.0;\n"
    );
    [&head, *course, CHECKS].concat()
}

/// Run such a course; what is wrong then.
fn run(text: String) -> Result<Ran, String> {
    let script = Script::new("course", text);
    let ran = script.simulate(&Conditions { seed: 1, ..Conditions::default() }).unwrap();
    match &ran {
        Ran { mistake: Some(mistake), .. } => Err(mistake.to_string()),
        Ran { report, .. } if !report.failures.is_empty() => Err(format!("{:?}", report.failures)),
        Ran { report, .. } if report.records.peer(NEWCOMER).attempts == 0 => {
            Err("the course has no such message".to_owned())
        }
        _ => Ok(ran),
    }
}

/// How many messages a subject has had by when, up to the last that is struck.
fn pace(subject: &Subject) -> Vec<(f64, u64)> {
    let text = script(subject, &[MESSAGES], 1, ENDS) + PACE;
    let Ok(ran) = run(text) else { return Vec::new() };
    let had = ran.prints.iter().map(|it| (it.at.as_secs_f64(), it.text.parse().unwrap()));
    had.collect()
}

/// When a course ends in which a subject is struck at this message: by day soon after it, where it
/// is known when that is.
fn ends(subject: &Subject, pace: &[(f64, u64)], nth: u64) -> f64 {
    let comes = pace.iter().find(|(_, had)| nth <= *had).map(|(at, _)| at + AFTER);
    comes.filter(|_| !is_nightly()).map_or(ENDS, |it| it.max(subject.least).min(ENDS))
}

/// Strike a subject at one message; what is wrong then.
fn strike(subject: &Subject, pace: &[(f64, u64)], nth: u64, blow: Blow) -> Result<(), String> {
    // An order of theirs is several messages, and fails with the second blow to any of them.
    let by_order = matches!(subject.actor, "map-switch" | "map-loader");
    let times = match blow {
        Blow::Twice => 2,
        Blow::InARow if by_order => 2,
        Blow::Once | Blow::InARow => 1,
    };
    let ends = ends(subject, pace, nth + 1);
    let ran = run(script(subject, &blow.at(nth), times, ends));
    ran.map(drop).map_err(|wrong| format!("{} at {nth}, {blow:?}: {wrong}", subject.actor))
}

/// Strike each of these subjects at each of its messages.
fn sweep(subjects: &[Subject], numbers: &[u64], blow: Blow) {
    let mut failed = Vec::new();
    for subject in subjects {
        let pace = pace(subject);
        let wrong = numbers.iter().filter_map(|nth| strike(subject, &pace, *nth, blow).err());
        let before = failed.len();
        failed.extend(wrong);
        let struck = numbers.len() - (failed.len() - before);
        println!("{}: {struck} of {} messages, {blow:?}", subject.actor, numbers.len());
    }
    assert!(failed.is_empty(), "{} failed\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn an_actor_of_play_that_panics_at_any_of_its_messages_is_whole_within_a_quarter_of_a_second() {
    sweep(OF_PLAY, &numbers(), Blow::Once);
}

#[test]
fn an_actor_at_the_door_that_panics_at_any_of_its_messages_turns_nobody_away() {
    sweep(OF_THE_DOOR, &numbers(), Blow::Once);
}

#[test]
fn an_actor_of_maps_that_panics_at_any_of_its_messages_has_everybody_on_the_next_map_all_the_same()
{
    sweep(OF_MAPS, &numbers(), Blow::Once);
}

#[test]
fn a_message_that_breaks_an_actor_twice_costs_nobody_else_anything_and_is_told() {
    for subjects in [OF_PLAY, OF_THE_DOOR, OF_MAPS] {
        sweep(subjects, &first(), Blow::Twice);
    }
}

#[test]
fn an_actor_that_panics_at_two_messages_in_a_row_is_whole_as_soon_as_after_one() {
    for subjects in [OF_PLAY, OF_THE_DOOR, OF_MAPS] {
        sweep(subjects, &first(), Blow::InARow);
    }
}

/// The path and kind of every actor that lives in the midst of a subject's course.
fn living(subject: &Subject) -> Vec<(String, &'static str)> {
    let script = Script::new("course", script(subject, &[MESSAGES], 1, ENDS));
    let until = Some(Micros::from_secs(2));
    let conditions = Conditions { seed: 1, until, ..Conditions::default() };
    Simulation::new(1).run(async |runtime| {
        let ran = script.perform(runtime.clone(), &conditions).await.unwrap();
        assert_eq!(ran.mistake, None);
        let reports = runtime.registry().reports();
        reports.into_iter().map(|report| (report.path, report.kind)).collect()
    })
}

/// The kind that each promise in these sources names, but those of tests and figures.
fn promised(folder: &Path) -> BTreeSet<String> {
    let mut kinds = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("tests") && !path.ends_with("bench") {
            kinds.extend(promised(&path));
        } else if path.extension().is_some_and(|it| it == "rs") && !path.ends_with("tests.rs") {
            let text = fs::read_to_string(&path).unwrap();
            let specs = text.split("const SPEC: Spec = Spec {").skip(1);
            let kind = |spec: &str| {
                Some(spec.trim().strip_prefix("kind: \"")?.split_once('"')?.0.to_owned())
            };
            kinds.extend(specs.map(|spec| kind(spec).expect("a kind first")));
        }
    }
    kinds
}

#[test]
fn every_kind_of_actor_is_struck_or_spared_for_a_reason() {
    let (mut struck, mut met) = (BTreeSet::new(), BTreeSet::new());
    for subject in [OF_PLAY, OF_THE_DOOR, OF_MAPS].concat() {
        let end = format!("/{}", subject.actor);
        let living = living(&subject);
        let kinds = living.iter().filter(|(path, _)| path.ends_with(&end)).map(|(_, kind)| *kind);
        let kinds: BTreeSet<_> = kinds.collect();
        assert_eq!(kinds.len(), 1, "{} is of one kind: {kinds:?}", subject.actor);
        struck.extend(kinds);
        met.extend(living.iter().map(|(_, kind)| *kind));
    }
    let spared: BTreeSet<&str> = SPARED.iter().map(|(kind, _)| *kind).collect();
    assert!(met.iter().all(|kind| struck.contains(kind) || spared.contains(kind)), "{met:?}");
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let promised: BTreeSet<String> = ["actors", "bin/src", "render/src"]
        .iter()
        .flat_map(|it| promised(&tree.join(it)))
        .collect();
    let known: BTreeSet<String> = struck.union(&spared).map(|kind| (*kind).to_owned()).collect();
    assert_eq!(promised, known, "a kind that nobody strikes, or one that is no more");
}
