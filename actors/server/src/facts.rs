//! Facts: what every session says about this server, settled before the first peer comes.

use dh_machine::TickRate;
use dh_messages::{MapAdvert, schema_hash};
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
    /// The map that stands; empty for the gray box.
    pub advert: MapAdvert,
    /// The hash of this build's schema.
    pub schema: Hash128,
    /// Whether a claimed name is taken for an identity: `server.identity` = `name`.
    pub trust_names: bool,
}

impl Facts {
    /// A world without content: the gray box, its advert empty.
    #[must_use]
    pub fn gray_box(tick_rate: TickRate, world_id: Guid, world_name: String) -> Self {
        let advert = MapAdvert { generation: 1, ..MapAdvert::default() };
        let schema = schema_hash();
        Self { tick_rate, world_id, world_name, advert, schema, trust_names: false }
    }
}
