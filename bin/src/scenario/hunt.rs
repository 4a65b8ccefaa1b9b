//! Running scenarios: one seed or many, on as many threads as asked for, or on real sockets.
//!
//! A simulated world lives on one thread and shares nothing, so what a seed gives does not depend
//! on how many run side by side.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use dh_host::flight::Flight;
use dh_host::{RealOptions, Runtime};
use dh_machine::Micros;
use dh_prefs::Prefs;
use dh_scenario::script::limit::STACK_BYTES;
use dh_scenario::script::{MadePallet, Progress, Size};
use dh_scenario::{Conditions, Ran, Script, ScriptError, Transport};

use super::files::{self, Found};
use super::interrupt::Asked;
use super::outcome::Outcome;
use super::{page, shrink, tell};
use crate::command::{RunScenario, RuntimeName, SeedRange, Shared, SizeName, TransportName};
use crate::exit::{Exit, Failure, say};
use crate::output::bar::{Bar, Unit};
use crate::output::{self, whole};
use crate::settings;

/// How often a long run is asked how far it is.
const LOOK: Duration = Duration::from_millis(200);

/// One run to be done.
#[derive(Clone, Copy, Debug)]
struct Task<'a> {
    script: &'a Script,
    seed: u64,
}

/// Runs everything that was asked for.
pub(super) fn run(flags: &RunScenario, shared: &Shared) -> Result<(), Failure> {
    check(flags)?;
    let scripts = chosen(flags)?;
    let seeds = flags.seeds.unwrap_or_else(|| {
        let seed = flags.seed.unwrap_or(1);
        SeedRange { first: seed, last: seed }
    });
    let conditions = Conditions {
        transport: flags.transport.map(transport),
        until: flags.until.map(Micros::from_secs_f64),
        without: without(flags)?,
        record: flags.record.clone(),
        prefs: prefs(shared)?,
        ..Conditions::default()
    };
    let tasks: Vec<Task<'_>> = scripts
        .iter()
        .flat_map(|script| (seeds.first..=seeds.last).map(move |seed| Task { script, seed }))
        .collect();
    if flags.record.is_some() && tasks.len() != 1 {
        let cause = format!("--record: expected one run, found {}", tasks.len());
        return Err(Failure::new(Exit::Usage, cause).remedy("name one scenario and one seed"));
    }
    let asked = if tasks.len() == 1 { Asked::default() } else { Asked::listen()? };
    let (mut outcomes, mut told) = (Vec::new(), Ok(()));
    let mut hear = |outcome: Outcome| {
        let outcome = labelled(outcome, flags);
        if told.is_ok() {
            told = tell::of(&outcome, shared, tasks.len());
        }
        outcomes.push(outcome);
    };
    let ran = match flags.runtime {
        RuntimeName::Loopback => {
            tasks.iter().take_while(|_| !asked.is_asked()).try_for_each(|task| {
                tell::head(task.script, task.seed, shared);
                perform(*task, &conditions).map(&mut hear)
            })
        }
        RuntimeName::Sim => simulate(&tasks, flags, &conditions, (shared, &asked), &mut hear),
    };
    tell::unknown(&conditions.without, &outcomes);
    let shrunk = if flags.shrink && !asked.is_asked() {
        smaller(&scripts, &outcomes, &conditions, shared)
    } else {
        Ok(())
    };
    // Whatever went wrong meanwhile, what ran is reported.
    write("--report", flags.report.as_deref(), || page::html(&outcomes))?;
    write("--junit", flags.junit.as_deref(), || page::junit(&outcomes))?;
    ran.and(told).and(shrunk)?;
    let verdict = tell::verdict(&outcomes, shared);
    if asked.is_asked() {
        if let Err(failure) = &verdict {
            failure.report(shared.json);
        }
        say(&format!("dh: interrupted after {} of {} runs", outcomes.len(), tasks.len()));
        asked.end();
    }
    verdict
}

/// Whether what is to be written can be, asked before anything runs.
fn check(flags: &RunScenario) -> Result<(), Failure> {
    for (flag, path) in [("--report", &flags.report), ("--junit", &flags.junit)] {
        let Some(path) = path else { continue };
        if path.extension().is_some_and(|it| it == files::EXTENSION) {
            let cause = format!("{flag} {}: that is the name of a scenario", path.display());
            return Err(Failure::new(Exit::CannotCreate, cause).remedy("name another file"));
        }
        whole::check(flag, path)?;
    }
    Ok(())
}

/// Shrink every run that failed.
fn smaller(
    scripts: &[Script],
    outcomes: &[Outcome],
    conditions: &Conditions,
    shared: &Shared,
) -> Result<(), Failure> {
    for outcome in outcomes.iter().filter(|outcome| !outcome.passed()) {
        if let Some(script) = scripts.iter().find(|script| script.file() == outcome.file) {
            shrink::run(script, outcome, conditions, shared)?;
        }
    }
    Ok(())
}

/// The scenarios that were asked for. One that is at fault is among them, and says so in its turn.
fn chosen(flags: &RunScenario) -> Result<Vec<Script>, Failure> {
    let size = flags.size.map(|name| match name {
        SizeName::Small => Size::Small,
        SizeName::Large => Size::Large,
    });
    let fits = |script: &Script| match size {
        Some(size) => script.plan().map_or(true, |plan| plan.size == size),
        None => true,
    };
    let found = files::find(&flags.paths)?.into_iter();
    let scripts: Vec<Script> = found.map(|Found { script, .. }| script).filter(fits).collect();
    if scripts.is_empty() {
        return Err(Failure::new(Exit::Missing, "no scenario of this size is there"));
    }
    Ok(scripts)
}

