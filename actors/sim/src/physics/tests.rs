//! Our casts against rapier's, and what the two cannot show.

mod triangles;

use glam::{Quat, Vec3};
use proptest::prelude::*;
use rapier3d::math::Pose;
use rapier3d::parry::{query, shape};

use super::{BodyId, Capsule, Casts, RapierCasts, RapierScene, Solid, SolidCasts, Solids};
use crate::dice::Dice;

/// Boxes of all sizes around the middle; every second one tilted.
fn boxes(dice: &mut Dice) -> Vec<Solid> {
    let count = 1 + usize::from(dice.next().to_le_bytes()[0] % 6);
    let solid = |number| {
        let half = dice.within(1.5).abs() + Vec3::splat(0.05);
        let fixed = Solid::fixed(BodyId::of_map(number), dice.within(3.0), half);
        let yaw = Solid::turned(Vec3::Y, dice.between(-3.0, 3.0));
        let tilt = Solid::turned(Vec3::X, dice.between(-3.0, 3.0));
        let rotation = match number % 4 {
            0 => Quat::IDENTITY,
            1 => yaw,
            _ => yaw * tilt,
        };
        Solid { rotation, ..fixed }
    };
    (0..count).map(solid).collect()
}

fn capsule(dice: &mut Dice) -> Capsule {
    Capsule { centre: dice.within(5.0), straight: dice.between(0.0, 0.6), radius: 0.36 }
}

/// A solid as parry knows it.
#[derive(Clone, Debug)]
struct Shaped {
    id: BodyId,
    at: Pose,
    shape: shape::SharedShape,
}

/// Every box and triangle.
fn shapes(solids: &Solids) -> Vec<Shaped> {
    let boxes = solids.all().iter().map(|solid| Shaped {
        id: solid.id,
        at: Pose::from_parts(solid.centre, solid.rotation),
        shape: shape::SharedShape::cuboid(solid.half.x, solid.half.y, solid.half.z),
    });
    let cooked = solids.triangles().into_iter();
    let triangles = cooked.flat_map(|cooked| {
        (0..).take(cooked.triangles().len()).map(|number| {
            let [a, b, c] = cooked.corners(number);
            let id = BodyId::of_map(cooked.object(number) as usize);
            Shaped { id, at: Pose::IDENTITY, shape: shape::SharedShape::triangle(a, b, c) }
        })
    });
    boxes.chain(triangles).collect()
}

/// How far the capsule is from a solid, metres; below 0 where they overlap.
fn gap(capsule: &Capsule, solid: &Shaped) -> f32 {
    let from = Pose::from_translation(capsule.centre);
    let moving = shape::Capsule::new_y(capsule.straight, capsule.radius);
    let shape = &*solid.shape.0;
    let contact = query::contact(&solid.at, shape, &from, &moving, 1.0).unwrap();
    let apart = || query::distance(&solid.at, shape, &from, &moving).unwrap().distance;
    // Either is a few millimetres too long now and then.
    contact.map_or_else(apart, |contact| {
        if contact.dist > 0.0 { contact.dist.min(apart()) } else { contact.dist }
    })
}

