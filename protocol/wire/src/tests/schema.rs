//! Description, canonical text, identity, the schema walker and dumps.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::shapes::{
    CountedPacket, Everything, Lamp, Names, Nested, Pair, Sectioned, Sliced, Tailed, Unions, bytes,
    everything,
};
use crate::schema::{Schema, Shape, Type, identity};
use crate::stride::{StrideError, stride};
use crate::{Fault, Fields, List8, Tail, WireError, dump, message};

fn described<F: Fields>() -> Schema {
    let mut schema = Schema::new(2);
    schema.shape::<F>().unwrap();
    schema
}

/// WIRE-19
#[test]
fn the_text_lists_every_shape_enum_and_member() {
    let text = described::<Names>().text();
    let expected = "protocol 2
envelope length u32 id u8 body(1048576)
datagram id u8 body
open enum Growing u8
  Door 4
flags Keys u16
  jump 0
  crouch 1
  last 15
record Names
  narrow Narrow
  wide Wide
  growing Growing
  keys Keys
enum Narrow u8
  First 0
  Seventh 7
enum Wide u32
  Near 1
  Far 70000
";
    assert_eq!(text, expected);
}

/// WIRE-02, WIRE-13, WIRE-14, WIRE-15, WIRE-16, WIRE-17, WIRE-19
#[test]
fn the_text_spells_every_construct() {
    let text = described::<Everything>().text();
    for line in [
        "  packed varu32",
        "  vector f32x3",
        "  turn f32x4",
        "  hash hash128",
        "  guid guid",
        "  root root",
        "  content Content",
        "  short str8(255)",
        "  long str16(65535)",
        "  capped str8(4)",
        "  maybe optional(Pair)",
        "  absent optional(u32)",
        "  short list8(3, u16)",
        "  long list16(300, Pair)",
        "  inline list8(4, f32)",
        "  texts list8(3, str8(255))",
        "  entry_count count16",
        "  entries counted(entry_count, 5, Pair)",
        "sparse Lamp u8",
        "union Material u8",
        "  Number 2 u32",
        "  Colour 5 f32x3",
        "  Both 9 Pair",
        "union WideMaterial u32",
        "  section section(Pair)",
        "  later tail(Later)",
        "  more tail(Last)",
    ] {
        assert!(text.lines().any(|other| other == line), "{line} is not in\n{text}");
    }
}

mod renamed {
    use crate::message;

    message!(
        pub(super) struct Pair {
            pub left: u8,
            pub other: u16,
        }
    );
}

/// WIRE-04, WIRE-20, WIRE-21
#[test]
fn a_name_is_part_of_the_schema_and_never_of_the_packet() {
    let own = Pair { left: 1, right: 2 };
    let other = renamed::Pair { left: 1, other: 2 };
    assert_eq!(bytes(own), bytes(other));
    assert_ne!(described::<Pair>().identity(), described::<renamed::Pair>().identity());
}

/// WIRE-20
#[test]
fn the_identity_is_the_hash_of_the_text() {
    let schema = described::<Everything>();
    assert_eq!(schema.identity(), identity(schema.text().as_bytes()));
    let again = described::<Everything>();
    assert_eq!(schema.text(), again.text());
}

/// WIRE-19
#[test]
fn two_shapes_under_one_name_are_refused() {
    let mut schema = described::<Pair>();
    let refused = Err(WireError::new("Pair", Fault::ShapeConflict));
    assert_eq!(schema.shape::<renamed::Pair>(), refused);
    assert_eq!(schema.shape::<Nested>(), Ok("Nested".to_string()));
}

message!(
    struct AfterTail {
        tail: Tail<Pair>,
        after: u8,
    }
);

message!(
    struct AfterSlice {
        slice: Sliced,
        after: u8,
    }
);

message!(
    struct SliceInside {
        maybe: Option<Sliced>,
    }
);

message!(
    struct Lists3 {
        lists: List8<Lists2>,
    }
);

message!(
    struct Lists2 {
        lists: List8<Lists1>,
    }
);

message!(
    struct Lists1 {
        list: List8<u8>,
    }
);

/// WIRE-17
#[test]
fn a_declaration_that_could_not_be_read_back_is_refused() {
    let mut schema = Schema::default();
    let after_end = |field| Err(WireError::new(field, Fault::AfterEnd));
    assert_eq!(schema.shape::<AfterTail>(), after_end("after"));
    assert_eq!(schema.shape::<AfterSlice>(), after_end("after"));
    assert_eq!(schema.shape::<SliceInside>(), after_end("maybe"));
    assert_eq!(schema.shape::<Lists2>(), Ok("Lists2".to_string()));
    assert_eq!(schema.shape::<Lists3>(), Err(WireError::new("list", Fault::TooDeep)));
}

fn steps<F: Fields>(value: F) -> Vec<String> {
    let schema = described::<F>();
    let mut steps = Vec::new();
    stride(&schema, F::SHAPE, &bytes(value), &mut |step| {
        let range = &step.range;
        let (depth, name) = (step.depth, step.name);
        steps.push(alloc::format!("{depth} {name} {} {}..{}", step.kind, range.start, range.end));
    })
    .unwrap();
    steps
}

