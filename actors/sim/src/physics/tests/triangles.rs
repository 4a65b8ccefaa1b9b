//! Triangles alone: distances in closed form, seams, and bodies.

use std::sync::Arc;

use dh_cook::{Part, cook};
use glam::Vec3;
use rapier3d::math::Pose;
use rapier3d::parry::{query, shape};

use super::{capsule, gap, shapes};
use crate::dice::Dice;
use crate::physics::triangle::Triangle;
use crate::physics::{BodyId, Capsule, Casts, Solid, SolidCasts, Solids};

/// Solids of these triangles, each an object of its own.
fn of(triangles: &[[Vec3; 3]]) -> Solids {
    let positions: Vec<_> =
        triangles.iter().map(|corners| corners.map(|at| at.to_array())).collect();
    let parts: Vec<_> = (0..)
        .zip(&positions)
        .map(|(object, corners)| Part::in_world(object, corners, &[0, 1, 2]))
        .collect();
    Solids::new(Vec::new()).with_triangles(Arc::new(cook(&parts).unwrap()))
}

/// A triangle of any shape, every third one level or upright.
fn triangle(dice: &mut Dice) -> [Vec3; 3] {
    let middle = dice.within(3.0);
    let mut corners = [(); 3].map(|()| middle + dice.within(2.0));
    match dice.next() % 6 {
        0 => corners.iter_mut().for_each(|corner| corner.y = middle.y),
        1 => corners.iter_mut().for_each(|corner| corner.z = middle.z),
        2 => (corners[1].x, corners[1].z) = (corners[0].x, corners[0].z),
        _ => {}
    }
    corners
}

/// Triangles around the middle.
pub(super) fn soup(dice: &mut Dice) -> Solids {
    let count = 1 + dice.next() % 6;
    let all: Vec<_> = (0..count).map(|_| triangle(dice)).collect();
    of(&all)
}

#[test]
fn the_distance_to_a_triangle_is_what_parry_says() {
    let mut dice = Dice::new(21);
    for case in 0..20_000 {
        let corners = triangle(&mut dice);
        let body = capsule(&mut dice);
        let reach = Triangle::of(corners).reach(body.centre, body.straight);
        let [a, b, c] = corners;
        let axis = shape::Segment::new(Vec3::Y * -body.straight, Vec3::Y * body.straight);
        let from = Pose::from_translation(body.centre);
        let want = query::distance(&Pose::IDENTITY, &shape::Triangle::new(a, b, c), &from, &axis);
        let want = want.unwrap().distance;
        if reach.far < 0.0 {
            assert!(want < 1e-3, "case {case}: {reach:?} {want} {corners:?} {body:?}");
            continue;
        }
        // Parry finds far ones to a centimetre, never too short.
        let over = reach.far - want;
        assert!((-1e-2..1e-4).contains(&over), "case {case}: {reach:?} {want} {corners:?}");
        let up = Vec3::Y * (reach.point + reach.normal * reach.far).y;
        let off = reach.point + reach.normal * reach.far - up;
        assert!(
            off.length() < 1e-3 && up.length() < body.straight + 1e-3,
            "case {case}: {reach:?}"
        );
        assert!(Triangle::of(corners).holds(body.centre, reach.point), "case {case}: {reach:?}");
    }
}

/// A floor of cells, each cut along one of its diagonals.
fn floor(cells: i16, up: Vec3, height: f32) -> Vec<[Vec3; 3]> {
    let rise = |x: f32, z: f32| Vec3::new(x, height - (up.x * x + up.z * z) / up.y, z);
    let cells = (-cells..cells).flat_map(|x| (-cells..cells).map(move |z| (x, z)));
    let halves = cells.flat_map(|(x, z)| {
        let [a, b, c, d] = [(0, 0), (1, 0), (0, 1), (1, 1)]
            .map(|(i, j)| rise(f32::from(x + i) * 0.7, f32::from(z + j) * 0.7));
        if (x + z) % 2 == 0 { [[a, c, b], [b, c, d]] } else { [[a, c, d], [a, d, b]] }
    });
    halves.collect()
}

#[test]
fn a_motion_over_a_floor_of_triangles_meets_none_of_their_sides() {
    let mut dice = Dice::new(4);
    for up in [Vec3::Y, Vec3::new(0.3, 0.9, -0.2).normalize()] {
        let solids = of(&floor(8, up, 0.0));
        let mut casts = SolidCasts::new(&solids);
        casts.gather(Vec3::splat(-9.0), Vec3::splat(9.0));
        for case in 0..4_000 {
            let straight = 0.55;
            let at = Vec3::new(dice.between(-3.0, 3.0), 0.0, dice.between(-3.0, 3.0));
            let on = at - Vec3::Y * (at.dot(up) / up.y);
            let sunk = dice.between(-1e-5, 5e-3);
            let centre = on + up * (0.36 - sunk) + Vec3::Y * straight;
            let body = Capsule { centre, straight, radius: 0.36 };
            let way = dice.within(1.0);
            let along = way - up * way.dot(up);
            assert_eq!(casts.sweep(&body, along, BodyId::NONE), None, "case {case} {along} {sunk}");
            let hit = casts.sweep(&body, along - up * 0.2, BodyId::NONE).unwrap();
            assert!(
                hit.normal.abs_diff_eq(up, 1e-5) && hit.surface.abs_diff_eq(up, 1e-5),
                "{hit:?}"
            );
            assert!(hit.time < 1e-4 || sunk < 0.0, "{hit:?}");
        }
    }
}

