//! On the ground: what carries, how fast one goes, how one stops.

use dh_messages::{Buttons, PawnFlags, PlayerInput};
use glam::Vec3;

use super::stage::{Stage, ahead};
use crate::mover::MoverState;

fn grounded(state: &MoverState) -> bool {
    state.flags.contains(PawnFlags::GROUNDED)
}

fn level(state: &MoverState) -> f32 {
    Vec3::new(state.velocity.x, 0.0, state.velocity.z).length()
}

/// MOV-04
#[test]
fn a_slope_carries_up_to_45_degrees_and_not_above_46() {
    for (degrees, carries) in [(0.0, true), (30.0, true), (45.0, true), (46.5, false)] {
        let mut stage = Stage::in_the_air(Vec3::new(0.0, 0.3, 0.0));
        stage.slope(Vec3::ZERO, degrees);
        stage.run(60, PlayerInput::default());
        assert_eq!(grounded(&stage.state), carries, "{degrees} degrees");
        let from = stage.state.feet;
        stage.run(30, PlayerInput::default());
        let slid = (stage.state.feet - from).length();
        assert_eq!(slid < 1e-3, carries, "at {degrees} degrees it slid {slid} m");
        if carries {
            let up = stage.state.ground_normal.y;
            assert!((up - libm::cosf(degrees.to_radians())).abs() < 1e-3);
        }
    }
}

/// MOV-04
#[test]
fn in_the_air_ground_is_5_cm_below_and_for_who_stood_45() {
    for (gap, was_grounded, stands) in
        [(0.04, false, true), (0.07, false, false), (0.40, true, true), (0.50, true, false)]
    {
        let mut stage = Stage::flat();
        stage.state.feet.y += gap;
        stage.state.flags = stage.state.flags.with(PawnFlags::GROUNDED, was_grounded);
        stage.run(1, PlayerInput::default());
        assert_eq!(grounded(&stage.state), stands, "{gap} m, stood before: {was_grounded}");
        assert_eq!(stage.state.feet.y < 0.02, stands);
    }
}

/// MOV-05
#[test]
fn walking_sprinting_and_crouching_each_have_their_speed() {
    let table = [(Buttons::NONE, 4.5), (Buttons::SPRINT, 7.0), (Buttons::CROUCH, 2.2)];
    for (buttons, speed) in table {
        let mut stage = Stage::flat();
        stage.run(120, PlayerInput { buttons, ..ahead() });
        assert!((level(&stage.state) - speed).abs() < 1e-3, "{buttons:?}: {:?}", stage.state);
        let from = stage.state.feet;
        stage.run(60, PlayerInput { buttons, move_x: 127, ..ahead() });
        let moved = (stage.state.feet - from).length();
        assert!(moved < speed * 1.001, "the diagonal is no faster: {moved}");
    }
    let mut stage = Stage::flat();
    stage.run(120, PlayerInput { move_z: 64, ..PlayerInput::default() });
    assert!((level(&stage.state) - 4.5 * 64.0 / 127.0).abs() < 1e-3, "half a stick, half speed");
}

/// MOV-05
#[test]
fn speed_is_gained_by_at_most_ten_times_the_wish_and_lost_to_friction_with_a_floor() {
    let dt = 1.0 / 60.0;
    let mut stage = Stage::flat();
    stage.run(1, ahead());
    assert!((level(&stage.state) - 10.0 * 4.5 * dt).abs() < 1e-5);
    stage.state.velocity = Vec3::new(0.0, 0.0, -3.0);
    stage.run(1, PlayerInput::default());
    assert!((level(&stage.state) - (3.0 - 3.0 * 6.0 * dt)).abs() < 1e-5);
    stage.state.velocity = Vec3::new(0.0, 0.0, -1.0);
    stage.run(1, PlayerInput::default());
    assert!((level(&stage.state) - (1.0 - 1.5 * 6.0 * dt)).abs() < 1e-5, "as of the stop speed");
    stage.run(20, PlayerInput::default());
    assert_eq!(stage.state.velocity, Vec3::ZERO);
}

