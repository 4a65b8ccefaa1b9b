//! The text of a schema read back, by whoever wrote it and by whoever means harm.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use proptest::prelude::*;

use super::shapes::{Everything, Names};
use crate::limit::{NESTING_MAX, SCHEMA_FIELDS_MAX, SCHEMA_PACKED_MAX, SCHEMA_TEXT_MAX};
use crate::schema::{MessageEntry, Schema, SchemaError, SchemaFault, pack, unpack};

const HEAD: &str = "protocol 2\nenvelope length u32 id u8 body(1048576)\ndatagram id u8 body\n";

/// A schema that spells every construct.
fn whole() -> Schema {
    let mut schema = Schema::new(2);
    schema.shape::<Everything>().unwrap();
    schema.shape::<Names>().unwrap();
    let entry = |id, name: &str, frame| MessageEntry {
        direction: "toServer".to_string(),
        id,
        name: name.to_string(),
        channel: "stream".to_string(),
        frame,
        shape: "Everything".to_string(),
    };
    schema.messages = [entry(1, "first", true), entry(2, "second", false)].into();
    schema
}

fn read(body: &str) -> Result<Schema, SchemaError> {
    Schema::read(format!("{HEAD}{body}").as_bytes())
}

/// What is wrong with a text, and in which line after the head.
fn fault(body: &str) -> (u32, SchemaFault) {
    let SchemaError { line, fault } = read(body).expect_err(body);
    (line.saturating_sub(3), fault)
}

/// WIRE-19
#[test]
fn the_text_of_a_schema_reads_back_as_that_schema() {
    let schema = whole();
    assert_eq!(Schema::read(schema.text().as_bytes()), Ok(schema));
}

/// WIRE-20
#[test]
fn a_text_that_is_not_canonical_is_refused_where_it_differs() {
    let text = whole().text();
    let swapped = text.replace("record Pair\n", "record Pair \n");
    assert!(Schema::read(swapped.as_bytes()).is_err());
    let unsorted = "record B\n  a u8\nrecord A\n  a u8\n";
    assert_eq!(fault(unsorted), (1, SchemaFault::NotCanonical));
    for zeros in ["record A\n  a str8(04)\n", "enum A u8\n  First 00\n"] {
        assert_eq!(fault(zeros), (2, SchemaFault::NotCanonical), "{zeros}");
    }
}

/// PLAN-27
#[test]
fn an_older_frame_does_not_spell_the_newer_word() {
    let text = whole().text().replacen("protocol 2", "protocol 1", 1);
    let refused = Schema::read(text.as_bytes()).unwrap_err();
    assert_eq!(refused.fault, SchemaFault::TooNew);
}

/// WIRE-19, PLAN-26
#[test]
fn a_case_is_named_by_a_token_of_names_joined_by_dots() {
    assert!(read("union A u8\n  water.foam_2.Colour 1 u8\n").is_ok());
    let name = SchemaFault::Expected("a name of at most 64 letters, digits and _");
    for token in [".water", "water.", "water..foam", "water.2"] {
        assert_eq!(fault(&format!("union A u8\n  {token} 1 u8\n")), (2, name), "{token}");
    }
    let long = format!("union A u8\n  {}.{} 1 u8\n", "a".repeat(32), "b".repeat(32));
    assert_eq!(fault(&long), (2, SchemaFault::Expected("a token of at most 64 characters")));
    assert_eq!(fault("record A\n  water.foam u8\n"), (2, SchemaFault::Expected(" ")));
    let older = HEAD.replacen("protocol 2", "protocol 1", 1);
    let refused = Schema::read(format!("{older}union A u8\n  water.foam 1 u8\n").as_bytes());
    assert_eq!(refused.unwrap_err().fault, SchemaFault::TooNew);
}

