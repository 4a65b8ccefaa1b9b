//! The layout of the gray box: a walled yard around a tower, with one of everything a mover can
//! meet. Edit here; nothing else knows a coordinate.

use core::f32::consts::{FRAC_PI_2, PI};

use dh_view::{BoxView, Camera, Colour, palette};
use glam::Vec3;

use super::SpawnPoint;
use super::build::{Builder, Flight, THICK};
use crate::mover::MoverSettings;

/// From the middle of the yard to its walls, metres.
const HALF: f32 = 24.0;
/// Floor tiles along one side.
const TILES: u8 = 6;
/// Height of the spawn platform, metres: low enough to step up to.
const SPAWN_HIGH: f32 = 0.4;
/// The middle of the spawn platform.
const SPAWN: Vec3 = Vec3::new(0.0, 0.0, 14.0);
/// Height of the tower, metres.
const TOWER_HIGH: f32 = 3.0;

/// The second tint of the floor.
const FLOOR_DARK: Colour = Colour(0x00a9_aeb5);
/// What is too steep to walk up.
const STEEP: Colour = Colour(0x00b8_5c57);

/// All boxes and all spawn points.
pub(super) fn lay_out() -> (Vec<BoxView>, Vec<SpawnPoint>) {
    let mut builder = Builder::default();
    floor_and_walls(&mut builder);
    tower(&mut builder);
    ramps(&mut builder);
    low_passage(&mut builder);
    colonnade(&mut builder);
    crates(&mut builder);
    ledge(&mut builder);
    let size = Vec3::new(10.0, SPAWN_HIGH, 7.0);
    builder.stand(SPAWN, size, palette::PLATFORM);
    (builder.boxes, spawns())
}

/// From above a corner, with the spawn platform in front and the tower behind it.
pub(super) fn viewpoint() -> Camera {
    Camera::look_at(Vec3::new(-11.5, 6.8, 22.2), Vec3::new(0.4, 1.0, 6.0), Camera::FOV)
}

/// Sixteen places in four rows on the spawn platform, all facing the tower.
fn spawns() -> Vec<SpawnPoint> {
    let places = (0..4_u8).flat_map(|row| (0..4_u8).map(move |column| (row, column)));
    places
        .map(|(row, column)| {
            let x = (f32::from(column) - 1.5) * 2.2;
            let z = (f32::from(row) - 1.5) * 1.6;
            let y = SPAWN_HIGH + MoverSettings::SKIN;
            SpawnPoint { feet: SPAWN + Vec3::new(x, y, z), yaw: 0.0 }
        })
        .collect()
}

fn floor_and_walls(builder: &mut Builder) {
    let tile = HALF * 2.0 / f32::from(TILES);
    for z in 0..TILES {
        for x in 0..TILES {
            let at = |index: u8| (f32::from(index) + 0.5) * tile - HALF;
            let colour = if (x + z) % 2 == 0 { palette::FLOOR } else { FLOOR_DARK };
            let base = Vec3::new(at(x), -1.0, at(z));
            builder.stand(base, Vec3::new(tile, 1.0, tile), colour);
        }
    }
    let out = HALF + 0.5;
    for side in [-out, out] {
        builder.stand(Vec3::new(side, -1.0, 0.0), Vec3::new(1.0, 3.2, out * 2.0), palette::WALL);
        builder.stand(Vec3::new(0.0, -1.0, side), Vec3::new(out * 2.0, 3.2, 1.0), palette::WALL);
    }
}

/// A platform in the middle: stairs from the south, a long ramp from the west, a drop elsewhere.
fn tower(builder: &mut Builder) {
    builder.stand(Vec3::ZERO, Vec3::new(6.0, TOWER_HIGH, 6.0), palette::PLATFORM);
    let stairs = Flight { foot: Vec3::new(0.0, 0.0, 7.0), yaw: 0.0, wide: 2.4 };
    builder.stairs(stairs, 10, (0.3, 0.4), palette::RAMP);
    let ramp = Flight { foot: Vec3::new(-9.0, 0.0, 0.0), yaw: -FRAC_PI_2, wide: 2.4 };
    builder.ramp(ramp, libm::atanf(TOWER_HIGH / 6.0), 6.0, palette::RAMP);
    for (x, z) in [(-2.6, -2.6), (2.6, -2.6), (-2.6, 2.6), (2.6, 2.6)] {
        let base = Vec3::new(x, TOWER_HIGH, z);
        builder.stand(base, Vec3::new(0.4, 2.6, 0.4), palette::WALL);
    }
    let roof = Vec3::new(0.0, TOWER_HIGH + 2.6, 0.0);
    builder.stand(roof, Vec3::new(6.4, THICK, 6.4), palette::WALL);
}

