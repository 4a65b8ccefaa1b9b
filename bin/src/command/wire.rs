//! What is typed to look at what goes over the wire.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

/// What is done with the wire.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Wire {
    /// Print the schema of this build: every message and what is in it
    Schema,
    /// Tell what each of two builds loses of what the other sends
    Diff {
        /// The schema of one build, as dh wire schema prints it; - for this build; or the address
        /// and port of a server that runs, which is asked for its own
        #[arg(value_name = "FILE|HOST:PORT")]
        one: PathBuf,
        /// That of the other
        #[arg(value_name = "FILE|HOST:PORT")]
        other: PathBuf,
    },
    /// Show a packet as a tree, explained by a schema alone
    Dump {
        /// A file that holds the packet, as it is or in hex; - for stdin; or the packet itself in
        /// hex
        #[arg(value_name = "FILE|HEX")]
        packet: String,
        /// The message whose body it is, as in toClient.snapshot; else a number stands before the
        /// body, as in a datagram, or the body's length, which does not count the number, and a
        /// number, as on a stream
        #[arg(long = "as", value_name = "DIRECTION.NAME")]
        message: Option<String>,
        /// Who receives it: needed where both ends read a message of its number
        #[arg(long, conflicts_with = "message")]
        to: Option<Receiver>,
        /// The schema of the build that wrote it [default: this build's]
        #[arg(long, value_name = "FILE")]
        schema: Option<PathBuf>,
    },
}

/// Who receives a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Receiver {
    /// The server does.
    Server,
    /// A client does.
    Client,
}