#[test]
fn what_cannot_be_stepped_over_is_refused_with_its_line() {
    use SchemaFault::{AfterEnd, Cycle, Expected, NoShape, TakesNothing, TooDeep, TooWide, Twice};
    let number = Expected("a number within its range");
    let cases: &[(&str, u32, SchemaFault)] = &[
        ("record A\n  a A\n", 1, Cycle),
        ("record A\n  b B\nrecord B\n  a optional(A)\n", 1, Cycle),
        ("record A\n  b list8(4, B)\nrecord B\n  a A\n", 1, Cycle),
        ("record A\n  b B\n", 1, NoShape),
        ("message toServer 1 a stream A\n", 1, NoShape),
        ("record A\n  a tail(u8)\n  b u8\n", 1, AfterEnd),
        ("record A\n  a rest\n  b u8\n", 1, AfterEnd),
        ("record A\n  a optional(rest)\n", 1, AfterEnd),
        ("record A\n  a list8(4, rest)\n", 1, AfterEnd),
        ("sparse A u8\n  a rest\n", 1, AfterEnd),
        ("record A\nrecord B\n  a A\n", 2, TakesNothing),
        ("record A\nrecord B\n  a list16(65535, A)\n", 2, TakesNothing),
        ("record A\n  a list8(1, list8(1, list8(1, u8)))\n", 1, TooDeep),
        ("record A\n  a u8\n  a u16\n", 3, Twice),
        ("record A\nrecord A\n", 2, Twice),
        ("enum A u8\n  a 0\n  b 0\n", 3, Twice),
        ("enum A u8\n  a 0\n  a 1\n", 3, Twice),
        ("union A u8\n  a 0 u8\n  b 0 u8\n", 3, Twice),
        ("message toServer 1 a s A\nmessage toServer 1 b s A\n", 2, Twice),
        ("message toServer 1 a s A\nmessage toServer 2 a s A\n", 2, Twice),
        ("enum A u8\n  a 256\n", 2, number),
        ("union A u8\n  a 256 u8\n", 2, number),
        ("flags A u16\n  a 16\n", 2, number),
        ("message toServer 256 a s A\n", 1, number),
        ("record A\n  a str8(256)\n", 2, number),
        ("record A\n  a list8(256, u8)\n", 2, number),
        ("record A\n  a list16(1000000000, u8)\n", 2, number),
        ("record A\n  a list16(99999999999999999999, u8)\n", 2, number),
        ("record A\n  a list16(, u8)\n", 2, number),
        (
            "sparse A u8\n  a u8\n  b u8\n  c u8\n  d u8\n  e u8\n  f u8\n  g u8\n  h u8\n  i u8\n",
            10,
            TooWide,
        ),
        ("record A\n  a nothing\n", 2, Expected("a type, as in u32 or str8(20)")),
        ("record A\n  a nothing(4)\n", 2, Expected("a type")),
        ("record A\n  a u8 \n", 2, Expected("the end of the line")),
        ("record A\n  a optional(u8\n", 2, Expected(")")),
        ("record a\n", 1, Expected("the name of a shape, which starts with a capital")),
        ("enum A u64\n", 1, Expected("u8, u16 or u32")),
        ("open record A\n", 1, Expected("record, sparse, union, enum, open enum or flags")),
        ("thing A\n", 1, Expected("record, sparse, union, enum, open enum or flags")),
    ];
    for (text, line, expected) in cases {
        assert_eq!(fault(text), (*line, *expected), "{text}");
    }
}

/// WIRE-13
#[test]
fn a_list_names_the_newest_count_before_it_or_is_refused() {
    let whole = |fields: &str| format!("message toServer 1 a stream A\nrecord A\n{fields}");
    for fields in [
        "  a counted(n, 4, u8)\n",
        "  n u16\n  a counted(n, 4, u8)\n",
        "  a counted(n, 4, u8)\n  n count16\n",
        "  n count16\n  m count16\n  a counted(n, 4, u8)\n",
        "  n count16\n  a counted(n, 4, u8)\n  b counted(n, 4, u8)\n",
        "  n optional(count16)\n  a counted(n, 4, u8)\n",
        "  n count16\n  a optional(counted(n, 4, u8))\n",
        "  n count16\n  a list8(4, counted(n, 4, u8))\n",
        "  n count16\n  a B\nunion B u8\n  x 0 counted(n, 4, u8)\n",
    ] {
        assert_eq!(fault(&whole(fields)), (1, SchemaFault::NoCount), "{fields}");
    }
    let lists = "  n count16\n  b section(B)\n  a counted(n, 4, u8)\n";
    let inner = "record B\n  n count16\n  a counted(n, 4, u8)\n";
    assert!(read(&whole(&format!("{lists}{inner}"))).is_ok());
}

#[test]
fn names_are_short_and_of_few_letters() {
    let wrong = SchemaFault::Expected("a name of at most 64 letters, digits and _");
    let long = "a".repeat(65);
    for name in ["", "1a", "_a", "a-b", "\u{202e}a", long.as_str()] {
        assert_eq!(
            fault(&format!("record A\n  {name} u8\n")).1,
            match name {
                "a-b" => SchemaFault::Expected(" "),
                _ => wrong,
            }
        );
    }
    assert!(read(&format!("record A\n  {} u8\n", "a".repeat(64))).is_ok());
}

#[test]
fn another_frame_is_no_schema() {
    for (from, to) in [("protocol", "protocols"), ("1048576", "1048575"), ("datagram", "packet")] {
        let text = whole().text().replacen(from, to, 1);
        assert!(Schema::read(text.as_bytes()).is_err(), "{to}");
    }
    assert!(Schema::read(b"").is_err());
    assert!(Schema::read(b"protocol 2").is_err());
    let fault = Schema::read(b"protocol 2\n\xff").unwrap_err().fault;
    assert_eq!(fault, SchemaFault::NotUtf8);
}

