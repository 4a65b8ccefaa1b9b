//! `PawnPlacer`: the only writer of placements. Spawn, respawn and teleport go through here, and
//! each one after the first raises the pawn's epoch, by which everybody knows that it did not walk.

use std::sync::Arc;

use dh_messages::{EntityId, PawnFlags};
use glam::Vec3;

use super::Pawn;
use crate::graybox::SpawnPoint;
use crate::mover::{MoverSettings, MoverState, SERVER_OWNED, wrap};

/// Where and how a pawn is put.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Where its feet go, metres.
    pub feet: Vec3,
    /// Where it looks, radians about +y; `None` leaves its look alone.
    pub yaw: Option<f32>,
}

impl Placement {
    /// Whether a pawn can be there: finite, and inside the bounds of the world.
    pub(super) fn is_in_world(&self) -> bool {
        let within = self.feet.abs().cmple(Vec3::splat(MoverSettings::WORLD_HALF)).all();
        within && self.yaw.is_none_or(f32::is_finite)
    }
}

/// Puts pawns where they have not walked.
#[derive(Clone, Debug)]
pub(super) struct PawnPlacer {
    spawns: Arc<[SpawnPoint]>,
    /// Which spawn point is handed out next.
    next: usize,
}

impl PawnPlacer {
    /// # Panics
    /// Without any spawn point: what made the map is broken.
    pub(super) fn new(spawns: Arc<[SpawnPoint]>) -> Self {
        assert!(!spawns.is_empty(), "a world needs a spawn point");
        Self { spawns, next: 0 }
    }

    /// One that hands out this spawn point next, of those there are.
    pub(super) fn going_on(spawns: Arc<[SpawnPoint]>, next: usize) -> Self {
        Self { next, ..Self::new(spawns) }
    }

    /// A new pawn at the next spawn point.
    pub(super) fn spawn(&mut self, id: EntityId, slot: u8) -> Pawn {
        let spawn = self.take();
        Pawn::new(id, slot, MoverState::standing(spawn.feet, spawn.yaw))
    }

    /// Puts a pawn at the next spawn point.
    pub(super) fn respawn(&mut self, pawn: &mut Pawn) {
        let spawn = self.take();
        self.place(pawn, Placement { feet: spawn.feet, yaw: Some(spawn.yaw) });
    }

    /// Puts a pawn somewhere: at rest, upright, in the air, under the same impositions.
    pub(super) fn place(&self, pawn: &mut Pawn, to: Placement) {
        let was = *pawn.state();
        let yaw = to.yaw.map_or(was.yaw, wrap);
        let flags = was.flags & (SERVER_OWNED | PawnFlags::JUMP_HELD);
        let pitch = if to.yaw.is_some() { 0.0 } else { was.pitch };
        pawn.placed(MoverState { flags, pitch, ..MoverState::standing(to.feet, yaw) });
    }

    /// A number that differs whenever the next spawn would.
    pub(super) fn word(&self) -> u64 {
        self.next as u64
    }

    fn take(&mut self) -> SpawnPoint {
        let spawn = self.spawns[self.next];
        self.next = (self.next + 1) % self.spawns.len();
        spawn
    }
}
