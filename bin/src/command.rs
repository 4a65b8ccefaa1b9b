//! The command line: every verb and flag, once.
//!
//! Used by `main` and, for help, completions and man pages, by `manual`. `dh` without a verb plays,
//! so the flags of `play` stand at the top as well. Knows nothing of what the verbs do.

mod content;
mod inspect;
mod nearest;
mod scenario;
mod wire;

pub(crate) use self::content::{Build, Content, Pallet, Store};
pub(crate) use self::inspect::{Act, Inspect, Lane};
pub(crate) use self::scenario::{
    RunScenario, RuntimeName, Scenario, SeedRange, SizeName, TransportName,
};
pub(crate) use self::wire::{Receiver, Wire};
use crate::exit::{Exit, Failure, say};
use crate::output;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{
    ArgAction, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum,
};
use dh_prefs::{Address, PrefError, Problem};
use std::ffi::OsString;
use std::io::{Write as _, stdout};
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;
use std::time::Duration;

/// Simulated peers of one embedded server, at most: its roster has a place less the local player's.
const PEERS_MAX: i64 = 63;
/// Seconds that a run may be limited to: a week.
const SECONDS_MAX: f64 = 604_800.0;
/// Columns of help where the terminal is wider, or is none.
pub(crate) const COLUMNS: usize = 100;

/// Networked worlds from actors: server, client and tools in one program
#[derive(Debug, Parser)]
#[command(name = "dh", disable_version_flag = true, disable_help_subcommand = true)]
#[command(max_term_width = COLUMNS)]
#[command(override_usage = "dh [play] [OPTIONS]\n       dh VERB [OPTIONS]")]
#[command(subcommand_value_name = "VERB", subcommand_help_heading = "Verbs")]
pub(crate) struct Command {
    /// What is done; `play` if nothing is said.
    #[command(subcommand)]
    pub(crate) verb: Option<Verb>,
    /// Flags of `play`, for when no verb is given.
    #[command(flatten)]
    pub(crate) play: Play,
    /// Print version, commit, protocol, schema hash and lock file hash
    #[arg(short = 'V', long)]
    pub(crate) version: bool,
    /// Flags of every verb.
    #[command(flatten)]
    pub(crate) shared: Shared,
}

/// Flags that every verb takes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Shared {
    /// Keep identity, known hosts and preferences here, whatever `DH_DATA` says
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Set a preference for this run only; may be repeated
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Answer with JSON on stdout
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Log more; may be repeated
    #[arg(short, long, global = true, action = ArgAction::Count)]
    verbose: u8,
    /// Log less; may be repeated
    #[arg(short, long, global = true, action = ArgAction::Count)]
    quiet: u8,
    /// How log lines look on stderr: text or json
    #[arg(long, global = true, value_enum, value_name = "FORMAT", default_value = "text")]
    #[arg(hide_possible_values = true)]
    pub(crate) log_format: LogFormat,
}

impl Shared {
    /// How much louder than usual the log is; below zero is quieter.
    pub(crate) fn verbosity(&self) -> i16 {
        i16::from(self.verbose) - i16::from(self.quiet)
    }
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// An address that is gone to, by a name too; of several the first of IPv4, where roles listen
/// unless told otherwise.
fn reachable(text: &str) -> Result<SocketAddr, String> {
    let wrong = "it has the form HOST:PORT, as in 127.0.0.1:9100 or localhost:9100";
    let found = text.to_socket_addrs().map_err(|error| match error.kind() {
        std::io::ErrorKind::InvalidInput => wrong.to_owned(),
        _ => format!("no address is known by this name ({error}); {wrong}"),
    })?;
    let all: Vec<SocketAddr> = found.collect();
    let first = all.iter().find(|it| it.is_ipv4()).or_else(|| all.first());
    first.copied().ok_or_else(|| wrong.to_owned())
}

/// Where a role may be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InspectAt {
    /// At this address.
    Address(SocketAddr),
    /// Nowhere.
    Off,
}

