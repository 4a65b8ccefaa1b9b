//! Shapes that hold every construct, for tests alone.

use crate::{
    Content, Count16, Counted, Few8, Guid, Hash128, List8, List16, Rest, Root, Section, Str8,
    Str16, Tail, Varu32, message,
};
use alloc::vec;
use alloc::vec::Vec;

message!(
    pub(super) struct Scalars {
        pub byte: u8,
        pub word: u16,
        pub long: u32,
        pub quad: u64,
        pub small: i8,
        pub short: i16,
        pub int: i32,
        pub huge: i64,
        pub single: f32,
        pub double: f64,
        pub yes: bool,
        pub packed: Varu32,
        pub vector: [f32; 3],
        pub turn: [f32; 4],
    }
);

message!(
    #[named(u8)]
    pub(super) enum Narrow {
        First = 0,
        Seventh = 7,
    }
);

message!(
    #[named(u32)]
    pub(super) enum Wide {
        Near = 1,
        Far = 70_000,
    }
);

message!(
    #[open(u8)]
    pub(super) enum Growing {
        Door = 4,
    }
);

message!(
    #[flags(u16)]
    pub(super) enum Keys {
        JUMP = 0,
        CROUCH = 1,
        LAST = 15,
    }
);

message!(
    pub(super) struct Names {
        pub narrow: Narrow,
        pub wide: Wide,
        pub growing: Growing,
        pub keys: Keys,
    }
);

message!(
    pub(super) struct Pair {
        pub left: u8,
        pub right: u16,
    }
);

message!(
    pub(super) struct Nested {
        pub before: u8,
        pub pair: Pair,
        pub after: u8,
    }
);

message!(
    pub(super) struct Lists {
        pub short: List8<u16, 3>,
        pub long: List16<Pair, 300>,
        pub inline: Few8<f32, 4>,
        pub texts: List8<Str8, 3>,
    }
);

message!(
    pub(super) struct CountedHead {
        pub entry_count: Count16,
        pub revision: u32,
    }
);

message!(
    pub(super) struct CountedPacket {
        pub head: CountedHead,
        pub entries: Counted<Pair, 5>,
        pub after: u8,
    }
);

message!(
    #[sparse(u8)]
    pub(super) struct Lamp {
        pub on: u8,
        pub level: f32,
        pub colour: u32,
        pub angle: u16,
    }
);

message!(
    pub(super) struct Sparse {
        pub lamp: Lamp,
        pub after: u8,
    }
);

message!(
    #[union(u8)]
    pub(super) enum Material {
        Number(u32) = 2,
        Colour([f32; 3]) = 5,
        Both(Pair) = 9,
    }
);

message!(
    #[union(u32)]
    pub(super) enum WideMaterial {
        Number(u32) = 70_000,
    }
);

message!(
    pub(super) struct Unions {
        pub one: Material,
        pub wide: WideMaterial,
        pub after: u8,
    }
);

message!(
    pub(super) struct Sectioned {
        pub before: u8,
        pub section: Section<Pair>,
        pub after: u8,
    }
);

message!(
    pub(super) struct Last {
        pub third: u8,
    }
);

message!(
    #[preset]
    pub(super) struct Later {
        pub second: u16,
        pub more: Tail<Last>,
    }
);

impl Default for Later {
    fn default() -> Self {
        Self { second: 77, more: Tail(Last::default()) }
    }
}

message!(
    pub(super) struct Tailed {
        pub first: u8,
        pub later: Tail<Later>,
    }
);

message!(
    pub(super) struct Sliced {
        pub index: u8,
        pub rest: Rest,
    }
);

message!(
    pub(super) struct Marks {
        pub hash: Hash128,
        pub guid: Guid,
        pub root: Root,
        pub content: Content,
    }
);

message!(
    pub(super) struct Texts {
        pub short: Str8,
        pub long: Str16,
        pub capped: Str8<4>,
    }
);

message!(
    pub(super) struct Everything {
        pub scalars: Scalars,
        pub names: Names,
        pub marks: Marks,
        pub texts: Texts,
        pub maybe: Option<Pair>,
        pub absent: Option<u32>,
        pub lists: Lists,
        pub counted: CountedPacket,
        pub lamp: Lamp,
        pub unions: Unions,
        pub sectioned: Sectioned,
        pub tailed: Tailed,
    }
);

pub(super) fn scalars() -> Scalars {
    Scalars {
        byte: u8::MAX,
        word: u16::MAX,
        long: u32::MAX,
        quad: u64::MAX,
        small: i8::MIN,
        short: i16::MIN,
        int: i32::MIN,
        huge: i64::MIN,
        single: f32::MIN,
        double: f64::MAX,
        yes: true,
        packed: Varu32(u32::MAX),
        vector: [f32::MAX, -0.0, f32::MIN_POSITIVE],
        turn: [0.0, 1.0, -1.0, 0.5],
    }
}

pub(super) fn everything() -> Everything {
    let pair = Pair { left: 1, right: 2 };
    Everything {
        scalars: scalars(),
        names: Names {
            narrow: Narrow::Seventh,
            wide: Wide::Far,
            growing: Growing::Unknown(200),
            keys: Keys::CROUCH | Keys::LAST,
        },
        marks: Marks { root: Root([7; 32]), ..Marks::default() },
        texts: Texts { short: "ab".into(), long: "cde".into(), capped: "abcd".into() },
        maybe: Some(pair.clone()),
        absent: None,
        lists: Lists {
            short: vec![1, 2, 3].into(),
            long: vec![pair.clone(), pair.clone()].into(),
            inline: Few8::of([1.0, 2.0]),
            texts: vec!["x".into(), "".into()].into(),
        },
        counted: CountedPacket {
            head: CountedHead { entry_count: Count16(1), revision: 3 },
            entries: vec![pair.clone()].into(),
            after: 4,
        },
        lamp: Lamp { set: 0b1001, on: 1, level: 0.0, colour: 0, angle: 9 },
        unions: Unions {
            one: Material::Both(pair.clone()),
            wide: WideMaterial::Number(6),
            after: 8,
        },
        sectioned: Sectioned { before: 1, section: Section(pair), after: 2 },
        tailed: Tailed::default(),
    }
}

/// The bytes of a value.
pub(super) fn bytes<F: crate::Fields>(mut value: F) -> Vec<u8> {
    let mut out = Vec::new();
    crate::encode(&mut value, &mut out).unwrap();
    out
}

/// What writing a value is refused with; nothing may have been emitted.
pub(super) fn refusal<F: crate::Fields>(mut value: F) -> crate::WireError {
    let mut out = vec![0xaa];
    let refused = crate::encode(&mut value, &mut out).unwrap_err();
    assert_eq!(out, [0xaa], "a refused value emits nothing");
    refused
}
