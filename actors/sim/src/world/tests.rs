//! The world as its tick actor and its operators see it.
#![expect(clippy::float_cmp, reason = "what is compared exactly is exact")]

mod switch;

use std::sync::Arc;

use dh_machine::{Digest, Tick, TickRate};
use dh_messages::{
    Buttons, EntityId, Form, NetKind, PawnFlags, PlayerInput, RecordFlags, WorldSettings,
};
use glam::{Quat, Vec3};
use proptest::prelude::*;

use super::{FreezeReason, Placement, Prop, World};
use crate::dice::Dice;
use crate::frame::Answer;
use crate::graybox::SpawnPoint;
use crate::mover::{MoverSettings, step};
use crate::physics::{BodyId, Solid, SolidCasts, Solids};

const AHEAD: PlayerInput = PlayerInput {
    sequence: 1,
    move_x: 0,
    move_y: 0,
    move_z: 127,
    buttons: Buttons::NONE,
    yaw: 0.0,
    pitch: 0.0,
};

fn world() -> World {
    World::gray_box(TickRate::DEFAULT)
}

fn stand(world: &mut World, ticks: u32) {
    for _ in 0..ticks {
        world.step(|_| Some(PlayerInput::default()));
    }
}

fn digest(world: &World) -> u64 {
    let mut digest = Digest::new();
    world.digest(&mut digest);
    digest.value()
}

fn feet(world: &World, id: EntityId) -> Vec3 {
    world.pawn(id).unwrap().state().feet
}

/// Spawn points are taken round robin, by respawns too.
#[test]
fn spawn_points_are_taken_round_robin() {
    let mut world = world();
    let spawns = crate::GrayBox::new().spawns();
    let ids: Vec<_> = (0..20).map(|slot| world.spawn_pawn(slot).unwrap()).collect();
    for (number, id) in ids.iter().enumerate() {
        assert_eq!(feet(&world, *id), spawns[number % spawns.len()].feet);
    }
    assert!(world.respawn(ids[0]));
    assert_eq!(feet(&world, ids[0]), spawns[20 % spawns.len()].feet);
}

/// netcode OQ-20: 0 on the first spawn, one more for each later placement.
#[test]
fn each_placement_after_the_first_raises_the_epoch() {
    let mut world = world();
    let id = world.spawn_pawn(0).unwrap();
    let epoch = |world: &World| world.pawn(id).unwrap().epoch();
    stand(&mut world, 10);
    assert_eq!(epoch(&world), 0);
    world.respawn(id);
    let up = Placement { feet: Vec3::new(1.0, 3.0, 1.0), yaw: Some(1.5) };
    assert!(world.teleport(id, up));
    assert_eq!(epoch(&world), 2);
    let state = *world.pawn(id).unwrap().state();
    assert_eq!((state.feet, state.yaw, state.velocity), (up.feet, 1.5, Vec3::ZERO));
    world.teleport(id, Placement { feet: Vec3::ZERO, yaw: None });
    assert_eq!(world.pawn(id).unwrap().state().yaw, 1.5, "no yaw leaves the look alone");
    for _ in 0..253 {
        world.respawn(id);
    }
    assert_eq!(epoch(&world), 0, "it wraps");
}

/// REC-03: nothing of the motion before is carried over a real jump.
#[test]
fn who_is_placed_while_falling_or_walking_is_at_rest_there() {
    for places in [
        |world: &mut World, id| world.respawn(id),
        |world: &mut World, id| world.teleport(id, Placement { feet: Vec3::Y, yaw: None }),
    ] {
        let mut world = world();
        let id = world.spawn_pawn(0).unwrap();
        world.teleport(id, Placement { feet: Vec3::new(0.0, 9.0, 0.0), yaw: None });
        for _ in 0..20 {
            world.step(|_| Some(AHEAD));
        }
        let velocity = |world: &World| world.pawn(id).unwrap().state().velocity;
        assert!(velocity(&world).y < -1.0 && velocity(&world).z != 0.0, "{}", velocity(&world));
        assert!(places(&mut world, id));
        assert_eq!(velocity(&world), Vec3::ZERO);
    }
}

/// netcode OQ-19
#[test]
fn the_placement_bit_of_the_record_is_the_low_bit_of_the_epoch() {
    let mut world = world();
    let id = world.spawn_pawn(0).unwrap();
    for placed in [false, true, false] {
        let frame = world.publish(|_| Answer::default());
        let Form::Entity(state) = frame.record(id).unwrap().form;
        assert_eq!(state.flags.contains(RecordFlags::PLACEMENT), placed);
        world.respawn(id);
    }
}

