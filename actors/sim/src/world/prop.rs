//! Prop: an entity that others place. It has a pose and nothing behind it; what drives it writes
//! the pose each tick.

use dh_machine::Digest;
use dh_messages::{EntityId, EntityRecord, EntityState, KindPayload, NetKind, RecordFlags};
use glam::{Quat, Vec3};

/// An entity that others place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prop {
    /// What it is drawn as.
    pub kind: NetKind,
    /// Its origin, metres, finite.
    pub position: Vec3,
    /// Its turn, a unit quaternion.
    pub rotation: Quat,
}

impl Prop {
    /// Whether its pose holds only numbers.
    pub(super) fn is_finite(&self) -> bool {
        self.position.is_finite() && self.rotation.is_finite()
    }

    /// What everybody sees of it.
    pub(super) fn to_record(self, id: EntityId) -> EntityRecord {
        let state = EntityState {
            kind: self.kind,
            position: self.position.to_array(),
            yaw: 0.0,
            pitch: 0.0,
            eye_height: 0.0,
            flags: RecordFlags::NONE,
            rotation: Some(self.rotation.to_array()),
            scale: None,
            payload: KindPayload::default(),
        };
        EntityRecord::entity(id, state)
    }

    pub(super) fn digest(&self, digest: &mut Digest) {
        digest.word(u64::from(self.kind.value()));
        self.position.to_array().into_iter().for_each(|part| digest.float(part));
        self.rotation.to_array().into_iter().for_each(|part| digest.float(part));
    }
}
