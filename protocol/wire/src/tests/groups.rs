//! Nesting, optionals, lists, sparse sets, unions, sections, tails and rests.

use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::shapes::{
    CountedHead, CountedPacket, Lamp, Last, Later, Lists, Material, Nested, Pair, Sectioned,
    Sliced, Sparse, Tailed, Unions, WideMaterial, bytes, everything, refusal,
};
use crate::{
    Count16, Counted, Fault, Few8, Fields, Full, Group, Mark, Reader, Section, Slot, Tail, Walk,
    WireError, decode, message,
};

message!(
    struct Maybe {
        value: Option<u32>,
    }
);

/// WIRE-03
#[test]
fn a_value_of_every_construct_reads_back() {
    let value = everything();
    let packet = bytes(value.clone());
    let read = decode(&packet);
    // What is not set in a sparse set does not travel.
    assert_eq!(read.as_ref(), Ok(&value));
    assert_eq!(bytes(read.unwrap()), packet);
}

/// WIRE-10
#[test]
fn a_shape_inside_another_has_no_bytes_of_its_own() {
    let pair = Pair { left: 2, right: 0x0403 };
    let nested = bytes(Nested { before: 1, pair: pair.clone(), after: 5 });
    assert_eq!(nested, [1, 2, 3, 4, 5]);
    assert_eq!(nested[1..4], bytes(pair));
}

/// WIRE-11
#[test]
fn an_optional_is_a_presence_byte_then_the_value() {
    assert_eq!(bytes(Maybe { value: None }), [0]);
    assert_eq!(bytes(Maybe { value: Some(7) }), [1, 7, 0, 0, 0]);
    assert_eq!(decode::<Maybe>(&[0]), Ok(Maybe { value: None }));
    assert_eq!(decode::<Maybe>(&[1, 7, 0, 0, 0]), Ok(Maybe { value: Some(7) }));
    let refused = WireError::new("value", Fault::NotBool(2));
    assert_eq!(decode::<Maybe>(&[2, 7, 0, 0, 0]), Err(refused));
}

/// WIRE-12
#[test]
fn a_list_over_its_cap_is_refused_by_the_writer_and_emits_nothing() {
    let fits = Lists { short: vec![1, 2, 3].into(), ..Lists::default() };
    assert_eq!(decode::<Lists>(&bytes(fits.clone())), Ok(fits));
    let over = Lists { short: vec![1, 2, 3, 4].into(), ..Lists::default() };
    assert_eq!(refusal(over), WireError::new("short", Fault::TooMany { count: 4, cap: 3 }));
    let over = Lists { long: vec![Pair::default(); 301].into(), ..Lists::default() };
    assert_eq!(refusal(over), WireError::new("long", Fault::TooMany { count: 301, cap: 300 }));
}

/// WIRE-12
#[test]
fn a_forged_count_over_the_cap_is_refused() {
    let mut forged = vec![4];
    forged.resize(4096, 0);
    let refused = WireError::new("short", Fault::TooMany { count: 4, cap: 3 });
    assert_eq!(decode::<Lists>(&forged), Err(refused));
    let mut forged = vec![0, 45, 1];
    forged.resize(4096, 0);
    let refused = WireError::new("long", Fault::TooMany { count: 301, cap: 300 });
    assert_eq!(decode::<Lists>(&forged), Err(refused));
    let refused = WireError::new("inline", Fault::TooMany { count: 5, cap: 4 });
    assert_eq!(decode::<Lists>(&[&[0, 0, 0, 5][..], &[0; 20]].concat()), Err(refused));
}

/// WIRE-12
#[test]
fn a_count_that_the_bytes_cannot_fill_is_refused_at_once() {
    // Three pairs need nine bytes; the count alone must be enough to see that.
    let refused = WireError::new("long", Fault::Truncated);
    assert_eq!(decode::<Lists>(&[0, 3, 0, 1, 1, 1, 1, 1, 1, 1, 1]), Err(refused));
}

