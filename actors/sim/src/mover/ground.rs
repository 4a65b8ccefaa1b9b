//! Ground: what the feet stand on. A body counts by the face one would stand on, not by the round
//! of the capsule: over the rim of a step or a ledge the feet stay level with it, as if they were
//! flat. On the round alone a pawn would sink at every rim and lose its speed climbing out.

use dh_messages::{EntityId, PawnFlags};
use glam::Vec3;

use super::{MoverSettings, MoverState};
use crate::physics::{BodyId, Casts, Hit};

/// A rim catches a pawn whose axis is no further out than 0.87 of its radius: the contact normal
/// points up at least this much. Further out it would hang on by its side.
const RIM_CATCHES: f32 = 0.5;
/// A rim goes on carrying who stood on it until its side is all but past it. Then it has a free way
/// down, and finds the next tread of a stair below.
const RIM_CARRIES: f32 = 0.1;
/// A correction smaller than this is left out, metres: who stands still stays the same to the bit.
const RESTS: f32 = 1e-4;
/// In the air, a surface that is left faster than this is no ground, m/s: a jump has just begun.
const LEAVING: f32 = 0.5;

/// Whether one can come to stand there.
pub(super) fn catches(hit: &Hit) -> bool {
    hit.surface.y >= MoverSettings::GROUND_UP && hit.normal.y >= RIM_CATCHES
}

/// Whether one can go on standing there.
fn carries(hit: &Hit) -> bool {
    hit.surface.y >= MoverSettings::GROUND_UP && hit.normal.y >= RIM_CARRIES
}

/// The ground under the feet: near below in the air, a step below for who stood a tick ago.
pub(super) fn find(next: &MoverState, was_grounded: bool, casts: &impl Casts) -> Option<Hit> {
    if was_grounded {
        return below(next, MoverSettings::STEP, casts).filter(carries);
    }
    let hit = below(next, MoverSettings::GROUND_REACH, casts).filter(catches)?;
    (next.velocity.dot(hit.surface) <= LEAVING).then_some(hit)
}

/// Puts a pawn that stood back onto the ground, if some is within a step below it, and level with
/// the rim if that is all there is.
pub(super) fn snap(next: &mut MoverState, casts: &impl Casts) -> Option<Hit> {
    let hit = below(next, MoverSettings::STEP, casts).filter(carries)?;
    let drop = MoverSettings::STEP * hit.time - overhang(&hit);
    if drop.abs() < RESTS {
        return Some(hit);
    }
    let free = if drop < 0.0 {
        let up = Vec3::new(0.0, -drop, 0.0);
        let body = next.capsule(MoverSettings::SKIN);
        casts.sweep(&body, up, BodyId::NONE).map_or(1.0, |hit| hit.time)
    } else {
        1.0
    };
    next.feet.y -= drop * free;
    Some(hit)
}

/// How far the feet hang below the rim that carries them, metres; 0 in the middle of a face.
pub(super) fn overhang(hit: &Hit) -> f32 {
    let round = MoverSettings::RADIUS + MoverSettings::SKIN;
    round * (1.0 - hit.normal.dot(hit.surface)).max(0.0) / hit.surface.y
}

/// Writes down what was found.
pub(super) fn note(next: &mut MoverState, ground: Option<Hit>) {
    next.flags = next.flags.with(PawnFlags::GROUNDED, ground.is_some());
    next.ground = ground.map_or(EntityId::NONE, |hit| hit.body.entity());
    next.ground_normal = ground.map_or(Vec3::ZERO, |hit| hit.surface);
}

fn below(next: &MoverState, reach: f32, casts: &impl Casts) -> Option<Hit> {
    let down = Vec3::new(0.0, -reach, 0.0);
    casts.sweep(&next.capsule(MoverSettings::SKIN), down, BodyId::NONE)
}