/// WIRE-03
#[test]
fn the_schema_alone_walks_every_construct_to_its_last_byte() {
    let value = everything();
    let end = bytes(value.clone()).len();
    let steps = steps(value);
    assert_eq!(steps.last().unwrap(), &alloc::format!("0 tailed Tailed {}..{end}", end - 4));
}

/// WIRE-03
#[test]
fn the_schema_alone_finds_where_each_field_lies() {
    let section = crate::Section(Pair { left: 1, right: 2 });
    assert_eq!(
        steps(Sectioned { before: 9, section, after: 8 }),
        [
            "0 before u8 0..1",
            "2 left u8 3..4",
            "2 right u16 4..6",
            "1 body Pair 3..6",
            "0 section section(Pair) 1..6",
            "0 after u8 6..7",
        ]
    );
}

fn refused<F: Fields>(packet: &[u8]) -> (String, Fault) {
    let schema = described::<F>();
    let StrideError { path, fault, .. } =
        stride(&schema, F::SHAPE, packet, &mut |_| {}).unwrap_err();
    (path, fault)
}

/// WIRE-03
#[test]
fn the_schema_alone_refuses_what_a_reader_refuses() {
    let at = |path: &str, fault| (path.to_string(), fault);
    assert_eq!(refused::<Tailed>(&[1, 2]), at("later.value.second", Fault::Truncated));
    assert_eq!(refused::<Tailed>(&[1, 2, 3, 4, 5]), at("", Fault::Trailing(1)));
    assert_eq!(refused::<Names>(&[3]), at("narrow", Fault::UnknownMember(3)));
    let keys = [7, 1, 0, 0, 0, 4, 4, 0];
    assert_eq!(refused::<Names>(&keys), at("keys", Fault::UnknownBits(4)));
    assert_eq!(refused::<Unions>(&[3]), at("one", Fault::UnknownCase(3)));
    let count = [6, 0, 0, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9];
    let too_many = Fault::TooMany { count: 6, cap: 5 };
    assert_eq!(refused::<CountedPacket>(&count), at("entries", too_many));
    let mut schema = Schema::default();
    schema.shape::<Lamped>().unwrap();
    let stepped = stride(&schema, "Lamped", &[0b1_0000], &mut |_| {}).unwrap_err();
    assert_eq!(stepped.fault, Fault::UnknownBits(1));
}

message!(
    struct Lamped {
        lamp: Lamp,
    }
);

/// WIRE-03
#[test]
fn a_schema_that_names_nothing_nests_for_ever_or_lists_nothing_is_refused() {
    let mut schema = Schema::default();
    let field = |kind| crate::schema::Field { name: "again".to_string(), kind };
    let within = |kind| Shape::Record([field(kind)].into());
    let named = |name: &str| Type::Named(name.to_string());
    schema.shapes.insert("Loop".to_string(), within(named("Loop")));
    schema.shapes.insert("Lost".to_string(), within(named("Nowhere")));
    let empty = alloc::boxed::Box::new(named("Empty"));
    let count = crate::schema::CountAt::One;
    schema.shapes.insert("Empty".to_string(), Shape::Record(Vec::new()));
    let list = Type::List { count, cap: 9, entry: empty };
    schema.shapes.insert("Idle".to_string(), within(list));
    let fault =
        |shape, packet: &[u8]| stride(&schema, shape, packet, &mut |_| {}).unwrap_err().fault;
    assert_eq!(fault("Loop", &[]), Fault::TooDeep);
    assert_eq!(fault("Lost", &[]), Fault::NoShape);
    assert_eq!(fault("Idle", &[1, 0]), Fault::EmptyEntry);
}

#[test]
fn a_dump_shows_every_field_in_one_line_or_as_a_tree() {
    let mut value = Sectioned { before: 1, section: Pair { left: 2, right: 3 }.into(), after: 4 };
    assert_eq!(dump::line(&mut value), "before=1 section{left=2 right=3} after=4");
    let tree = "before=1\nsection\n  left=2\n  right=3\nafter=4\n";
    assert_eq!(dump::tree(&mut value), tree);

    let line = dump::line(&mut everything());
    for part in [
        "growing=200 keys=crouch|last",
        "capped=\"abcd\"",
        "maybe{left=1 right=2} absent=none",
        "short[entry=1 entry=2 entry=3]",
        "entries[entry{left=1 right=2}]",
        "lamp{on=1 angle=9}",
        "one{Both{left=1 right=2}}",
        "vector=(340282350000000000000000000000000000000 -0 ",
    ] {
        assert!(line.contains(part), "{part} is not in {line}");
    }
}

#[test]
fn a_dump_of_an_empty_list_and_of_many_bytes_is_short() {
    let mut slice = Sliced { index: 1, rest: (&[0xab; 20][..]).into() };
    let shown = "ab".repeat(16);
    assert_eq!(dump::line(&mut slice), alloc::format!("index=1 rest={shown}.. (20 bytes)"));
    assert_eq!(dump::tree(&mut Lists1::default()), "list=[]\n");
    assert_eq!(dump::line(&mut Lists1::default()), "list[]");
}
