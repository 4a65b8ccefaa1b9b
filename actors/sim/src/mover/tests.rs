//! The mover among a few boxes: one test for each thing a player can feel.
#![expect(clippy::float_cmp, reason = "what is compared exactly is exact")]

mod air;
mod bits;
mod ground;
mod rider;
mod stage;
mod triangles;
mod walls;

use core::f32::consts::{FRAC_PI_2, PI, TAU};

use dh_messages::{Buttons, PawnFlags, PlayerInput};
use glam::Vec3;

use self::stage::{Stage, ahead};
use super::{MoverSettings, MoverState, SERVER_OWNED};

/// MOV-02
#[test]
fn a_pawn_is_an_upright_capsule_whose_eye_is_a_little_below_its_crown() {
    let state = MoverState::standing(Vec3::ZERO, 0.0);
    assert_eq!(state.capsule(0.0).half_size(), Vec3::new(0.35, 0.90, 0.35));
    assert!((state.eye().y - 1.64).abs() < 1e-6);
    let mut stage = Stage::flat();
    stage.run(30, PlayerInput { buttons: Buttons::CROUCH, ..ahead() });
    let crouched = stage.state.capsule(0.0);
    assert!((crouched.half_size().y - 0.55).abs() < 1e-6);
    assert!((stage.state.eye_height - 0.94).abs() < 1e-6);
    assert!((stage.state.feet.y - 0.01).abs() < 1e-3, "it rests a skin above the ground");
}

/// MOV-13
#[test]
fn the_look_is_the_inputs_with_yaw_wrapped_and_pitch_bounded() {
    let mut stage = Stage::flat();
    for (yaw, pitch) in [(0.5, 0.2), (PI + 0.25, 3.0), (-7.0 * TAU - 1.0, -3.0), (3e38, 1.55)] {
        stage.run(1, PlayerInput { yaw, pitch, ..PlayerInput::default() });
        let state = &stage.state;
        assert!(state.yaw.abs() <= PI && state.pitch.abs() <= 89.0_f32.to_radians() + 1e-6);
        let (got, want) = (libm::sinf(state.yaw), libm::sin(f64::from(yaw)));
        assert!((f64::from(got) - want).abs() < 1e-5 || yaw > 1e6, "{yaw}: {got} {want}");
        assert!((state.pitch - pitch.clamp(-1.553_343, 1.553_343)).abs() < 1e-6);
    }
    stage.run(1, PlayerInput { yaw: f32::NAN, pitch: f32::INFINITY, ..PlayerInput::default() });
    assert!(stage.state.yaw.is_finite() && stage.state.pitch.is_finite());
}

/// MOV-11
#[test]
fn noclip_flies_where_the_view_points_through_everything_four_times_as_fast_when_asked() {
    let mut stage = Stage::flat();
    stage.wall(Vec3::new(0.0, 1.0, -1.0), Vec3::new(5.0, 3.0, 0.2));
    stage.state.flags = stage.state.flags.with(PawnFlags::NOCLIP, true);
    let from = stage.state.feet;
    stage.run(60, ahead());
    let moved = stage.state.feet - from;
    assert!(moved.abs_diff_eq(Vec3::new(0.0, 0.0, -8.0), 1e-2), "{moved}: 8 m/s for a second");
    stage.run(60, PlayerInput::default());
    assert_eq!(stage.state.velocity, Vec3::ZERO, "no gravity");

    let from = stage.state.feet;
    stage.run(60, PlayerInput { pitch: FRAC_PI_2, buttons: Buttons::FAST, ..ahead() });
    let moved = stage.state.feet - from;
    let tip = 89.0_f32.to_radians();
    let want = Vec3::new(0.0, libm::sinf(tip), -libm::cosf(tip)) * 32.0;
    assert!(moved.abs_diff_eq(want, 5e-2), "{moved}");
    assert!(stage.state.flags.contains(PawnFlags::FAST));

    stage.run(1, PlayerInput { move_y: -127, ..PlayerInput::default() });
    assert!(stage.state.velocity.abs_diff_eq(Vec3::NEG_Y * 8.0, 1e-4), "straight down");
    stage.settings.noclip_speed = 400.0;
    stage.run(1, PlayerInput { move_x: 127, move_y: 127, ..ahead() });
    assert!((stage.state.velocity.length() - 400.0).abs() < 0.1, "no faster by two axes");
}

/// MOV-12
#[test]
fn the_frozen_stand_still_even_in_noclip_and_may_look() {
    for other in [PawnFlags::NONE, PawnFlags::NOCLIP] {
        let mut stage = Stage::flat();
        stage.run(20, ahead());
        stage.state.flags = stage.state.flags | PawnFlags::FROZEN | other;
        let from = stage.state.feet;
        stage.run(20, PlayerInput { yaw: 1.0, buttons: Buttons::JUMP, ..ahead() });
        assert_eq!((stage.state.feet, stage.state.velocity), (from, Vec3::ZERO));
        assert_eq!(stage.state.yaw, 1.0);
    }
}

/// REC-11
#[test]
fn no_input_changes_what_only_the_server_may() {
    let mut dice = crate::dice::Dice::new(11);
    for owned in 0..8_u16 {
        let flags = PawnFlags::of_bits(owned << 4).unwrap();
        let mut stage = Stage::flat();
        stage.state.flags = flags;
        let mut input = PlayerInput::default();
        for _ in 0..500 {
            input = dice.input(&input);
            stage.run(1, input);
            assert_eq!(stage.state.flags & SERVER_OWNED, flags);
        }
    }
}

/// MOV-01
#[test]
fn a_step_depends_on_nothing_but_its_arguments() {
    let stage = Stage::flat();
    let (mut alone, mut beside) = (stage.clone(), stage);
    let mut other = beside.clone();
    other.state.feet.x = 7.0;
    let mut dice = crate::dice::Dice::new(1);
    let mut input = PlayerInput::default();
    for _ in 0..300 {
        input = dice.input(&input);
        alone.run(1, input);
        // One set of casts serves both pawns, as on the server.
        Stage::run_together(&mut [&mut other, &mut beside], input);
        assert!(alone.state.same_bits(&beside.state));
    }
}

/// Noclip has no walls to stop it, so the bounds of the world do.
#[test]
fn nobody_leaves_the_range_in_which_millimetres_count() {
    let mut stage = Stage::flat();
    stage.state.flags = stage.state.flags.with(PawnFlags::NOCLIP, true);
    stage.settings.noclip_speed = 1_000.0;
    stage.run(1_000, PlayerInput { buttons: Buttons::FAST, ..ahead() });
    assert_eq!(stage.state.feet.z, -MoverSettings::WORLD_HALF);
}