/// A chain of so many records, each of which holds the next.
fn chain(links: usize) -> String {
    let mut text = String::new();
    for link in 0..links - 1 {
        text += &format!("record A{link:05}\n  a A{:05}\n", link + 1);
    }
    text + &format!("record A{:05}\n  a u8\n", links - 1)
}

#[test]
fn shapes_nest_as_deep_as_bytes_may_and_no_deeper() {
    assert!(read(&chain(NESTING_MAX)).is_ok());
    assert_eq!(fault(&chain(NESTING_MAX + 1)).1, SchemaFault::TooDeep);
    // However long the chain, and from which end it is looked at.
    assert_eq!(fault(&chain(9_000)).1, SchemaFault::TooDeep);
}

#[test]
fn a_type_of_20_kib_and_a_depth_of_10_000_is_refused_without_following_it() {
    let deep = format!("record A\n  a {}u8{}\n", "tail(".repeat(10_000), ")".repeat(10_000));
    assert_eq!(fault(&deep), (2, SchemaFault::TooDeep));
    let flat = format!("record A\n  a {}u8{}\n", "section(".repeat(16), ")".repeat(16));
    assert_eq!(fault(&flat), (2, SchemaFault::TooDeep));
}

#[test]
fn shapes_that_multiply_are_counted_wherever_they_are_used() {
    // Eight records of which each holds the next forty times: 40^8 fields in 3 KiB.
    let mut text = String::from("message toServer 1 a stream A0\n");
    for link in 0..8 {
        text += &format!("record A{link}\n");
        let next = if link == 7 { "u8".to_string() } else { format!("A{}", link + 1) };
        for field in 0..40 {
            text += &format!("  f{field} {next}\n");
        }
    }
    assert_eq!(fault(&text), (1, SchemaFault::TooManyFields));
    let fields: String = (0..SCHEMA_FIELDS_MAX - 1).map(|it| format!("  f{it} u8\n")).collect();
    let most = format!("message toServer 1 a stream A\nrecord A\n{fields}");
    assert!(read(&most).is_ok());
    let more = format!("{most}  last u8\n");
    assert_eq!(fault(&more), (1, SchemaFault::TooManyFields));
}

/// JOIN-10
#[test]
fn what_was_packed_unpacks_to_the_same_text_with_the_same_words() {
    let text = whole().text();
    let plain = pack(&text, "");
    assert!(plain.len() * 2 < text.len(), "{} of {}", plain.len(), text.len());
    assert_eq!(unpack(&plain, ""), Ok(text.clone()));
    let packed = pack(&text, &text);
    assert!(packed.len() * 10 < plain.len(), "{} of {}", packed.len(), plain.len());
    assert_eq!(unpack(&packed, &text), Ok(text.clone()));
    assert_ne!(unpack(&packed, ""), Ok(text.clone()));
    let trailing = [plain, Vec::from([0])].concat();
    assert_eq!(unpack(&trailing, "").unwrap_err().fault, SchemaFault::NotPacked);
}

#[test]
fn a_bomb_is_unpacked_no_further_than_a_schema_is_long() {
    let long = |bytes: usize| pack(&"a".repeat(bytes), "");
    let bomb = long(32 << 20);
    assert!(bomb.len() < SCHEMA_PACKED_MAX);
    let cap = SCHEMA_TEXT_MAX;
    let refused = SchemaFault::TooLong { bytes: cap, cap };
    assert_eq!(unpack(&long(SCHEMA_TEXT_MAX + 1), "").unwrap_err().fault, refused);
    assert_eq!(unpack(&bomb, "").unwrap_err().fault, refused);
    assert_eq!(unpack(&long(SCHEMA_TEXT_MAX), "").unwrap().len(), SCHEMA_TEXT_MAX);
    let bytes = SCHEMA_PACKED_MAX + 1;
    let refused = SchemaFault::TooLong { bytes, cap: SCHEMA_PACKED_MAX };
    assert_eq!(unpack(&Vec::from_iter((0..bytes).map(|_| 0)), "").unwrap_err().fault, refused);
    let text = "a".repeat(SCHEMA_TEXT_MAX + 1);
    let fault = Schema::read(text.as_bytes()).unwrap_err().fault;
    assert_eq!(fault, SchemaFault::TooLong { bytes: SCHEMA_TEXT_MAX + 1, cap: SCHEMA_TEXT_MAX });
}

proptest! {
    #[test]
    fn no_bytes_break_the_reader_or_the_unpacker(bytes: Vec<u8>) {
        let _ = Schema::read(&bytes);
        let _ = unpack(&bytes, "words");
    }

    #[test]
    fn a_text_with_a_few_bytes_changed_is_refused_or_reads_back_as_itself(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut text = whole().text().into_bytes();
        for (at, byte) in changes {
            let at = at.index(text.len());
            text[at] = byte;
        }
        if let Ok(schema) = Schema::read(&text) {
            prop_assert_eq!(schema.text().into_bytes(), text);
        }
    }
}
