//! The role that measures, each figure beside its control of the same run.
//!
//! Every bench hands back a [`Report`]; nothing is judged here but budgets, and a budget that is
//! not met is data, not a failure: the machine may have been busy.

mod build;
mod inspect;
mod link;
mod measure;
mod mover;
mod plan;
mod port;
mod random;
mod report;
mod scenario;
mod sim;
mod tick;
mod transfer;
mod wire;

use self::report::Report;
use crate::command::{Bench, BenchName, Shared};
use crate::exit::{Failure, say};
use crate::output;

/// Runs each bench that was named, in that order, and prints what it came to.
pub(crate) fn run(flags: &Bench, shared: &Shared) -> Result<(), Failure> {
    for name in &flags.names {
        let report = measured(*name)?;
        if shared.json {
            output::json(&report.json())?;
        } else {
            output::line(&report.to_string())?;
        }
    }
    Ok(())
}

fn measured(name: BenchName) -> Result<Report, Failure> {
    match name {
        BenchName::Wire => Ok(wire::run()),
        BenchName::Plan => plan::run(),
        BenchName::Port => port::run(),
        BenchName::Tick => tick::run(),
        BenchName::Mover => Ok(mover::run()),
        BenchName::Link => link::run(),
        BenchName::Sim => sim::run(),
        BenchName::Build => build::run(),
        BenchName::Transfer => transfer::run(),
        BenchName::Inspect => inspect::run(),
        BenchName::Scenario => scenario::run(),
    }
}

/// Tells whoever waits what is being measured and how long it takes.
fn progress(what: &str) {
    say(&format!("measuring {what}"));
}
