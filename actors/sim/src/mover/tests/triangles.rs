//! On and among triangles: what boxes do, and what only triangles can get wrong.

use core::f32::consts::TAU;
use std::sync::Arc;

use dh_cook::{Part, cook};
use dh_messages::{Buttons, PawnFlags, PlayerInput};
use glam::Vec3;

use super::stage::{Stage, ahead, ground};
use crate::dice::Dice;
use crate::mover::{MoverSettings, MoverState, step};
use crate::physics::{BodyId, SolidCasts, Solids};

fn grounded(state: &MoverState) -> bool {
    state.flags.contains(PawnFlags::GROUNDED)
}

/// The same as on one box, to the bit: no seam is felt, in whatever direction and however fine.
#[test]
fn a_flat_floor_of_triangles_is_walked_like_a_flat_floor() {
    for (cells, size) in [(40, 1.0), (60, 0.37), (130, 0.11)] {
        let floor = ground(cells, size, |_, _| 0.0);
        for turn in 0..24_u8 {
            let yaw = f32::from(turn) * TAU / 24.0;
            let buttons = if turn % 2 == 0 { Buttons::NONE } else { Buttons::SPRINT };
            let (mut stage, mut plain) = (Stage::on(&floor), Stage::flat());
            for _ in 0..100 {
                let input = PlayerInput { yaw, buttons, ..ahead() };
                stage.run(1, input);
                plain.run(1, input);
                let (got, want) = (&stage.state, &plain.state);
                assert!(got.same_bits(want), "{size} m, {yaw}:\n{got:?}\n{want:?}");
            }
        }
    }
}

/// A plane that leans is walked at full speed, whichever way its triangles lie.
#[test]
fn a_leaning_plane_of_triangles_costs_no_speed_and_turns_nobody() {
    let slope = ground(30, 1.0, |x, z| 0.4 * x - 0.25 * z);
    for turn in 0..24_u8 {
        let yaw = f32::from(turn) * TAU / 24.0;
        let mut stage = Stage::on(&slope);
        stage.run(60, PlayerInput { yaw, ..ahead() });
        let way = stage.state.velocity;
        for _ in 0..120 {
            stage.run(1, PlayerInput { yaw, ..ahead() });
            assert!(
                stage.state.velocity.abs_diff_eq(way, 1e-4),
                "{yaw}: {} {way}",
                stage.state.velocity
            );
            assert!(grounded(&stage.state));
        }
        assert!((way.length() - 4.5).abs() < 1e-3, "{way}");
    }
}

/// Over hills a pawn neither sinks in nor takes off nor is stopped.
#[test]
fn hills_of_triangles_are_walked_over() {
    let height = |x: f32, z: f32| 0.6 * libm::sinf(x * 0.7) + 0.5 * libm::cosf(z * 0.5) - 0.5;
    let hills = ground(60, 0.5, height);
    for turn in 0..12_u8 {
        let yaw = f32::from(turn) * TAU / 12.0;
        let mut stage = Stage::on(&hills);
        stage.run(30, PlayerInput { yaw, ..ahead() });
        for _ in 0..180 {
            let from = stage.state.feet;
            stage.run(1, PlayerInput { yaw, ..ahead() });
            let (feet, moved) = (stage.state.feet, stage.state.feet - from);
            let over = feet.y - height(feet.x, feet.z);
            assert!((-0.03..0.16).contains(&over), "{yaw}: {over} m over the ground at {feet}");
            assert!(grounded(&stage.state) && moved.length() > 0.85 * 4.5 / 60.0, "{yaw}: {moved}");
        }
    }
}

/// MOV-04
#[test]
fn a_slope_of_triangles_carries_up_to_45_degrees_and_not_above_46() {
    for (degrees, carries) in [(30.0, true), (45.0, true), (46.5, false)] {
        let mut stage = Stage::in_the_air(Vec3::new(0.0, 0.3, 0.0));
        stage.slope(Vec3::ZERO, degrees);
        stage.meshed = true;
        stage.run(60, PlayerInput::default());
        let rests = stage.state;
        stage.run(30, PlayerInput::default());
        assert_eq!(grounded(&rests), carries, "{degrees} degrees");
        assert_eq!(stage.state.same_bits(&rests), carries, "{degrees} degrees");
    }
}

