//! The simulated runtime: one thread, a paused clock, one seed. The same seed gives the same world,
//! and many worlds run side by side on different threads.

use actix_rt::{Arbiter, System};

use super::hands::{Hands, OnlyHand};
use super::{Runtime, Seeds};
use crate::clock::Clock;
use crate::trace::Trace;

/// A world to come.
#[derive(Clone, Copy, Debug)]
pub struct Simulation {
    seed: u64,
    lines_max: usize,
    records: bool,
}

impl Simulation {
    /// Turns the tasks of a world get to come to their end once its scenario is over.
    const FAREWELL_TURNS: usize = 16;

    /// The world of this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { seed, lines_max: 0, records: false }
    }

    /// Keep the last `lines_max` events as text, to print when something is wrong.
    #[must_use]
    pub const fn keeping_lines(mut self, lines_max: usize) -> Self {
        self.lines_max = lines_max;
        self
    }

    /// Have the flight recorder on, as it is in the real runtime.
    #[must_use]
    pub const fn recording(mut self, records: bool) -> Self {
        self.records = records;
        self
    }

    /// Run `scenario` on this thread until it is over, with time jumping from event to event; then
    /// everything it started is dropped.
    ///
    /// # Panics
    /// When the host gives no event queue, or from within another runtime.
    #[expect(clippy::expect_used, reason = "a test or a scenario cannot go on without its world")]
    pub fn run<F, S>(self, scenario: F) -> S::Output
    where
        F: FnOnce(Runtime) -> S,
        S: Future,
    {
        let tasks = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a simulated world needs an event queue");
        let system = System::with_tokio_rt(move || tasks);
        system.block_on(async move {
            let clock = Clock::simulated();
            let only =
                OnlyHand { arbiter: Arbiter::current(), tasks: tokio::runtime::Handle::current() };
            let trace = Trace::on(clock, self.lines_max);
            let hands = Hands::Simulated(only);
            let runtime = Runtime::new(clock, Seeds::new(self.seed), hands, trace, self.records);
            let output = scenario(runtime.clone()).await;
            runtime.root().kill();
            for _ in 0..Self::FAREWELL_TURNS {
                tokio::task::yield_now().await;
            }
            output
        })
    }
}
