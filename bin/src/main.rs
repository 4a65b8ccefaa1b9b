//! `dh`: Driftholm's server, client and tools in one program.
//!
//! Reads the command line and hands over to the role it names. Roles never end the process
//! themselves; they return, or fail with an exit code.

mod bench;
mod command;
mod content;
mod data;
mod dispatch;
mod doctor;
mod exit;
mod front;
mod identity;
mod input;
mod inspect;
mod join;
mod logging;
mod manual;
mod near;
mod output;
mod picture;
mod play;
mod prefs;
mod scenario;
mod serve;
mod settings;
mod version;
mod wire;

use crate::exit::Exit;
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
    logging::start(&command.shared, command.verb.as_ref());
    exit::ended(command.shared.json, dispatch::run(command))
}
