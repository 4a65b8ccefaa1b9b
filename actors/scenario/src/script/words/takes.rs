//! Takes: what stands in a usage for something of the script's own, and what is taken there. What
//! is written out is held to it before anything runs.

use rhai::Dynamic;

use super::reading::preference;
use super::time::{known_event, never_comes};
use super::{Entries, Word, actors};
use crate::happening::{PEER_EVENTS, SERVER_EVENTS};
use crate::script::content::Contents;
use crate::script::error::{Said, wrong};
use crate::script::stage::Stage;
use crate::script::value::{integer, links, micros, number, ordinal, role, text, truth};

/// What the names in usages stand for.
pub(super) const MEANINGS: Entries = &[
    ("\"...\"", "a text"),
    ("seconds", "a number, 0 or more"),
    ("n", "a whole number, 1 or more"),
    ("condition", "true or false"),
    ("held", "true or false"),
    ("right, ahead", "numbers from -1 to 1"),
    ("|| ...", "a callback: what to do or look at when the time comes; |text| where it is told"),
    ("#{ ... }", "an object map, with some of these entries"),
    ("link", "the name of a link, a link for both ways, or #{ up, down }"),
    ("peer, server", "what peer(), spawn() and server() hand out"),
];

impl Word {
    /// What it takes, as its usage names it.
    pub(in crate::script) fn takes(&self) -> Vec<&'static str> {
        let Some((_, list)) = self.usage.split_once('(') else { return Vec::new() };
        let list = list.strip_suffix(')').unwrap_or(list);
        let (mut depth, mut from, mut takes) = (0_usize, 0, Vec::new());
        for (at, it) in list.char_indices() {
            match it {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    takes.push(list[from..at].trim());
                    from = at + 1;
                }
                _ => {}
            }
        }
        takes.push(list[from..].trim());
        takes.retain(|take| !take.is_empty());
        takes
    }
}

/// Whether a word takes a value where its usage names it so; `server` is whose word it is, where
/// that is known.
pub(in crate::script) fn check(
    stage: &Stage,
    word: &Word,
    take: &str,
    value: &Dynamic,
    server: Option<usize>,
) -> Said<()> {
    let name = word.name();
    if take.starts_with('"') {
        let said = text(name, value)?;
        return named(stage, word, take, &said, server);
    }
    match take {
        "n" if matches!(name, "spawn" | "half_open") => match integer(name, value)? {
            0.. => Ok(()),
            found => Err(wrong(format!("{name}: expected 0 or more, found {found}"))),
        },
        "n" => ordinal(name, value).map(drop),
        "seconds" => in_span(stage, name, value),
        "condition" | "held" => truth(name, value).map(drop),
        "right" | "ahead" => match number(take, value)? {
            -1.0..=1.0 => Ok(()),
            found => Err(wrong(format!("{take}: expected -1 to 1, found {found}"))),
        },
        "link" => match stage.plan() {
            Ok(plan) => links(value, &plan.links).map(drop),
            Err(_) => Ok(()),
        },
        it if it.starts_with('|') || it.starts_with('#') || matches!(it, "peer" | "server") => {
            Err(wrong(format!("expected {}, found {value}", word.usage)))
        }
        _ => Ok(()),
    }
}

/// A span, or a time, that there is room for before the end.
fn in_span(stage: &Stage, word: &str, value: &Dynamic) -> Said<()> {
    let seconds = micros(word, value)?;
    let span = stage.plan().map_or(seconds, |plan| plan.span);
    if seconds <= span || !matches!(word, "at" | "after" | "every" | "expect_within") {
        return Ok(());
    }
    Err(never_comes(word, seconds, span))
}

/// A text that names something.
fn named(stage: &Stage, word: &Word, take: &str, said: &str, server: Option<usize>) -> Said<()> {
    match (take, word.usage) {
        ("\"name\"", "server(\"name\")") => stage.plan()?.server(said).map(drop),
        ("\"name\"", "peer(\"name\")") => stage.peer_called(said).map(drop),
        ("\"role\"", _) => role(said).map(drop),
        ("\"event\"", usage) if usage.starts_with("on(peer") => {
            known_event(PEER_EVENTS, said).map(drop)
        }
        ("\"event\"", _) => known_event(SERVER_EVENTS, said).map(drop),
        ("\"actor\"", _) => actors::check(word.receiver() == Some("server"), said),
        ("\"figure\"", _) => match actors::FIGURES.iter().any(|(it, _)| *it == said) {
            true => Ok(()),
            false => Err(actors::no_figure(said)),
        },
        ("\"key\"", _) => preference(said).map(drop),
        ("\"pallet\"", _) => {
            let plan = stage.plan()?;
            let server = server.and_then(|at| plan.servers.get(at));
            Contents::change(&plan, server, said).map(drop)
        }
        _ => Ok(()),
    }
}
