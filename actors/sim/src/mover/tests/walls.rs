//! Walls, corners and steps.

use dh_messages::{Buttons, PawnFlags, PlayerInput};
use glam::Vec3;

use super::stage::{Stage, ahead};
use crate::mover::MoverSettings;

/// MOV-07
#[test]
fn a_wall_takes_the_speed_into_it_and_leaves_the_speed_along_it() {
    let mut stage = Stage::flat();
    stage.wall(Vec3::new(0.0, 1.0, -2.0), Vec3::new(30.0, 3.0, 0.5));
    stage.run(240, PlayerInput { yaw: -0.6, ..ahead() });
    let state = &stage.state;
    assert!((state.feet.z - (-1.5 + 0.36)).abs() < 2e-3, "a skin off the wall: {}", state.feet.z);
    assert!(state.velocity.z.abs() < 1e-3 && state.velocity.x > 2.0, "{}", state.velocity);
}

/// MOV-07
#[test]
fn a_corner_stops() {
    let mut stage = Stage::flat();
    stage.wall(Vec3::new(0.0, 1.0, -2.0), Vec3::new(30.0, 3.0, 0.5));
    stage.wall(Vec3::new(2.0, 1.0, 0.0), Vec3::new(0.5, 3.0, 30.0));
    stage.run(240, PlayerInput { yaw: -0.7, buttons: Buttons::SPRINT, ..ahead() });
    let (at, velocity) = (stage.state.feet, stage.state.velocity);
    assert!(velocity.length() < 1e-3, "{velocity}");
    stage.run(60, PlayerInput { yaw: -0.7, buttons: Buttons::SPRINT, ..ahead() });
    assert!((stage.state.feet - at).length() < 1e-3, "and nothing trembles");
}

/// MOV-07: in a wedge the pawn comes to rest instead of bouncing between the planes.
#[test]
fn a_sharp_wedge_stops() {
    let mut stage = Stage::flat();
    for (side, angle) in [(1.0, 0.35), (-1.0, -0.35)] {
        stage.wall(Vec3::new(side * 1.6, 1.0, -3.0), Vec3::new(0.5, 3.0, 4.0));
        stage.boxes.last_mut().unwrap().rotation = crate::Solid::turned(Vec3::Y, angle);
    }
    stage.run(240, ahead());
    assert!(stage.state.velocity.length() < 0.05, "{}", stage.state.velocity);
}

/// MOV-07
#[test]
fn a_step_of_45_cm_is_climbed_and_one_of_47_is_not() {
    for (high, climbs) in [(0.1, true), (0.3, true), (0.45, true), (0.47, false), (1.0, false)] {
        for (buttons, dt) in [
            (Buttons::NONE, 1.0 / 60.0),
            (Buttons::SPRINT, 1.0 / 60.0),
            (Buttons::CROUCH, 1.0 / 60.0),
            (Buttons::NONE, 1.0 / 240.0),
            (Buttons::CROUCH, 1.0 / 240.0),
        ] {
            let mut stage = Stage::flat();
            stage.settings.dt = dt;
            stage.wall(Vec3::new(0.0, high * 0.5, -3.0), Vec3::new(39.0, high * 0.5, 2.0));
            let steps = if dt < 0.01 { 720 } else { 180 };
            stage.run(steps, PlayerInput { buttons, yaw: 0.3, ..ahead() });
            let passed = stage.state.feet.z < -1.5;
            assert_eq!(passed, climbs, "{high} m, {buttons:?}, {dt}: {:?}", stage.state);
        }
    }
}