/// WIRE-12
#[test]
fn an_inline_list_travels_like_any_other() {
    let lists = Lists { inline: Few8::of([1.5]), ..Lists::default() };
    let packet = bytes(lists.clone());
    assert_eq!(packet, [&[0, 0, 0, 1][..], &1.5_f32.to_le_bytes(), &[0]].concat());
    assert_eq!(decode::<Lists>(&packet), Ok(lists));

    let mut few = Few8::<u8, 2>::try_from(&[1][..]).unwrap();
    assert_eq!(few.push(2), Ok(()));
    assert_eq!(few.push(3), Err(Full));
    assert_eq!(few[..], [1, 2]);
    assert_eq!(Few8::<u8, 2>::try_from(&[1, 2, 3][..]), Err(Full));
    few.clear();
    assert!(few.is_empty());
}

fn counted(told: u16, held: usize) -> CountedPacket {
    CountedPacket {
        head: CountedHead { entry_count: Count16(told), revision: 9 },
        entries: vec![Pair { left: 1, right: 1 }; held].into(),
        after: 0xee,
    }
}

/// WIRE-13
#[test]
fn a_list_takes_its_count_from_the_head() {
    let packet = bytes(counted(2, 2));
    assert_eq!(packet, [2, 0, 9, 0, 0, 0, 1, 1, 0, 1, 1, 0, 0xee]);
    assert_eq!(decode::<CountedPacket>(&packet), Ok(counted(2, 2)));

    // Another count: as many records are read, and what follows is then read from elsewhere.
    let fewer = [&[1][..], &packet[1..9], &[0xee]].concat();
    assert_eq!(decode::<CountedPacket>(&fewer), Ok(counted(1, 1)));
    let mut changed = packet.clone();
    changed[0] = 1;
    assert_eq!(decode::<CountedPacket>(&changed).unwrap_err().fault, Fault::Trailing(3));
}

/// WIRE-13
#[test]
fn a_count_past_the_cap_or_unlike_the_list_is_refused() {
    let mut forged = bytes(counted(5, 5));
    forged[0] = 6;
    forged.extend_from_slice(&[0; 100]);
    let refused = WireError::new("entries", Fault::TooMany { count: 6, cap: 5 });
    assert_eq!(decode::<CountedPacket>(&forged), Err(refused));
    assert_eq!(refusal(counted(6, 6)), refused);
    let unlike = WireError::new("entries", Fault::CountDiffers { told: 1, held: 2 });
    assert_eq!(refusal(counted(1, 2)), unlike);
}

message!(
    struct Uncounted {
        entries: Counted<u8, 5>,
    }
);

message!(
    struct CountedTwice {
        count: Count16,
        first: Counted<u8, 5>,
        second: Counted<u8, 5>,
    }
);

/// WIRE-13
#[test]
fn a_counted_list_needs_a_count_that_no_other_list_took() {
    let none = WireError::new("entries", Fault::NoCount);
    assert_eq!(refusal(Uncounted::default()), none);
    assert_eq!(decode::<Uncounted>(&[]), Err(none));
    assert_eq!(crate::Schema::default().shape::<Uncounted>(), Err(none));
    let none = WireError::new("second", Fault::NoCount);
    assert_eq!(refusal(CountedTwice::default()), none);
    assert_eq!(decode::<CountedTwice>(&[1, 0, 5, 5]), Err(none));
}

/// WIRE-14
#[test]
fn a_sparse_set_carries_only_its_members_and_keeps_the_others() {
    let lamp = Lamp { set: 0b1001, on: 1, level: 0.5, colour: 3, angle: 0x0708 };
    let packet = bytes(Sparse { lamp, after: 6 });
    assert_eq!(packet, [0b1001, 1, 8, 7, 6]);

    let mut kept =
        Sparse { lamp: Lamp { set: 0, on: 0, level: 0.25, colour: 42, angle: 0 }, after: 0 };
    kept.fields(&mut Reader::new(&packet)).unwrap();
    let lamp = Lamp { set: 0b1001, on: 1, level: 0.25, colour: 42, angle: 0x0708 };
    assert_eq!(kept, Sparse { lamp, after: 6 });
}