/// Two floors that meet without sharing corners, as pieces of a kit do.
#[test]
fn a_seam_between_pieces_that_share_no_corner_is_not_felt_either() {
    let half = |low: f32, high: f32, y: f32, part: f32| {
        let corner = |x: f32, z: f32| Vec3::new(x, y, z);
        [
            [corner(low, -4.0), corner(low, 4.0), corner(high, part)],
            [corner(low, -4.0), corner(high, part), corner(high, -4.0)],
            [corner(low, 4.0), corner(high, 4.0), corner(high, part)],
        ]
    };
    for step in [0.0, 5e-4, -5e-4] {
        let solids = of(&[half(-4.0, 0.0, 0.0, 1.0), half(4.0, 0.0, step, 1.7)].concat());
        let mut casts = SolidCasts::new(&solids);
        casts.gather(Vec3::splat(-9.0), Vec3::splat(9.0));
        for back in [0.001, 0.004, 0.02, 0.3] {
            for z in [-1.0, 0.0, 1.0, 1.7, 2.5] {
                let centre = Vec3::new(-back, 0.36, z);
                let body = Capsule { centre, straight: 0.0, radius: 0.36 };
                for motion in [Vec3::X, Vec3::new(1.0, 0.0, 0.4), Vec3::new(0.3, 0.0, -1.0)] {
                    assert_eq!(casts.sweep(&body, motion, BodyId::NONE), None, "{step} {centre}");
                }
            }
        }
    }
}

#[test]
fn the_rim_of_a_step_is_felt_as_a_rim_and_one_stands_on_its_top() {
    let top = |z: f32| [Vec3::new(-2.0, 0.0, z), Vec3::new(2.0, 0.0, z)];
    let ([a, b], [c, d]) = (top(0.0), top(-3.0));
    let [e, f] = [a, b].map(|corner| corner - Vec3::Y);
    let solids = of(&[[a, b, c], [b, d, c], [a, e, b], [b, e, f]]);
    let mut casts = SolidCasts::new(&solids);
    casts.gather(Vec3::splat(-9.0), Vec3::splat(9.0));
    let body = Capsule { centre: Vec3::new(0.3, 0.2, 2.0), straight: 0.0, radius: 0.4 };
    let hit = casts.sweep(&body, Vec3::NEG_Z * 3.0, BodyId::NONE).unwrap();
    let want = Vec3::new(0.0, 0.5, 0.75_f32.sqrt());
    assert!(hit.normal.abs_diff_eq(want, 2e-3) && hit.surface == Vec3::Y, "{hit:?}");
    let fall = Capsule { centre: Vec3::new(0.3, 2.0, 0.1), ..body };
    let hit = casts.sweep(&fall, Vec3::NEG_Y * 3.0, BodyId::NONE).unwrap();
    assert!((hit.normal.z - 0.25).abs() < 2e-3 && hit.surface == Vec3::Y, "{hit:?}");
}

/// A triangle is met as its object, and of a box and a triangle met at once the lower id is met.
#[test]
fn a_triangle_is_the_body_of_its_map_object() {
    let corners = [[-1.0, 0.0, -2.0], [1.0, 0.0, -2.0], [0.0, 3.0, -2.0]];
    for object in [3, 5] {
        let part = Part::in_world(object, &corners, &[0, 1, 2]);
        let block = Solid::fixed(BodyId::of_map(4), Vec3::new(0.0, 0.0, -3.0), Vec3::ONE);
        let cooked = Arc::new(cook(&[part]).unwrap());
        let solids = Solids::new(vec![block]).with_triangles(cooked);
        let mut casts = SolidCasts::new(&solids);
        casts.gather(Vec3::splat(-9.0), Vec3::splat(9.0));
        let body = Capsule { centre: Vec3::Y * 0.5, straight: 0.2, radius: 0.5 };
        let met = |skip| casts.sweep(&body, Vec3::NEG_Z * 4.0, skip).unwrap().body;
        let [triangle, block] = [object as usize, 4].map(BodyId::of_map);
        assert_eq!(met(BodyId::NONE), triangle.min(block));
        assert_eq!((met(triangle), met(block)), (block, triangle), "what is skipped is not met");
        assert_eq!(casts.point_velocity(triangle, Vec3::ONE), Vec3::ZERO);
    }
}

#[test]
fn what_overlaps_triangles_is_pushed_out_on_the_side_where_most_of_it_is() {
    let mut dice = Dice::new(8);
    let mut met = 0;
    for case in 0..5_000 {
        let corners = triangle(&mut dice);
        let solids = of(&[corners]);
        let mut body = capsule(&mut dice);
        body.centre *= 0.6;
        let mut casts = SolidCasts::new(&solids);
        casts.gather(Vec3::splat(-20.0), Vec3::splat(20.0));
        let Some(found) = casts.deepest(&body) else {
            assert!(gap(&body, &shapes(&solids)[0]) > -1e-3, "case {case}");
            continue;
        };
        met += 1;
        let out = body.moved(found.normal * (found.depth + 1e-3));
        assert!(gap(&out, &shapes(&solids)[0]) > -1e-4, "case {case}: {found:?}");
        let side = (body.centre - corners[0]).dot(found.normal);
        assert!(
            side > -1e-3 || found.depth < 0.36,
            "case {case}: out on the nearer side {found:?}"
        );
    }
    assert!(met > 60, "{met}");
}
