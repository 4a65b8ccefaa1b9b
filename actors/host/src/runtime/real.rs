//! The real runtime: threads, the operating system's clock, sockets.

use std::io;
use std::sync::atomic::AtomicUsize;
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use actix_rt::{Arbiter, ArbiterHandle, System};
use crossbeam_channel::{Sender, bounded};
use ring::rand::{SecureRandom, SystemRandom};

use super::hands::{Hands, RealHands};
use super::{Runtime, Seeds};
use crate::clock::Clock;
use crate::port::Command;
use crate::trace::Trace;
use crate::watchdog::{self, Ask};

/// How many threads a real runtime has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RealOptions {
    /// Threads for sessions (`server.sessions.threads`), at least 1.
    pub sessions: usize,
    /// Whether the flight recorder is on.
    pub records: bool,
}

impl RealOptions {
    /// All cores but three: those of tick, net and control.
    #[must_use]
    pub fn for_this_machine() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self { sessions: cores.saturating_sub(3).max(1), records: true }
    }
}

impl Default for RealOptions {
    fn default() -> Self {
        Self { sessions: 1, records: true }
    }
}

/// What the control thread hands back once all arbiters run.
struct Parts {
    system: System,
    control: ArbiterHandle,
    net: ArbiterHandle,
    net_tasks: tokio::runtime::Handle,
    io: ArbiterHandle,
    sessions: Vec<ArbiterHandle>,
}

impl Runtime {
    /// Start the threads of a real runtime. It runs until [`Runtime::stop`].
    ///
    /// # Errors
    /// The host gives no thread or no event queue.
    pub fn real(options: RealOptions) -> io::Result<Self> {
        let (ready, parts) = bounded(1);
        let sessions = options.sessions.max(1);
        let root =
            Builder::new().name("control".to_owned()).spawn(move || control(sessions, &ready))?;
        let Ok(parts) = parts.recv() else {
            return Err(joined(root)
                .err()
                .unwrap_or_else(|| io::Error::other("no control thread")));
        };
        let hands = RealHands {
            system: parts.system,
            net: parts.net,
            net_tasks: parts.net_tasks,
            sessions: parts.sessions,
            next_session: AtomicUsize::new(0),
            io: parts.io,
            control: parts.control,
            root: Mutex::new(Some(root)),
            own: Mutex::new(Vec::new()),
            watchdog: Mutex::new(None),
        };
        let clock = Clock::real();
        let seeds = Seeds::new(seed_of_this_run());
        let hands = Hands::Real(hands);
        let runtime = Self::new(clock, seeds, hands, Trace::off(clock), options.records);
        let watch = watchdog::start(runtime.downgrade())?;
        let _ = runtime.inner.watch.set(watch.ask);
        if let Hands::Real(real) = runtime.hands() {
            *real.watchdog.lock().unwrap_or_else(PoisonError::into_inner) = Some(watch.thread);
        }
        Ok(runtime)
    }

    /// Stop everything in order: actors in the reverse order of their start, then connections that
    /// are closing, then the threads, which are joined. For the process's own thread; never from
    /// within an actor. The second call and one in a simulated runtime do nothing.
    ///
    /// # Errors
    /// An event loop failed while it ran.
    pub fn stop(&self) -> io::Result<()> {
        let Hands::Real(real) = self.hands() else { return Ok(()) };
        let root = real.root.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(root) = root else { return Ok(()) };
        self.root().stop_blocking();
        real.join_own();
        self.settle_net();
        for entry in self.registry().sorted() {
            entry.face.command(Command::STOP);
            entry.ended_within(Duration::from_secs(1));
        }
        self.end_watch(real);
        real.system.stop();
        joined(root)
    }
}

impl Runtime {
    /// Let the watchdog write what it was asked for, and end it.
    fn end_watch(&self, real: &RealHands) {
        let thread = real.watchdog.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let (Some(thread), Some(watch)) = (thread, self.inner.watch.get()) {
            // It only ever ends by this, or has ended in a panic that was told.
            let _ = watch.send(Ask::Stop);
            let _ = thread.join();
        }
    }

    /// Let closing connections send what they still have to say.
    fn settle_net(&self) {
        let Some(net) = self.inner.net.get().cloned() else { return };
        let (tell, told) = bounded(1);
        self.spawn_net(async move {
            net.settle().await;
            let _ = tell.send(());
        });
        // The net bounds it itself; this is for a net thread that does nothing any more.
        let _ = told.recv_timeout(SETTLE_MAX);
    }
}

/// How long the end of a process waits for its net thread.
const SETTLE_MAX: Duration = Duration::from_secs(2);

/// The control thread: the system's own arbiter, and the others beside it.
fn control(sessions: usize, ready: &Sender<Parts>) -> io::Result<()> {
    let tasks = tasks()?;
    let runner = System::with_tokio_rt(move || tasks);
    let net = arbiter("net".to_owned())?;
    let io = arbiter("io".to_owned())?;
    let sessions = (0..sessions)
        .map(|at| arbiter(format!("sessions-{at}")))
        .collect::<io::Result<Vec<Arbiter>>>()?;
    let (tell, told) = bounded(1);
    net.spawn_fn(move || {
        let _ = tell.send(tokio::runtime::Handle::current());
    });
    let parts = Parts {
        system: System::current(),
        control: System::current().arbiter().clone(),
        net: net.handle(),
        net_tasks: told.recv().map_err(io::Error::other)?,
        io: io.handle(),
        sessions: sessions.iter().map(Arbiter::handle).collect(),
    };
    let _ = ready.send(parts);
    runner.run()?;
    for arbiter in sessions.into_iter().chain([io, net]) {
        arbiter.stop();
        // A panic in there was told when its actor ended.
        let _ = arbiter.join();
    }
    Ok(())
}

fn arbiter(name: String) -> io::Result<Arbiter> {
    // The closure runs on the new thread.
    Arbiter::try_with_tokio_rt(move || {
        name_thread(&name);
        tasks()
    })
}

fn tasks() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()
}

#[cfg(target_os = "linux")]
fn name_thread(name: &str) {
    if let Ok(name) = std::ffi::CString::new(name) {
        // Only for the eyes of whoever looks at the process.
        let _ = rustix::thread::set_name(&name);
    }
}

#[cfg(not(target_os = "linux"))]
fn name_thread(_name: &str) {}

fn joined(thread: JoinHandle<io::Result<()>>) -> io::Result<()> {
    thread.join().unwrap_or_else(|_| Err(io::Error::other("the control thread panicked")))
}

/// Only simulated runs are replayed; a real one must not be guessed.
fn seed_of_this_run() -> u64 {
    let mut bytes = [0; 8];
    match SystemRandom::new().fill(&mut bytes) {
        Ok(()) => u64::from_le_bytes(bytes),
        Err(_) => std::process::id().into(),
    }
}
