//! What is typed to look at running processes, and to have things done there.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::reachable;

/// Flags of `inspect`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Inspect {
    /// Where the process answers [default: every process of this user that runs, found by what it
    /// left in driftholm in `XDG_RUNTIME_DIR`, or where that is not set, in driftholm-UID among
    /// temporary files]
    #[arg(long, global = true, value_name = "HOST:PORT", value_parser = reachable)]
    pub(crate) connect: Option<SocketAddr>,
    /// Show the token in this file to the process at --connect, in plain text; needed wherever no
    /// process of this user is known to answer
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// The snapshot of this number, if it is kept
    #[arg(long, value_name = "N", conflicts_with = "url")]
    pub(crate) seq: Option<u64>,
    /// Print a link to the page, with the token in it
    #[arg(long)]
    pub(crate) url: bool,
    /// What is to be done; nothing, where one only looks.
    #[command(subcommand)]
    pub(crate) act: Option<Act>,
}

/// What a process is to do.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum Act {
    /// Make the machine of an actor anew
    Restart {
        /// The path of the actor, as dh inspect shows it
        actor: String,
    },
    /// Change how many messages may wait in a lane of an actor
    Bound {
        /// The path of the actor, as dh inspect shows it
        actor: String,
        /// The lane
        lane: Lane,
        /// Messages
        max: usize,
    },
    /// Change what is logged of a part of the program or of an actor; alone, show what is set
    Log {
        /// A module, as log lines name it, or the path of an actor
        #[arg(requires = "level")]
        path: Option<String>,
        /// off, error, warn, info, debug or trace; or reset, to log as at the start
        level: Option<String>,
    },
    /// Set a preference that can change while the process runs, until it ends
    Set {
        /// Its key
        key: String,
        /// Its new value
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Write what the flight recorder holds, and say where
    Dump,
}

/// A lane of an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Lane {
    /// The one that is always taken first
    Control,
    /// The other
    Data,
}
