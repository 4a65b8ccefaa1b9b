//! From a verb to the role that it names.

use crate::command::{Command, Verb};
use crate::exit::Failure;
use crate::{
    bench, content, doctor, identity, inspect, join, manual, play, prefs, scenario, serve, version,
    wire,
};

/// Runs what the command line asks for.
pub(crate) fn run(command: Command) -> Result<(), Failure> {
    let shared = &command.shared;
    if command.version {
        return version::print(shared);
    }
    match command.verb.unwrap_or(Verb::Play(command.play)) {
        Verb::Play(flags) => play::run(&flags, shared),
        Verb::Server(flags) => serve::run(&flags, shared),
        Verb::Client(flags) => join::run(&flags, shared),
        Verb::Content(what) => content::run(&what, shared),
        Verb::Identity(what) => identity::run(&what, shared),
        Verb::Prefs(what) => prefs::run(&what, shared),
        Verb::Scenario(what) => scenario::run(&what, shared),
        Verb::Inspect(flags) => inspect::run(&flags, shared),
        Verb::Wire(what) => wire::run(&what, shared),
        Verb::Doctor => doctor::run(shared),
        Verb::Bench(flags) => bench::run(&flags, shared),
        Verb::Completions { shell } => manual::completions(shell),
        Verb::Man { out } => manual::pages(out.as_deref()),
    }
}
