//! Scenario: a name, a seed and a transport, and the one way to run a course of events under them.

use dh_host::{Runtime, Simulation};

use crate::report::Report;
use crate::world::World;

/// How simulated peers reach servers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// QUIC, every packet of it through the links.
    #[default]
    Quic,
    /// Memory: the same faces and links, no cryptography and no packets.
    Memory,
}

/// What a scenario is run under.
#[derive(Clone, Debug)]
pub struct Scenario {
    name: String,
    seed: u64,
    transport: Transport,
    closely: bool,
}

impl Scenario {
    /// A scenario that says in one sentence what it shows.
    #[must_use]
    pub fn new(name: impl Into<String>, seed: u64) -> Self {
        Self { name: name.into(), seed, transport: Transport::Quic, closely: false }
    }

    /// Reach servers this way.
    #[must_use]
    pub fn transport(self, transport: Transport) -> Self {
        Self { transport, ..self }
    }

    /// Record what happens each tick, and each packet. It costs time and memory.
    #[must_use]
    pub fn closely(self) -> Self {
        Self { closely: true, ..self }
    }

    /// Run `course` in a simulated world of its own, on this thread.
    pub fn run(self, course: impl AsyncFnOnce(&mut World)) -> Report {
        let simulation = Simulation::new(self.seed).keeping_lines(256);
        simulation.run(|runtime| self.play(runtime, course))
    }

    /// Run `course` in a runtime that exists, simulated or real.
    pub async fn play(self, runtime: Runtime, course: impl AsyncFnOnce(&mut World)) -> Report {
        let mut world = World::new(runtime, self.seed, self.transport, self.closely);
        course(&mut world).await;
        world.finish(self.name, self.seed)
    }
}
