//! One map in the place of another.

use dh_cook::{Part, cook};

use super::*;
use crate::graybox::GrayBox;
use crate::mover::MoverState;

/// A map of triangles alone: a sheet at this height and two places to come to.
fn sheet(height: f32) -> (Arc<Solids>, Arc<[SpawnPoint]>) {
    let corners = [[-30.0, height, -30.0], [30.0, height, -30.0], [0.0, height, 40.0]];
    let cooked = cook(&[Part::in_world(1, &corners, &[0, 1, 2])]).unwrap();
    let solids = Solids::new(Vec::new()).with_triangles(Arc::new(cooked));
    let spawn = |x, yaw| SpawnPoint { feet: Vec3::new(x, height + 0.01, 0.0), yaw };
    (Arc::new(solids), Arc::from([spawn(-2.0, 0.5), spawn(2.0, -0.5)]))
}

fn gray_box() -> (Arc<Solids>, Arc<[SpawnPoint]>) {
    let gray_box = GrayBox::new();
    (gray_box.solids(), gray_box.spawns())
}

fn switch(world: &mut World, (solids, spawns): (Arc<Solids>, Arc<[SpawnPoint]>)) {
    world.replace_map(solids, spawns);
}

fn states(world: &World) -> Vec<MoverState> {
    world.pawns().map(|pawn| *pawn.state()).collect()
}

/// SWAP-03, MR-159: no tick falls within a switch, and the counter rises through it.
#[test]
fn a_switch_is_one_action_between_two_ticks() {
    let mut world = world();
    let id = world.spawn_pawn(0).unwrap();
    for height in [0.0, 5.0, -3.0] {
        world.step(|_| Some(AHEAD));
        let before = world.publish(|_| Answer::default());
        switch(&mut world, sheet(height));
        assert_eq!(world.tick(), before.tick());
        assert_eq!(world.step(|_| Some(PlayerInput::default())), before.tick().next());
        let after = world.publish(|_| Answer::default());
        let state = &after.owner(id).unwrap().state;
        let stands = state.flags.contains(PawnFlags::GROUNDED);
        assert!(stands && (state.feet.y - height - 0.01).abs() < 1e-3, "{state:?}");
        assert_ne!(after.owner(id).unwrap().epoch, before.owner(id).unwrap().epoch);
    }
}

/// SWAP-01: what stood is gone, props and solids alike; the pawns stay who they are.
#[test]
fn a_switch_removes_what_the_former_map_had_and_keeps_the_pawns() {
    let mut world = world();
    let prop = Prop { kind: NetKind::Prop, position: Vec3::X, rotation: Quat::IDENTITY };
    let things = [0, 1].map(|_| world.spawn_prop(prop).unwrap().unwrap());
    let ids = [0, 1, 2].map(|slot| world.spawn_pawn(slot).unwrap());
    world.set_frozen(ids[1], FreezeReason::Editor, true);
    stand(&mut world, 5);
    world.publish(|_| Answer::default());
    let (solids, spawns) = sheet(7.0);
    let former = world.solids();
    let handed = world.replace_map(Arc::clone(&solids), Arc::clone(&spawns));
    assert!(Arc::ptr_eq(&former, &handed) && Arc::ptr_eq(&world.solids(), &solids));
    assert!(things.iter().all(|id| !world.set_prop(*id, prop)));
    let frame = world.publish(|_| Answer::default());
    assert_eq!(frame.records().map(|record| record.id).collect::<Vec<_>>(), ids);
    assert!(things.iter().all(|id| frame.changed().contains(id)), "their end is told");
    for (id, spawn) in ids.iter().zip([spawns[0], spawns[1], spawns[0]]) {
        let pawn = world.pawn(*id).unwrap();
        let want = (spawn.feet, spawn.yaw, Vec3::ZERO, 1);
        let state = pawn.state();
        assert_eq!((state.feet, state.yaw, state.velocity, pawn.epoch()), want);
        assert_eq!(state.flags.contains(PawnFlags::FROZEN), *id == ids[1]);
    }
    let late = world.spawn_pawn(3).unwrap();
    assert_eq!(feet(&world, late), spawns[1].feet, "who joins takes the next one");
}

/// SWAP-02
#[test]
fn going_to_another_map_and_back_gives_the_first_state_however_often() {
    let mut world = world();
    for slot in 0..5 {
        world.spawn_pawn(slot).unwrap();
    }
    let first = states(&world);
    let solids = world.solids().digest();
    play(&mut world, 6, 50);
    while world.pawns().count() > 5 {
        let last = world.pawns().last().unwrap().id();
        world.despawn(last);
    }
    while world.pawns().count() < 5 {
        world.spawn_pawn(9).unwrap();
    }
    for _ in 0..20 {
        switch(&mut world, sheet(1.0));
        for _ in 0..30 {
            world.step(|_| Some(AHEAD));
        }
        switch(&mut world, gray_box());
        assert_eq!(world.solids().digest(), solids);
        let flags = |state: &MoverState| MoverState { flags: PawnFlags::NONE, ..*state };
        let again: Vec<_> = states(&world).iter().map(flags).collect();
        assert_eq!(again, first);
        assert_eq!(world.publish(|_| Answer::default()).len(), 5);
    }
}

/// A checkpoint of the former map brings that map back, and one of the new map the new one.
#[test]
fn a_checkpoint_is_restored_across_a_switch() {
    let mut world = world();
    play(&mut world, 3, 100);
    let (before, at) = (world.checkpoint(), digest(&world));
    switch(&mut world, sheet(2.0));
    play(&mut world, 4, 50);
    let mut after = world.checkpoint();
    let there = digest(&world);
    world.restore(&before);
    assert_eq!(digest(&world), at);
    play(&mut world, 5, 100);
    let went = digest(&world);
    world.restore(&after);
    assert_eq!(digest(&world), there);
    world.restore(&before);
    play(&mut world, 5, 100);
    assert_eq!(digest(&world), went, "and goes on among its own solids");
    world.checkpoint_into(&mut after);
    switch(&mut world, sheet(2.0));
    world.restore(&after);
    assert_eq!(digest(&world), went);
}

/// Solids are part of a world: two that differ in nothing else have different digests.
#[test]
fn another_map_is_another_digest() {
    let digests = [0.0, 1.0].map(|height| {
        let (solids, _) = sheet(height);
        digest(&World::new(TickRate::DEFAULT, solids, gray_box().1))
    });
    assert_ne!(digests[0], digests[1]);
}
