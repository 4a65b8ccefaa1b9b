//! Stance: how tall the pawn is. It grows only where there is room; the feet stay.

use dh_messages::{Buttons, PawnFlags, PlayerInput};
use glam::Vec3;

use super::{MoverSettings, MoverState};
use crate::physics::{BodyId, Casts};

/// Moves the height toward what is wanted.
pub(super) fn step(next: &mut MoverState, input: &PlayerInput, dt: f32, casts: &impl Casts) {
    let wants_low = input.buttons.contains(Buttons::CROUCH);
    let by = MoverSettings::STANCE_SPEED * dt;
    if wants_low {
        next.stance_height = (next.stance_height - by).max(MoverSettings::CROUCHED);
    } else if next.stance_height < MoverSettings::STANDING && room_to_stand(next, casts) {
        next.stance_height = (next.stance_height + by).min(MoverSettings::STANDING);
    }
    next.eye_height = next.stance_height - MoverSettings::EYE_BELOW;
    let low = wants_low || next.stance_height < MoverSettings::STANDING;
    next.flags = next.flags.with(PawnFlags::CROUCHING, low);
}

/// Whether the whole standing body is free: nothing is met on the way up to its crown.
fn room_to_stand(next: &MoverState, casts: &impl Casts) -> bool {
    let up = Vec3::new(0.0, MoverSettings::STANDING - next.stance_height, 0.0);
    casts.sweep(&next.capsule(MoverSettings::SKIN), up, BodyId::NONE).is_none()
}
