//! Progress: how far a run is, for whoever watches from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dh_machine::Micros;

/// How far a run is. Clones are of the same run.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<[AtomicU64; 2]>);

impl Progress {
    /// Time that has passed in the world, and the time there will be; zero and zero before it
    /// begins.
    #[must_use]
    pub fn get(&self) -> (Micros, Micros) {
        let [now, span] = &*self.0;
        (Micros(now.load(Ordering::Relaxed)), Micros(span.load(Ordering::Relaxed)))
    }

    pub(super) fn set(&self, now: Micros, span: Micros) {
        self.0[1].store(span.0, Ordering::Relaxed);
        self.0[0].store(now.0, Ordering::Relaxed);
    }
}
