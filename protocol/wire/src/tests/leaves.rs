//! Numbers, texts, hashes, enums and flags.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::shapes::{
    Growing, Keys, Marks, Names, Narrow, Scalars, Texts, Wide, bytes, refusal, scalars,
};
use crate::{Fault, Guid, Hash128, Reader, Slot, Str8, Str16, Varu32, Walk, WireError, decode};

/// WIRE-05
#[test]
fn scalars_keep_their_extremes_in_their_exact_widths() {
    let zero = Scalars::default();
    let low_varu32 = 1 + 2 + 4 + 8 + 1 + 2 + 4 + 8 + 4 + 8 + 1 + 1 + 12 + 16;
    assert_eq!(bytes(zero.clone()).len(), low_varu32);
    assert_eq!(decode::<Scalars>(&bytes(zero.clone())), Ok(zero));

    let least = scalars();
    assert_eq!(bytes(least.clone()).len(), low_varu32 + 4);
    assert_eq!(decode::<Scalars>(&bytes(least.clone())), Ok(least));

    let most = Scalars {
        small: i8::MAX,
        short: i16::MAX,
        int: i32::MAX,
        huge: i64::MAX,
        single: f32::MAX,
        double: f64::MIN,
        ..scalars()
    };
    assert_eq!(decode::<Scalars>(&bytes(most.clone())), Ok(most));
}

/// WIRE-05
#[test]
fn numbers_are_little_endian() {
    let head = bytes(Scalars { byte: 1, word: 0x0203, long: 0x0405_0607, ..Scalars::default() });
    assert_eq!(head[..7], [1, 3, 2, 7, 6, 5, 4]);
}

/// WIRE-05
#[test]
fn a_truth_value_is_zero_or_one() {
    let mut value = true;
    let read = Reader::new(&[2]).leaf("yes", Slot::Bool(&mut value));
    assert_eq!(read, Err(WireError::new("yes", Fault::NotBool(2))));
}

/// WIRE-05
#[test]
fn a_float_that_is_not_finite_is_refused_by_both_sides() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let vector = Scalars { vector: [0.0, bad, 0.0], ..scalars() };
        assert_eq!(refusal(vector), WireError::new("vector", Fault::NotFinite));
        let turn = Scalars { turn: [0.0, 0.0, 0.0, bad], ..scalars() };
        assert_eq!(refusal(turn), WireError::new("turn", Fault::NotFinite));
        let single = Scalars { single: bad, ..scalars() };
        assert_eq!(refusal(single), WireError::new("single", Fault::NotFinite));
        let double = Scalars { double: bad.into(), ..scalars() };
        assert_eq!(refusal(double), WireError::new("double", Fault::NotFinite));

        let mut out = [0.0; 3];
        for at in 0..3 {
            let mut packet = [0; 12];
            packet[at * 4..at * 4 + 4].copy_from_slice(&bad.to_le_bytes());
            let read = Reader::new(&packet).leaf("vector", Slot::F32x3(&mut out));
            assert_eq!(read, Err(WireError::new("vector", Fault::NotFinite)));
        }
        let packet = f64::from(bad).to_le_bytes();
        let read = Reader::new(&packet).leaf("double", Slot::F64(&mut 0.0));
        assert_eq!(read, Err(WireError::new("double", Fault::NotFinite)));
    }
}

fn varu32(value: u32) -> Vec<u8> {
    let mut out = vec![];
    crate::Writer::new(&mut out).leaf("n", Slot::Varu32(&mut { value })).unwrap();
    out
}

fn read_varu32(packet: &[u8]) -> Result<u32, Fault> {
    let mut value = 0;
    let mut reader = Reader::new(packet);
    reader.leaf("n", Slot::Varu32(&mut value)).map_err(|e| e.fault)?;
    reader.finish().map_err(|e| e.fault)?;
    Ok(value)
}

/// WIRE-06
#[test]
fn a_varu32_takes_one_byte_for_each_seven_bits() {
    let sizes = [
        (0, 1),
        (127, 1),
        (128, 2),
        (16_383, 2),
        (16_384, 3),
        (2_097_151, 3),
        (2_097_152, 4),
        (u32::MAX, 5),
    ];
    for (value, size) in sizes {
        assert_eq!(varu32(value).len(), size, "{value}");
        assert_eq!(read_varu32(&varu32(value)), Ok(value));
    }
}

/// WIRE-06
#[test]
fn an_over_long_or_over_wide_varu32_is_refused() {
    for bad in [
        &[0x80, 0x00][..],
        &[0xff, 0x80, 0x00],
        &[0xff, 0xff, 0xff, 0xff, 0x10],
        &[0xff, 0xff, 0xff, 0xff, 0x8f, 0x00],
    ] {
        assert_eq!(read_varu32(bad), Err(Fault::Overlong), "{bad:?}");
    }
    assert_eq!(read_varu32(&[0x80]), Err(Fault::Truncated));
}

proptest! {
    /// WIRE-06
    #[test]
    fn every_varu32_reads_back(value: u32) {
        prop_assert_eq!(read_varu32(&varu32(value)), Ok(value));
    }

    /// WIRE-03, WIRE-07
    #[test]
    fn every_text_within_its_cap_reads_back(short in ".{0,60}", long in ".{0,400}") {
        let value = Texts { short: short.into(), long: long.into(), capped: Str8::clipped("ab") };
        prop_assert_eq!(decode::<Texts>(&bytes(value.clone())), Ok(value));
    }
}

