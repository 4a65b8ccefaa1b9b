//! Front actor: brings everything a role waits for to the process's main thread.
//!
//! Owned by: the role. Talks to: the main thread, through one bounded channel. Never: decides, or
//! keeps anything back.

mod state;
#[cfg(test)]
mod tests;

use std::io::{BufRead, Read as _};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use dh_client::ClientEvent;
use dh_host::{Actor, Context, Inlet, Performed, Place, Port, Runtime, Scope, Start};
use dh_machine::{Micros, Restart, Spec, Strategy, actor_message};
use dh_server::{ConsoleLine, ServerEvent};
use dh_view::Answer;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

pub(crate) use self::state::Passing;
use crate::exit::{Exit, Failure};
use crate::inspect::Setting;

/// Events that may wait for the main thread.
const WAITING_MAX: usize = 4_096;
/// Typed lines among them; whoever types more waits, so that answers always find room.
const TYPED_WAITING_MAX: usize = 64;
/// Bytes of a line that is typed; a longer one is cut.
const TYPED_MAX: u64 = 4_096;

/// The promise of the front.
pub(crate) const SPEC: Spec = Spec {
    kind: "front",
    control_max: 1_024,
    data_max: WAITING_MAX,
    data_wakes: true,
    restart: Restart { count: 3, window: Micros::from_secs(10) },
    strategy: Strategy::OneForOne,
    ask_deadline: None,
    asks: &[],
};

actor_message! {
    /// Everything a role waits for.
    pub(crate) enum FrontMsg {
        /// Something happened on the server of this process.
        Server(ServerEvent): Data DropOldest,
        /// Something happened to the client of this process.
        Client(ClientEvent): Data DropOldest,
        /// The server answered a console line.
        Answer(ConsoleLine): Control Refuse,
        /// A line was typed; behind the answers that wait, so that no typist outruns them.
        Typed(String): Control Wait,
        /// A preference is set through the inspector.
        Set(Setting): Control Refuse,
        /// The renderer has finished a picture, or cannot.
        Picture(Answer): Control Refuse,
    }
}

/// A signal that comes so long after the first ends the process at once. One that comes sooner is
/// the same wish told twice, as a terminal does that goes away.
const INSISTENCE: Duration = Duration::from_millis(250);

/// What the main thread wakes for.
#[derive(Debug)]
pub(crate) enum Event {
    /// An actor told something, or a line was typed.
    Told(FrontMsg),
    /// The process is asked to end: the signal's name.
    Signal(&'static str),
}

/// Hands events over.
struct FrontActor {
    to: SyncSender<Event>,
}

impl Actor for FrontActor {
    type Machine = Passing;
    const SPEC: Spec = SPEC;

    fn make(&mut self, _start: Start<'_, FrontMsg>) -> Passing {
        Passing
    }

    fn perform(&mut self, event: FrontMsg, _cx: &mut Context<'_, FrontMsg>) -> Performed<FrontMsg> {
        // A main thread that is so far behind is ending: typed lines take their place beforehand.
        drop(self.to.try_send(Event::Told(event)));
        Performed::Done
    }
}

/// The main thread's end.
#[derive(Debug)]
pub(crate) struct Front {
    port: Port<FrontMsg>,
    events: Receiver<Event>,
    /// A place for each typed line that waits among the events.
    places: Receiver<()>,
    /// Keeps the channel open where nobody types and nobody signals.
    _to: SyncSender<Event>,
}

impl Front {
    /// Start it in `scope`; signals are heard from here on, and lines if `typed`.
    pub(crate) fn start(scope: &Scope, typed: bool) -> Result<Self, Failure> {
        let (to, events) = sync_channel(WAITING_MAX);
        let port = scope.spawn(Place::Control, "front", FrontActor { to: to.clone() });
        hear_signals(to.clone())?;
        let (place, places) = sync_channel(TYPED_WAITING_MAX);
        if typed {
            hear_lines(scope.runtime().clone(), port.inlet(FrontMsg::Typed), place)?;
        }
        Ok(Self { port, events, places, _to: to })
    }

    /// Where actors tell.
    pub(crate) fn port(&self) -> &Port<FrontMsg> {
        &self.port
    }

    /// The next event, or `None` once `until` has come.
    pub(crate) fn next(&self, until: Option<Instant>) -> Option<Event> {
        let now = Instant::now();
        let left = until.map_or(Duration::MAX, |until| until.saturating_duration_since(now));
        // The channel stays open, so an error only says that nothing came in time.
        let event = self.events.recv_timeout(left.min(Duration::from_secs(3_600))).ok()?;
        if matches!(event, Event::Told(FrontMsg::Typed(_))) {
            // Its place was taken before it was handed over, and is free for the next line.
            let _ = self.places.try_recv();
        }
        Some(event)
    }
}

fn hear_signals(to: SyncSender<Event>) -> Result<(), Failure> {
    let heard = [SIGINT, SIGTERM, SIGHUP].into_iter();
    // What was started to outlive its terminal goes on without it.
    let heard = heard.filter(|signal| *signal != SIGHUP || !ignored(SIGHUP));
    let mut signals = Signals::new(heard).map_err(|error| internal(&error))?;
    let hear = move || {
        let mut asked = None;
        for signal in signals.forever() {
            // Whoever asks again does not want to wait for an orderly end.
            let first = *asked.get_or_insert_with(Instant::now);
            if first.elapsed() >= INSISTENCE {
                drop(emulate_default_handler(signal));
            }
            let name = match signal {
                SIGINT => "SIGINT",
                SIGHUP => "SIGHUP",
                _ => "SIGTERM",
            };
            if to.send(Event::Signal(name)).is_err() {
                return;
            }
        }
    };
    spawn("signals", hear)
}

/// Whether this process has been started to ignore the signal.
pub(crate) fn ignored(signal: i32) -> bool {
    ignores(&std::fs::read_to_string("/proc/self/status").unwrap_or_default(), signal)
}

/// Whether a process of this status, as Linux tells it, has been started to ignore the signal.
fn ignores(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Lines of stdin; its end is nothing to end for.
fn hear_lines(
    runtime: Runtime,
    lines: Inlet<String>,
    place: SyncSender<()>,
) -> Result<(), Failure> {
    let hear = move || {
        let mut typed = std::io::stdin().lock();
        while let Some(line) = next_line(&mut typed) {
            let offered = || runtime.block_on(lines.send(line));
            if place.send(()).is_err() || offered().is_err() {
                return;
            }
        }
    };
    spawn("console", hear)
}

/// One line, cut to its limit while it is read, so that a line without end takes no memory.
fn next_line(typed: &mut impl BufRead) -> Option<String> {
    let mut line = Vec::new();
    let read = typed.by_ref().take(TYPED_MAX).read_until(b'\n', &mut line).ok()?;
    if read == 0 {
        return None;
    }
    if line.last() != Some(&b'\n') {
        typed.skip_until(b'\n').ok()?;
    }
    Some(String::from_utf8_lossy(&line).trim_end().to_owned())
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let builder = std::thread::Builder::new().name(name.to_owned());
    builder.spawn(work).map(drop).map_err(|error| internal(&error))
}

fn internal(error: &std::io::Error) -> Failure {
    Failure::new(Exit::Internal, format!("the system gives no thread: {error}"))
}
