//! Numbers and records of fixed size between two builds that have only their schemas.

use alloc::format;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;
use proptest::sample::Index;

use crate::plan::{Plan, Planned, Scratch};
use crate::schema::{CountAt, Field, MessageEntry, Schema, Shape, Type};
use crate::{Fault, Kind, WireError};

const UP: &str = "toServer";
const INTEGERS: [(Kind, i128, i128); 9] = [
    (Kind::U8, 0, u8::MAX as i128),
    (Kind::U16, 0, u16::MAX as i128),
    (Kind::U32, 0, u32::MAX as i128),
    (Kind::U64, 0, u64::MAX as i128),
    (Kind::I8, i8::MIN as i128, i8::MAX as i128),
    (Kind::I16, i16::MIN as i128, i16::MAX as i128),
    (Kind::I32, i32::MIN as i128, i32::MAX as i128),
    (Kind::I64, i64::MIN as i128, i64::MAX as i128),
    (Kind::Varu32, 0, u32::MAX as i128),
];

type Fields = Vec<(usize, Type)>;

/// A build whose one message has these fields, each called by its number.
fn build(fields: &Fields) -> Schema {
    let field =
        |(name, kind): &(usize, Type)| Field { name: format!("f{name}"), kind: kind.clone() };
    let mut schema = Schema::new(2);
    schema.shapes.insert("It".to_string(), Shape::Record(fields.iter().map(field).collect()));
    let (direction, name, channel) = (UP.to_string(), "it".to_string(), "stream".to_string());
    let shape = "It".to_string();
    schema.messages.push(MessageEntry { direction, id: 7, name, channel, frame: false, shape });
    schema
}

fn rewritten(theirs: &Fields, ours: &Fields, packet: &[u8]) -> Result<Vec<u8>, WireError> {
    let plan = Plan::new(&build(ours), build(theirs), UP).unwrap();
    let mut scratch = Scratch::default();
    // What a packet left behind says nothing of the next.
    let _ = plan.rewrite(7, &[0xee; 60], &mut scratch);
    match plan.rewrite(7, packet, &mut scratch)? {
        Planned::Same(7) => Ok(packet.to_vec()),
        Planned::Rewritten(7) => Ok(scratch.body().to_vec()),
        other => panic!("{other:?}"),
    }
}

fn size(kind: Kind) -> usize {
    match kind {
        Kind::U8 | Kind::I8 | Kind::Bool => 1,
        Kind::U16 | Kind::I16 => 2,
        Kind::U32 | Kind::I32 | Kind::F32 => 4,
        Kind::U64 | Kind::I64 | Kind::F64 => 8,
        Kind::F32x3 => 12,
        Kind::Guid => 16,
        Kind::Root => 32,
        other => panic!("{other:?}"),
    }
}

fn spelled(kind: Kind, value: i128) -> Vec<u8> {
    if kind == Kind::Varu32 {
        let mut left = u32::try_from(value).unwrap();
        let mut bytes = Vec::new();
        while left > 0x7f {
            bytes.push(left.to_le_bytes()[0] | 0x80);
            left >>= 7;
        }
        bytes.push(left.to_le_bytes()[0]);
        return bytes;
    }
    value.to_le_bytes()[..size(kind)].to_vec()
}

/// PLAN-11
#[test]
fn an_integer_of_any_kind_is_read_as_any_other_if_it_fits() {
    for (from, least, most) in INTEGERS {
        for (to, to_least, to_most) in INTEGERS {
            for value in [least, -129, -1, 0, 1, 127, 128, 300, 65_536, most - 1, most] {
                if value < least || value > most {
                    continue;
                }
                let fields = |kind| vec![(0, Type::Leaf(kind)), (1, Type::Leaf(Kind::U8))];
                let packet = [spelled(from, value), vec![9]].concat();
                let kept = if value < to_least || value > to_most { 0 } else { value };
                let expected = [spelled(to, kept), vec![9]].concat();
                let read = rewritten(&fields(from), &fields(to), &packet);
                assert_eq!(read, Ok(expected), "{value} from {from:?} to {to:?}");
            }
        }
    }
}

