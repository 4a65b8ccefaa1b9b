//! Running scenarios: one seed or many, on as many threads as asked for, or on real sockets.
//!
//! A simulated world lives on one thread and shares nothing, so what a seed gives does not depend
//! on how many run side by side.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use dh_host::{RealOptions, Runtime};
use dh_machine::Micros;
use dh_scenario::script::Size;
use dh_scenario::{Conditions, Script, Transport};

use super::files::{self, Found};
use super::outcome::{Outcome, refused};
use super::{page, shrink};
use crate::command::{RunScenario, RuntimeName, SeedRange, Shared, SizeName, TransportName};
use crate::exit::{Exit, Failure, say};
use crate::output;
use crate::output::bar::{Bar, Unit};

/// One run to be done.
#[derive(Clone, Copy, Debug)]
struct Task<'a> {
    script: &'a Script,
    seed: u64,
}

/// Runs everything that was asked for.
pub(super) fn run(flags: &RunScenario, shared: &Shared) -> Result<(), Failure> {
    let scripts = chosen(flags)?;
    let seeds = flags.seeds.unwrap_or_else(|| {
        let seed = flags.seed.unwrap_or(1);
        SeedRange { first: seed, last: seed }
    });
    let conditions = Conditions {
        transport: flags.transport.map(transport),
        hasty: flags.seeds.is_some() || flags.shrink,
        until: flags.until.map(Micros::from_secs_f64),
        without: without(flags)?,
        ..Conditions::default()
    };
    let tasks: Vec<Task<'_>> = scripts
        .iter()
        .flat_map(|script| (seeds.first..=seeds.last).map(move |seed| Task { script, seed }))
        .collect();
    let mut outcomes = Vec::new();
    let mut told = Ok(());
    let mut hear = |outcome: Outcome| {
        if told.is_ok() {
            told = tell(&outcome, shared, tasks.len());
        }
        outcomes.push(outcome);
    };
    let label = |outcome: Outcome| labelled(outcome, flags);
    match flags.runtime {
        RuntimeName::Loopback => {
            for task in &tasks {
                head(task, shared);
                hear(label(perform(*task, &conditions)?));
            }
        }
        RuntimeName::Sim => {
            simulate(&tasks, flags, &conditions, shared, &mut |it| hear(label(it)))?;
        }
    }
    told?;
    if flags.shrink {
        for outcome in outcomes.iter().filter(|outcome| !outcome.passed()) {
            let script = scripts.iter().find(|script| script.file() == outcome.file);
            script.map_or(Ok(()), |script| shrink::run(script, outcome, &conditions, shared))?;
        }
    }
    write(flags.report.as_deref(), || page::html(&outcomes))?;
    write(flags.junit.as_deref(), || page::junit(&outcomes))?;
    verdict(&outcomes, shared)
}

/// The scenarios that were asked for, each of them whole.
fn chosen(flags: &RunScenario) -> Result<Vec<Script>, Failure> {
    let mut scripts = Vec::new();
    for Found { script, .. } in files::find(&flags.paths)? {
        let plan = script.plan().map_err(|mistake| refused(&mistake))?;
        let fits = match flags.size {
            None => true,
            Some(SizeName::Small) => plan.size == Size::Small,
            Some(SizeName::Large) => plan.size == Size::Large,
        };
        if fits {
            scripts.push(script);
        }
    }
    if scripts.is_empty() {
        return Err(Failure::new(Exit::Missing, "no scenario of this size is there"));
    }
    Ok(scripts)
}

fn without(flags: &RunScenario) -> Result<BTreeSet<String>, Failure> {
    let keys = flags.without.as_deref().map(files::keys).transpose()?;
    Ok(keys.unwrap_or_default().into_iter().collect())
}

fn labelled(outcome: Outcome, flags: &RunScenario) -> Outcome {
    Outcome {
        runtime: if flags.runtime == RuntimeName::Sim { "sim" } else { "loopback" },
        transport: flags.transport.map(|it| match it {
            TransportName::Quic => "quic",
            TransportName::Memory => "memory",
        }),
        without: flags.without.as_ref().map(|path| path.display().to_string()),
        ..outcome
    }
}

