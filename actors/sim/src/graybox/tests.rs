//! The gray box as those who walk in it find it.
#![expect(clippy::float_cmp, reason = "what is compared exactly is exact")]

use std::sync::Arc;

use dh_machine::TickRate;
use dh_messages::{Buttons, PawnFlags, PlayerInput};
use dh_view::facing;
use glam::Vec3;

use super::GrayBox;
use crate::dice::Dice;
use crate::mover::{MoverSettings, MoverState, step};
use crate::physics::{Casts, SolidCasts, Solids};

/// Walks from a place with one input; the state after so many seconds.
fn walk(solids: &Solids, feet: Vec3, input: PlayerInput, seconds: u32) -> MoverState {
    let settings = MoverSettings::new(TickRate::DEFAULT, 8.0);
    let mut casts = SolidCasts::new(solids);
    let mut state = MoverState::standing(feet, 0.0);
    for _ in 0..seconds * 60 {
        state = step(&state, &input, &settings, &mut casts);
    }
    state
}

fn ahead(yaw: f32) -> PlayerInput {
    PlayerInput { move_z: 127, yaw, ..PlayerInput::default() }
}

/// MR-17
#[test]
fn both_ends_build_the_same_gray_box() {
    let digests = [(); 2].map(|()| GrayBox::new().solids().digest());
    assert_eq!(digests[0], digests[1]);
    let gray_box = GrayBox::new();
    assert_eq!(gray_box.boxes().len(), gray_box.solids().all().len());
    assert!((60..=130).contains(&gray_box.boxes().len()), "{}", gray_box.boxes().len());
    let colours: std::collections::BTreeSet<_> =
        gray_box.boxes().iter().map(|drawn| drawn.colour.0).collect();
    assert!(colours.len() >= 5, "enough colours to tell things apart");
}

/// MR-17
#[test]
fn every_spawn_point_is_free_and_on_the_ground() {
    let gray_box = GrayBox::new();
    let solids = gray_box.solids();
    let spawns = gray_box.spawns();
    assert!(spawns.len() >= 16);
    for (number, spawn) in spawns.iter().enumerate() {
        let state = walk(&solids, spawn.feet, PlayerInput::default(), 1);
        assert!(state.flags.contains(PawnFlags::GROUNDED));
        assert!(state.feet.abs_diff_eq(spawn.feet, 1e-3), "spawn {number}: {}", state.feet);
        let apart = |other: &super::SpawnPoint| (other.feet - spawn.feet).length();
        let next = spawns.iter().filter(|other| *other != spawn).map(apart).fold(9.0, f32::min);
        assert!(next > 1.0, "spawn {number} is {next} m from the next");
    }
}

/// MR-17
#[test]
fn stairs_and_ramp_lead_up_the_tower() {
    let solids = GrayBox::new().solids();
    let up = walk(&solids, Vec3::new(0.0, 0.01, 9.0), ahead(0.0), 2);
    assert!((up.feet.y - 3.01).abs() < 5e-3, "{up:?}");
    let up = walk(&solids, Vec3::new(-11.0, 0.01, 0.0), ahead(-core::f32::consts::FRAC_PI_2), 3);
    assert!((up.feet.y - 3.01).abs() < 5e-3, "{up:?}");
}

/// MOV-04, MR-17
#[test]
fn four_planks_can_be_walked_up_and_two_cannot() {
    let solids = GrayBox::new().solids();
    for (plank, walkable) in (0_u8..).zip([true, true, true, true, false, false]) {
        let x = f32::from(plank) * 3.2 - 2.0;
        let from = Vec3::new(x, 0.01, -8.0);
        let high = (1..=4).map(|seconds| walk(&solids, from, ahead(0.0), seconds).feet.y);
        let highest = high.fold(0.0, f32::max);
        assert_eq!(highest > 1.9, walkable, "plank {plank}: {highest}");
    }
}

/// MOV-09, MR-17
#[test]
fn only_the_crouched_pass_below_the_low_roof() {
    let solids = GrayBox::new().solids();
    let from = Vec3::new(12.2, 0.01, 7.5);
    let standing = walk(&solids, from, ahead(0.0), 4);
    assert!(standing.feet.z > 5.0, "{standing:?}");
    let crouched = walk(&solids, from, PlayerInput { buttons: Buttons::CROUCH, ..ahead(0.0) }, 5);
    assert!(crouched.feet.z < -2.0, "{crouched:?}");
    let inside = Vec3::new(12.2, 0.01, 2.0);
    let low = MoverState { stance_height: 1.1, ..MoverState::standing(inside, 0.0) };
    let mut casts = SolidCasts::new(&solids);
    let settings = MoverSettings::new(TickRate::DEFAULT, 8.0);
    let after = step(&low, &PlayerInput::default(), &settings, &mut casts);
    assert_eq!(after.stance_height, 1.1, "nobody stands up in there");
}

/// MR-17: the fixed camera is in the open and has spawn platform and tower in view.
#[test]
fn the_viewpoint_sees_the_spawn_platform_and_the_tower() {
    let gray_box = GrayBox::new();
    let camera = gray_box.viewpoint();
    let forward = facing(camera.yaw, camera.pitch);
    for thing in [Vec3::new(0.0, 0.4, 14.0), Vec3::new(0.0, 5.0, 0.0), Vec3::new(6.0, 2.0, -20.0)] {
        let toward = (thing - camera.eye).normalize();
        assert!(toward.dot(forward) > libm::cosf(camera.fov * 0.6), "{thing}");
    }
    let solids = gray_box.solids();
    let mut casts = SolidCasts::new(&solids);
    casts.gather(camera.eye - Vec3::ONE, camera.eye + Vec3::ONE);
    let eye = crate::Capsule { centre: camera.eye, straight: 0.0, radius: 0.5 };
    assert_eq!(casts.deepest(&eye), None);
}

/// MOV-07, MOV-08: whatever players do, they end up neither in a solid nor below the floor.
#[test]
fn random_walks_never_end_in_a_solid_nor_below_the_floor() {
    let gray_box = GrayBox::new();
    let solids = gray_box.solids();
    let settings = MoverSettings::new(TickRate::DEFAULT, 8.0);
    let mut casts = SolidCasts::new(&solids);
    for (seed, spawn) in (0..).zip(gray_box.spawns().iter()) {
        let mut dice = Dice::new(seed);
        let mut state = MoverState::standing(spawn.feet, spawn.yaw);
        let mut input = PlayerInput::default();
        for tick in 0..6_000 {
            input = dice.input(&input);
            input.move_z = input.move_z.saturating_add(60);
            state = step(&state, &input, &settings, &mut casts);
            assert!(state.feet.y > -0.01, "seed {seed}, tick {tick}: {state:?}");
            // Half the skin may be used up by rounding and by walls that meet at sharp angles.
            let overlap = casts.deepest(&state.capsule(0.0));
            assert!(overlap.is_none(), "seed {seed}, tick {tick}: {overlap:?} {state:?}");
        }
        let out = state.feet.abs();
        assert!(out.x < 24.0 && out.z < 24.0, "inside the walls: {state:?}");
    }
}

#[test]
fn the_parts_are_shared_and_not_built_again() {
    let gray_box = GrayBox::new();
    assert!(Arc::ptr_eq(&gray_box.solids(), &gray_box.clone().solids()));
    assert!(Arc::ptr_eq(&gray_box.boxes(), &gray_box.clone().boxes()));
}
