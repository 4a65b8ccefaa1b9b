//! Frames as sessions use them.
#![expect(clippy::float_cmp, reason = "what is compared exactly is exact")]

use std::sync::Arc;

use dh_machine::{Tick, TickRate};
use dh_messages::{
    EntityId, EntityRecord, Form, NetKind, PlayerInput, Snapshot, SnapshotHead, decode, encode,
};
use glam::{Quat, Vec3};

use super::{Answer, Frame};
use crate::world::{Prop, World};

fn prop(x: f32) -> Prop {
    Prop { kind: NetKind::Prop, position: Vec3::new(x, 0.0, 0.0), rotation: Quat::IDENTITY }
}

fn publish(world: &mut World) -> Arc<Frame> {
    world.publish(|_| Answer::default())
}

/// A world with a pawn and so many props.
fn world(props: u16) -> (World, EntityId, Vec<EntityId>) {
    let mut world = World::gray_box(TickRate::DEFAULT);
    let pawn = world.spawn_pawn(3).unwrap();
    let ids = (0..props).map(|x| world.spawn_prop(prop(f32::from(x))).unwrap().unwrap());
    let ids = ids.collect();
    (world, pawn, ids)
}

/// GEN-02: a frame states all that there is; what is not in it is not there.
#[test]
fn a_frame_lists_every_entity_by_slot_and_none_that_is_gone() {
    let (mut world, pawn, ids) = world(200);
    let frame = publish(&mut world);
    assert_eq!((frame.len(), frame.chunks().len()), (201, 4));
    let listed: Vec<_> = frame.records().map(|record| record.id).collect();
    assert!(listed.is_sorted_by_key(|id| id.slot()) && listed.len() == 201);
    world.despawn(ids[70]);
    world.despawn(pawn);
    let next = publish(&mut world);
    assert_eq!(next.len(), 199);
    assert_eq!((next.record(ids[70]), next.owner(pawn)), (None, None));
    assert!(frame.record(ids[70]).is_some(), "a published frame never changes");
    assert_eq!(next.changed(), [pawn, ids[70]]);
}

/// D8: work follows what moves.
#[test]
fn only_the_chunks_that_were_touched_are_replaced() {
    let (mut world, pawn, ids) = world(300);
    world.step(|_| Some(PlayerInput::default()));
    let first = publish(&mut world);
    world.set_prop(ids[100], prop(-1.0));
    let second = publish(&mut world);
    assert_eq!(second.changed(), [ids[100]]);
    let same: Vec<_> =
        first.chunks().iter().zip(second.chunks()).map(|(a, b)| Arc::ptr_eq(a, b)).collect();
    assert_eq!(same, [true, false, true, true, true]);
    world.step(|_| Some(PlayerInput::default()));
    let third = publish(&mut world);
    assert_eq!(third.changed(), [], "a pawn that stands still changes nothing");
    assert_eq!(third.tick(), Tick(2));
    world.step(|_| Some(PlayerInput { yaw: 0.1, ..PlayerInput::default() }));
    assert_eq!(publish(&mut world).changed(), [pawn]);
}

/// SNAP-02, SNAP-05, KIND-01, KIND-02
#[test]
fn the_bytes_of_the_records_are_those_of_a_snapshot() {
    let (mut world, pawn, _) = world(0);
    let frame = publish(&mut world);
    let bytes = frame.records_bytes();
    assert_eq!(bytes.len(), 33 + 2, "a pawn: the fixed part and an empty payload");
    assert_eq!(bytes[..4], pawn.0.to_le_bytes());
    assert_eq!(bytes[4..6], [0, 1], "the form, then the kind of a pawn");

    let (mut world, ..) = self::world(150);
    let frame = publish(&mut world);
    let records: Vec<EntityRecord> = frame.records().copied().collect();
    let mut snapshot = Snapshot::new(SnapshotHead::default(), records.clone());
    let mut whole = Vec::new();
    encode(&mut snapshot, &mut whole).unwrap();
    assert!(whole.ends_with(frame.records_bytes()));
    let head = whole.len() - frame.records_bytes().len();
    let joined = [&whole[..head], frame.records_bytes()].concat();
    assert_eq!(decode::<Snapshot>(&joined).unwrap().records.0, records);
}

/// D8: bytes equal for several peers are made once.
#[test]
fn records_are_encoded_once_and_shared_between_frames() {
    let (mut world, _, ids) = world(130);
    let first = publish(&mut world);
    assert_eq!(first.records_bytes().as_ptr(), first.records_bytes().as_ptr());
    let kept = first.chunks()[0].bytes().as_ptr();
    world.set_prop(ids[129], prop(5.0));
    let second = publish(&mut world);
    assert_eq!(second.chunks()[0].bytes().as_ptr(), kept);
    assert_ne!(second.records_bytes(), first.records_bytes());
}

#[test]
fn each_owner_is_told_its_own_state_and_what_became_of_its_inputs() {
    let (mut world, pawn, _) = world(0);
    let other = world.spawn_pawn(9).unwrap();
    world.respawn(other);
    world.step(|_| Some(PlayerInput { move_z: 127, ..PlayerInput::default() }));
    let frame = world.publish(|id| Answer { input_ack: id.slot() + 40, depth: -2 });
    let owner = frame.owner(other).unwrap();
    assert_eq!((owner.slot, owner.answer.input_ack), (9, other.slot() + 40));
    let (detail, state) = (owner.detail(), world.pawn(other).unwrap().state());
    assert_eq!((detail.pawn, detail.depth, detail.spawn_epoch), (other, -2, 1));
    assert_eq!(detail.velocity, state.velocity.to_array());
    let Form::Entity(seen) = frame.record(other).unwrap().form;
    let back = crate::MoverState::from_wire(&detail, [seen.yaw, seen.pitch]);
    assert!(back.same_bits(state));
    assert_eq!(frame.owners().len(), 2);
    assert!(frame.owner(pawn).is_some() && frame.owner(EntityId::new(pawn.slot(), 7)).is_none());
}

/// D8: after a while nothing is allocated: frames and chunks that came back are filled again.
#[test]
fn frames_that_nobody_holds_are_used_again() {
    let (mut world, ..) = world(10);
    let mut held = std::collections::VecDeque::new();
    let mut seen = std::collections::BTreeSet::new();
    for turn in 0..200_u16 {
        world.step(|_| Some(PlayerInput { yaw: f32::from(turn), ..PlayerInput::default() }));
        let frame = publish(&mut world);
        let _ = frame.records_bytes();
        seen.insert((Arc::as_ptr(&frame).addr(), Arc::as_ptr(&frame.chunks()[0]).addr()));
        held.push_back(frame);
        if held.len() > 3 {
            held.pop_front();
        }
    }
    assert!(seen.len() < 40, "{} pairs of frame and chunk for 200 ticks", seen.len());
}

/// A peer that holds on to old frames must not make the world fill them.
#[test]
fn a_frame_that_is_held_keeps_its_content() {
    let (mut world, pawn, _) = world(3);
    let first = publish(&mut world);
    let (record, bytes) = (*first.record(pawn).unwrap(), first.records_bytes().to_vec());
    for turn in 1..600_u16 {
        world.step(|_| Some(PlayerInput { yaw: f32::from(turn), ..PlayerInput::default() }));
        publish(&mut world);
    }
    assert_eq!((*first.record(pawn).unwrap(), first.records_bytes()), (record, &bytes[..]));
}
