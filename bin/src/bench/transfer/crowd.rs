//! Four clients at once, each a process of its own at a low priority, beside the same four when
//! they have everything already: memory of both ends, and how late the server's ticks start.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::failed;
use super::stage::Stage;
use crate::bench::progress;
use crate::bench::report::{Budget, Figure, Report};
use crate::exit::Failure;

const CLIENTS: u32 = 4;
/// What each fetches.
const BYTES: usize = 64 << 20;
/// How long each plays once it has what it needs.
const SECONDS: &str = "1";
/// How long an idle server is watched.
const IDLE: Duration = Duration::from_secs(5);
/// How long four clients may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// How often processes are weighed.
const EVERY: Duration = Duration::from_millis(10);
/// Resident growth of either end for each transfer.
const GROWTH_MIB_MAX: f64 = 2.0;
/// How much later than on an idle server 99 of 100 ticks may start.
const LATER_MS_MAX: f64 = 1.0;

/// What a server with some clients came to.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// The most the server grew, MiB.
    server: f64,
    /// The most a client grew while it fetched, MiB.
    client: f64,
    /// Lateness of ticks that 99 of 100 do not exceed, milliseconds.
    late: f64,
}

/// Watches an idle server, then one with clients that fetch, then one with clients that need not.
pub(super) fn run(report: &mut Report) -> Result<(), Failure> {
    progress(&format!("{CLIENTS} clients at once, in processes of their own: about 20 s"));
    let stage = Stage::new(BYTES)?;
    let folders: Vec<String> = (0..CLIENTS).map(|_| stage.fresh().display().to_string()).collect();
    let idle = watch(&stage, &[])?;
    let fetching = watch(&stage, &folders)?;
    let holding = watch(&stage, &folders)?;
    let each = |growth: f64| growth / f64::from(CLIENTS);
    let growth = each(fetching.server - holding.server);
    let figure = Figure::new("server: growth for each transfer", growth, "MiB");
    let figure = figure.beside("each session", each(holding.server));
    report.push(figure.within(Budget::AtMost(GROWTH_MIB_MAX)));
    let figure = Figure::new("client: growth while it fetches", fetching.client, "MiB");
    report.push(figure.within(Budget::AtMost(GROWTH_MIB_MAX)));
    let figure = Figure::new("server: lateness of ticks p99 meanwhile", fetching.late, "ms");
    let most = Budget::AtMost(idle.late + LATER_MS_MAX);
    report.push(figure.beside("idle", idle.late).within(most));
    Ok(())
}

/// A server, and clients with these data folders to their end.
fn watch(stage: &Stage, folders: &[String]) -> Result<Seen, Failure> {
    let (pallet, map, data) = (stage.path(), stage.map(), stage.fresh());
    let (pallet, data) = (pallet.display().to_string(), data.display().to_string());
    let words = ["server", "--content", &pallet, "--map", &map, "--data", &data];
    let server = Process::start(&[&words[..], &["--listen", "127.0.0.1:0"]].concat(), false)?;
    let ready = server.event("ready")?;
    let address = ready["address"].as_str().unwrap_or_default().to_owned();
    let before = server.resident();
    let clients = folders.iter().map(|folder| {
        let words = ["client", "--headless", "--seconds", SECONDS];
        let words = [&words[..], &["--connect", &address, "--data", folder]].concat();
        Process::start(&words, true).map(Fetching::of)
    });
    let mut clients = clients.collect::<Result<Vec<_>, Failure>>()?;
    if clients.is_empty() {
        thread::sleep(IDLE);
    }
    let until = Instant::now() + PATIENCE;
    let mut most = before;
    while !clients.iter_mut().all(Fetching::is_over) {
        if Instant::now() > until {
            return Err(failed(&"the clients did not end"));
        }
        thread::sleep(EVERY);
        most = most.max(server.resident());
        clients.iter_mut().for_each(Fetching::look);
    }
    let client = clients.iter().map(Fetching::growth).fold(0.0, f64::max);
    server.stop()?;
    let stopped = server.event("stopped")?;
    let late = stopped["tickLateness"]["p99"].as_f64();
    let late = late.ok_or_else(|| failed(&"the server told no lateness"))? / 1e3;
    Ok(Seen { server: most - before, client, late })
}

/// A client, weighed while it fetches.
struct Fetching {
    process: Process,
    /// Resident when its transfer began, and the most since.
    weighed: Option<(f64, f64)>,
    is_whole: bool,
}

impl Fetching {
    fn of(process: Process) -> Self {
        Self { process, weighed: None, is_whole: false }
    }

    fn is_over(&mut self) -> bool {
        matches!(self.process.child.try_wait(), Ok(Some(_)) | Err(_))
    }

    fn look(&mut self) {
        let now = self.process.resident();
        if let Some((_, most)) = self.weighed.as_mut().filter(|_| !self.is_whole) {
            *most = most.max(now);
        }
        for event in self.process.events.try_iter().filter(|it| it["event"] == "downloading") {
            self.weighed.get_or_insert((now, now));
            self.is_whole |= event["received"] == event["total"];
        }
    }

    fn growth(&self) -> f64 {
        self.weighed.map_or(0.0, |(from, most)| most - from)
    }
}

/// A `dh` that tells what happens as JSON.
struct Process {
    child: Child,
    events: Receiver<Value>,
}

impl Process {
    fn start(words: &[&str], is_nice: bool) -> Result<Self, Failure> {
        let dh = std::env::current_exe().map_err(|error| failed(&error))?;
        let mut command = Command::new(if is_nice { "nice".as_ref() } else { dh.as_os_str() });
        if is_nice {
            command.args(["-n", "10"]).arg(&dh);
        }
        command.args(words).arg("--json");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| failed(&error))?;
        let (tell, events) = channel();
        if let Some(out) = child.stdout.take() {
            thread::spawn(move || {
                let lines = BufReader::new(out).lines().map_while(Result::ok);
                let mut told = lines.filter_map(|line| serde_json::from_str(&line).ok());
                // Nobody listens any more once the bench is over.
                told.all(|event: Value| tell.send(event).is_ok())
            });
        }
        Ok(Self { child, events })
    }

    /// The next event of this name.
    fn event(&self, name: &str) -> Result<Value, Failure> {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.events.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(event) if event["event"] == name => return Ok(event),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return Err(failed(&format!("a process never told that it is {name}")));
                }
            }
        }
    }

    /// Ask it to end.
    fn stop(&self) -> Result<(), Failure> {
        kill_process(Pid::from_child(&self.child), Signal::TERM).map_err(|error| failed(&error))
    }

    /// Resident memory, MiB; 0 where the system does not tell.
    fn resident(&self) -> f64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = fs::read_to_string(path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        kibibytes.unwrap_or(0.0) / 1_024.0
    }
}

/// A bench that gives up leaves nobody behind.
impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