/// WIRE-14
#[test]
fn a_mask_bit_without_a_member_is_refused() {
    let refused = WireError::new("lamp", Fault::UnknownBits(0b1_0000));
    assert_eq!(decode::<Sparse>(&[0b1_0000, 6]), Err(refused));
    let lamp = Lamp { set: 0b1_0000, ..Lamp::default() };
    assert_eq!(refusal(Sparse { lamp, after: 6 }), refused);
}

/// WIRE-15
#[test]
fn each_case_of_a_union_is_its_tag_then_its_shape() {
    let wide = WideMaterial::Number(6);
    let cases = [
        (Material::Number(7), vec![2, 7, 0, 0, 0]),
        (Material::Both(Pair { left: 1, right: 2 }), vec![9, 1, 2, 0]),
        (Material::Colour([0.0; 3]), [&[5][..], &[0; 12]].concat()),
    ];
    for (one, front) in cases {
        let value = Unions { one, wide: wide.clone(), after: 3 };
        let packet = [&front[..], &[0x70, 0x11, 1, 0, 6, 0, 0, 0, 3]].concat();
        assert_eq!(bytes(value.clone()), packet);
        assert_eq!(decode::<Unions>(&packet), Ok(value));
    }
}

/// WIRE-15
#[test]
fn an_unknown_tag_is_refused() {
    let packet = [3, 7, 0, 0, 0, 0x70, 0x11, 1, 0, 6, 0, 0, 0, 3];
    let refused = WireError::new("one", Fault::UnknownCase(3));
    assert_eq!(decode::<Unions>(&packet), Err(refused));
}

/// WIRE-16
#[test]
fn a_section_is_stepped_over_as_a_whole() {
    let section = Section(Pair { left: 7, right: 8 });
    let value = Sectioned { before: 1, section, after: 2 };
    assert_eq!(bytes(value.clone()), [1, 3, 0, 7, 8, 0, 2]);
    // Two bytes more than the own body knows.
    assert_eq!(decode::<Sectioned>(&[1, 5, 0, 7, 8, 0, 0xaa, 0xbb, 2]), Ok(value));
}

/// WIRE-16
#[test]
fn a_section_past_the_packet_or_shorter_than_its_body_is_refused() {
    let refused = WireError::new("section", Fault::Truncated);
    assert_eq!(decode::<Sectioned>(&[1, 5, 0, 7, 8, 0, 2]), Err(refused));
    let refused = WireError::new("right", Fault::Truncated);
    assert_eq!(decode::<Sectioned>(&[1, 2, 0, 7, 8, 0, 2]), Err(refused));
}

message!(
    struct Inner {
        later: Section<Later>,
        after: u8,
    }
);

/// WIRE-16, WIRE-17
#[test]
fn a_tail_inside_a_section_ends_with_the_section() {
    let read = decode::<Inner>(&[2, 0, 5, 0, 9]).unwrap();
    assert_eq!(read.later.0, Later { second: 5, more: Tail(Last { third: 0 }) });
    assert_eq!(read.after, 9);
}

message!(
    struct Deep {
        outer: Section<Sectioned>,
        after: u8,
    }
);

/// WIRE-16
#[test]
fn a_section_in_a_section_returns_to_the_outer_one() {
    let outer = Sectioned { before: 1, section: Section(Pair { left: 2, right: 3 }), after: 4 };
    let value = Deep { outer: Section(outer), after: 5 };
    let packet = bytes(value.clone());
    assert_eq!(packet, [7, 0, 1, 3, 0, 2, 3, 0, 4, 5]);
    assert_eq!(decode::<Deep>(&packet), Ok(value.clone()));
    let longer = [8, 0, 1, 3, 0, 2, 3, 0, 4, 0xaa, 5];
    assert_eq!(decode::<Deep>(&longer), Ok(value));
}

message!(
    struct Bulky {
        section: Section<Bulk>,
    }
);

message!(
    struct Bulk {
        rest: crate::Rest,
    }
);

/// WIRE-16
#[test]
fn a_section_longer_than_its_length_can_say_is_refused_on_writing() {
    let bulk = |len| Bulky { section: Section(Bulk { rest: vec![0; len].into() }) };
    assert_eq!(bytes(bulk(65_535)).len(), 65_537);
    let refused = Fault::TooLong { len: 65_536, cap: 65_535 };
    assert_eq!(refusal(bulk(65_536)).fault, refused);
}

