//! The step: look, then either freeze, fly, or walk.

use core::f32::consts::{PI, TAU};

use dh_messages::{Buttons, EntityId, PawnFlags, PlayerInput};
use dh_view::facing;
use glam::Vec3;

use super::{MoverSettings, MoverState, collide, ground, stance, velocity};
use crate::physics::Casts;

/// The steepest look, radians (89 degrees).
const PITCH_MAX: f32 = 1.553_343;

/// One fixed step. Equal arguments and equal solids give equal bits on every machine.
#[must_use]
pub fn step(
    state: &MoverState,
    input: &PlayerInput,
    settings: &MoverSettings,
    casts: &mut impl Casts,
) -> MoverState {
    let mut next = *state;
    look(&mut next, input);
    let jump = input.buttons.contains(Buttons::JUMP);
    let pressed = jump && !state.flags.contains(PawnFlags::JUMP_HELD);
    next.flags = next.flags.with(PawnFlags::JUMP_HELD, jump);
    if state.flags.contains(PawnFlags::FROZEN) || state.flags.contains(PawnFlags::DEAD) {
        next.velocity = Vec3::ZERO;
    } else if state.flags.contains(PawnFlags::NOCLIP) {
        fly(&mut next, input, settings);
    } else {
        walk(&mut next, input, pressed, settings, casts);
    }
    let half = Vec3::splat(MoverSettings::WORLD_HALF);
    next.feet = next.feet.clamp(-half, half);
    next
}

/// Yaw wraps, pitch is bounded; what is not a number changes nothing.
fn look(next: &mut MoverState, input: &PlayerInput) {
    if input.yaw.is_finite() {
        next.yaw = wrap(input.yaw);
    }
    if input.pitch.is_finite() {
        next.pitch = input.pitch.clamp(-PITCH_MAX, PITCH_MAX);
    }
}

/// A finite yaw brought to -pi..pi. The remainder is exact in IEEE arithmetic.
pub(crate) fn wrap(yaw: f32) -> f32 {
    let yaw = yaw % TAU;
    if yaw > PI {
        yaw - TAU
    } else if yaw < -PI {
        yaw + TAU
    } else {
        yaw
    }
}

/// Straight through everything, where the view points.
fn fly(next: &mut MoverState, input: &PlayerInput, settings: &MoverSettings) {
    let fast = input.buttons.contains(Buttons::FAST);
    let speed = settings.noclip_speed * if fast { MoverSettings::FAST } else { 1.0 };
    let axes = [input.move_x, input.move_y, input.move_z];
    let (wish, ahead) = (velocity::share(axes), facing(next.yaw, next.pitch));
    let right = Vec3::new(libm::cosf(next.yaw), 0.0, -libm::sinf(next.yaw));
    let along = right * wish.x + Vec3::Y * wish.y + ahead * wish.z;
    // Up and ahead are not square to each other when looking up or down.
    let square = along.x * along.x + along.y * along.y + along.z * along.z;
    next.velocity = along * speed / square.max(1.0).sqrt();
    next.feet += next.velocity * settings.dt;
    let walking = PawnFlags::GROUNDED | PawnFlags::SPRINTING;
    next.flags = next.flags.with(walking, false).with(PawnFlags::FAST, fast);
    (next.ground, next.ground_normal) = (EntityId::NONE, Vec3::ZERO);
}

/// Among solids.
fn walk(
    next: &mut MoverState,
    input: &PlayerInput,
    pressed: bool,
    settings: &MoverSettings,
    casts: &mut impl Casts,
) {
    let dt = settings.dt;
    let was_grounded = next.flags.contains(PawnFlags::GROUNDED);
    collide::gather(next, settings, casts);
    collide::push_out(next, casts);

    stance::step(next, input, dt, casts);
    let mut ground = ground::find(next, was_grounded, casts);
    let carried = ground.map_or(Vec3::ZERO, |ground| casts.point_velocity(ground.body, next.feet));

    let wish = velocity::wish(next, input);
    if let Some(ground) = &ground {
        velocity::turn_onto(next, ground.surface, !was_grounded);
        velocity::rub(next, dt);
        velocity::gain_on_ground(next, &wish, ground.surface, dt);
    } else {
        velocity::gain_in_air(next, &wish, dt);
    }
    // A jump takes the ground's velocity along, once, as its own; then there is no ground.
    if let (true, Some(left)) = (pressed, ground) {
        next.velocity.y = MoverSettings::JUMP;
        next.velocity += carried;
        ground = None;
        casts.carry(left.body, carried * dt);
    }
    if ground.is_none() {
        next.velocity.y -= MoverSettings::GRAVITY * dt;
    }

    if let Some(ground) = &ground
        && carried != Vec3::ZERO
    {
        collide::ride(next, carried, dt, ground.body, casts);
        casts.carry(ground.body, carried * dt);
    }
    collide::advance(next, ground.is_some(), dt, casts);
    let ground = ground.and_then(|_| ground::snap(next, casts));
    ground::note(next, ground);
}
