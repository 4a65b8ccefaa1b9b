//! What the console does to pawns, and what it is answered.

use dh_machine::Outbox;
use dh_messages::{EntityId, PawnFlags};
use dh_sim::{MoverSettings, Pawn, Placement};
use glam::Vec3;

use super::state::{Effect, Ticking};
use super::{Deed, Place, TickCommand};
use crate::roster::ConsoleLine;

impl Ticking {
    /// Do it and answer the line that asked.
    pub(super) fn command(&mut self, command: &TickCommand, out: &mut Outbox<Effect>) {
        let TickCommand { id, slot, deed } = command;
        let text = match self.pawn_in(*slot) {
            None => format!("#{slot} has no pawn"),
            Some(pawn) => match deed {
                Deed::Teleport(to) => self.teleport(*slot, pawn, *to),
                Deed::Noclip(on) => self.noclip(*slot, pawn, *on),
                Deed::Respawn => {
                    self.world.respawn(pawn);
                    format!("respawn: #{slot} is at a spawn point")
                }
            },
        };
        out.push(Effect::Answer(ConsoleLine { id: *id, text }));
        self.keep(out);
    }

    fn teleport(&mut self, slot: u8, pawn: EntityId, to: Place) -> String {
        let feet = match to {
            Place::Point(point) => Vec3::from_array(point),
            Place::Beside(other) => match self.pawn_in(other).and_then(|id| self.world.pawn(id)) {
                Some(other) => other.state().feet,
                None => return format!("tp: #{other} has no pawn"),
            },
        };
        if self.world.teleport(pawn, Placement { feet, yaw: None }) {
            format!("tp: #{slot} is at {:.2} {:.2} {:.2}", feet.x, feet.y, feet.z)
        } else {
            let half = MoverSettings::WORLD_HALF;
            format!(
                "tp: {} {} {} is outside the world, which reaches from -{half} to {half} metres \
                 on each axis",
                feet.x, feet.y, feet.z
            )
        }
    }

    fn noclip(&mut self, slot: u8, pawn: EntityId, on: Option<bool>) -> String {
        let flying = self
            .world
            .pawn(pawn)
            .is_some_and(|pawn| pawn.state().flags.contains(PawnFlags::NOCLIP));
        let on = on.unwrap_or(!flying);
        self.world.set_noclip(pawn, on);
        format!("noclip: #{slot} is {}", if on { "on" } else { "off" })
    }

    /// The pawn of whoever holds the slot.
    pub(super) fn pawn_in(&self, slot: u8) -> Option<EntityId> {
        self.world.pawns().find(|pawn| pawn.slot() == slot).map(Pawn::id)
    }
}
