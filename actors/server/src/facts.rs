//! Facts: what every session says about this server, settled before the first peer comes.

use dh_machine::TickRate;
use dh_messages::schema_hash;
use dh_wire::{Guid, Hash128};

/// What the server tells each peer that joins.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// Ticks a second.
    pub tick_rate: TickRate,
    /// The world's own id.
    pub world_id: Guid,
    /// The world's display name, at most 64 bytes.
    pub world_name: String,
    /// The hash of this build's schema.
    pub schema: Hash128,
    /// Whether a claimed name is taken for an identity: `server.identity` = `name`.
    pub trust_names: bool,
}

impl Facts {
    /// The facts of this build.
    #[must_use]
    pub fn new(tick_rate: TickRate, world_id: Guid, world_name: String) -> Self {
        Self { tick_rate, world_id, world_name, schema: schema_hash(), trust_names: false }
    }
}
