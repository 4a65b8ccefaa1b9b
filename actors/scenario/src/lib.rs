//! Scenarios: servers, simulated peers, links, faults and expectations, as one Rust API.
//!
//! Used by tests and by the demo of bin. A scenario runs in the simulated runtime, where one seed
//! gives one course of events, or in the real one. It looks at actors from outside only: through
//! their events, their metrics and the records of the network.

mod build;
mod happening;
pub mod hostile;
mod invariants;
mod peer;
pub mod recorder;
mod records;
pub mod replay;
mod report;
mod roles;
mod scenario;
pub mod script;
mod server;
mod shrink;
mod world;

pub use self::build::{NoBuild, OtherBuild};
pub use self::invariants::Invariant;
pub use self::peer::{PeerId, PeerSetup};
pub use self::records::{InputFate, PeerRecord, Records, ServerRecord, SessionRecord};
pub use self::report::{CpuSplit, Failure, Place, Report};
pub use self::roles::Role;
pub use self::scenario::{Scenario, Transport};
pub use self::script::{Conditions, Ran, Script, ScriptError};
pub use self::server::{ServerId, ServerSetup};
pub use self::shrink::{RUNS_MAX, Shrunk, failure_kind, shrink};
pub use self::world::World;