/// What is done.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Start a world here and play in it; what `dh` alone does
    Play(Play),
    /// Serve a world
    Server(Server),
    /// Join a server
    Client(Client),
    /// The verbs around content.
    #[command(flatten)]
    Content(Content),
    /// Show, move or forget identities
    #[command(subcommand)]
    Identity(Identity),
    /// Read and change preferences
    #[command(subcommand)]
    Prefs(Prefs),
    /// Run scenarios, write new ones, and explain the language
    #[command(subcommand)]
    Scenario(Scenario),
    /// Look at the actors of running processes, and have things done there
    Inspect(Inspect),
    /// Print the schema of this build, compare builds, and explain packets
    #[command(subcommand)]
    Wire(Wire),
    /// Tell what this machine can do, and what to install
    Doctor,
    /// Measure, each figure beside its control
    Bench(Bench),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages
    Man {
        /// Write one page per verb into this folder; otherwise the first goes to stdout
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

/// Flags of `play`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Play {
    /// Let others join at this address
    #[arg(long, value_name = "ADDR:PORT", value_parser = listening)]
    pub(crate) listen: Option<SocketAddr>,
    /// The map to start with, as palletId:assets/name.dh-map [default: the demo]
    #[arg(long, value_name = "BARCODE")]
    pub(crate) map: Option<String>,
    /// A pallet, or a folder of pallets, that maps may come from; may be repeated
    #[arg(long, value_name = "DIR|FILE")]
    pub(crate) content: Vec<PathBuf>,
    /// Simulated peers that walk about, at most 63 [default: 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=PEERS_MAX))]
    pub(crate) peers: Option<u32>,
    /// How the world is looked at.
    #[command(flatten)]
    pub(crate) stage: Stage,
}

/// Flags of `server`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Server {
    /// Serve at this address [default: every address, port 27015]
    #[arg(long, value_name = "ADDR:PORT", value_parser = listening)]
    pub(crate) listen: Option<SocketAddr>,
    /// The map to start with, as palletId:assets/name.dh-map [default: the gray box]
    #[arg(long, value_name = "BARCODE")]
    pub(crate) map: Option<String>,
    /// A pallet, or a folder of pallets, that maps may come from; may be repeated
    #[arg(long, value_name = "DIR|FILE")]
    pub(crate) content: Vec<PathBuf>,
    /// Read preferences from this file instead of the data folder's
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Let it be inspected at this address, or not at all [default: any free port of 127.0.0.1]
    #[arg(long, value_name = "ADDR:PORT|off", value_parser = inspect_at)]
    pub(crate) inspect: Option<InspectAt>,
    /// End after so many seconds, counted from `ready`
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub(crate) seconds: Option<Duration>,
}

/// Flags of `client`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Client {
    /// The server to join; port 27015 if none is given
    #[arg(long, value_name = "HOST[:PORT]", value_parser = server)]
    pub(crate) connect: Address,
    /// A pallet, or a folder of pallets, that need not be fetched; may be repeated
    #[arg(long, value_name = "DIR|FILE")]
    pub(crate) content: Vec<PathBuf>,
    /// The name that other players see
    #[arg(long, value_name = "NAME", value_parser = player_name)]
    pub(crate) name: Option<String>,
    /// How the world is looked at.
    #[command(flatten)]
    pub(crate) stage: Stage,
}

/// How a client looks at the world, and for how long.
#[derive(Args, Clone, Debug)]
pub(crate) struct Stage {
    /// Open no window
    #[arg(long)]
    pub(crate) headless: bool,
    /// End after so many seconds, counted from the first spawn
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub(crate) seconds: Option<Duration>,
    /// Let it be inspected at this address, or not at all [default: any free port of 127.0.0.1]
    #[arg(long, value_name = "ADDR:PORT|off", value_parser = inspect_at)]
    pub(crate) inspect: Option<InspectAt>,
    /// Write a picture of the end to this PNG file [play --headless: driftholm.png]
    #[arg(long, value_name = "FILE")]
    pub(crate) picture: Option<PathBuf>,
}

/// What is done with identities.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Identity {
    /// Show this user's identity and the servers it trusts
    Show,
    /// Forget the key of a server, to trust the next one it shows
    Forget {
        /// The server, as it was connected to
        #[arg(value_parser = server)]
        host: Address,
    },
    /// Copy this user's private key to a file, to play as the same player elsewhere
    Export {
        /// The file, which must not exist
        file: PathBuf,
    },
}

/// What is done with preferences.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Prefs {
    /// List every preference with its value, default, range and help
    List,
    /// Print the value of one
    Get {
        /// Its key
        key: String,
    },
    /// Change one in the file
    Set {
        /// Its key
        key: String,
        /// Its new value
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Go back to the default, of one or of all
    Reset {
        /// The key; all of them if none is given
        key: Option<String>,
    },
    /// List what differs from the defaults, and where each value comes from
    Diff,
}

