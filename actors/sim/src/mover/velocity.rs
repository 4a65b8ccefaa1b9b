//! Velocity: friction and acceleration, in the form Quake gave them.

use dh_messages::{Buttons, PawnFlags, PlayerInput};
use glam::Vec3;

use super::{MoverSettings, MoverState};

/// Where and how fast a pawn wants to go, over level ground.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    /// A unit vector without a y part; zero when nothing is wanted.
    pub(super) along: Vec3,
    /// m/s.
    pub(super) speed: f32,
}

/// Reads the wish off the input and notes whether the pawn sprints.
pub(super) fn wish(next: &mut MoverState, input: &PlayerInput) -> Wish {
    let crouching = next.flags.contains(PawnFlags::CROUCHING);
    let sprints = input.buttons.contains(Buttons::SPRINT) && !crouching;
    next.flags = next.flags.with(PawnFlags::SPRINTING, sprints).with(PawnFlags::FAST, false);
    let most = if crouching {
        MoverSettings::CROUCH
    } else if sprints {
        MoverSettings::SPRINT
    } else {
        MoverSettings::WALK
    };
    let wanted = share([input.move_x, 0, input.move_z]);
    let (sine, cosine) = (libm::sinf(next.yaw), libm::cosf(next.yaw));
    let along =
        Vec3::new(cosine * wanted.x - sine * wanted.z, 0.0, -(sine * wanted.x) - cosine * wanted.z);
    let part = (along.x * along.x + along.z * along.z).sqrt();
    if part <= 0.0 {
        return Wish { along: Vec3::ZERO, speed: 0.0 };
    }
    Wish { along: along / part, speed: most * part.min(1.0) }
}

/// Axes of an input as parts of the whole way, -1..=1 each, no longer than 1 together. The lowest
/// number counts as the one above it, so that both ways reach equally far.
pub(super) fn share(axes: [i8; 3]) -> Vec3 {
    let share = Vec3::from_array(axes.map(|axis| f32::from(axis.max(-127)) / 127.0));
    let long = length(share);
    if long > 1.0 { share / long } else { share }
}

/// Friction on the ground.
pub(super) fn rub(next: &mut MoverState, dt: f32) {
    let speed = length(next.velocity);
    if speed <= 0.0 {
        return;
    }
    let drop = speed.max(MoverSettings::STOP) * MoverSettings::FRICTION * dt;
    next.velocity *= (speed - drop).max(0.0) / speed;
}

/// Turns the velocity into the plane of the ground: unshortened from ground to ground, so that a
/// slope costs no speed, and without the part into the ground for who lands.
pub(super) fn turn_onto(next: &mut MoverState, surface: Vec3, lands: bool) {
    next.velocity = if lands {
        next.velocity - surface * next.velocity.dot(surface)
    } else {
        onto(next.velocity, surface)
    };
}

/// Acceleration along the ground.
pub(super) fn gain_on_ground(next: &mut MoverState, wish: &Wish, surface: Vec3, dt: f32) {
    let wish = Wish { along: onto(wish.along, surface), ..*wish };
    gain(next, &wish, wish.speed, dt);
}

/// Acceleration in the air: only a little may be gained along the wish, as fast as on the ground.
pub(super) fn gain_in_air(next: &mut MoverState, wish: &Wish, dt: f32) {
    gain(next, wish, wish.speed.min(MoverSettings::AIR_GAIN), dt);
}

/// Adds along the wish what is missing to `most`, no more than one step's acceleration.
fn gain(next: &mut MoverState, wish: &Wish, most: f32, dt: f32) {
    let missing = most - next.velocity.dot(wish.along);
    if missing > 0.0 {
        let can = MoverSettings::ACCELERATION * wish.speed * dt;
        next.velocity += wish.along * can.min(missing);
    }
}

/// `v` turned into the plane, as long as before; zero if it points straight through it.
fn onto(v: Vec3, plane: Vec3) -> Vec3 {
    let flat = v - plane * v.dot(plane);
    let (was, is) = (length(v), length(flat));
    if is <= 1e-6 { Vec3::ZERO } else { flat * (was / is) }
}

pub(super) fn length(v: Vec3) -> f32 {
    (v.x * v.x + v.y * v.y + v.z * v.z).sqrt()
}