/// A place that is none is refused.
#[test]
fn a_teleport_out_of_the_world_is_refused() {
    let mut world = world();
    let id = world.spawn_pawn(0).unwrap();
    let before = digest(&world);
    for feet in [Vec3::splat(f32::NAN), Vec3::splat(1e6), Vec3::new(0.0, f32::INFINITY, 0.0)] {
        assert!(!world.teleport(id, Placement { feet, yaw: None }));
    }
    assert!(!world.teleport(id, Placement { feet: Vec3::ZERO, yaw: Some(f32::NAN) }));
    assert!(!world.teleport(EntityId::new(9, 9), Placement { feet: Vec3::ZERO, yaw: None }));
    assert_eq!(digest(&world), before);
}

/// netcode OQ-28
#[test]
fn a_slot_rests_two_seconds_and_comes_back_with_the_next_generation() {
    let mut world = world();
    let first = world.spawn_pawn(0).unwrap();
    assert_eq!((first.slot(), first.generation()), (1, 0));
    assert!(world.despawn(first) && !world.despawn(first));
    stand(&mut world, 119);
    let other = world.spawn_pawn(1).unwrap();
    assert_eq!(other.slot(), 2, "the slot still rests");
    stand(&mut world, 1);
    let next = world.spawn_pawn(2).unwrap();
    assert_eq!((next.slot(), next.generation()), (1, 1));
    assert!(world.pawn(first).is_none() && world.pawn(next).is_some());
}

/// INQ-02, INQ-03, INQ-04
#[test]
fn every_tick_asks_once_for_each_pawns_input_before_anyone_moves() {
    let mut world = world();
    let ids: Vec<_> = (0..3).map(|slot| world.spawn_pawn(slot).unwrap()).collect();
    let mut asked = Vec::new();
    // Three ticks of one catch-up turn.
    for tick in 1..=3 {
        let at = world.step(|id| {
            asked.push((tick, id));
            Some(AHEAD)
        });
        assert_eq!(at, Tick(tick));
    }
    let want: Vec<_> = (1..=3).flat_map(|tick| ids.iter().map(move |id| (tick, *id))).collect();
    assert_eq!(asked, want);
}

#[test]
fn a_pawn_without_an_input_is_not_stepped() {
    let mut world = world();
    let id = world.spawn_pawn(0).unwrap();
    world.teleport(id, Placement { feet: Vec3::new(0.0, 20.0, 14.0), yaw: None });
    world.step(|_| None);
    assert_eq!(feet(&world, id).y, 20.0);
    world.step(|_| Some(PlayerInput::default()));
    assert!(feet(&world, id).y < 20.0);
}

/// GEN-01, REC-10: nothing that a client can send moves a pawn but through the mover; and only a
/// respawn or a teleport moves it otherwise, which its epoch tells.
#[test]
fn only_the_mover_and_the_placer_write_a_position() {
    let mut world = world();
    let id = world.spawn_pawn(0).unwrap();
    let (mut dice, mut input) = (Dice::new(5), PlayerInput::default());
    let solids = world.solids();
    let mut casts = SolidCasts::new(&solids);
    for tick in 0..3_000_u32 {
        let before = *world.pawn(id).unwrap();
        input = dice.input(&input);
        match tick % 40 {
            7 => assert!(world.set_noclip(id, dice.one_in(2))),
            19 => assert!(world.set_frozen(id, FreezeReason::Admin, dice.one_in(3))),
            31 => world.set_settings(WorldSettings { noclip_speed: 30.0, ..world.settings() }),
            _ => {}
        }
        let flags = world.pawn(id).unwrap().state().flags;
        let told = crate::MoverState { flags, ..*before.state() };
        let settings = MoverSettings::new(world.rate(), world.settings().noclip_speed);
        let want = step(&told, &input, &settings, &mut casts);
        let rival = Placement { feet: dice.within(20.0), yaw: None };
        assert!(!world.teleport(EntityId::new(1, 200), rival), "an id of the past moves nobody");
        world.step(|_| Some(input));
        let after = world.pawn(id).unwrap();
        if after.epoch() == before.epoch() {
            assert!(after.state().same_bits(&want), "tick {tick}");
        } else {
            assert!(want.feet.y < -50.0, "only who fell out of the world is placed");
        }
    }
}

