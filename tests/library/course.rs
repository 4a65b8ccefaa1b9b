//! Course: runs of scenarios, side by side in simulated worlds or one by one on real sockets, and
//! what is told of those that fail.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use dh_host::{Hashes, RealOptions, Runtime};
use dh_scenario::{Conditions, Ran, Script, Transport};

/// Simulated worlds side by side.
const JOBS: usize = 2;

/// One run to be done.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) script: Script,
    pub(crate) seed: u64,
}

/// Runs share the cores with no other runs while this is held: real time waits for nobody.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static CORES: Mutex<()> = Mutex::new(());
    CORES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Each run must pass.
pub(crate) fn hold(runs: Vec<Run>) {
    let _alone = alone();
    let failed: Vec<String> = each(&runs, JOBS, |run| failure(run, &simulate(run), ""));
    let failed: Vec<String> = failed.into_iter().filter(|it| !it.is_empty()).collect();
    assert!(!runs.is_empty(), "nothing was run");
    assert!(failed.is_empty(), "{} of {} failed\n{}", failed.len(), runs.len(), failed.concat());
}

/// What each run's hashes are, so many side by side.
pub(crate) fn hashes(runs: &[Run], jobs: usize) -> Vec<Hashes> {
    let _alone = alone();
    each(runs, jobs, |run| simulate(run).report.hashes)
}

/// Run on real threads, real sockets and in real time; what failed.
pub(crate) fn perform(script: &Script, transport: Transport) -> Option<String> {
    let runtime = Runtime::real(RealOptions::for_this_machine()).unwrap();
    let conditions = Conditions { seed: 1, transport: Some(transport), ..Conditions::default() };
    let ran = runtime.block_on(script.perform(runtime.clone(), &conditions));
    let ran = ran.unwrap_or_else(|mistake| panic!("{mistake}"));
    runtime.stop().unwrap();
    let run = Run { script: script.clone(), seed: 1 };
    Some(failure(&run, &ran, " --runtime loopback --transport quic")).filter(|it| !it.is_empty())
}

fn simulate(run: &Run) -> Ran {
    let conditions = Conditions { seed: run.seed, ..Conditions::default() };
    let ran = run.script.simulate(&conditions);
    ran.unwrap_or_else(|mistake| panic!("{mistake}"))
}

/// Everything that is told of a run that failed; nothing of one that passed.
fn failure(run: &Run, ran: &Ran, how: &str) -> String {
    if ran.passed() {
        return String::new();
    }
    let Run { script, seed } = run;
    let mut text = format!("{}, seed {seed}\n", script.name());
    for failed in &ran.report.failures {
        let _ = writeln!(text, "  {failed}");
    }
    if let Some(mistake) = &ran.mistake {
        let _ = writeln!(text, "  {mistake}");
    }
    let _ = writeln!(text, "  again: dh scenario run {} --seed {seed}{how}", script.file());
    text
}

/// Do this for each run on so many threads; what came of each, in order.
fn each<T: Send>(runs: &[Run], jobs: usize, work: impl Fn(&Run) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some((at, run)) = take(runs, &next) {
                    let came = work(run);
                    done.lock().unwrap().push((at, came));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, came)| came).collect()
}

fn take<'a>(runs: &'a [Run], next: &AtomicUsize) -> Option<(usize, &'a Run)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    runs.get(at).map(|run| (at, run))
}
