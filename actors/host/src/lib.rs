//! Runs machines: ports, shells, supervision, the real and the simulated runtime, and the network.
//!
//! The only crate that names actix, tokio and quinn, and the only one below `bin` with threads,
//! clocks, sockets and files. It decides nothing about the game: `server`, `client` and `scenario`
//! bring actors, `host` gives them a place, a port, a clock and a network, and keeps their panics
//! and their queues bounded.

pub mod bench;
pub mod disk;
pub mod inspect;
pub mod net;
pub mod pacer;

mod accent;
mod actor;
mod barrier;
mod builds;
mod clock;
mod driver;
pub mod flight;
mod limits;
mod metrics;
mod players;
mod port;
mod registry;
mod runtime;
mod scope;
mod shell;
mod supervisor;
mod trace;
mod watchdog;

#[cfg(test)]
mod probe;

pub use self::actor::{Actor, Context, EffectOf, Exit, ExitReason, MsgOf, Performed, Start};
pub use self::barrier::PanicNote;
pub use self::builds::KnownBuilds;
pub use self::clock::Clock;
pub use self::driver::Pump;
pub use self::limits::{Holding, Limit, Limits};
pub use self::metrics::Summary;
pub use self::players::{Player, Players, Room, Stage};
pub use self::port::{Counts, HeldBack, Inlet, LaneStats, Port, PortStats, Refused, Sending, Why};
pub use self::registry::{
    ActorId, ActorReport, ActorState, Asked, Edge, Faults, Registry, TickRecord, Wait, ask_cycle,
};
pub use self::runtime::{Failure, RealOptions, Runtime, Seeds, Simulation};
pub use self::scope::{Place, Scope};
pub use self::shell::Turn;
pub use self::trace::{Hashes, Trace};
pub use self::watchdog::Alarm;