/// Parry stops about 1 mm short of or past a contact, more where the motion grazes. So our hits are
/// held to its distances, and their times to its casts where the motion meets the surface squarely.
fn sweeps_are_parrys(seed: u64, mut scene: impl FnMut(&mut Dice) -> Solids) -> [u32; 2] {
    let mut dice = Dice::new(seed);
    let (mut met, mut compared) = (0, 0);
    for case in 0..20_000 {
        let solids = scene(&mut dice);
        let all = shapes(&solids);
        let body = capsule(&mut dice);
        let motion = dice.within(4.0);
        if all.iter().any(|solid| gap(&body, solid) < 0.02) {
            continue;
        }
        let mut ours = SolidCasts::new(&solids);
        let scene = RapierScene::new(&solids);
        let mut theirs = RapierCasts::new(&scene);
        ours.gather(Vec3::splat(-20.0), Vec3::splat(20.0));
        theirs.gather(Vec3::splat(-20.0), Vec3::splat(20.0));
        let hit = ours.sweep(&body, motion, BodyId::NONE);
        let until = hit.map_or(1.0, |hit| hit.time);
        for part in 0..=8_u8 {
            let there = body.moved(motion * (until * f32::from(part) / 8.0));
            for solid in &all {
                assert!(gap(&there, solid) > -2e-3, "case {case}: went into {solid:?}");
            }
        }
        let told = theirs.sweep(&body, motion, BodyId::NONE);
        if let Some(hit) = hit {
            met += 1;
            let there = body.moved(motion * hit.time);
            let solid = all.iter().find(|solid| solid.id == hit.body).unwrap();
            assert!(gap(&there, solid).abs() < 2e-3, "case {case}: no contact with {solid:?}");
            assert!((hit.normal.length() - 1.0).abs() < 1e-3);
            let further = there.moved(hit.normal * 0.01);
            assert!(gap(&further, solid) > 8e-3, "case {case}: the normal leads out");
        }
        let squarely = |hit: &super::Hit| hit.normal.dot(motion) < -0.3 * motion.length();
        if let Some(told) = told.filter(squarely) {
            let hit = hit.unwrap_or_else(|| panic!("case {case}: parry meets {told:?}"));
            let apart = (hit.time - told.time).abs() * motion.length();
            assert!(apart < 0.01, "case {case}: {apart} m\n{hit:?}\n{told:?}");
            compared += 1;
        }
    }
    [met, compared]
}

#[test]
fn sweeps_among_boxes_meet_what_parry_says_they_meet() {
    let [met, compared] = sweeps_are_parrys(7, |dice| Solids::new(boxes(dice)));
    assert!(met > 1_200 && compared > 1_000, "{met} {compared}");
}

#[test]
fn sweeps_among_triangles_meet_what_parry_says_they_meet() {
    let [met, compared] = sweeps_are_parrys(9, triangles::soup);
    assert!(met > 800 && compared > 700, "{met} {compared}");
}

#[test]
fn overlaps_are_as_deep_as_parry_says() {
    let mut dice = Dice::new(8);
    let mut met = 0;
    for case in 0..5_000 {
        let solids = Solids::new(boxes(&mut dice));
        let mut body = capsule(&mut dice);
        body.centre *= 0.6;
        let mut ours = SolidCasts::new(&solids);
        ours.gather(Vec3::splat(-20.0), Vec3::splat(20.0));
        let found = ours.deepest(&body);
        let all = shapes(&solids);
        let deepest = all.iter().map(|solid| -gap(&body, solid)).fold(0.0, f32::max);
        assert_eq!(found.is_some(), deepest > 0.0, "case {case} {found:?} {deepest}");
        let Some(found) = found else { continue };
        met += 1;
        assert!((found.depth - deepest).abs() < 5e-3, "case {case}: {found:?} {deepest}");
        let out = body.moved(found.normal * (found.depth + 1e-3));
        let solid = all.iter().find(|solid| solid.id == found.body).unwrap();
        assert!(gap(&out, solid) > -5e-3, "case {case}: pushed out of {solid:?}");
    }
    assert!(met > 500, "{met}");
}

#[test]
fn a_motion_along_a_surface_or_away_from_it_meets_nothing() {
    let floor =
        Solid::fixed(BodyId::of_map(0), Vec3::new(0.0, -1.0, 0.0), Vec3::new(9.0, 1.0, 9.0));
    let solids = Solids::new(vec![floor]);
    let mut casts = SolidCasts::new(&solids);
    casts.gather(Vec3::splat(-9.0), Vec3::splat(9.0));
    for sunk in [0.0, 1e-5, 5e-3] {
        let body = Capsule { centre: Vec3::Y * (0.9 - sunk), straight: 0.55, radius: 0.35 };
        for motion in [Vec3::X, Vec3::new(0.1, 0.0, -3.0), Vec3::Y, Vec3::ZERO] {
            assert_eq!(casts.sweep(&body, motion, BodyId::NONE), None, "{sunk} {motion}");
        }
        let hit = casts.sweep(&body, Vec3::new(1.0, -0.1, 0.0), BodyId::NONE).unwrap();
        assert_eq!((hit.time, hit.normal, hit.surface), (0.0, Vec3::Y, Vec3::Y));
        assert_eq!(casts.sweep(&body, Vec3::NEG_Y, floor.id), None, "what is skipped is not met");
    }
}

