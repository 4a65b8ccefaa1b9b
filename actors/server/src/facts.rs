//! Facts: what every session says about this server, settled before the first peer comes.

use dh_host::KnownBuilds;
use dh_machine::TickRate;
use dh_wire::Guid;

/// What the server tells each peer that joins.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Ticks a second.
    pub tick_rate: TickRate,
    /// The world's own id.
    pub world_id: Guid,
    /// The world's display name, at most 64 bytes.
    pub world_name: String,
    /// This build, and those it has met.
    pub builds: KnownBuilds,
    /// Whether a claimed name is taken for an identity: `server.identity` = `name`.
    pub trust_names: bool,
}

impl Facts {
    /// The facts of a server that goes by the keys of its peers.
    #[must_use]
    pub fn new(
        tick_rate: TickRate,
        world_id: Guid,
        world_name: String,
        builds: KnownBuilds,
    ) -> Self {
        Self { tick_rate, world_id, world_name, builds, trust_names: false }
    }
}
