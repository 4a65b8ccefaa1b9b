//! How a mover state travels: what its owner is told, and what everybody sees. The two together
//! hold every bit of it, so that a prediction and the server's answer compare exactly.

use dh_messages::{
    EntityId, EntityRecord, EntityState, KindPayload, NetKind, OwnerDetail, PawnFlags, RecordFlags,
};
use glam::Vec3;

use super::MoverState;

impl MoverState {
    /// What the owner of `pawn` is told, beside the record that everybody gets.
    #[must_use]
    pub fn to_owner_detail(&self, pawn: EntityId, depth: i8, spawn_epoch: u8) -> OwnerDetail {
        OwnerDetail {
            pawn,
            depth,
            spawn_epoch,
            position: self.feet.to_array(),
            velocity: self.velocity.to_array(),
            stance_height: self.stance_height,
            eye_height: self.eye_height,
            ground: self.ground,
            ground_normal: self.ground_normal.to_array(),
            flags: self.flags,
        }
    }

    /// What everybody sees of `pawn`.
    #[must_use]
    pub fn to_record(&self, pawn: EntityId, spawn_epoch: u8) -> EntityRecord {
        let flags = RecordFlags::NONE
            .with(RecordFlags::PLACEMENT, spawn_epoch & 1 == 1)
            .with(RecordFlags::CROUCHING, self.flags.contains(PawnFlags::CROUCHING));
        let state = EntityState {
            kind: NetKind::PlayerPawn,
            position: self.feet.to_array(),
            yaw: self.yaw,
            pitch: self.pitch,
            eye_height: self.eye_height,
            flags,
            rotation: None,
            scale: None,
            payload: KindPayload::default(),
        };
        EntityRecord::entity(pawn, state)
    }

    /// The state as the owner's detail tells it; `yaw` and `pitch` come from the pawn's record.
    #[must_use]
    pub const fn from_wire(owner: &OwnerDetail, [yaw, pitch]: [f32; 2]) -> Self {
        Self {
            feet: Vec3::from_array(owner.position),
            velocity: Vec3::from_array(owner.velocity),
            yaw,
            pitch,
            stance_height: owner.stance_height,
            eye_height: owner.eye_height,
            ground: owner.ground,
            ground_normal: Vec3::from_array(owner.ground_normal),
            flags: owner.flags,
        }
    }
}
