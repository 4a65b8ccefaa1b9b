//! A queue as words, so that a world can be gone on with in another process. Totals are left out:
//! they decide nothing.

use alloc::vec::Vec;

use dh_machine::{Damage, Words, halves, joined};
use dh_messages::{Buttons, PlayerInput};

use super::{InputQueue, Settled};

/// Words of one input.
pub const INPUT_WORDS: usize = 3;

/// An input as words.
#[must_use]
pub fn input_words(input: &PlayerInput) -> [u64; INPUT_WORDS] {
    let moves = [input.move_x, input.move_y, input.move_z].map(i8::cast_unsigned);
    let [x, y, z] = moves.map(u64::from);
    [
        joined(input.sequence, u32::from(input.buttons.bits())),
        x << 16 | y << 8 | z,
        joined(input.yaw.to_bits(), input.pitch.to_bits()),
    ]
}

/// The input of these words.
///
/// # Errors
/// They are none.
pub fn input_of_words(words: &mut Words<'_>) -> Result<PlayerInput, Damage> {
    let (sequence, buttons) = words.read("a sequence and buttons", |word| {
        let (sequence, buttons) = halves(word);
        Some((sequence, Buttons::of_bits(u16::try_from(buttons).ok()?)?))
    })?;
    let [_, _, _, _, _, x, y, z] = words.next("a direction")?.to_be_bytes();
    let [move_x, move_y, move_z] = [x, y, z].map(u8::cast_signed);
    let (yaw, pitch) = words.read("two angles", |word| {
        let (yaw, pitch) = halves(word);
        let (yaw, pitch) = (f32::from_bits(yaw), f32::from_bits(pitch));
        (yaw.is_finite() && pitch.is_finite()).then_some((yaw, pitch))
    })?;
    Ok(PlayerInput { sequence, move_x, move_y, move_z, buttons, yaw, pitch })
}

impl InputQueue {
    /// Appends everything that decides the future.
    pub fn to_words(&self, out: &mut Vec<u64>) {
        out.push(self.waiting.len() as u64);
        self.waiting.iter().for_each(|input| out.extend(input_words(input)));
        out.push(u64::from(self.last.is_some()));
        self.last.iter().for_each(|input| out.extend(input_words(input)));
        out.push(joined(self.settled.applied, self.settled.top));
        let mask = self.settled.mask.to_be_bytes();
        let (upper, lower) = mask.split_at(8);
        out.extend(
            [upper, lower]
                .map(|half| half.iter().fold(0, |word, byte| word << 8 | u64::from(*byte))),
        );
        let priming = self.priming.map_or(0, |ticks| u32::from(ticks) + 1);
        out.push(joined(self.starved_run, priming));
        out.push(u64::from(self.depth.cast_unsigned()));
    }

    /// The queue of these words.
    ///
    /// # Errors
    /// They are none.
    pub fn of_words(words: &mut Words<'_>) -> Result<Self, Damage> {
        let mut queue = Self::default();
        let many = words.damage("at most 12 inputs that wait");
        let waiting = words.count("inputs that wait", INPUT_WORDS)?;
        if waiting > Self::MAX {
            return Err(many);
        }
        for _ in 0..waiting {
            let order = words.damage("inputs in the order of their numbers");
            let input = input_of_words(words)?;
            if queue.waiting.back().is_some_and(|last| last.sequence >= input.sequence) {
                return Err(order);
            }
            queue.waiting.push_back(input);
        }
        if words.read("whether there is a last input", |word| (word < 2).then_some(word == 1))? {
            queue.last = Some(input_of_words(words)?);
        }
        let (applied, top) = words.read("what was applied", |word| {
            let (applied, top) = halves(word);
            (applied <= top).then_some((applied, top))
        })?;
        let first = queue.waiting.front().map_or(u32::MAX, |input| input.sequence);
        if first <= applied {
            return Err(words.damage("inputs that wait and were not applied"));
        }
        let mask = u128::from(words.next("a mask")?) << 64 | u128::from(words.next("a mask")?);
        queue.settled = Settled { applied, top, mask };
        let (starved_run, priming) = halves(words.next("a run of starved ticks")?);
        queue.starved_run = starved_run;
        queue.priming = match priming.checked_sub(1) {
            None => None,
            Some(ticks) => Some(u8::try_from(ticks).map_err(|_| words.damage("ticks to wait"))?),
        };
        queue.depth = words.read("a depth", |word| u8::try_from(word).ok())?.cast_signed();
        Ok(queue)
    }
}
