//! Interrupt: what a verb has begun is cleared away before a signal ends the process.
//!
//! Used by the verbs that write files under names of their own until all is there.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::exit::{Exit, Failure};
use crate::front::ignored;

/// Work that no signal ends half-way, one piece at a time.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces(Arc<Mutex<()>>);

impl Pieces {
    /// Does one piece; once the process is being ended, none begins.
    pub(super) fn one<T>(&self, work: impl FnOnce() -> T) -> T {
        let _held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        work()
    }
}

/// From here on a signal that ends the process waits for the piece that is being done, has `clear`
/// run, and then ends the process as it would have. What was started to ignore a signal ignores it.
pub(super) fn cleared(pieces: &Pieces, clear: impl Fn() + Send + 'static) -> Result<(), Failure> {
    let failed =
        |error: std::io::Error| Failure::new(Exit::Internal, format!("no thread: {error}"));
    let heard = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !ignored(*signal));
    let mut signals = Signals::new(heard).map_err(failed)?;
    let pieces = pieces.clone();
    let hear = move || {
        for signal in signals.forever() {
            pieces.one(|| {
                clear();
                // What has no default of its own goes on, which these have not.
                let _ = emulate_default_handler(signal);
            });
        }
    };
    thread::Builder::new().name("signals".to_owned()).spawn(hear).map(drop).map_err(failed)
}