/// Flags of `bench`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Bench {
    /// What is measured
    #[arg(required = true, value_enum, value_name = "NAME")]
    pub(crate) names: Vec<BenchName>,
}

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BenchName {
    /// Writing and reading a message, beside the same by hand
    Wire,
    /// Reading a message of another build, beside one of this build
    Plan,
    /// A message through a port, beside a raw mailbox and a channel
    Port,
    /// How late ticks start, beside a plain sleep and a timer
    Tick,
    /// A step of the character mover, beside the physics library's casts
    Mover,
    /// Datagrams over a lossy link, beside the usual congestion control
    Link,
    /// How fast a simulated world runs, over QUIC beside over memory
    Sim,
    /// Scenarios at several sizes, and how many peers on real sockets make a tick late
    Scenario,
    /// Building pallets, beside reading and hashing the same files
    Build,
    /// Fetching a pallet, beside a raw stream; memory and lateness while four clients fetch
    Transfer,
    /// What being inspected costs 1,000 actors, beside nobody looking
    Inspect,
}

/// Reads the command line; help and mistakes are told here, and end the program.
pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Command, Exit> {
    let words: Vec<OsString> = words.into_iter().collect();
    read(&words).map_err(|error| {
        if error.use_stderr() && words.iter().any(|word| word == "--json") {
            return mistake(&error).report(true);
        }
        if error.use_stderr() {
            // A mistake begins like every other failure.
            say(error.render().to_string().replacen("error:", "dh:", 1).trim_end());
            return Exit::Usage;
        }
        let printed = error.print().and_then(|()| stdout().flush());
        let failed = output::written(printed).err();
        failed.map_or(Exit::Success, |failure| failure.report(false))
    })
}

fn read(words: &[OsString]) -> Result<Command, Error> {
    let mut parser = Command::command();
    let matches = parser.try_get_matches_from_mut(words);
    let matches = matches.map_err(|error| nearest::suggest(error, &parser, words))?;
    let command = Command::from_arg_matches(&matches)?;
    let play = Play::augment_args(clap::Command::new("play"));
    let given = |id: &str| matches.value_source(id) == Some(clap::parser::ValueSource::CommandLine);
    let misplaced = play.get_arguments().find(|flag| given(flag.get_id().as_str()));
    match (matches.subcommand_name(), misplaced.and_then(clap::Arg::get_long)) {
        (Some(verb), Some(flag)) => {
            let told = format!("--{flag} stands before '{verb}': write 'dh {verb} --{flag}'");
            Err(parser.error(ErrorKind::ArgumentConflict, told))
        }
        _ => Ok(command),
    }
}

/// A mistake on the command line without its decoration: what is wrong, and the tip.
fn mistake(error: &Error) -> Failure {
    let text = error.render().to_string();
    let cause = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
    // What is missing stands in lines of its own.
    let cause = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(missing)) if cause.ends_with(':') => {
            format!("{cause} {}", missing.join(", "))
        }
        _ => cause.to_owned(),
    };
    let tip = text.lines().find_map(|line| line.trim().strip_prefix("tip: "));
    Failure::new(Exit::Usage, cause).remedy(tip.unwrap_or("dh --help"))
}

/// An address of this machine, with its port.
fn listening(text: &str) -> Result<SocketAddr, String> {
    let wrong = |_| "it has the form ADDRESS:PORT, as in 0.0.0.0:27015 or [::]:27015".to_owned();
    text.parse().map_err(wrong)
}

/// Where a role may be looked at.
fn inspect_at(text: &str) -> Result<InspectAt, String> {
    if text == "off" {
        return Ok(InspectAt::Off);
    }
    let wrong = |_| "it is off, or has the form ADDRESS:PORT, as in 127.0.0.1:9100".to_owned();
    text.parse().map(InspectAt::Address).map_err(wrong)
}

/// A name as the preference of that meaning takes it.
fn player_name(text: &str) -> Result<String, String> {
    let mut prefs = dh_prefs::Prefs::default();
    match prefs.set_argument(&format!("client.name={text}")) {
        Ok(_) => Ok(text.to_owned()),
        Err(PrefError { problem: Problem::Value { expected, .. }, .. }) => {
            Err(format!("expected {expected}"))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// A server as the user names it; port 0, the world inside a process, is no server.
fn server(text: &str) -> Result<Address, String> {
    let address = Address::read(text).filter(|address| !address.is_local_world());
    address.ok_or_else(|| "it has the form HOST, HOST:PORT or [ADDRESS]:PORT".to_owned())
}

/// A span given as a number of seconds.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.0..=SECONDS_MAX).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| format!("0 to {SECONDS_MAX} seconds"))
}

#[cfg(test)]
mod tests;
