//! Equality to the bit: on two ends, over the wire, and in whatever order boxes were made.

use dh_messages::{EntityId, Form, OwnerDetail, PlayerInput, decode, encode};
use glam::Vec3;
use proptest::prelude::*;

use super::stage::{Stage, ahead};
use crate::dice::Dice;
use crate::graybox::GrayBox;
use crate::mover::{MoverSettings, MoverState, step};
use crate::physics::{Casts, SolidCasts, Solids};

fn walk(seed: u64, solids: &Solids, mut see: impl FnMut(&MoverState)) -> MoverState {
    let settings = MoverSettings::new(dh_machine::TickRate::DEFAULT, 8.0);
    let mut casts = SolidCasts::new(solids);
    let mut dice = Dice::new(seed);
    let spawn = GrayBox::new().spawns()[0];
    let mut state = MoverState::standing(spawn.feet, spawn.yaw);
    let mut input = PlayerInput::default();
    for _ in 0..10_000 {
        input = dice.input(&input);
        state = step(&state, &input, &settings, &mut casts);
        see(&state);
    }
    state
}

/// MOV-14, PLAT-12: the sum pins the bits on every machine this is built for.
#[test]
fn ten_thousand_random_inputs_give_equal_bits_on_both_ends() {
    let [server, client] = [(); 2].map(|()| GrayBox::new());
    let mut digests = [dh_machine::Digest::new(); 2];
    walk(14, &server.solids(), |state| state.digest(&mut digests[0]));
    walk(14, &client.solids(), |state| state.digest(&mut digests[1]));
    assert_eq!(digests[0], digests[1]);
    assert_eq!(digests[0].value(), PINNED, "the mover's bits have changed");
}

/// What [`ten_thousand_random_inputs_give_equal_bits_on_both_ends`] came to when the mover's
/// arithmetic was last changed on purpose.
const PINNED: u64 = 3_209_119_697_808_736_300;

/// MOV-14
#[test]
fn of_solids_met_at_once_the_lowest_id_is_met_whatever_order_they_were_made_in() {
    let mut stage = Stage::flat();
    let first = stage.wall(Vec3::new(-1.0, 1.0, -2.0), Vec3::new(1.0, 1.0, 0.5));
    stage.wall(Vec3::new(1.0, 1.0, -2.0), Vec3::new(1.0, 1.0, 0.5));
    let mut backward = stage.clone();
    backward.boxes.reverse();
    for stage in [&stage, &backward] {
        let solids = stage.solids();
        let mut casts = SolidCasts::new(&solids);
        casts.gather(Vec3::splat(-9.0), Vec3::splat(9.0));
        let body = stage.state.capsule(0.01);
        let hit = casts.sweep(&body, Vec3::NEG_Z * 5.0, crate::BodyId::NONE).unwrap();
        assert_eq!(hit.body, first);
    }
    stage.run(200, PlayerInput { yaw: 0.1, ..ahead() });
    backward.run(200, PlayerInput { yaw: 0.1, ..ahead() });
    assert!(stage.state.same_bits(&backward.state));
}

/// The mover looks things up once a step; nothing it meets may lie outside of what it looked up.
#[test]
fn what_a_step_gathers_is_all_that_it_can_reach() {
    struct Everything<'a>(SolidCasts<'a>);
    impl Casts for Everything<'_> {
        fn gather(&mut self, _: Vec3, _: Vec3) {
            self.0.gather(Vec3::splat(-1e3), Vec3::splat(1e3));
        }
        fn fastest(&self) -> f32 {
            self.0.fastest()
        }
        fn sweep(
            &self,
            capsule: &crate::Capsule,
            motion: Vec3,
            skip: crate::BodyId,
        ) -> Option<crate::Hit> {
            self.0.sweep(capsule, motion, skip)
        }
        fn deepest(&self, capsule: &crate::Capsule) -> Option<crate::Overlap> {
            self.0.deepest(capsule)
        }
        fn point_velocity(&self, body: crate::BodyId, point: Vec3) -> Vec3 {
            self.0.point_velocity(body, point)
        }
        fn carry(&mut self, body: crate::BodyId, by: Vec3) {
            self.0.carry(body, by);
        }
    }
    let gray_box = GrayBox::new();
    let solids = gray_box.solids();
    let settings = MoverSettings::new(dh_machine::TickRate::DEFAULT, 8.0);
    let (mut few, mut all) = (SolidCasts::new(&solids), Everything(SolidCasts::new(&solids)));
    let mut dice = Dice::new(3);
    let mut input = PlayerInput::default();
    for _ in 0..2_000 {
        let mut state =
            MoverState::standing(dice.within(20.0).abs() - Vec3::new(10.0, 0.0, 10.0), 0.0);
        state.velocity = dice.within(40.0);
        for _ in 0..3 {
            input = dice.input(&input);
            let next = step(&state, &input, &settings, &mut few);
            assert!(next.same_bits(&step(&state, &input, &settings, &mut all)), "{state:?}");
            state = next;
        }
    }
}

/// Prediction compares bits, so what travels must be all of them.
#[test]
fn a_state_survives_the_wire_bit_for_bit() {
    let gray_box = GrayBox::new();
    let pawn = EntityId::new(5, 3);
    let mut bytes = Vec::new();
    walk(9, &gray_box.solids(), |state| {
        bytes.clear();
        let mut told = state.to_owner_detail(pawn, -3, 9);
        encode(&mut told, &mut bytes).unwrap();
        let told: OwnerDetail = decode(&bytes).unwrap();
        bytes.clear();
        encode(&mut state.to_record(pawn, 9), &mut bytes).unwrap();
        let record: dh_messages::EntityRecord = decode(&bytes).unwrap();
        let Form::Entity(seen) = record.form;
        let back = MoverState::from_wire(&told, [seen.yaw, seen.pitch]);
        assert!(back.same_bits(state), "{state:?}\n{back:?}");
        assert_eq!((told.pawn, told.depth, told.spawn_epoch), (pawn, -3, 9));
    });
}

proptest! {
    /// MOV-01: whatever a peer may send, the next state holds only numbers, or it could not travel.
    #[test]
    fn every_input_gives_a_state_that_can_travel(
        feet in prop::array::uniform3(-2e4_f32..2e4),
        velocity in prop::array::uniform3(-1e3_f32..1e3),
        axes in any::<[i8; 3]>(),
        bits in 0..32_u16,
        (yaw, pitch) in any::<(f32, f32)>(),
        flags in 0..256_u16,
    ) {
        let mut stage = Stage::flat();
        stage.state.feet = Vec3::from_array(feet);
        stage.state.velocity = Vec3::from_array(velocity);
        stage.state.flags = dh_messages::PawnFlags::of_bits(flags).unwrap();
        let [move_x, move_y, move_z] = axes;
        let buttons = dh_messages::Buttons::of_bits(bits).unwrap();
        let input = PlayerInput { sequence: 1, move_x, move_y, move_z, buttons, yaw, pitch };
        stage.run(3, input);
        let mut bytes = Vec::new();
        let pawn = EntityId::new(1, 0);
        prop_assert!(encode(&mut stage.state.to_owner_detail(pawn, 0, 0), &mut bytes).is_ok());
        prop_assert!(encode(&mut stage.state.to_record(pawn, 0), &mut bytes).is_ok());
        let (yaw, pitch) = (stage.state.yaw.abs(), stage.state.pitch.abs());
        prop_assert!(yaw <= core::f32::consts::PI && pitch <= 1.553_344);
    }
}
