//! What looking costs the one that is looked at: 1,000 actors, attached to at 10 changes a second,
//! beside the same process that nobody looks at.
//!
//! Two loads: actors that do nothing, and actors that each take ten messages a second, so that
//! every row changes between two looks. The reader's own work is not counted.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use dh_host::bench::{cpu_of_this_process, cpu_of_this_thread};
use dh_host::inspect::{Hooks, Inspect, InspectOptions, Token};
use dh_host::{Actor, Context, Performed, Place, Port, RealOptions, Runtime, Start};
use dh_machine::{Machine, Micros, Outbox, Restart, Spec, Strategy, actor_message};

use super::measure::median;
use super::progress;
use super::report::{Budget, Figure, Report};
use crate::exit::{Exit, Failure};

const ACTORS: usize = 1_000;
/// Messages each takes in a second, in the busy half.
const MESSAGES_A_SECOND: u32 = 10;
const WINDOW: Duration = Duration::from_secs(2);
const ROUNDS: usize = 5;
const ATTACHED_MAX: f64 = 1.0;
const DETACHED_MAX: f64 = 0.1;

actor_message! {
    /// What an idler takes.
    enum Nudge {
        /// Nothing to do.
        Now: Data Refuse,
    }
}

/// Takes messages and does nothing.
struct Idle;

impl Machine for Idle {
    type Msg = Nudge;
    type Effect = ();

    fn handle(&mut self, _now: Micros, _msg: Nudge, _out: &mut Outbox<()>) {}
}

struct Idler;

impl Actor for Idler {
    type Machine = Idle;
    const SPEC: Spec = Spec {
        kind: "idler",
        control_max: 1,
        data_max: 16,
        data_wakes: true,
        restart: Restart { count: 0, window: Micros(0) },
        strategy: Strategy::OneForOne,
        ask_deadline: None,
        asks: &[],
    };

    fn make(&mut self, _start: Start<'_, Nudge>) -> Idle {
        Idle
    }

    fn perform(&mut self, (): (), _cx: &mut Context<'_, Nudge>) -> Performed<()> {
        Performed::Done
    }
}

/// Measures both loads.
pub(super) fn run() -> Result<Report, Failure> {
    progress("what looking costs: about a minute");
    let mut report = Report::new("inspect");
    let runtime = Runtime::real(RealOptions::default()).map_err(|error| internal(&error))?;
    let scope = runtime.root().child("idlers");
    let ports: Vec<Port<Nudge>> =
        (0..ACTORS).map(|at| scope.spawn(Place::Io, format!("idler-{at}"), Idler)).collect();
    let token = Token::parse(&"0123456789abcdef".repeat(4));
    let token =
        token.ok_or_else(|| Failure::new(Exit::Internal, "the token of the bench is none"))?;
    for (load, every) in
        [("idle", None), ("busy", Some(Duration::from_secs(1) / MESSAGES_A_SECOND))]
    {
        let (mut bare, mut detached, mut attached) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            bare.push(share(&ports, every, None));
        }
        let options = InspectOptions {
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            token: token.clone(),
            role: "bench",
            version: "0",
            hooks: Hooks::default(),
        };
        let inspect = Inspect::start(&runtime, options).map_err(|error| internal(&error))?;
        for _ in 0..ROUNDS {
            detached.push(share(&ports, every, None));
            let reader = Reader::start(inspect.address(), &token)?;
            attached.push(share(&ports, every, Some(&reader)));
            reader.stop()?;
        }
        let (bare, detached, attached) = (median(bare), median(detached), median(attached));
        let cost =
            Figure::new(format!("attached at 10 Hz, {load}"), attached - detached, "% of a core");
        report.push(cost.beside("the process", detached).within(Budget::AtMost(ATTACHED_MAX)));
        let cost = Figure::new(format!("detached, {load}"), detached - bare, "% of a core");
        report.push(cost.beside("without an inspector", bare).within(Budget::AtMost(DETACHED_MAX)));
    }
    runtime.stop().map_err(|error| internal(&error))?;
    Ok(report)
}

/// The share of a core that this process takes in one window, without this thread and the reader.
fn share(ports: &[Port<Nudge>], every: Option<Duration>, reader: Option<&Reader>) -> f64 {
    let others = || cpu_of_this_thread() + reader.map_or(Duration::ZERO, Reader::cpu);
    let (begun, process, own) = (Instant::now(), cpu_of_this_process(), others());
    while begun.elapsed() < WINDOW {
        if every.is_some() {
            // A full queue is as good: the row has changed.
            ports.iter().for_each(|port| drop(port.offer(Nudge::Now)));
        }
        thread::sleep(every.unwrap_or(WINDOW));
    }
    let took = begun.elapsed();
    let spent = (cpu_of_this_process() - process).saturating_sub(others().saturating_sub(own));
    100.0 * spent.as_secs_f64() / took.as_secs_f64()
}

/// Reads a stream on a thread of its own.
struct Reader {
    thread: JoinHandle<()>,
    cpu_ns: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
}

impl Reader {
    fn start(address: SocketAddr, token: &Token) -> Result<Self, Failure> {
        let mut stream = TcpStream::connect(address).map_err(|error| internal(&error))?;
        let asks = format!(
            "GET /events?hz=10 HTTP/1.0\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\r\n",
            token.reveal()
        );
        stream.write_all(asks.as_bytes()).map_err(|error| internal(&error))?;
        let (cpu_ns, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (spent, over) = (Arc::clone(&cpu_ns), Arc::clone(&stop));
        let thread = thread::spawn(move || {
            let mut some = vec![0; 1 << 20];
            while !over.load(Relaxed) && stream.read(&mut some).is_ok_and(|read| read > 0) {
                let cpu = u64::try_from(cpu_of_this_thread().as_nanos()).unwrap_or(u64::MAX);
                spent.store(cpu, Relaxed);
            }
        });
        Ok(Self { thread, cpu_ns, stop })
    }

    fn cpu(&self) -> Duration {
        Duration::from_nanos(self.cpu_ns.load(Relaxed))
    }

    fn stop(self) -> Result<(), Failure> {
        self.stop.store(true, Relaxed);
        self.thread.join().map_err(|_| Failure::new(Exit::Internal, "the reader panicked"))
    }
}

fn internal(error: &std::io::Error) -> Failure {
    Failure::new(Exit::Internal, error)
}
