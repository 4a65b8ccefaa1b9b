//! Interrupt: Ctrl-C ends many runs after those that are under way, so that what ran is summed up
//! and reported before the process ends as the signal would have ended it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::SIGINT;
use signal_hook::flag;
use signal_hook::low_level::emulate_default_handler;

use crate::exit::{Exit, Failure};
use crate::front::ignored;
use crate::output::{self, printer};

/// Whether an end was asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked(Arc<AtomicBool>);

impl Asked {
    /// From here on the first SIGINT is noted, and the next ends the process as ever. What was
    /// started to ignore it ignores it.
    pub(super) fn listen() -> Result<Self, Failure> {
        let asked = Self::default();
        if !ignored(SIGINT) {
            // In this order: the first finds the flag unset.
            let failed = |error: std::io::Error| {
                Failure::new(Exit::Internal, format!("no signals: {error}"))
            };
            flag::register_conditional_default(SIGINT, Arc::clone(&asked.0)).map_err(failed)?;
            flag::register(SIGINT, Arc::clone(&asked.0)).map_err(failed)?;
        }
        Ok(asked)
    }

    /// Whether it was.
    pub(super) fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// End the process as the signal would have, if it was asked for.
    pub(super) fn end(&self) {
        if self.is_asked() {
            // A reader who is gone, and a signal without a default, change nothing of the end.
            let _ = output::finish();
            printer::finish_err();
            let _ = emulate_default_handler(SIGINT);
        }
    }
}