/// PLAN-17
#[test]
fn a_size_that_was_widened_to_eight_bytes_keeps_five_megabytes_either_way() {
    let fields = |kind| vec![(0, Type::Leaf(Kind::U16)), (1, Type::Leaf(kind))];
    let (narrow, wide) = (fields(Kind::I32), fields(Kind::U64));
    let packet = |kind| [vec![1, 2], spelled(kind, 5 << 20)].concat();
    assert_eq!(rewritten(&narrow, &wide, &packet(Kind::I32)), Ok(packet(Kind::U64)));
    assert_eq!(rewritten(&wide, &narrow, &packet(Kind::U64)), Ok(packet(Kind::I32)));
    let past = [vec![1, 2], spelled(Kind::U64, 1 << 31)].concat();
    assert_eq!(rewritten(&wide, &narrow, &past), Ok(vec![1, 2, 0, 0, 0, 0]));
}

/// Twelve hashes, and more bytes than are moved by one segment.
fn roots() -> (Fields, Vec<Vec<u8>>) {
    let values = (0..12).map(|name| vec![name; 32]).collect();
    ((0..12).map(|name| (name, Type::Leaf(Kind::Root))).collect(), values)
}

/// PLAN-07, PLAN-09, PLAN-10
#[test]
fn a_record_of_more_bytes_than_a_segment_arrives_in_any_order() {
    let (all, values) = roots();
    let packet = values.concat();
    let fewer = all[1..].to_vec();
    assert_eq!(rewritten(&all, &fewer, &packet), Ok(values[1..].concat()));
    let reversed: Fields = all.iter().rev().cloned().collect();
    let backwards: Vec<u8> = values.iter().rev().flatten().copied().collect();
    assert_eq!(rewritten(&all, &reversed, &packet), Ok(backwards));
    let text = |kind: Type| [&all[..], &[(20, kind)]].concat();
    let with_text = [&packet[..], &[2, b'a', b'b']].concat();
    let wider = rewritten(&text(TEXT), &text(Type::Str16(200)), &with_text);
    assert_eq!(wider, Ok([&packet[..], &[2, 0, b'a', b'b']].concat()));
    let held = rewritten(&vec![(20, TEXT)], &text(TEXT), &[0]);
    assert_eq!(held, Ok(vec![0; 12 * 32 + 1]));
}

fn list(entry: Type) -> Fields {
    vec![(0, Type::List { count: CountAt::Two, cap: 65_535, entry: entry.into() })]
}

#[test]
fn a_list_grows_no_further_than_a_share_of_its_packet() {
    let narrow = list(Type::Leaf(Kind::U8));
    let wide = list(Type::Leaf(Kind::U64));
    let packet = |count: u16| [&count.to_le_bytes()[..], &vec![1; usize::from(count)]].concat();
    assert_eq!(rewritten(&narrow, &wide, &packet(9_000)).map(|it| it.len()), Ok(72_002));
    let cap = 2 * 20_002 + (64 << 10);
    let refused = Err(Fault::TooLong { len: 160_002, cap });
    assert_eq!(rewritten(&narrow, &wide, &packet(20_000)).map_err(|it| it.fault), refused);
    // Entries of no fixed size are counted one by one, and the first too many is refused.
    let packed = list(Type::Leaf(Kind::Varu32));
    let refused = Err(Fault::TooLong { len: 105_546, cap: 105_540 });
    assert_eq!(rewritten(&packed, &wide, &packet(20_000)).map_err(|it| it.fault), refused);
}

#[test]
fn a_section_grows_no_longer_than_its_length_can_tell() {
    let section = |kind| -> Fields {
        let [(name, list)] = <[_; 1]>::try_from(list(Type::Leaf(kind))).unwrap();
        vec![(name, Type::Section(list.into()))]
    };
    let packet = |count: u16| {
        let body = [&count.to_le_bytes()[..], &vec![1; usize::from(count)]].concat();
        [&(count + 2).to_le_bytes()[..], &body].concat()
    };
    let read = |count| rewritten(&section(Kind::U8), &section(Kind::U64), &packet(count));
    assert_eq!(read(8_191).map(|it| it.len()), Ok(65_532));
    let refused = Err(Fault::TooLong { len: 65_538, cap: 65_535 });
    assert_eq!(read(8_192).map_err(|it| it.fault), refused);
}

/// What becomes of a packet between two builds whose shapes these are, `It` among them.
fn between(theirs: &str, ours: &str, packet: &[u8]) -> Result<Vec<u8>, WireError> {
    let told = |shapes: &str| {
        let head = "envelope length u32 id u8 body(1048576)\ndatagram id u8 body\n";
        let text = format!("protocol 2\n{head}message toServer 7 it stream It\n{shapes}");
        Schema::read(text.as_bytes()).unwrap()
    };
    let mut scratch = Scratch::default();
    let plan = Plan::new(&told(ours), told(theirs), UP)?;
    assert_eq!(plan.rewrite(7, packet, &mut scratch)?, Planned::Rewritten(7));
    Ok(scratch.body().to_vec())
}