/// REC-11: the flag is part of the state that the next step starts from, at both ends alike.
#[test]
fn noclip_and_freezing_change_between_two_ticks() {
    let mut world = world();
    let id = world.spawn_pawn(0).unwrap();
    world.step(|_| Some(AHEAD));
    assert!(world.set_noclip(id, true));
    let flies = |world: &World| world.pawn(id).unwrap().state().flags.contains(PawnFlags::NOCLIP);
    assert!(flies(&world));
    world.step(|_| Some(AHEAD));
    let pawn = world.pawn(id).unwrap().state();
    assert!((pawn.velocity.z + 8.0).abs() < 1e-4, "the very next tick flies: {pawn:?}");
    let told = world.publish(|_| Answer::default()).owner(id).unwrap().detail();
    assert!(told.flags.contains(PawnFlags::NOCLIP), "and the owner is told");
    assert!(world.set_noclip(id, false) && !flies(&world));
}

/// LOAD-64's rule, netcode OQ-59
#[test]
fn a_pawn_is_frozen_while_any_reason_stands() {
    let mut world = world();
    let id = world.spawn_pawn(0).unwrap();
    let frozen = |world: &World| world.pawn(id).unwrap().state().flags.contains(PawnFlags::FROZEN);
    for (reason, on, want) in [
        (FreezeReason::Editor, true, true),
        (FreezeReason::Arrival, true, true),
        (FreezeReason::Editor, false, true),
        (FreezeReason::Arrival, true, true),
        (FreezeReason::Arrival, false, false),
        (FreezeReason::Admin, true, true),
    ] {
        world.set_frozen(id, reason, on);
        assert_eq!(frozen(&world), want, "{reason:?} {on}");
    }
    world.respawn(id);
    assert!(frozen(&world), "a placement ends no imposition");
}

/// Pawns do not collide with pawns.
#[test]
fn pawns_pass_through_each_other() {
    let mut world = world();
    let [a, b] = [0, 1].map(|slot| world.spawn_pawn(slot).unwrap());
    for (id, z) in [(a, 10.0), (b, 9.0)] {
        world.teleport(id, Placement { feet: Vec3::new(6.0, 0.01, z), yaw: None });
    }
    for _ in 0..60 {
        world.step(|id| Some(if id == a { AHEAD } else { PlayerInput::default() }));
    }
    assert!(feet(&world, a).z < 7.0 && (feet(&world, b).z - 9.0).abs() < 1e-3);
}

#[test]
fn who_falls_out_of_the_world_respawns() {
    let floor = Solid::fixed(BodyId::of_map(0), Vec3::NEG_Y, Vec3::new(2.0, 1.0, 2.0));
    let spawn = SpawnPoint { feet: Vec3::new(0.0, 0.01, 0.0), yaw: 0.0 };
    let solids = Arc::new(Solids::new(vec![floor]));
    let mut world = World::new(TickRate::DEFAULT, solids, Arc::from([spawn]));
    let id = world.spawn_pawn(0).unwrap();
    for _ in 0..60 * 4 {
        world.step(|_| Some(AHEAD));
        assert!(feet(&world, id).y > -52.0);
    }
    assert!(world.pawn(id).unwrap().epoch() > 0);
}

/// netcode OQ-18
#[test]
fn settings_are_brought_into_their_ranges() {
    let mut world = world();
    let fit = |world: &mut World, time_scale, noclip_speed| {
        world.set_settings(WorldSettings { time_scale, noclip_speed });
        (world.settings().time_scale, world.settings().noclip_speed)
    };
    assert_eq!(fit(&mut world, 0.5, 400.0), (0.5, 400.0));
    assert_eq!(fit(&mut world, 0.0, -3.0), (0.05, 0.1));
    assert_eq!(fit(&mut world, f32::INFINITY, 1e9), (10.0, 1_000.0));
    assert_eq!(fit(&mut world, f32::NAN, f32::NAN), (1.0, 8.0));
}

