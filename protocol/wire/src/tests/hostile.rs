//! Bytes that nobody meant to be read.

use alloc::vec::Vec;

use proptest::prelude::*;

use super::shapes::{
    CountedPacket, Everything, Lists, Marks, Names, Nested, Scalars, Sectioned, Sparse, Texts,
    Unions, bytes, everything,
};
use crate::{Fault, Fields, Schema, decode};

/// Every strict prefix is refused, and so is a byte more.
fn holds_its_length<F: Fields + core::fmt::Debug + PartialEq>(value: F) {
    let mut packet = bytes(value);
    for cut in 0..packet.len() {
        let read = decode::<F>(&packet[..cut]);
        assert_eq!(read.map_err(|e| e.fault), Err(Fault::Truncated), "{} {cut}", F::SHAPE);
    }
    packet.push(0);
    assert_eq!(decode::<F>(&packet).map_err(|e| e.fault), Err(Fault::Trailing(1)), "{}", F::SHAPE);
}

/// WIRE-22
#[test]
fn too_few_and_too_many_bytes_are_refused() {
    let all = everything();
    holds_its_length::<Scalars>(all.scalars);
    holds_its_length::<Names>(all.names);
    holds_its_length::<Marks>(all.marks);
    holds_its_length::<Texts>(all.texts);
    holds_its_length::<Lists>(all.lists);
    holds_its_length::<CountedPacket>(all.counted);
    holds_its_length::<Sparse>(Sparse { lamp: all.lamp, after: 1 });
    holds_its_length::<Unions>(all.unions);
    holds_its_length::<Sectioned>(all.sectioned);
    holds_its_length::<Nested>(Nested::default());
}

/// A packet of every construct with bytes changed, cut or added.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let whole = bytes(everything());
    let len = whole.len();
    let changes = prop::collection::vec((0..len, any::<u8>()), 0..6);
    (changes, 0..=len, prop::collection::vec(any::<u8>(), 0..4)).prop_map(
        move |(changes, cut, added)| {
            let mut packet = whole.clone();
            changes.into_iter().for_each(|(at, byte)| packet[at] = byte);
            packet.truncate(cut.max(len / 2));
            packet.extend(added);
            packet
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    /// WIRE-22
    #[test]
    fn ten_thousand_mutations_give_a_value_or_an_error(packet in mutated()) {
        if let Ok(value) = decode::<Everything>(&packet) {
            // What was read can be written and read again.
            let again = decode::<Everything>(&bytes(value.clone()));
            prop_assert_eq!(again, Ok(value));
        }
    }

    /// WIRE-03, WIRE-22
    #[test]
    fn the_schema_alone_agrees_with_the_reader(packet in mutated()) {
        let mut schema = Schema::default();
        schema.shape::<Everything>().unwrap();
        let stepped = crate::stride::stride(&schema, "Everything", &packet, &mut |_| {});
        let read = decode::<Everything>(&packet);
        prop_assert_eq!(stepped.is_ok(), read.is_ok(), "{:?} but {:?}", stepped, read);
    }
}