/// MOV-07
#[test]
fn stairs_are_walked_up_and_down_at_walking_speed() {
    let mut stage = Stage::before_stairs();
    let mut airborne = 0;
    for _ in 0..120 {
        stage.run(1, ahead());
        airborne += u32::from(!stage.state.flags.contains(PawnFlags::GROUNDED));
    }
    assert!((stage.state.feet.y - 3.01).abs() < 2e-3, "{:?}", stage.state);
    assert_eq!(airborne, 0);
    for _ in 0..150 {
        stage.run(1, PlayerInput { move_z: -127, ..PlayerInput::default() });
        airborne += u32::from(!stage.state.flags.contains(PawnFlags::GROUNDED));
    }
    assert!(stage.state.feet.y < 0.02 && airborne == 0, "{:?} {airborne}", stage.state);
}

/// MOV-07: the rim of a low block carries, its side does not.
#[test]
fn a_pawn_does_not_hang_on_by_its_side() {
    let mut stage = Stage::flat();
    stage.wall(Vec3::new(0.0, 0.5, -1.0), Vec3::new(1.0, 0.5, 0.5));
    stage.state.feet = Vec3::new(0.0, 0.9, -0.5 + 0.34);
    stage.state.flags = PawnFlags::NONE;
    stage.run(60, PlayerInput::default());
    assert!(stage.state.feet.y < 0.02, "{}", stage.state.feet);
}

/// MOV-08
#[test]
fn a_pawn_inside_a_solid_is_pushed_out_by_at_most_40_cm_a_step() {
    let mut stage = Stage::flat();
    stage.wall(Vec3::new(0.0, 1.0, -1.0), Vec3::new(3.0, 3.0, 1.0));
    stage.state.feet.z = 0.35 - 0.6;
    let from = stage.state.feet;
    stage.run(1, PlayerInput::default());
    let moved = stage.state.feet.z - from.z;
    assert!((0.39..=0.41).contains(&moved), "{moved}");
    stage.run(1, PlayerInput::default());
    let out = stage.state.feet.z - (0.35 + MoverSettings::SKIN);
    assert!(out.abs() < 2e-3, "then a skin off the wall: {out}");
    let rests = stage.state;
    stage.run(60, PlayerInput::default());
    assert!((stage.state.feet - rests.feet).length() < 1e-5, "and there it rests");
}

/// MOV-08
#[test]
fn a_floor_that_rose_lifts_a_pawn_out() {
    let mut stage = Stage::flat();
    stage.boxes[0].centre.y += 0.3;
    stage.run(2, PlayerInput::default());
    assert!((stage.state.feet.y - 0.31).abs() < 1e-3, "{}", stage.state.feet.y);
    assert!(stage.state.flags.contains(PawnFlags::GROUNDED));
}

/// The same steps by rapier's casts end in the same places. They differ in the time of contact,
/// which parry finds to a few millimetres, and in the normals of rims, by which a walk strays: over
/// two seconds by up to six centimetres here.
#[test]
fn walks_among_boxes_end_where_they_do_with_rapiers_casts() {
    for yaw in [0.0, 0.4, 0.9, -0.5, 2.0, 3.0] {
        let mut ours = Stage::flat();
        // On a large floor parry finds contacts to a centimetre only.
        ours.boxes[0].half = Vec3::new(12.0, 0.5, 12.0);
        ours.wall(Vec3::new(0.0, 0.15, -3.0), Vec3::new(5.0, 0.15, 1.0));
        ours.wall(Vec3::new(1.0, 1.0, -5.0), Vec3::new(3.0, 1.0, 0.5));
        ours.wall(Vec3::new(0.5, 1.0, 4.0), Vec3::new(2.0, 1.0, 0.5));
        ours.slope(Vec3::new(-6.0, -4.0, 0.0), 30.0);
        let mut theirs = ours.clone();
        ours.run(120, PlayerInput { yaw, ..ahead() });
        theirs.run_with_rapier(120, PlayerInput { yaw, ..ahead() });
        let apart = (ours.state.feet - theirs.state.feet).length();
        assert!(apart < 0.1, "yaw {yaw}: {apart} m\n{:?}\n{:?}", ours.state, theirs.state);
    }
}
