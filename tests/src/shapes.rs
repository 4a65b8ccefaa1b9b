//! A shape of every construct that the frame can spell, some of which no message uses.
//!
//! Used by the packets of the frame, which must not change where a message does, and for fuzzing.
//! Never: a message of the registry.

use std::collections::BTreeMap;

use dh_wire::schema::{MessageEntry, Schema, Shape};
use dh_wire::{
    Count16, Counted, Few8, Fields as _, Guid, Hash128, List8, List16, Rest, Root, Section, Str8,
    Str16, Tail, Varu32, WireError, decode, dump, encode, message,
};

message!(
    struct Numbers {
        byte: u8,
        word: u16,
        long: u32,
        quad: u64,
        small: i8,
        short: i16,
        int: i32,
        huge: i64,
        single: f32,
        double: f64,
        yes: bool,
        packed: Varu32,
        vector: [f32; 3],
        turn: [f32; 4],
        hash: Hash128,
        id: Guid,
        proof: Root,
    }
);

message!(
    #[named(u8)]
    enum Narrow {
        First = 0,
        Seventh = 7,
    }
);

message!(
    #[named(u32)]
    enum Wide {
        Near = 1,
        Far = 70_000,
    }
);

message!(
    #[open(u16)]
    enum Growing {
        Door = 4,
    }
);

message!(
    #[flags(u16)]
    enum Keys {
        JUMP = 0,
        LAST = 15,
    }
);

message!(
    struct Names {
        narrow: Narrow,
        wide: Wide,
        growing: Growing,
        keys: Keys,
    }
);

message!(
    struct Pair {
        left: u8,
        right: Str8<9>,
    }
);

message!(
    struct Lists {
        few: Few8<f32, 4>,
        some: List8<Pair, 3>,
        many: List16<Str16<300>, 300>,
    }
);

message!(
    struct Head {
        entry_count: Count16,
        revision: u32,
    }
);

message!(
    #[sparse(u8)]
    struct Lamp {
        on: u8,
        level: f32,
        colour: u32,
        angle: u16,
    }
);

message!(
    #[union(u8)]
    enum Paint {
        Number(u32) = 2,
        Both(Pair) = 9,
    }
);

message!(
    struct Later {
        level: u8,
        slice: Rest,
    }
);

message!(
    struct Spelling {
        numbers: Numbers,
        names: Names,
        maybe: Option<Pair>,
        absent: Option<u32>,
        lists: Lists,
        head: Head,
        entries: Counted<Pair, 5>,
        lamp: Lamp,
        paint: Paint,
        reserved: Section<Pair>,
        later: Tail<Later>,
    }
);

/// The name of the shape that holds all others.
pub const SPELLING: &str = Spelling::SHAPE;

/// Makes the shape a message of the protocol, which has nothing else under its number or name.
pub fn add_to(schema: &mut Schema) -> MessageEntry {
    let shape = schema.shape::<Spelling>().expect("the shapes can be described");
    let message = MessageEntry {
        direction: "toClient".into(),
        id: 201,
        name: "spelling".into(),
        channel: "datagram".into(),
        frame: false,
        shape,
    };
    schema.messages.push(message.clone());
    message
}

/// Adds a shape and all that it holds, by name.
pub fn below(schema: &Schema, name: &str, found: &mut BTreeMap<String, Shape>) {
    if found.contains_key(name) {
        return;
    }
    let shape = &schema.shapes[name];
    found.insert(name.to_owned(), shape.clone());
    let kinds: Vec<String> = match shape {
        Shape::Record(fields) | Shape::Sparse(_, fields) => {
            fields.iter().map(|field| field.kind.to_string()).collect()
        }
        Shape::Union(_, cases) => cases.iter().map(|case| case.kind.to_string()).collect(),
        Shape::Enum { .. } | Shape::Flags(..) => Vec::new(),
    };
    // Names of shapes, and they alone, start with a capital.
    for word in kinds.iter().flat_map(|kind| kind.split(|it: char| !it.is_ascii_alphanumeric())) {
        if word.starts_with(|it: char| it.is_ascii_uppercase()) {
            below(schema, word, found);
        }
    }
}

/// The body of a value with something in every place but one.
pub fn packet() -> Vec<u8> {
    let mut body = Vec::new();
    encode(&mut spelling(), &mut body).expect("the value is within its limits");
    body
}

/// Reads a body and writes it again.
pub fn recode(body: &[u8]) -> Result<Vec<u8>, WireError> {
    let (mut value, mut out) = (decode::<Spelling>(body)?, Vec::new());
    encode(&mut value, &mut out)?;
    Ok(out)
}

/// Reads a body and shows it, one line a field.
pub fn show(body: &[u8]) -> Result<String, WireError> {
    Ok(dump::tree(&mut decode::<Spelling>(body)?))
}

fn spelling() -> Spelling {
    let pair = |left, right: &str| Pair { left, right: right.into() };
    Spelling {
        numbers: Numbers {
            byte: u8::MAX,
            word: 0x0102,
            long: 0x0304_0506,
            quad: 0x0708_090a_0b0c_0d0e,
            small: -1,
            short: -2,
            int: -3,
            huge: i64::MIN,
            single: 1.5,
            double: -0.1,
            yes: true,
            packed: Varu32(300),
            vector: [1.0, 0.0, -1.0],
            turn: [0.0, 0.0, 0.5, 0.75],
            hash: Hash128(from(0x10)),
            id: Guid(from(0x20)),
            proof: Root(from(0x30)),
        },
        names: Names {
            narrow: Narrow::Seventh,
            wide: Wide::Far,
            growing: Growing::Unknown(300),
            keys: Keys::JUMP | Keys::LAST,
        },
        maybe: Some(pair(1, "one")),
        absent: None,
        lists: Lists {
            few: Few8::of([0.5, 2.0]),
            some: vec![pair(2, ""), pair(3, "three")].into(),
            many: vec!["many".into(), "".into()].into(),
        },
        head: Head { entry_count: Count16(1), revision: 4 },
        entries: vec![pair(5, "five")].into(),
        lamp: Lamp { set: 0b1001, on: 6, angle: 7, ..Lamp::default() },
        paint: Paint::Both(pair(8, "eight")),
        reserved: Section(pair(9, "nine")),
        later: Tail(Later { level: 10, slice: Rest(vec![11, 12, 13]) }),
    }
}

/// Bytes that count up.
fn from<const N: usize>(first: u8) -> [u8; N] {
    let mut bytes = [first; N];
    bytes.iter_mut().zip(first..).for_each(|(byte, next)| *byte = next);
    bytes
}
