//! Entity: what a slot of the world holds.

use dh_machine::Digest;
use dh_messages::{EntityId, EntityRecord};

use super::{Pawn, Prop};

/// What a slot of the world holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Entity {
    /// The body of a player.
    Pawn(Pawn),
    /// Anything else.
    Prop(EntityId, Prop),
}

impl Entity {
    pub(super) const fn id(&self) -> EntityId {
        match self {
            Self::Pawn(pawn) => pawn.id(),
            Self::Prop(id, _) => *id,
        }
    }

    /// What everybody sees of it.
    pub(super) fn to_record(self) -> EntityRecord {
        match self {
            Self::Pawn(pawn) => pawn.state().to_record(pawn.id(), pawn.epoch()),
            Self::Prop(id, prop) => prop.to_record(id),
        }
    }

    pub(super) fn digest(&self, digest: &mut Digest) {
        match self {
            Self::Pawn(pawn) => pawn.digest(digest),
            Self::Prop(id, prop) => {
                digest.word(u64::from(id.0));
                prop.digest(digest);
            }
        }
    }
}
