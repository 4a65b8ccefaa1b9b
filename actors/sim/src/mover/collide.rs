//! Collide: getting out of solids, sliding along them and climbing steps.

use glam::Vec3;

use super::ground::{catches, overhang};
use super::{MoverSettings, MoverState};
use crate::physics::{BodyId, Capsule, Casts};

/// A pawn is pushed out of what reaches further than half the skin into its gap, and then to the
/// whole of it; so a pawn at rest is never pushed.
const GAP_KEPT: f32 = MoverSettings::SKIN * 0.5;
/// A step is tried at least this far into what blocks, metres, or a slow pawn would never get its
/// weight over the rim.
const STEP_AHEAD: f32 = 0.06;
/// Room for rounding in the height of a step, metres.
const STEP_SLACK: f32 = 2e-3;
/// Room for rounding in what a step may reach, metres.
const SLACK: f32 = 0.02;

/// Looks up everything this step can reach.
pub(super) fn gather(next: &MoverState, settings: &MoverSettings, casts: &mut impl Casts) {
    let standing = MoverState { stance_height: MoverSettings::STANDING, ..*next };
    let body = standing.capsule(MoverSettings::SKIN);
    let pushed = MoverSettings::PUSHES_MAX as f32 * MoverSettings::PUSH_MAX;
    let gained = MoverSettings::ACCELERATION * MoverSettings::SPRINT * settings.dt
        + MoverSettings::GRAVITY * settings.dt
        + MoverSettings::JUMP;
    let speed = super::velocity::length(next.velocity) + gained + 2.0 * casts.fastest();
    let ahead = speed * settings.dt + pushed + STEP_AHEAD + SLACK;
    let reach = body.half_size() + Vec3::new(ahead, ahead + MoverSettings::STEP, ahead);
    casts.gather(body.centre - reach, body.centre + reach);
}

/// Gets out of what reaches in, a little each pass: after a changed map or a moved solid.
pub(super) fn push_out(next: &mut MoverState, casts: &impl Casts) {
    for _ in 0..MoverSettings::PUSHES_MAX {
        let Some(found) = casts.deepest(&next.capsule(GAP_KEPT)) else { return };
        let gap = MoverSettings::SKIN - GAP_KEPT;
        next.feet += found.normal * (found.depth + gap).min(MoverSettings::PUSH_MAX);
    }
}

/// Where a slide ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slide {
    moved: Vec3,
    velocity: Vec3,
    /// Out of the first thing in the way that is no ground, a unit vector without a y part.
    blocked: Option<Vec3>,
}

/// Lets a pawn ride on its ground, past everything else.
pub(super) fn ride(
    next: &mut MoverState,
    carried: Vec3,
    dt: f32,
    ground: BodyId,
    casts: &impl Casts,
) {
    let body = next.capsule(MoverSettings::SKIN);
    next.feet += slide(body, carried, dt, ground, false, casts).moved;
}

/// Moves a pawn by its own velocity: along what it meets or, from the ground, up a step.
pub(super) fn advance(next: &mut MoverState, grounded: bool, dt: f32, casts: &impl Casts) {
    let body = next.capsule(MoverSettings::SKIN);
    let plain = slide(body, next.velocity, dt, BodyId::NONE, grounded, casts);
    let tries = plain.blocked.filter(|_| grounded);
    let stepped = tries.and_then(|out| climb(&body, next.velocity, dt, (&plain, out), casts));
    let further = |stepped: &Slide| level_square(stepped.moved) > level_square(plain.moved);
    let best = stepped.filter(further).unwrap_or(plain);
    next.feet += best.moved;
    next.velocity = best.velocity;
}