#[test]
fn what_is_carried_is_met_where_it_went_until_the_next_gather() {
    let id = BodyId::of_map(3);
    let solids = Solids::new(vec![Solid::fixed(id, Vec3::NEG_Z * 5.0, Vec3::ONE)]);
    let body = Capsule { centre: Vec3::ZERO, straight: 0.5, radius: 0.5 };
    let scene = RapierScene::new(&solids);
    let mut all: [&mut dyn Fixture; 2] =
        [&mut SolidCasts::new(&solids), &mut RapierCasts::new(&scene)];
    for casts in &mut all {
        casts.look();
        assert!((casts.far(&body) - 3.5).abs() < 1e-3);
        casts.shift(id);
        assert!((casts.far(&body) - 2.5).abs() < 1e-3);
        casts.look();
        assert!((casts.far(&body) - 3.5).abs() < 1e-3);
    }
}

/// What the test above does with either kind of casts.
trait Fixture {
    fn look(&mut self);
    fn far(&self, body: &Capsule) -> f32;
    fn shift(&mut self, id: BodyId);
}

impl<C: Casts> Fixture for C {
    fn look(&mut self) {
        self.gather(Vec3::splat(-9.0), Vec3::splat(9.0));
    }
    fn far(&self, body: &Capsule) -> f32 {
        self.sweep(body, Vec3::NEG_Z * 10.0, BodyId::NONE).map_or(10.0, |hit| hit.time * 10.0)
    }
    fn shift(&mut self, id: BodyId) {
        self.carry(id, Vec3::Z);
    }
}

/// The face one would stand on, for each kind of contact with a step.
#[test]
fn the_surface_of_a_rim_is_its_upper_face() {
    let step = Solid::fixed(BodyId::of_map(0), Vec3::ZERO, Vec3::new(1.0, 0.5, 1.0));
    assert_eq!(step.surface_at(Vec3::new(0.0, 0.5, 0.0)), Vec3::Y);
    assert_eq!(step.surface_at(Vec3::new(1.0, 0.0, 0.0)), Vec3::X);
    assert_eq!(step.surface_at(Vec3::new(1.0, 0.5, 0.3)), Vec3::Y);
    assert_eq!(step.surface_at(Vec3::new(-1.0, -0.5, 0.3)), Vec3::NEG_X);
}

proptest! {
    /// The grid may answer with too many, never with too few.
    #[test]
    fn a_gather_finds_every_solid_that_meets_the_space(
        seed in any::<u64>(),
        at in prop::array::uniform3(-60.0_f32..60.0),
        size in 0.01_f32..20.0,
    ) {
        let mut dice = Dice::new(seed);
        let all = (0..80).map(|number| {
            let half = dice.within(3.0).abs() + Vec3::splat(0.05);
            let rotation = Solid::turned(Vec3::Z, dice.between(-3.0, 3.0));
            let fixed = Solid::fixed(BodyId::of_map(number), dice.within(50.0), half);
            Solid { rotation, ..fixed }
        });
        let solids = Solids::new(all.collect());
        let (low, high) = (Vec3::from_array(at), Vec3::from_array(at) + Vec3::splat(size));
        let mut found = Vec::new();
        solids.near((low, high), &mut Vec::new(), |solid| found.push(solid.id));
        let meets = |solid: &&Solid| {
            let half = solid.half_size();
            (solid.centre + half).cmpge(low).all() && (solid.centre - half).cmple(high).all()
        };
        let want: Vec<_> = solids.all().iter().filter(meets).map(|solid| solid.id).collect();
        prop_assert_eq!(found, want);
    }
}