/// WIRE-17
#[test]
fn a_packet_may_end_at_a_tail_and_nowhere_else() {
    let later = Later { second: 0x0203, more: Tail(Last { third: 4 }) };
    let whole = Tailed { first: 1, later: Tail(later) };
    let packet = bytes(whole.clone());
    assert_eq!(packet, [1, 3, 2, 4]);
    assert_eq!(decode::<Tailed>(&packet), Ok(whole.clone()));

    let no_third = Later { second: 0x0203, more: Tail(Last { third: 0 }) };
    let expected = Tailed { first: 1, later: Tail(no_third) };
    assert_eq!(decode::<Tailed>(&packet[..3]), Ok(expected));
    // Past the tail everything keeps what it was set to before, here a default that is not zero.
    let no_later = Later { second: 77, more: Tail(Last { third: 0 }) };
    assert_eq!(decode::<Tailed>(&packet[..1]), Ok(Tailed { first: 1, later: Tail(no_later) }));

    let refused = WireError::new("second", Fault::Truncated);
    assert_eq!(decode::<Tailed>(&packet[..2]), Err(refused));
    let refused = WireError::new("first", Fault::Truncated);
    assert_eq!(decode::<Tailed>(&[]), Err(refused));
    let refused = WireError::new("", Fault::Trailing(1));
    assert_eq!(decode::<Tailed>(&[1, 3, 2, 4, 0]), Err(refused));
}

#[test]
fn a_rest_is_every_byte_to_the_end() {
    let value = Sliced { index: 1, rest: (&[2, 3][..]).into() };
    assert_eq!(bytes(value.clone()), [1, 2, 3]);
    assert_eq!(decode::<Sliced>(&[1, 2, 3]), Ok(value));
    assert_eq!(decode::<Sliced>(&[1]).unwrap().rest.len(), 0);
}

/// A walk that writes down what it is shown.
#[derive(Default)]
struct Recorder(Vec<&'static str>);

impl Walk for Recorder {
    fn leaf(&mut self, name: &'static str, _: Slot<'_>) -> Result<(), WireError> {
        self.0.push(name);
        Ok(())
    }

    fn record(&mut self, name: &'static str, _: &'static str) -> Result<Mark, WireError> {
        self.0.push(name);
        Ok(Mark::FLAT)
    }

    fn open(&mut self, name: &'static str, _: Group<'_>) -> Result<Mark, WireError> {
        self.0.push(name);
        Ok(Mark::FLAT)
    }

    fn close(&mut self, _: Mark) -> Result<(), WireError> {
        self.0.push(".");
        Ok(())
    }
}

/// WIRE-01, WIRE-02, WIRE-04
#[test]
fn a_walk_is_shown_each_field_once_by_name_in_wire_order() {
    let mut recorder = Recorder::default();
    Nested::default().fields(&mut recorder as &mut dyn Walk).unwrap();
    assert_eq!(recorder.0, ["before", "pair", "left", "right", ".", "after"]);
    // The order of the names is the order of the bytes.
    let nested = Nested { before: 1, pair: Pair { left: 2, right: 3 }, after: 4 };
    assert_eq!(bytes(nested), [1, 2, 3, 0, 4]);
}

fn lists() -> impl Strategy<Value = Lists> {
    let pair = (any::<u8>(), any::<u16>()).prop_map(|(left, right)| Pair { left, right });
    let few = prop::collection::vec(-1.0e9_f32..1.0e9, 0..=4);
    let short = prop::collection::vec(any::<u16>(), 0..=3);
    let long = prop::collection::vec(pair, 0..40);
    (short, long, few).prop_map(|(short, long, few)| Lists {
        short: short.into(),
        long: long.into(),
        inline: Few8::try_from(&few[..]).unwrap(),
        texts: Vec::new().into(),
    })
}

proptest! {
    /// WIRE-03, WIRE-12
    #[test]
    fn every_list_within_its_cap_reads_back(value in lists()) {
        prop_assert_eq!(decode::<Lists>(&bytes(value.clone())), Ok(value));
    }
}