/// Slides for `dt` seconds, turning at most four times.
fn slide(
    body: Capsule,
    velocity: Vec3,
    dt: f32,
    skip: BodyId,
    grounded: bool,
    casts: &impl Casts,
) -> Slide {
    let mut planes = [Vec3::ZERO; MoverSettings::PLANES_MAX];
    let mut slid = Slide { moved: Vec3::ZERO, velocity, blocked: None };
    let mut left = dt;
    for count in 1..=MoverSettings::PLANES_MAX {
        let motion = slid.velocity * left;
        let Some(hit) = casts.sweep(&body.moved(slid.moved), motion, skip) else {
            slid.moved += motion;
            return slid;
        };
        slid.moved += motion * hit.time;
        left *= 1.0 - hit.time;
        let level = level_of(hit.normal);
        if hit.normal.y < MoverSettings::GROUND_UP {
            slid.blocked = slid.blocked.or(level);
        }
        // For who walks, what is too steep to climb is upright.
        let climbs = hit.normal.y > 0.0 && hit.normal.y < MoverSettings::GROUND_UP;
        planes[count - 1] = level.filter(|_| grounded && climbs).unwrap_or(hit.normal);
        slid.velocity = clip(slid.velocity, &planes[..count]);
        // Turned back: the planes form a crease that opposes the motion.
        if slid.velocity.dot(velocity) <= 0.0 {
            slid.velocity = Vec3::ZERO;
            return slid;
        }
    }
    slid
}

/// `velocity` without its part into any of the planes, the newest last.
fn clip(velocity: Vec3, planes: &[Vec3]) -> Vec3 {
    let leaves = |v: Vec3, plane: &Vec3| v.dot(*plane) >= -1e-5;
    for plane in planes.iter().rev() {
        // Not `min(0.0)`: which zero that gives differs between machines.
        let into = velocity.dot(*plane);
        let clipped = if into < 0.0 { velocity - *plane * into } else { velocity };
        if planes.iter().all(|other| other == plane || leaves(clipped, other)) {
            return clipped;
        }
    }
    // No single plane will do: along the crease of the two newest, if no third opposes that.
    let [.., first, second] = planes else { return Vec3::ZERO };
    let crease = first.cross(*second);
    let square = crease.dot(crease);
    if square < 1e-8 {
        return Vec3::ZERO;
    }
    let along = crease * (velocity.dot(crease) / square);
    if planes.iter().all(|plane| leaves(along, plane)) { along } else { Vec3::ZERO }
}

/// Up, ahead, down: where a step lands, if it lands on ground. `out` is the way out of what blocked
/// the `plain` slide.
fn climb(
    body: &Capsule,
    velocity: Vec3,
    dt: f32,
    (plain, out): (&Slide, Vec3),
    casts: &impl Casts,
) -> Option<Slide> {
    let up = Vec3::new(0.0, MoverSettings::STEP, 0.0);
    let up = up * casts.sweep(body, up, BodyId::NONE).map_or(1.0, |hit| hit.time);
    let raised = body.moved(up);
    let level = Vec3::new(velocity.x, 0.0, velocity.z);
    let mut over = slide(raised, level, dt, BodyId::NONE, true, casts);
    let short = STEP_AHEAD + (over.moved - plain.moved).dot(out);
    if short > 0.0 {
        let ahead = out * -short;
        let free = casts.sweep(&raised.moved(over.moved), ahead, BodyId::NONE);
        over.moved += ahead * free.map_or(1.0, |hit| hit.time);
    }
    let landing = casts.sweep(&raised.moved(over.moved), -up, BodyId::NONE).filter(catches)?;
    over.moved += up - up * landing.time;
    over.moved.y += overhang(&landing);
    (over.moved.y <= MoverSettings::STEP + STEP_SLACK).then_some(over)
}

/// The direction of a normal seen from above; none for one that points straight up or down.
fn level_of(normal: Vec3) -> Option<Vec3> {
    let square = level_square(normal);
    (square > 1e-8).then(|| Vec3::new(normal.x, 0.0, normal.z) / square.sqrt())
}

/// The squared length seen from above.
fn level_square(v: Vec3) -> f32 {
    v.x * v.x + v.z * v.z
}
