//! On things that move.

use dh_messages::{Buttons, PawnFlags, PlayerInput};
use glam::Vec3;

use super::stage::{Stage, ahead};
use crate::physics::BodyId;

/// A pawn on a platform that moves, over nothing. The platform is entity 7.
fn on_platform(velocity: Vec3, spin: Vec3) -> Stage {
    let mut stage = Stage::in_the_air(Vec3::new(0.0, 0.01, 0.0));
    stage.wall(Vec3::new(0.0, -0.25, 0.0), Vec3::new(4.0, 0.25, 4.0));
    let platform = &mut stage.boxes[0];
    (platform.id, platform.velocity, platform.spin) = (BodyId(7), velocity, spin);
    stage
}

/// MOV-10
#[test]
fn a_rider_moves_with_what_it_stands_on() {
    for velocity in
        [Vec3::new(2.0, 0.0, -1.0), Vec3::Y * 3.0, Vec3::Y * -3.0, Vec3::new(1.0, 2.0, 0.0)]
    {
        let mut stage = on_platform(velocity, Vec3::ZERO);
        stage.ride(60, PlayerInput::default());
        let platform = stage.boxes[0].centre + Vec3::new(0.0, 0.25, 0.0);
        let off = stage.state.feet - platform - Vec3::new(0.0, 0.01, 0.0);
        assert!(off.length() < 3e-3, "{velocity}: {off}");
        assert!(stage.state.flags.contains(PawnFlags::GROUNDED));
        assert_eq!(stage.state.ground.0, 7, "{velocity}");
        assert_eq!(stage.state.velocity, Vec3::ZERO, "its own velocity is beside the platform's");
    }
}

/// MOV-04, MOV-10
#[test]
fn a_rider_goes_round_with_what_turns() {
    let mut stage = on_platform(Vec3::ZERO, Vec3::Y);
    stage.state.feet.x = 3.0;
    stage.ride(30, PlayerInput::default());
    let angle = 0.5_f32;
    let want = Vec3::new(3.0 * libm::cosf(angle), 0.01, -3.0 * libm::sinf(angle));
    // Each tick moves along the tangent, so the radius grows by a part in 7,200 each.
    assert!(stage.state.feet.abs_diff_eq(want, 0.02), "{} {want}", stage.state.feet);
}

/// MOV-10
#[test]
fn a_wall_stops_a_rider_and_not_its_platform() {
    let mut stage = on_platform(Vec3::X * 2.0, Vec3::ZERO);
    stage.wall(Vec3::new(1.5, 1.0, 0.0), Vec3::new(0.5, 0.9, 4.0));
    stage.ride(60, PlayerInput::default());
    assert!((stage.state.feet.x - (1.0 - 0.36)).abs() < 2e-3, "{}", stage.state.feet);
    assert!(stage.state.flags.contains(PawnFlags::GROUNDED));
}

/// MOV-10
#[test]
fn a_jump_takes_the_platforms_velocity_along_once() {
    let mut stage = on_platform(Vec3::new(2.0, 1.0, 0.0), Vec3::ZERO);
    stage.ride(10, PlayerInput::default());
    let jump = PlayerInput { buttons: Buttons::JUMP, ..PlayerInput::default() };
    stage.ride(1, jump);
    let velocity = stage.state.velocity;
    assert!(velocity.abs_diff_eq(Vec3::new(2.0, 6.3 + 1.0 - 20.0 / 60.0, 0.0), 1e-4), "{velocity}");
    stage.ride(5, jump);
    assert!((stage.state.velocity.x - 2.0).abs() < 1e-5, "and not again");
}

/// MOV-10
#[test]
fn walking_on_a_platform_is_walking() {
    let mut stage = on_platform(Vec3::new(2.0, 0.0, 0.0), Vec3::ZERO);
    let mut still = on_platform(Vec3::ZERO, Vec3::ZERO);
    stage.ride(30, ahead());
    still.ride(30, ahead());
    let apart = stage.state.feet - still.state.feet - Vec3::X;
    assert!(apart.length() < 2e-3, "{apart}");
}
