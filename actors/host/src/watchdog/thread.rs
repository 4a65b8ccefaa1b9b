//! The watchdog's thread in the real runtime: looks a few times a second, and writes flight records
//! that others ask for, so that no actor writes any.

use std::io;
use std::sync::Weak;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use dh_machine::Micros;

use super::LOOK_EVERY;
use crate::runtime::{Inner, Runtime};

/// The least time between two records that nobody asked for.
const RECORD_EVERY: Micros = Micros::from_secs(10);
/// Records that may be asked for while one is written.
const ASKED_MAX: usize = 4;

/// The thread, and how it is told.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) ask: Sender<Ask>,
    pub(crate) thread: JoinHandle<()>,
}

/// What the thread can be told.
#[derive(Debug)]
pub(crate) enum Ask {
    /// Write a record because of this, unless one was written a moment ago.
    Record(&'static str),
    /// Write what was asked for, and end.
    Stop,
}

/// Start watching a runtime until it is gone.
pub(crate) fn start(runtime: Weak<Inner>) -> io::Result<Watch> {
    let (ask, asked) = bounded(ASKED_MAX);
    let thread = Builder::new().name("watchdog".to_owned()).spawn(move || run(&runtime, &asked))?;
    Ok(Watch { ask, thread })
}

fn run(runtime: &Weak<Inner>, asked: &Receiver<Ask>) {
    let mut written: Option<Micros> = None;
    loop {
        let ask = asked.recv_timeout(Duration::from_micros(LOOK_EVERY.0));
        let Some(runtime) = Runtime::of(runtime) else { return };
        let cause = match ask {
            Ok(Ask::Record(cause)) => Some(cause),
            Ok(Ask::Stop) | Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => runtime.look().then_some("stuck"),
        };
        let Some(cause) = cause else { continue };
        let now = runtime.now();
        if written.is_some_and(|at| now.since(at) < RECORD_EVERY) {
            continue;
        }
        written = Some(now);
        match runtime.dump_flight(cause) {
            Ok(path) => tracing::warn!("{cause}: wrote the flight record {}", path.display()),
            Err(error) => tracing::warn!("{cause}: {error}"),
        }
    }
}
