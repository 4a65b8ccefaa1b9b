//! In the air: jumping and falling.

use dh_messages::{Buttons, PawnFlags, PlayerInput};
use glam::Vec3;

use super::stage::{Stage, ahead};

const JUMP: PlayerInput = PlayerInput {
    sequence: 0,
    move_x: 0,
    move_y: 0,
    move_z: 0,
    buttons: Buttons::JUMP,
    yaw: 0.0,
    pitch: 0.0,
};

/// MOV-06
#[test]
fn a_jump_reaches_about_a_metre() {
    let mut stage = Stage::flat();
    let mut highest = 0.0_f32;
    for _ in 0..60 {
        stage.run(1, JUMP);
        highest = highest.max(stage.state.feet.y);
    }
    assert!((0.90..1.05).contains(&highest), "{highest}");
}

/// MOV-06
#[test]
fn holding_jump_jumps_once_and_pressing_again_jumps_again() {
    let mut stage = Stage::flat();
    stage.run(60, JUMP);
    let grounded = |stage: &Stage| stage.state.flags.contains(PawnFlags::GROUNDED);
    assert!(grounded(&stage), "after one jump it stays on the ground");
    stage.run(1, PlayerInput::default());
    stage.run(2, JUMP);
    assert!(!grounded(&stage));
    // Held through the landing and let go only in the air: no jump either.
    stage.run(90, JUMP);
    assert!(grounded(&stage));
}

/// MOV-06
#[test]
fn gravity_is_twenty() {
    let mut stage = Stage::in_the_air(Vec3::new(0.0, 100.0, 0.0));
    stage.run(60, PlayerInput::default());
    assert!((stage.state.velocity.y + 20.0).abs() < 1e-4);
}

/// MOV-06
#[test]
fn the_air_gives_eight_tenths_along_the_wish_and_takes_nothing() {
    let mut stage = Stage::in_the_air(Vec3::new(0.0, 100.0, 0.0));
    stage.run(60, ahead());
    assert!((stage.state.velocity.z + 0.8).abs() < 1e-4, "{}", stage.state.velocity);
    stage.state.velocity = Vec3::new(0.0, 0.0, -7.0);
    stage.run(30, ahead());
    assert_eq!(stage.state.velocity.z, -7.0, "no friction, and no gain above the cap");
    stage.run(30, PlayerInput { move_x: 127, ..PlayerInput::default() });
    assert!((stage.state.velocity.x - 0.8).abs() < 1e-4, "across it there is something to gain");
    let mut one = Stage::in_the_air(Vec3::new(0.0, 100.0, 0.0));
    one.run(1, ahead());
    let gained = -one.state.velocity.z;
    assert!((gained - 10.0 * 4.5 / 60.0).abs() < 1e-5, "as fast as on the ground: {gained}");
}

/// MOV-06, at any tick rate: the ground must not catch a pawn that has just jumped.
#[test]
fn a_jump_leaves_the_ground_at_240_ticks_a_second() {
    let mut stage = Stage::flat();
    stage.settings.dt = 1.0 / 240.0;
    let mut highest = 0.0_f32;
    for _ in 0..240 {
        stage.run(1, JUMP);
        highest = highest.max(stage.state.feet.y);
    }
    assert!((0.95..1.02).contains(&highest), "{highest}");
}

#[test]
fn a_ceiling_ends_a_jump() {
    let mut stage = Stage::flat();
    stage.wall(Vec3::new(0.0, 2.6, 0.0), Vec3::new(2.0, 0.5, 2.0));
    let mut highest = 0.0_f32;
    for _ in 0..60 {
        stage.run(1, JUMP);
        highest = highest.max(stage.state.feet.y);
    }
    assert!((0.27..=0.30).contains(&highest), "{highest}");
    assert!(stage.state.flags.contains(PawnFlags::GROUNDED));
}