/// Planks against a deck in the north, steeper from left to right. Up to 45.57 degrees a slope is
/// ground; the last two are not.
fn ramps(builder: &mut Builder) {
    builder.stand(Vec3::new(6.0, 0.0, -20.5), Vec3::new(20.0, 2.0, 5.0), palette::PLATFORM);
    for (number, degrees) in (0_u8..).zip([15.0_f32, 25.0, 35.0, 44.0, 50.0, 60.0]) {
        let slope = degrees * PI / 180.0;
        let run = 2.0 / libm::tanf(slope);
        let x = f32::from(number) * 3.2 - 2.0;
        let foot = Vec3::new(x, 0.0, -18.0 + run);
        let walkable = libm::cosf(slope) >= MoverSettings::GROUND_UP;
        let colour = if walkable { palette::RAMP } else { STEEP };
        builder.ramp(Flight { foot, yaw: 0.0, wide: 2.4 }, slope, run, colour);
    }
}

/// A roofed way that only a crouched pawn fits through: 1.4 m high.
fn low_passage(builder: &mut Builder) {
    for x in [11.0, 13.4] {
        builder.stand(Vec3::new(x, 0.0, 2.0), Vec3::new(0.4, 1.4, 7.0), palette::WALL);
    }
    let roof = Vec3::new(12.2, 1.4, 2.0);
    builder.stand(roof, Vec3::new(2.8, THICK, 7.0), palette::PLATFORM);
}

/// Pillars under a beam in the west.
fn colonnade(builder: &mut Builder) {
    for number in (0..6_u8).map(f32::from) {
        let base = Vec3::new(-19.0, 0.0, number * 3.6 - 16.0);
        builder.stand(base, Vec3::new(0.9, 3.6, 0.9), palette::WALL);
    }
    builder.stand(Vec3::new(-19.0, 3.6, -7.0), Vec3::new(1.3, 0.5, 20.0), palette::PLATFORM);
}

/// Crates to walk around and jump on, and blocks from a kerb to what is too high to jump.
fn crates(builder: &mut Builder) {
    let piles = [
        (-8.0, 8.0, 1.2, 0.3, 0.0),
        (-9.5, 8.6, 0.9, 1.1, 0.0),
        (-8.2, 8.1, 0.8, 0.8, 1.2),
        (-11.0, 6.2, 0.6, 0.5, 0.0),
        (8.0, 10.5, 1.2, -0.4, 0.0),
        (9.4, 11.3, 0.9, 0.2, 0.0),
        (8.1, 10.4, 0.7, 0.9, 1.2),
        (16.5, 15.0, 1.6, 0.6, 0.0),
        (18.4, 13.6, 1.0, 1.3, 0.0),
        (-14.0, -13.0, 1.4, 0.2, 0.0),
        (-12.2, -14.0, 1.0, 0.7, 0.0),
        (-13.8, -13.1, 0.8, 1.2, 1.4),
    ];
    for (x, z, size, yaw, y) in piles {
        builder.turned(Vec3::new(x, y, z), Vec3::splat(size), yaw, palette::CRATE);
    }
    for (number, high) in (0_u8..).zip([0.1_f32, 0.2, 0.3, 0.45, 0.6, 0.9, 1.3]) {
        let base = Vec3::new(19.0, 0.0, f32::from(number) * 2.2 - 11.0);
        builder.stand(base, Vec3::new(2.0, high, 1.6), palette::RAMP);
    }
}

/// A beam half a metre wide at the height of a jump, with a kerb and a block at its ends.
fn ledge(builder: &mut Builder) {
    builder.stand(Vec3::new(-14.0, 0.0, 16.0), Vec3::new(0.5, 0.9, 9.0), palette::PLATFORM);
    builder.stand(Vec3::new(-14.0, 0.0, 11.0), Vec3::new(1.2, 0.45, 1.0), palette::RAMP);
    builder.stand(Vec3::new(-14.0, 0.0, 21.0), Vec3::new(1.6, 1.3, 1.0), palette::CRATE);
}