/// MOV-07
#[test]
fn a_step_of_triangles_is_climbed_up_to_45_cm() {
    for (high, climbs) in [(0.1, true), (0.3, true), (0.45, true), (0.47, false), (1.0, false)] {
        for buttons in [Buttons::NONE, Buttons::SPRINT, Buttons::CROUCH] {
            let mut stage = Stage::flat();
            stage.wall(Vec3::new(0.0, high * 0.5, -3.0), Vec3::new(39.0, high * 0.5, 2.0));
            stage.meshed = true;
            stage.run(180, PlayerInput { buttons, yaw: 0.3, ..ahead() });
            let passed = stage.state.feet.z < -1.5;
            assert_eq!(passed, climbs, "{high} m, {buttons:?}: {:?}", stage.state);
        }
    }
}

/// MOV-07
#[test]
fn stairs_of_triangles_are_walked_up_and_down_at_walking_speed() {
    let mut stage = Stage::before_stairs();
    stage.meshed = true;
    let back = PlayerInput { move_z: -127, ..PlayerInput::default() };
    for (steps, input, high) in [(120, ahead(), 3.01), (150, back, 0.01)] {
        for _ in 0..steps {
            stage.run(1, input);
            assert!(grounded(&stage.state));
        }
        assert!((stage.state.feet.y - high).abs() < 5e-3, "{:?}", stage.state);
    }
}

/// MOV-07
#[test]
fn walls_and_corners_of_triangles_stop_and_let_slide() {
    let mut stage = Stage::flat();
    stage.wall(Vec3::new(0.0, 1.0, -2.0), Vec3::new(30.0, 3.0, 0.5));
    stage.meshed = true;
    let mut corner = stage.clone();
    stage.run(240, PlayerInput { yaw: -0.6, ..ahead() });
    let state = &stage.state;
    assert!((state.feet.z - (-1.5 + 0.36)).abs() < 2e-3, "{}", state.feet);
    assert!(state.velocity.z.abs() < 1e-3 && state.velocity.x > 2.0, "{}", state.velocity);
    corner.wall(Vec3::new(2.0, 1.0, 0.0), Vec3::new(0.5, 3.0, 30.0));
    let input = PlayerInput { yaw: -0.7, buttons: Buttons::SPRINT, ..ahead() };
    corner.run(240, input);
    let at = corner.state.feet;
    corner.run(60, input);
    assert!(corner.state.velocity.length() < 1e-3 && (corner.state.feet - at).length() < 1e-3);
}

/// MOV-09
#[test]
fn nobody_stands_up_under_triangles_that_are_too_low() {
    let mut stage = Stage::flat();
    let crouch = PlayerInput { buttons: Buttons::CROUCH, ..PlayerInput::default() };
    stage.run(20, crouch);
    stage.wall(Vec3::new(0.0, 1.9, 0.0), Vec3::new(2.0, 0.2, 2.0));
    stage.meshed = true;
    stage.run(60, PlayerInput::default());
    assert_eq!(stage.state.stance_height, 1.10);
    stage.run(120, ahead());
    assert_eq!(stage.state.stance_height, 1.80, "once outside it stands by itself");
}

/// MOV-08
#[test]
fn a_pawn_that_triangles_reach_into_is_pushed_out_of_them() {
    let mut stage = Stage::on(&ground(20, 1.0, |_, _| 0.0));
    stage.state.feet.y = -0.3;
    stage.run(2, PlayerInput::default());
    assert!((stage.state.feet.y - 0.01).abs() < 1e-3, "{}", stage.state.feet);
    let rests = stage.state;
    stage.run(60, PlayerInput::default());
    assert!(stage.state.same_bits(&rests), "and there it rests");
}

/// Triangles are met from either side, whatever their turn.
#[test]
fn a_floor_carries_and_a_ceiling_stops_whichever_way_its_triangles_turn() {
    let corners = [[-9.0, 0.0, -9.0], [9.0, 0.0, -9.0], [0.0, 0.0, 9.0]];
    for indices in [[0, 1, 2], [0, 2, 1]] {
        let sheet = Arc::new(cook(&[Part::in_world(0, &corners, &indices)]).unwrap());
        let mut above = Stage::on(&sheet);
        above.run(60, PlayerInput::default());
        assert!(grounded(&above.state) && above.state.ground_normal == Vec3::Y);
        let mut below = above.clone();
        below.state.feet.y = -2.4;
        below.state.velocity.y = 40.0;
        below.run(4, PlayerInput::default());
        assert!(below.state.feet.y < -1.80 && below.state.velocity.y <= 0.0, "{:?}", below.state);
    }
}