/// KIND-05: a kind nobody knows travels beside the others and harms none.
#[test]
fn a_prop_of_an_unknown_kind_is_an_entity_like_any_other() {
    let mut world = world();
    let pawn = world.spawn_pawn(0).unwrap();
    let prop = Prop { kind: NetKind::Unknown(200), position: Vec3::X, rotation: Quat::IDENTITY };
    let id = world.spawn_prop(prop).unwrap().unwrap();
    let frame = world.publish(|_| Answer::default());
    let kinds: Vec<_> = frame
        .records()
        .map(|record| {
            let Form::Entity(state) = record.form;
            (record.id, state.kind)
        })
        .collect();
    assert_eq!(kinds, [(pawn, NetKind::PlayerPawn), (id, NetKind::Unknown(200))]);
    assert!(!world.set_prop(pawn, prop), "a pawn is no prop");
    let broken = Prop { position: Vec3::splat(f32::NAN), ..prop };
    assert!(!world.set_prop(id, broken) && world.spawn_prop(broken).unwrap().is_none());
    assert!(world.set_prop(id, Prop { position: Vec3::Y, ..prop }));
    assert!(world.despawn(id) && !world.set_prop(id, prop));
}

/// Plays a world for so many ticks, with joins, leaves and commands drawn from a seed.
fn play(world: &mut World, seed: u64, ticks: u32) {
    let mut dice = Dice::new(seed);
    let mut input = PlayerInput::default();
    for _ in 0..ticks {
        let ids: Vec<_> = world.pawns().map(super::Pawn::id).collect();
        match (dice.next() % 16, ids.first().copied()) {
            (0..=2, _) if ids.len() < 8 => drop(world.spawn_pawn(dice.next().to_le_bytes()[0])),
            (3, Some(id)) => drop(world.despawn(id)),
            (4, Some(id)) => drop(world.respawn(id)),
            (5, Some(id)) => drop(world.set_noclip(id, dice.one_in(2))),
            (6, Some(id)) => drop(world.set_frozen(id, FreezeReason::Editor, dice.one_in(2))),
            _ => {}
        }
        input = dice.input(&input);
        let turn = input.yaw;
        world.step(|id| {
            Some(PlayerInput { yaw: turn + f32::from(id.slot().to_le_bytes()[0]), ..input })
        });
    }
}

/// D22: worlds share nothing. PLAT-12 for whole worlds.
#[test]
fn two_worlds_side_by_side_play_alike_and_another_seed_does_not() {
    let [mut a, mut b, mut c] = [world(), world(), world()];
    for _ in 0..20 {
        play(&mut a, 1, 10);
        play(&mut c, 2, 10);
        play(&mut b, 1, 10);
        assert_eq!(digest(&a), digest(&b));
    }
    assert_ne!(digest(&a), digest(&c));
}

#[test]
fn a_restored_world_goes_on_as_it_did_and_publishes_all_of_it() {
    let mut world = world();
    play(&mut world, 3, 200);
    let mut checkpoint = world.checkpoint();
    let at = digest(&world);
    play(&mut world, 4, 200);
    let (went, frame) = (digest(&world), world.publish(|_| Answer::default()));
    world.restore(&checkpoint);
    assert_eq!((digest(&world), world.tick()), (at, checkpoint.tick()));
    play(&mut world, 4, 200);
    assert_eq!(digest(&world), went);
    let again = world.publish(|_| Answer::default());
    assert!(again.records().eq(frame.records()) && again.owners() == frame.owners());
    world.checkpoint_into(&mut checkpoint);
    assert_eq!(checkpoint.tick(), world.tick());
}

proptest! {
    /// Every part of a world is in its digest, or a replay could differ unseen.
    #[test]
    fn whatever_is_done_to_a_world_changes_its_digest(act in 0..8_usize) {
        let mut world = world();
        let id = world.spawn_pawn(0).unwrap();
        let prop = Prop { kind: NetKind::Prop, position: Vec3::X, rotation: Quat::IDENTITY };
        let thing = world.spawn_prop(prop).unwrap().unwrap();
        let before = digest(&world);
        match act {
            0 => drop(world.step(|_| Some(PlayerInput::default()))),
            1 => drop(world.spawn_pawn(1)),
            2 => drop(world.despawn(id)),
            3 => drop(world.respawn(id)),
            4 => drop(world.set_frozen(id, FreezeReason::Admin, true)),
            5 => drop(world.set_noclip(id, true)),
            6 => world.set_settings(WorldSettings { noclip_speed: 9.0, ..world.settings() }),
            _ => drop(world.set_prop(thing, Prop { position: Vec3::Y, ..prop })),
        }
        prop_assert_ne!(digest(&world), before);
    }
}

mod words;
