//! Act: something that a process is to do, as it was typed.

use dh_host::inspect::{LaneName, Order};
use serde_json::json;

use super::target::Target;
use crate::command::{Act, Lane, Shared};
use crate::exit::{Exit, Failure};
use crate::near::near;
use crate::output::{self, one_line};

/// Have it done, and print what was done.
pub(crate) fn run(act: &Act, target: &Target, shared: &Shared) -> Result<(), Failure> {
    let order = order(act);
    let answer = target.order(&json!(order)).map_err(|failure| {
        let (Order::Restart { path } | Order::Bound { path, .. }) = &order else {
            return failure;
        };
        if failure.exit == Exit::Missing { misnamed(failure, path, target) } else { failure }
    })?;
    match (shared.json, answer["done"].as_str()) {
        (false, Some(done)) => output::line(&one_line(done)),
        _ => output::json(&answer),
    }
}

/// The same failure, with the actors that may have been meant.
fn misnamed(failure: Failure, path: &str, target: &Target) -> Failure {
    let Ok(snapshot) = target.snapshot("") else { return failure };
    let paths = snapshot.actors.iter().map(|actor| actor.path.as_str());
    match near(path, '/', paths) {
        Some(meant) => failure.remedy(format!("{meant}, which is nearest")),
        None => failure.remedy("dh inspect, which lists them"),
    }
}

fn order(act: &Act) -> Order {
    match act.clone() {
        Act::Restart { actor } => Order::Restart { path: actor },
        Act::Bound { actor, lane, max } => {
            let lane = match lane {
                Lane::Control => LaneName::Control,
                Lane::Data => LaneName::Data,
            };
            Order::Bound { path: actor, lane, max }
        }
        Act::Log { path, level } => {
            Order::LogLevel { path: path.unwrap_or_default(), level: level.unwrap_or_default() }
        }
        Act::Set { key, value } => Order::Set { key, value },
        Act::Dump => Order::DumpFlight {},
    }
}