/// WIRE-07
#[test]
fn a_short_text_holds_255_bytes_and_a_long_one_65535() {
    let fits = Texts {
        short: "x".repeat(255).into(),
        long: "y".repeat(65_535).into(),
        capped: "abcd".into(),
    };
    let packet = bytes(fits.clone());
    assert_eq!(packet.len(), 1 + 255 + 2 + 65_535 + 1 + 4);
    assert_eq!(decode::<Texts>(&packet), Ok(fits));

    let short = Texts { short: "x".repeat(256).into(), ..Texts::default() };
    assert_eq!(refusal(short).fault, Fault::TooLong { len: 256, cap: 255 });
    let long = Texts { long: "y".repeat(65_536).into(), ..Texts::default() };
    assert_eq!(refusal(long).fault, Fault::TooLong { len: 65_536, cap: 65_535 });
}

/// WIRE-07
#[test]
fn the_cap_of_a_text_holds_for_writer_and_reader() {
    let over = Texts { capped: "abcde".into(), ..Texts::default() };
    let refused = WireError::new("capped", Fault::TooLong { len: 5, cap: 4 });
    assert_eq!(refusal(over), refused);
    assert_eq!(decode::<Texts>(&[0, 0, 0, 5, 97, 97, 97, 97, 97]), Err(refused));
}

/// WIRE-07
#[test]
fn text_that_is_not_utf8_is_refused() {
    let refused = WireError::new("short", Fault::NotUtf8);
    assert_eq!(decode::<Texts>(&[2, 0xc3, 0x28, 0, 0, 0]), Err(refused));
}

/// WIRE-07
#[test]
fn clipping_cuts_between_two_characters() {
    assert_eq!(Str8::<4>::clipped("abc\u{e9}").as_str(), "abc");
    assert_eq!(Str16::<5>::clipped("abc\u{e9}").as_str(), "abc\u{e9}");
}

/// WIRE-08
#[test]
fn hashes_and_guids_take_sixteen_bytes_in_written_order() {
    let mut guid = [0; 16];
    (0_u8..).zip(&mut guid).for_each(|(at, byte)| *byte = at * 0x11);
    let marks = Marks { hash: Hash128([9; 16]), guid: Guid(guid), ..Marks::default() };
    let packet = bytes(marks.clone());
    assert_eq!(packet.len(), 16 + 16 + 32 + 16 + 32);
    assert_eq!(packet[..16], [9; 16]);
    // The order of RFC 4122: the bytes are those of the text, from left to right.
    assert_eq!(packet[16..32], guid);
    let text = alloc::format!("{}", marks.guid);
    assert_eq!(text, "00112233-4455-6677-8899-aabbccddeeff");
    assert_eq!(decode::<Marks>(&packet), Ok(marks));
}

/// WIRE-08, WIRE-20
#[test]
fn a_hash_is_xxh128_in_big_endian() {
    assert_eq!(alloc::format!("{}", Hash128::of(b"")), "99aa06d3014798d86001c324468d497f");
    assert_eq!(alloc::format!("{}", Hash128::of(b"").short()), "99aa06d3");
}

/// WIRE-09
#[test]
fn enums_travel_in_one_byte_or_in_four() {
    let value = Names {
        narrow: Narrow::Seventh,
        wide: Wide::Far,
        growing: Growing::Door,
        keys: Keys::JUMP | Keys::LAST,
    };
    let packet = bytes(value.clone());
    assert_eq!(packet, [7, 0x70, 0x11, 0x01, 0x00, 4, 0x01, 0x80]);
    assert_eq!(decode::<Names>(&packet), Ok(value));
}

/// WIRE-09
#[test]
fn a_value_without_a_name_is_refused_unless_the_enum_is_open() {
    let narrow = decode::<Names>(&[8, 1, 0, 0, 0, 4, 0, 0]);
    assert_eq!(narrow, Err(WireError::new("narrow", Fault::UnknownMember(8))));
    let wide = decode::<Names>(&[7, 2, 0, 0, 0, 4, 0, 0]);
    assert_eq!(wide, Err(WireError::new("wide", Fault::UnknownMember(2))));
    let open = decode::<Names>(&[7, 1, 0, 0, 0, 200, 0, 0]).unwrap();
    assert_eq!(open.growing, Growing::Unknown(200));
    assert_eq!(bytes(open)[5], 200);
}

/// WIRE-09
#[test]
fn a_flag_without_a_name_is_refused() {
    let read = decode::<Names>(&[7, 1, 0, 0, 0, 4, 0b101, 0]);
    assert_eq!(read, Err(WireError::new("keys", Fault::UnknownBits(0b100))));
    assert_eq!(Keys::of_bits(0b100), None);
}

#[test]
fn flags_are_set_cleared_and_named() {
    let mut keys = Keys::NONE.with(Keys::CROUCH, true);
    keys.set(Keys::LAST, true);
    assert!(keys.contains(Keys::LAST) && !keys.contains(Keys::LAST | Keys::JUMP));
    assert_eq!(keys.with(Keys::LAST, false), Keys::CROUCH);
    assert_eq!(alloc::format!("{keys:?} {:?}", Keys::NONE), "Keys(CROUCH|LAST) Keys(-)");
    assert_eq!(keys & Keys::LAST, Keys::LAST);
    assert!(Keys::default().is_empty() && Keys::of_bits(keys.bits()) == Some(keys));
}

#[test]
fn a_varu32_is_made_from_a_number_and_a_text_gives_its_string_back() {
    assert_eq!(Varu32::from(3), Varu32(3));
    assert_eq!(String::from(Str8::<4>::from("ab")), "ab");
}
