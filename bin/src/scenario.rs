//! The verbs around scenarios: run, hunt, write, list, check, explain.

mod files;
mod hunt;
mod interrupt;
mod outcome;
mod page;
mod replay;
mod shrink;
mod tell;

use std::path::Path;

use dh_scenario::ScriptError;
use dh_scenario::script::words::{self, Vocabulary};
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

/// Tells of each scenario what it costs; or every mistake that shows.
fn list(paths: &[std::path::PathBuf], shared: &Shared, only_check: bool) -> Result<(), Failure> {
    let (mut worst, mut count) = (None, 0);
    for Found { script, path } in files::find(paths)? {
        let plan = script.plan();
        let mistakes = match (only_check, &plan) {
            (true, _) => script.mistakes(),
            (false, plan) => plan.as_ref().err().cloned().into_iter().collect(),
        };
        if let Some(first) = mistakes.first() {
            worst.get_or_insert_with(|| outcome::refused(first));
            count += mistakes.len();
            refuse(&path, &mistakes, shared)?;
        } else if let Ok(plan) = plan {
            let (size, seconds) = (plan.size.name(), plan.span.as_secs_f64());
            let (name, peers) = (script.name(), plan.peers.len());
            if shared.json {
                let mut told = json!({
                    "scenario": name, "file": path, "size": size, "seconds": seconds,
                    "peers": peers, "servers": plan.servers.len(),
                    "hash": format!("{:016x}", script.hash()),
                });
                if only_check {
                    told["ok"] = true.into();
                    told["mistakes"] = json!([]);
                }
                output::json(&told)?;
            } else if only_check {
                output::line(&format!("ok  {path}"))?;
            } else {
                let plural = if peers == 1 { " " } else { "s" };
                output::line(&format!("{size:<5} {seconds:>5} s {peers:>4} peer{plural}  {name}"))?;
            }
        }
    }
    let Some(first) = worst else { return Ok(()) };
    let plural = if count == 1 { "mistake" } else { "mistakes" };
    Err(Failure { cause: format!("{count} {plural} in all"), ..first })
}

/// Tells the mistakes of one scenario.
fn refuse(path: &str, mistakes: &[ScriptError], shared: &Shared) -> Result<(), Failure> {
    if !shared.json {
        mistakes.iter().for_each(|mistake| say(&format!("dh: {mistake}")));
        return Ok(());
    }
    let mistakes = mistakes.iter().map(
        |it| json!({ "line": it.line, "column": it.column, "what": it.what, "try": it.remedy() }),
    );
    let mistakes: Vec<_> = mistakes.collect();
    output::json(&json!({ "file": path, "ok": false, "mistakes": mistakes }))
}

/// Prints the vocabulary, as it is registered.
fn docs(shared: &Shared) -> Result<(), Failure> {
    let Vocabulary { words: list, examples } = words::vocabulary();
    if shared.json {
        let words =
            list.iter().map(|it| json!({ "group": it.group, "usage": it.usage, "help": it.help }));
        let words: Vec<_> = words.collect();
        let tables = words::tables().into_iter().map(|(title, entries)| {
            let entries =
                entries.into_iter().map(|(name, help)| json!({ "name": name, "help": help }));
            json!({ "title": title, "entries": entries.collect::<Vec<_>>() })
        });
        let tables: Vec<_> = tables.collect();
        let examples = examples.iter().map(|(group, text)| json!({ "group": group, "text": text }));
        let examples: Vec<_> = examples.collect();
        return output::json(&json!({ "words": words, "tables": tables, "examples": examples }));
    }
    for (group, example) in examples {
        output::line(group)?;
        for word in list.iter().filter(|word| word.group == group) {
            output::line(&format!("  {}\n      {}", word.usage, word.help))?;
        }
        output::line("  for example")?;
        example.lines().try_for_each(|line| output::line(&format!("      {line}")))?;
        output::line("")?;
    }
    for (nth, (title, entries)) in words::tables().into_iter().enumerate() {
        let gap = if nth == 0 { "" } else { "\n" };
        output::line(&format!("{gap}{title}"))?;
        let wide = entries.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        for (name, help) in entries {
            output::line(&format!("  {name:<wide$}  {help}"))?;
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