/// A closed room without thickness: no speed, no corner and no fall leads out of it.
#[test]
fn nobody_leaves_a_closed_room_of_triangles() {
    let mut dice = Dice::new(17);
    let room = {
        let mut stage = Stage::in_the_air(Vec3::ZERO);
        stage.wall(Vec3::Y * 2.0, Vec3::new(3.0, 2.0, 3.0));
        stage.boxes[0].rotation = crate::Solid::turned(Vec3::Y, 0.3);
        stage.meshed = true;
        stage
    };
    let solids = room.solids();
    for case in 0..600 {
        let mut casts = SolidCasts::new(&solids);
        let feet =
            Vec3::new(dice.between(-2.0, 2.0), dice.between(0.1, 2.0), dice.between(-2.0, 2.0));
        let mut state = MoverState::standing(feet, 0.0);
        let mut input = PlayerInput::default();
        for tick in 0..60 {
            if tick % 10 == 0 {
                state.velocity = dice.within(400.0);
            }
            input = dice.input(&input);
            state = step(&state, &input, &room.settings, &mut casts);
            let local = room.boxes[0].axes().transpose() * (state.feet - Vec3::Y * 2.0);
            let inside = local.abs().cmplt(Vec3::new(2.7, 2.001, 2.7)).all();
            let crown = state.feet.y + state.stance_height;
            assert!(inside && crown < 4.001, "case {case}, tick {tick}: {state:?}");
        }
    }
}

/// The same walk among boxes and among the triangles that the boxes are made of, with a step to
/// climb and to walk off, walls to slide along and a slope.
#[test]
fn walks_among_triangles_end_where_they_do_among_boxes() {
    for turn in 0..32_u8 {
        let yaw = f32::from(turn) * TAU / 32.0;
        let mut boxes = Stage::flat();
        boxes.wall(Vec3::new(0.0, 0.15, -3.0), Vec3::new(5.0, 0.15, 1.0));
        boxes.wall(Vec3::new(1.0, 1.0, -5.0), Vec3::new(3.0, 1.0, 0.5));
        boxes.wall(Vec3::new(0.5, 1.0, 4.0), Vec3::new(2.0, 1.0, 0.5));
        boxes.slope(Vec3::new(-6.0, -4.0, 0.0), 30.0);
        let mut meshed = boxes.clone();
        meshed.meshed = true;
        let input = PlayerInput { yaw, ..ahead() };
        for tick in 0..150 {
            boxes.run(1, input);
            meshed.run(1, input);
            let apart = (boxes.state.feet - meshed.state.feet).length();
            assert!(
                apart < 0.02,
                "yaw {yaw}, tick {tick}: {apart} m\n{:?}\n{:?}",
                boxes.state,
                meshed.state
            );
        }
    }
}

/// MOV-14: the sum pins the bits on every machine this is built for.
#[test]
fn ten_thousand_random_inputs_over_triangles_give_equal_bits_on_both_ends() {
    let digests = [(); 2].map(|()| {
        let hills = ground(80, 0.8, |x, z| libm::sinf(x * 0.9) * 0.7 + libm::cosf(z * 1.3) * 0.4);
        let solids = Solids::new(Vec::new()).with_triangles(hills);
        let settings = MoverSettings::new(dh_machine::TickRate::DEFAULT, 8.0);
        let mut casts = SolidCasts::new(&solids);
        let (mut dice, mut digest) = (Dice::new(15), dh_machine::Digest::new());
        let (mut state, mut input) =
            (MoverState::standing(Vec3::Y * 2.0, 0.0), PlayerInput::default());
        for tick in 0..10_000 {
            if tick % 500 == 0 {
                state = MoverState::standing(
                    dice.within(20.0) * Vec3::new(1.0, 0.0, 1.0) + Vec3::Y * 2.0,
                    0.0,
                );
            }
            input = dice.input(&input);
            state = step(&state, &input, &settings, &mut casts);
            state.digest(&mut digest);
            assert!(state.feet.y > -1.2, "nobody falls through: {state:?}");
        }
        digest.value()
    });
    assert_eq!(digests[0], digests[1]);
    assert_eq!(digests[0], PINNED, "the mover's bits have changed");
}

/// What [`ten_thousand_random_inputs_over_triangles_give_equal_bits_on_both_ends`] came to when the
/// mover's arithmetic was last changed on purpose.
const PINNED: u64 = 8_656_025_190_041_912_928;

/// A map object is no entity, so nobody rides on it.
#[test]
fn who_stands_on_triangles_stands_on_the_map() {
    let mut stage = Stage::on(&ground(3, 1.0, |_, _| 0.0));
    stage.run(2, PlayerInput::default());
    assert_eq!(stage.state.ground, dh_messages::EntityId::NONE);
    assert_eq!(BodyId::of_map(0).entity(), dh_messages::EntityId::NONE);
}