/// The preferences of the command line: those of every server and peer.
fn prefs(shared: &Shared) -> Result<Vec<String>, Failure> {
    let wrong = settings::set(&mut Prefs::default(), &shared.set);
    if wrong.is_empty() { Ok(shared.set.clone()) } else { Err(settings::failure(&wrong)) }
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
        until: flags.until,
        without: flags.without.as_ref().map(|path| path.display().to_string()),
        ..outcome
    }
}

/// Run all tasks in simulated worlds, and hear of them in their order.
fn simulate(
    tasks: &[Task<'_>],
    flags: &RunScenario,
    conditions: &Conditions,
    (shared, asked): (&Shared, &Asked),
    hear: &mut dyn FnMut(Outcome),
) -> Result<(), Failure> {
    if let [task] = tasks {
        tell::head(task.script, task.seed, shared);
        let conditions = Conditions { seed: task.seed, ..conditions.clone() };
        let ran = watched(&conditions.progress, || task.script.simulate(&conditions));
        return outcome(task, &conditions, ran).map(hear);
    }
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let jobs = flags.jobs.map_or(cores, usize::from).min(tasks.len()).max(1);
    let (next, bar) = (AtomicUsize::new(0), Bar::new());
    thread::scope(|scope| {
        let (tell, told) = mpsc::channel();
        for _ in 0..jobs {
            let (tell, next) = (tell.clone(), &next);
            let work = move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    // Nobody reads what comes, and no file is waited for.
                    if output::reader_left() && flags.report.is_none() && flags.junit.is_none() {
                        break;
                    }
                    let Some(task) = tasks.get(at).filter(|_| !asked.is_asked()) else { break };
                    let conditions = Conditions { seed: task.seed, ..conditions.clone() };
                    let ran = task.script.simulate(&conditions);
                    if tell.send((at, outcome(task, &conditions, ran))).is_err() {
                        break;
                    }
                }
            };
            let roomy = thread::Builder::new().stack_size(STACK_BYTES);
            roomy.spawn_scoped(scope, work).map_err(|error| {
                Failure::new(Exit::Unavailable, format!("the system gives no thread: {error}"))
            })?;
        }
        drop(tell);
        let mut early = BTreeMap::new();
        let (mut heard, total) = (0, tasks.len());
        for (at, outcome) in told {
            early.insert(at, outcome?);
            while let Some(outcome) = early.remove(&heard) {
                bar.aside(|| hear(outcome));
                heard += 1;
                bar.told("running", Unit::Runs, heard as u64, total as u64);
            }
        }
        Ok(())
    })
}

/// Run one task on real threads, real sockets and in real time.
fn perform(task: Task<'_>, conditions: &Conditions) -> Result<Outcome, Failure> {
    let runtime = Runtime::real(RealOptions::for_this_machine())
        .map_err(|error| Failure::new(Exit::Unavailable, format!("no threads: {error}")))?;
    let progress = Progress::default();
    let conditions = Conditions { seed: task.seed, progress, ..conditions.clone() };
    let ran = watched(&conditions.progress, || {
        runtime.block_on(task.script.perform(runtime.clone(), &conditions))
    });
    let stopped = runtime.stop();
    stopped.map_err(|error| Failure::new(Exit::Internal, format!("the runtime: {error}")))?;
    outcome(&task, &conditions, ran)
}

/// Do the work of one run on this thread, and have another tell how far it is.
fn watched<T>(progress: &Progress, work: impl FnOnce() -> T) -> T {
    thread::scope(|scope| {
        let (done, is_done) = mpsc::channel::<()>();
        scope.spawn(move || {
            let bar = Bar::new();
            while let Err(mpsc::RecvTimeoutError::Timeout) = is_done.recv_timeout(LOOK) {
                let (now, span) = progress.get();
                // Before time moves nobody knows how much is left.
                if Micros::from_secs(1) <= now {
                    bar.told("running", Unit::Seconds, now.0 / 1_000_000, span.0 / 1_000_000);
                }
            }
        });
        let output = work();
        drop(done);
        output
    })
}

/// What a run came to, its flight record included.
fn outcome(
    task: &Task<'_>,
    conditions: &Conditions,
    ran: Result<Ran, ScriptError>,
) -> Result<Outcome, Failure> {
    let ran = match ran {
        Ok(ran) => ran,
        Err(mistake) => return Ok(Outcome::refused(task.script, task.seed, mistake)),
    };
    let mut outcome = Outcome::of(task.script, conditions, &ran);
    if let Some(record) = &ran.record {
        let record = record.as_ref().map_err(|error| {
            Failure::new(Exit::CannotCreate, format!("--record: {error}"))
                .remedy("a folder you may write to")
        })?;
        outcome.record = Some(record.display().to_string());
        let journals = Flight::journals_beside(record);
        outcome.journals = journals.iter().map(|path| path.display().to_string()).collect();
        // Beside the journals, so that the record is all that a replay needs.
        for MadePallet { file, bytes } in &ran.pallets {
            let path = record.with_file_name(file);
            whole::write(&path, bytes)?;
            outcome.pallets.push(path.display().to_string());
        }
    }
    Ok(outcome)
}

fn write(flag: &str, path: Option<&Path>, page: impl FnOnce() -> String) -> Result<(), Failure> {
    let named = |it: Failure| Failure { cause: format!("{flag} {}", it.cause), ..it };
    path.map_or(Ok(()), |path| whole::write(path, page().as_bytes()).map_err(named))
}

fn transport(name: TransportName) -> Transport {
    match name {
        TransportName::Quic => Transport::Quic,
        TransportName::Memory => Transport::Memory,
    }
}
