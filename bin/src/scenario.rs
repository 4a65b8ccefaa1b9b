//! The verbs around scenarios: run, hunt, write, list, check, explain.

mod files;
mod hunt;
mod outcome;
mod page;
mod replay;
mod shrink;
mod tell;

use std::path::Path;

use dh_scenario::script::words;
use serde_json::json;

use self::files::Found;
use crate::command::{Scenario, Shared};
use crate::exit::{Exit, Failure, say};
use crate::output;

/// Runs the verb to its end.
pub(crate) fn run(what: &Scenario, shared: &Shared) -> Result<(), Failure> {
    match what {
        Scenario::Run(flags) => hunt::run(flags, shared),
        Scenario::New { name } => new(name),
        Scenario::List { paths } => list(paths, shared, false),
        Scenario::Check { paths } => list(paths, shared, true),
        Scenario::Docs => docs(shared),
        Scenario::Replay { file, content } => replay::run(file, content, shared),
    }
}

/// Tells of each scenario what it costs, or what is wrong with it.
fn list(paths: &[std::path::PathBuf], shared: &Shared, only_check: bool) -> Result<(), Failure> {
    let mut worst = None;
    for Found { script, path } in files::find(paths)? {
        match script.plan() {
            Ok(plan) => {
                let (size, seconds) = (plan.size.name(), plan.span.as_secs_f64());
                let (name, peers) = (script.name(), plan.peers.len());
                if shared.json {
                    output::json(&json!({
                        "scenario": name, "file": path, "size": size, "seconds": seconds,
                        "peers": peers, "servers": plan.servers.len(),
                        "hash": format!("{:016x}", script.hash()),
                    }))?;
                } else if only_check {
                    output::line(&format!("ok  {path}"))?;
                } else {
                    output::line(&format!("{size:<5} {seconds:>5} s {peers:>4} peers  {name}"))?;
                }
            }
            Err(mistake) => {
                let failure = outcome::refused(&mistake);
                say(&format!("dh: {mistake}"));
                worst.get_or_insert(failure.exit);
            }
        }
    }
    match worst {
        None => Ok(()),
        Some(exit) => Err(Failure::new(exit, "not every scenario is whole")
            .remedy("dh scenario docs lists every word and what it takes")),
    }
}

/// Prints the vocabulary, as it is registered.
fn docs(shared: &Shared) -> Result<(), Failure> {
    let list = words::list();
    if shared.json {
        let entries = list
            .iter()
            .map(|word| json!({ "group": word.group, "usage": word.usage, "help": word.help }));
        return output::json(&entries.collect());
    }
    let mut group = "";
    for word in &list {
        if word.group != group {
            let gap = if group.is_empty() { "" } else { "\n" };
            output::line(&format!("{gap}{}", word.group))?;
            group = word.group;
        }
        output::line(&format!("  {}\n      {}", word.usage, word.help))?;
    }
    for (title, entries) in words::tables() {
        output::line(&format!("\n{title}"))?;
        for (name, help) in entries {
            output::line(&format!("  {name:<12} {help}"))?;
        }
    }
    Ok(())
}

/// Writes a scenario to start from; never over another file.
fn new(name: &str) -> Result<(), Failure> {
    let is_plain = |it: char| it.is_alphanumeric() || matches!(it, ' ' | '_' | '-');
    if name.trim().is_empty() || name.trim().starts_with('-') || !name.chars().all(is_plain) {
        let cause = format!("`{name}`: expected a sentence of letters, digits and blanks");
        return Err(
            Failure::new(Exit::Usage, cause).remedy("dh scenario new \"nobody is left out\"")
        );
    }
    let path = format!("{}.rhai", name.trim().replace(' ', "_"));
    files::create(Path::new(&path), files::TEMPLATE)?;
    output::line(&format!("wrote {path}; next: dh scenario run {path}"))
}