/// MOV-03
#[test]
fn friction_comes_before_acceleration_and_the_jump_before_gravity() {
    let mut stage = Stage::flat();
    stage.state.velocity = Vec3::new(0.0, 0.0, -4.5);
    stage.run(1, ahead());
    assert!((level(&stage.state) - 4.5).abs() < 1e-5, "what friction took is given back");
    stage.run(1, PlayerInput { buttons: Buttons::JUMP, ..ahead() });
    assert!((stage.state.velocity.y - (6.3 - 20.0 / 60.0)).abs() < 1e-5);
    assert!((level(&stage.state) - 4.5).abs() < 1e-5, "a jump is still made from the ground");
    assert!(!grounded(&stage.state));
}

/// MOV-03: the ground below a pawn that walks off a slope or down steps is kept hold of.
#[test]
fn walking_down_a_slope_never_leaves_the_ground() {
    for degrees in [10.0, 30.0, 44.0] {
        let mut stage = Stage::in_the_air(Vec3::new(0.0, 0.2, 0.0));
        stage.slope(Vec3::ZERO, degrees);
        stage.run(30, PlayerInput::default());
        let from = stage.state.feet;
        for _ in 0..60 {
            stage.run(1, PlayerInput { move_z: -127, ..PlayerInput::default() });
            assert!(grounded(&stage.state), "{degrees} degrees");
        }
        let moved = (stage.state.feet - from).length();
        assert!((4.0..4.6).contains(&moved), "a slope costs no speed: {moved} m in a second");
        stage.run(60, ahead());
        assert!(grounded(&stage.state) && (stage.state.feet - from).length() < 1.0);
    }
}

/// What stands still must not change, or it would be sent anew each tick.
#[test]
fn a_pawn_at_rest_stays_the_same_to_the_bit() {
    for (at, degrees) in [(0.0, 0.0), (0.0, 33.0), (0.0, 45.0), (1.3, 0.0)] {
        let mut stage = Stage::in_the_air(Vec3::new(0.0, 0.3, -at));
        stage.slope(Vec3::ZERO, degrees);
        // The last one stands on the rim.
        stage.boxes[0].half.z = if at > 0.0 { 1.1 } else { 8.0 };
        stage.run(90, PlayerInput::default());
        let rests = stage.state;
        assert!(grounded(&rests), "{at} {degrees}");
        stage.run(200, PlayerInput::default());
        assert!(stage.state.same_bits(&rests), "{at} {degrees}: {rests:?} {:?}", stage.state);
    }
}

#[test]
fn landing_gives_no_speed() {
    let mut stage = Stage::flat();
    stage.state.feet.y = 2.0;
    stage.state.velocity = Vec3::new(0.0, 0.0, -3.0);
    stage.state.flags = PawnFlags::NONE;
    for _ in 0..120 {
        stage.run(1, PlayerInput::default());
        assert!(level(&stage.state) <= 3.0 + 1e-4);
    }
    assert!(grounded(&stage.state));
}

/// MOV-09
#[test]
fn the_stance_moves_at_six_metres_a_second_and_the_feet_stay() {
    let mut stage = Stage::flat();
    let crouch = PlayerInput { buttons: Buttons::CROUCH, ..PlayerInput::default() };
    let feet = stage.state.feet;
    stage.run(3, crouch);
    assert!((stage.state.stance_height - 1.5).abs() < 1e-5);
    stage.run(10, crouch);
    assert_eq!(stage.state.stance_height, 1.10);
    assert!(stage.state.feet.abs_diff_eq(feet, 1e-4));
    assert!(stage.state.flags.contains(PawnFlags::CROUCHING));
    stage.run(10, PlayerInput::default());
    assert_eq!(stage.state.stance_height, 1.80);
    assert!(!stage.state.flags.contains(PawnFlags::CROUCHING));
}

/// MOV-09
#[test]
fn nobody_stands_up_under_a_roof_that_is_too_low() {
    let mut stage = Stage::flat();
    let crouch = PlayerInput { buttons: Buttons::CROUCH, ..PlayerInput::default() };
    stage.run(20, crouch);
    let roof = Vec3::new(0.0, 1.9, 0.0);
    stage.wall(roof, Vec3::new(2.0, 0.2, 2.0));
    stage.run(60, PlayerInput::default());
    assert_eq!(stage.state.stance_height, 1.10);
    assert!(stage.state.flags.contains(PawnFlags::CROUCHING));
    stage.run(120, ahead());
    assert_eq!(stage.state.stance_height, 1.80, "once outside it stands by itself");
}
