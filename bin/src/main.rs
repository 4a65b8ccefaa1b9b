//! `dh`: Driftholm's server, client and tools in one program.
//!
//! Reads the command line and hands over to the role it names. Roles never end the process
//! themselves; they return, or fail with an exit code.

mod bench;
mod command;
mod content;
mod data;
mod doctor;
mod exit;
mod front;
mod identity;
mod inspect;
mod join;
mod logging;
mod manual;
mod output;
mod picture;
mod play;
mod prefs;
mod scenario;
mod serve;
mod settings;
mod version;

use crate::command::{Command, Verb};
use crate::exit::{Exit, Failure};
use std::process::ExitCode;

fn main() -> ExitCode {
    exit::watch_panics();
    exit::guarded(run).into()
}

fn run() -> Exit {
    let command = match command::parse(std::env::args_os()) {
        Ok(command) => command,
        Err(exit) => return exit,
    };
    let quieter = match command.verb {
        Some(Verb::Server(_)) => 0,
        // Faults are what scenarios are made of.
        Some(Verb::Scenario(_)) => 3,
        _ => 1,
    };
    logging::start(&command.shared, quieter);
    exit::ended(command.shared.json, dispatch(command))
}

fn dispatch(command: Command) -> Result<(), Failure> {
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
        Verb::Doctor => doctor::run(shared),
        Verb::Bench(flags) => bench::run(&flags, shared),
        Verb::Completions { shell } => manual::completions(shell),
        Verb::Man { out } => manual::pages(out.as_deref()),
    }
}
