//! The command line of `dh scenario`.

use clap::{Args, Subcommand, ValueEnum};
use dh_scenario::script::limit::SECONDS_MAX;
use std::path::PathBuf;

/// Simulated worlds side by side, at most: each has its thread and its memory.
const JOBS_MAX: i64 = 256;

/// What is done with scenarios.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Scenario {
    /// Run scenarios, and tell what did not come that was expected
    Run(RunScenario),
    /// Write a commented scenario to start from
    New {
        /// What it shows, in one sentence; the file's name
        name: String,
    },
    /// List scenarios with what they cost
    List {
        /// Scenarios, or folders of them
        #[arg(required = true, value_name = "FILE|DIR")]
        paths: Vec<PathBuf>,
    },
    /// Read scenarios without running them, and tell every mistake that shows
    Check {
        /// Scenarios, or folders of them
        #[arg(required = true, value_name = "FILE|DIR")]
        paths: Vec<PathBuf>,
    },
    /// Print every word of the language and what it does
    Docs,
    /// Play again what a flight recorder noted, and compare every tick
    Replay {
        /// A journal, as the flight recorder wrote it
        file: PathBuf,
        /// A pallet, or a folder of pallets, that its map may come from; may be repeated
        #[arg(long, value_name = "DIR|FILE")]
        content: Vec<PathBuf>,
    },
}

/// Flags of `scenario run`.
#[derive(Args, Clone, Debug)]
pub(crate) struct RunScenario {
    /// Scenarios, or folders of them
    #[arg(required = true, value_name = "FILE|DIR")]
    pub(crate) paths: Vec<PathBuf>,
    /// The seed that everything left to chance follows from [default: 1]
    #[arg(long, value_name = "N", conflicts_with = "seeds", value_parser = seed)]
    #[arg(allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// Run with every seed of this range, both ends included, as in 1..1000
    #[arg(long, value_name = "A..B")]
    pub(crate) seeds: Option<SeedRange>,
    /// Simulated worlds side by side [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=JOBS_MAX))]
    pub(crate) jobs: Option<u16>,
    /// Where it runs: sim, on one thread and simulated time, or loopback, on sockets and real time
    #[arg(long, value_enum, value_name = "RUNTIME", default_value = "sim")]
    #[arg(hide_possible_values = true)]
    pub(crate) runtime: RuntimeName,
    /// How peers reach servers: quic or memory [default: what the scenario says]
    #[arg(long, value_enum, value_name = "TRANSPORT", hide_possible_values = true)]
    pub(crate) transport: Option<TransportName>,
    /// Only scenarios of this size: small or large
    #[arg(long, value_enum, value_name = "SIZE", hide_possible_values = true)]
    pub(crate) size: Option<SizeName>,
    /// Break each run off after so many of its seconds, to compare how runs begin
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub(crate) until: Option<f64>,
    /// Write the last 30 s of a single run into this folder: its messages, ticks and packets as a
    /// trace for Chrome or Perfetto, and its journals
    #[arg(long, value_name = "DIR", conflicts_with = "seeds")]
    pub(crate) record: Option<PathBuf>,
    /// Write what ran to this HTML file
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Write what ran to this XML file, as collectors of test results read it
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Reduce a failing run to few peers, faults and events
    #[arg(long)]
    pub(crate) shrink: bool,
    /// Leave out the deeds that this file names, one key a line; `--shrink` writes such files
    #[arg(long, value_name = "FILE")]
    pub(crate) without: Option<PathBuf>,
}

fn seed(text: &str) -> Result<u64, String> {
    let wrong = |_| format!("expected a whole number from 0 to {}, found {text:?}", u64::MAX);
    text.parse().map_err(wrong)
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|it| (1e-3..=SECONDS_MAX).contains(it));
    seconds.ok_or_else(|| format!("expected seconds from 0.001 to {SECONDS_MAX}"))
}

/// Where a scenario runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RuntimeName {
    /// One thread, simulated time.
    Sim,
    /// Real threads, sockets and time.
    Loopback,
}

/// How peers reach servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TransportName {
    /// QUIC.
    Quic,
    /// Memory.
    Memory,
}

/// What a scenario costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SizeName {
    /// At most 8 peers and 60 simulated seconds.
    Small,
    /// Anything else.
    Large,
}

/// Seeds from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SeedRange {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

impl std::str::FromStr for SeedRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "expected A..B with A at most B, as in 1..1000".to_owned();
        let (first, last) = text.split_once("..").ok_or_else(wrong)?;
        let (first, last) =
            (first.parse().map_err(|_| wrong())?, last.parse().map_err(|_| wrong())?);
        if last < first || last - first >= Self::MAX {
            return Err(format!("{}, and at most {} of them", wrong(), Self::MAX));
        }
        Ok(Self { first, last })
    }
}

impl SeedRange {
    /// Seeds of one hunt, at most.
    pub(crate) const MAX: u64 = 1_000_000;
}