/// Run all tasks in simulated worlds, and hear of them in their order.
fn simulate(
    tasks: &[Task<'_>],
    flags: &RunScenario,
    conditions: &Conditions,
    shared: &Shared,
    hear: &mut dyn FnMut(Outcome),
) -> Result<(), Failure> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let jobs = flags.jobs.map_or(cores, usize::from).min(tasks.len()).max(1);
    let (next, bar) = (AtomicUsize::new(0), Bar::new());
    if let [task] = tasks {
        head(task, shared);
    }
    thread::scope(|scope| {
        let (tell, told) = mpsc::channel();
        for _ in 0..jobs {
            let (tell, next) = (tell.clone(), &next);
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(task) = tasks.get(at) else { break };
                    let conditions = Conditions { seed: task.seed, ..conditions.clone() };
                    let ran = task.script.simulate(&conditions);
                    let outcome = ran.map(|ran| Outcome::of(task.script, task.seed, &ran));
                    if tell.send((at, outcome)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(tell);
        let mut early = std::collections::BTreeMap::new();
        let (mut heard, total) = (0, tasks.len());
        for (at, outcome) in told {
            early.insert(at, outcome.map_err(|mistake| refused(&mistake))?);
            while let Some(outcome) = early.remove(&heard) {
                hear(outcome);
                heard += 1;
                if total > 1 {
                    bar.told("running", Unit::Runs, heard as u64, total as u64);
                }
            }
        }
        Ok(())
    })
}

/// Run one task on real threads, real sockets and in real time.
fn perform(task: Task<'_>, conditions: &Conditions) -> Result<Outcome, Failure> {
    let runtime = Runtime::real(RealOptions::for_this_machine())
        .map_err(|error| Failure::new(Exit::Unavailable, format!("no threads: {error}")))?;
    let conditions = Conditions { seed: task.seed, ..conditions.clone() };
    let ran = runtime.block_on(task.script.perform(runtime.clone(), &conditions));
    let stopped = runtime.stop();
    let ran = ran.map_err(|mistake| refused(&mistake))?;
    stopped.map_err(|error| Failure::new(Exit::Internal, format!("the runtime: {error}")))?;
    Ok(Outcome::of(task.script, task.seed, &ran))
}

/// The first line: what names exactly what runs.
fn head(task: &Task<'_>, shared: &Shared) {
    let line = Outcome::head(task.script, task.seed);
    if shared.json {
        say(&line);
    } else {
        // A reader who is gone is told of at the end.
        let _ = output::line(&line);
    }
}

fn tell(outcome: &Outcome, shared: &Shared, runs: usize) -> Result<(), Failure> {
    if shared.json {
        return output::json(&outcome.json());
    }
    let Outcome { scenario, seed, sim_seconds, cpu_seconds, .. } = outcome;
    if outcome.passed() {
        let cost = format!("{sim_seconds:.0} s in {cpu_seconds:.2} s of a core");
        return output::line(&format!("ok    {scenario} - seed {seed} - {cost}"));
    }
    output::line(&format!("FAIL  {scenario} - seed {seed}"))?;
    outcome.failures.iter().try_for_each(|failure| output::line(&format!("      {failure}")))?;
    if runs == 1 {
        let lines = outcome.last_lines.iter().rev().take(12).rev();
        lines.into_iter().try_for_each(|line| output::line(&format!("        {line}")))?;
    }
    output::line(&format!("      again: {}", outcome.again()))
}

fn write(path: Option<&Path>, page: impl FnOnce() -> String) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    std::fs::write(path, page()).map_err(|error| {
        Failure::new(Exit::CannotCreate, format!("{}: {error}", path.display()))
            .remedy("a folder you may write to")
    })
}

/// How the command ends: 65 or 66 for a script that is at fault, 1 line for what failed.
fn verdict(outcomes: &[Outcome], shared: &Shared) -> Result<(), Failure> {
    let failed = outcomes.iter().filter(|outcome| !outcome.passed()).count();
    if !shared.json && outcomes.len() > 1 {
        let passed = outcomes.len() - failed;
        output::line(&format!("{passed} passed, {failed} failed"))?;
    }
    if let Some(mistake) = outcomes.iter().find_map(|outcome| outcome.mistake.as_ref()) {
        return Err(refused(mistake));
    }
    match outcomes.iter().find(|outcome| !outcome.passed()) {
        None => Ok(()),
        Some(first) => {
            let cause = format!("{failed} of {} runs failed", outcomes.len());
            Err(Failure::new(Exit::Internal, cause).remedy(first.again()))
        }
    }
}

fn transport(name: TransportName) -> Transport {
    match name {
        TransportName::Quic => Transport::Quic,
        TransportName::Memory => Transport::Memory,
    }
}
