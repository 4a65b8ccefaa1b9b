//! A checkpoint that went through words gives the same course, bit for bit.

use dh_machine::{Damage, Words, joined};
use proptest::prelude::*;

use super::*;
use crate::Ground;
use crate::dice::Dice;
use crate::world::Checkpoint;

/// A world in which pawns run and jump, props move, and some of both come and go.
struct Busy {
    world: World,
    dice: Dice,
    props: Vec<EntityId>,
    inputs: Vec<PlayerInput>,
}

impl Busy {
    fn new(seed: u64) -> Self {
        let mut world = World::gray_box(TickRate::DEFAULT);
        for slot in 0..6 {
            world.spawn_pawn(slot).unwrap();
        }
        let inputs = vec![PlayerInput::default(); 6];
        Self { world, dice: Dice::new(seed), props: Vec::new(), inputs }
    }

    fn prop(&mut self) -> Prop {
        let position = self.dice.within(20.0);
        Prop { kind: NetKind::Prop, position, rotation: Quat::from_rotation_y(position.x) }
    }

    fn tick(&mut self) -> u64 {
        if self.dice.one_in(20) {
            let prop = self.prop();
            self.props.extend(self.world.spawn_prop(prop).unwrap());
        }
        if self.dice.one_in(40) && !self.props.is_empty() {
            self.world.despawn(self.props.remove(0));
        }
        for id in self.props.clone() {
            let prop = self.prop();
            assert!(self.world.set_prop(id, prop));
        }
        if self.dice.one_in(100) {
            let slot = self.world.pawns().next().map(|pawn| (pawn.id(), pawn.slot()));
            let (id, slot) = slot.unwrap();
            self.world.despawn(id);
            self.world.spawn_pawn(slot).unwrap();
        }
        self.inputs.iter_mut().for_each(|input| *input = self.dice.input(input));
        let mut inputs = self.inputs.iter();
        self.world.step(|_| inputs.next().copied());
        let mut digest = Digest::new();
        self.world.digest(&mut digest);
        digest.value()
    }

    fn words(&self) -> Vec<u64> {
        let mut words = Vec::new();
        self.world.checkpoint().to_words(&mut words);
        words
    }

    /// The same in a new world, as another process would make it.
    fn again(&self) -> Self {
        let mut world = World::gray_box(TickRate::DEFAULT);
        world.restore(&read(&self.words()).unwrap());
        Self {
            world,
            dice: self.dice.clone(),
            props: self.props.clone(),
            inputs: self.inputs.clone(),
        }
    }
}

fn read(words: &[u64]) -> Result<Checkpoint, Damage> {
    Checkpoint::of_words(&mut Words::new(words), TickRate::DEFAULT, Ground::gray_box())
}

#[test]
fn thirty_seconds_of_moving_props_and_jumping_pawns_go_on_alike_from_wherever_they_are_cut() {
    for cut in [0, 1, 77, 1_000] {
        let mut first = Busy::new(cut);
        for _ in 0..cut {
            first.tick();
        }
        let mut again = first.again();
        assert_eq!(again.words(), first.words());
        for tick in 0..1_800 {
            assert_eq!(again.tick(), first.tick(), "{tick} ticks after {cut}");
        }
    }
}

#[test]
fn a_checkpoint_of_another_map_or_cut_short_is_refused_with_its_place() {
    let mut busy = Busy::new(7);
    for _ in 0..200 {
        busy.tick();
    }
    let words = busy.words();
    for end in 0..words.len() {
        let damage = read(&words[..end]).unwrap_err();
        assert!(damage.word <= end, "{damage}");
    }
    let mut other = words.clone();
    other[2] ^= 1;
    assert_eq!(read(&other).unwrap_err(), Damage { word: 2, expected: "the map it was taken in" });
}

#[test]
fn a_slot_that_nothing_pays_for_is_refused_before_there_is_space_for_it() {
    let mut world = World::gray_box(TickRate::DEFAULT);
    world.spawn_pawn(0).unwrap();
    let mut words = Vec::new();
    world.checkpoint().to_words(&mut words);
    let at = words.len() - 9;
    let (_, pawn) = dh_machine::halves(words[at]);
    words[at] = joined(EntityId::SLOT_MAX / 4, pawn);
    assert_eq!(read(&words).unwrap_err().expected, "entities in the order of their slots");
}

proptest! {
    #[test]
    fn whatever_word_is_changed_the_result_is_a_checkpoint_or_an_error(
        (at, word) in (any::<prop::sample::Index>(), any::<u64>()),
    ) {
        let mut busy = Busy::new(7);
        for _ in 0..50 {
 busy.tick();
 }
        let mut words = busy.words();
        let at = at.index(words.len());
        words[at] ^= word;
        let changed = read(&words);
        if word == 0 || at == 2 {
            prop_assert_eq!(changed.is_ok(), word == 0);
        }
    }
}
