//! The actors of servers and peers, by the names scripts use, and what can be read of them.

use dh_host::ActorReport;
use rhai::EvalAltResult;

use super::Entries;
use crate::script::error::{Said, unknown};

/// The actors of a server. It has those of `peer-N` once for each connection, N counting from 0.
pub(super) const OF_SERVER: Entries = &[
    ("listener", "lets connections in"),
    ("tick", "steps the world, 60 times a second"),
    ("map-switch", "prepares the next map"),
    ("roster", "knows who is here, and runs the console"),
    ("chat", "words every line of chat"),
    ("peer-N/session", "talks with one peer; N counts connections from 0"),
    ("peer-N/blobs", "sends content to one peer, once it asks for some"),
];

/// The actors of a peer.
pub(super) const OF_PEER: Entries = &[
    ("connection", "dials, joins, and talks with the server"),
    ("downloader", "fetches content"),
    ("map-loader", "loads maps out of content"),
    ("predictor", "steps its own pawn, 60 times a second"),
    ("presenter", "makes views of the world"),
];

/// What can be read of an actor.
pub(super) const FIGURES: Entries = &[
    ("depth", "messages that wait or are in hand"),
    ("peak", "the most that ever waited at once in one lane"),
    ("offered", "messages it was ever sent"),
    ("handled", "messages it took and came back from"),
    ("refused", "messages given back: no place, or it has ended"),
    ("dropped", "messages that newer ones took the place of"),
    ("lost", "messages in hand when it panicked"),
    ("panics", "panics that were caught"),
    ("restarts", "times it was made again"),
    ("late_ms", "milliseconds its deadlines were served late, 99 of 100 less"),
    ("wait_ms", "milliseconds its messages waited, 99 of 100 less"),
];

/// Whether a server, or else a peer, has an actor of this name; an N in a known name stands for a
/// number.
pub(super) fn check(of_server: bool, name: &str) -> Said<()> {
    let known = if of_server { OF_SERVER } else { OF_PEER };
    let general = match name.strip_prefix("peer-").and_then(|it| it.split_once('/')) {
        Some((nth, rest)) if nth.parse::<u32>().is_ok() => format!("peer-N/{rest}"),
        _ => name.to_owned(),
    };
    let mut names = known.iter().map(|(name, _)| *name);
    let known = names.clone();
    if names.any(|it| it == general) { Ok(()) } else { Err(unknown("actor", name, known)) }
}

/// The mistake of a figure that there is none of.
pub(super) fn no_figure(name: &str) -> Box<EvalAltResult> {
    unknown("figure", name, FIGURES.iter().map(|(name, _)| *name))
}

/// Messages an actor has taken since its start, those among them that it panicked at.
pub(in crate::script) fn taken(report: &ActorReport) -> u64 {
    let total = report.port.total();
    total.handled + total.lost
}