#[test]
fn what_goes_to_the_end_of_a_section_ends_with_it_though_other_fields_were_moved() {
    let it = "record It\n  body section(Body)\n  after u8\n";
    let theirs = format!("record Body\n  first varu32\n  second u8\n  rest rest\n{it}");
    let ours = format!("record Body\n  second u8\n  first varu32\n  rest rest\n{it}");
    let read = between(&theirs, &ours, &[5, 0, 0x80, 1, 7, 8, 9, 10]);
    assert_eq!(read, Ok(vec![5, 0, 7, 0x80, 1, 8, 9, 10]));
}

/// PLAN-09
#[test]
fn where_no_record_says_otherwise_a_value_holds_what_its_type_does() {
    let moods = "record It\n  moods list8(9, Mood)\nopen enum Mood u8\n  Calm 7\n";
    let more = format!("{moods}  Gone 3\n");
    assert_eq!(between(&more, moods, &[3, 7, 3, 7]), Ok(vec![3, 7, 0, 7]));
    let closed = moods.replace("open ", "");
    let more = more.replace("open ", "");
    assert_eq!(between(&more, &closed, &[3, 7, 3, 7]), Ok(vec![3, 7, 7, 7]));
    let tailed = "record It\n  first u8\n  rest tail(u16)\n";
    assert_eq!(between("record It\n  first u8\n", tailed, &[5]), Ok(vec![5]));
}

const KINDS: [Kind; 9] = [
    Kind::U8,
    Kind::U16,
    Kind::U32,
    Kind::U64,
    Kind::F32,
    Kind::F64,
    Kind::F32x3,
    Kind::Guid,
    Kind::Root,
];

/// A text that only the peer has.
const TEXT: Type = Type::Str8(200);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// PLAN-06, PLAN-07, PLAN-10
    #[test]
    fn values_of_fixed_size_arrive_wherever_either_build_has_them(
        theirs in prop::collection::vec((0..KINDS.len(), any::<Index>()), 1..24),
        ours in prop::collection::vec((any::<Index>(), any::<bool>()), 1..24),
        in_order: bool,
        seed: u8,
    ) {
        let theirs: Fields = theirs.iter().enumerate().map(|(name, (kind, text))| {
            let kind = if text.index(8) == 0 { TEXT } else { Type::Leaf(KINDS[*kind]) };
            (name, kind)
        }).collect();
        // What the peer says of each field: a byte that counts up, from another start each.
        let mut values: Vec<Vec<u8>> = Vec::new();
        for (name, kind) in &theirs {
            let start = seed.wrapping_add(u8::try_from(name * 37 % 256).unwrap());
            let byte = |at: usize| start.wrapping_add(u8::try_from(at).unwrap());
            values.push(match kind {
                Type::Leaf(kind) => (0..size(*kind)).map(byte).collect(),
                _ => [vec![seed % 20], vec![b'a'; usize::from(seed % 20)]].concat(),
            });
        }
        let mut taken = ours.iter().map(|(it, is_new)| (it.index(theirs.len()), *is_new));
        let mut picked: Vec<(usize, bool)> = Vec::new();
        for (name, is_new) in &mut taken {
            if picked.iter().all(|(it, _)| *it != name) {
                picked.push((name, is_new));
            }
        }
        if in_order {
            picked.sort_unstable();
        }
        let (mut ours, mut expected) = (Fields::new(), Vec::new());
        for (name, is_new) in picked {
            match &theirs[name].1 {
                Type::Leaf(kind) if is_new => {
                    ours.push((name + 100, Type::Leaf(*kind)));
                    expected.extend(vec![0; size(*kind)]);
                }
                Type::Leaf(kind) => {
                    ours.push((name, Type::Leaf(*kind)));
                    expected.extend(&values[name]);
                }
                _ => {}
            }
        }
        let packet = values.concat();
        prop_assert_eq!(rewritten(&theirs, &ours, &packet), Ok(expected));
        if theirs != ours {
            let cut = rewritten(&theirs, &ours, &packet[..packet.len() - 1]);
            prop_assert_eq!(cut.map_err(|it| it.fault), Err(Fault::Truncated));
            let more = rewritten(&theirs, &ours, &[&packet[..], &[0]].concat());
            prop_assert_eq!(more.map_err(|it| it.fault), Err(Fault::Trailing(1)));
        }
    }
}
