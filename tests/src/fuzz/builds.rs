//! Other builds for fuzzing: this one's schema, changed as the bytes choose.
//!
//! Random bytes are hardly ever the text of a schema; each of these is one. Never: a change that a
//! build could not make.

use dh_wire::Kind;
use dh_wire::schema::{CountAt, Edit, Schema, Shape, Type};

/// The most changes of one build; the first byte chooses how many.
const EDITS_MAX: u8 = 12;

/// Another build and the bytes that are left; nothing where these changes make no schema.
pub(super) fn another<'a>(own: &Schema, bytes: &'a [u8]) -> Option<(Schema, &'a [u8])> {
    let (count, mut left) = bytes.split_first()?;
    let mut other = own.clone();
    for _ in 0..count % (EDITS_MAX + 1) {
        let (choice, rest) = left.split_first_chunk()?;
        left = rest;
        // One that there is no place for is as good as none.
        let _ = other.edit(&edit(&other, *choice));
    }
    Some((Schema::read(other.text().as_bytes()).ok()?, left))
}

/// The change that these bytes choose: what is done, to which shape, to which part of it, and where
/// to or what.
fn edit(schema: &Schema, [what, shape, part, to]: [u8; 4]) -> Edit {
    let pick = |byte: u8, len: usize| usize::from(byte) % len.max(1);
    let (shape, parts) = match schema.shapes.iter().nth(pick(shape, schema.shapes.len())) {
        Some((name, shape)) => (name.clone(), parts(shape)),
        None => (String::new(), Vec::new()),
    };
    let name = parts.get(pick(part, parts.len())).cloned().unwrap_or_default();
    match what % 8 {
        0 => {
            let (at, name) = (pick(part, parts.len() + 1), format!("new{to}"));
            Edit::Add { shape, at, name, kind: added(to) }
        }
        1 => Edit::Remove { shape, name },
        2 => Edit::Move { shape, name, to: pick(to, parts.len()) },
        3 => Edit::Widen { shape, name: Some(name) },
        4 => Edit::Widen { shape, name: None },
        5 => Edit::Renumber { shape },
        6 => Edit::Rename { shape, from: name, to: format!("was{to}") },
        _ => {
            let message = schema.messages.get(pick(part, schema.messages.len()));
            Edit::Drop { message: message.map(|it| it.name.clone()).unwrap_or_default() }
        }
    }
}

/// The names of the parts of a shape.
fn parts(shape: &Shape) -> Vec<String> {
    match shape {
        Shape::Record(fields) | Shape::Sparse(_, fields) => {
            fields.iter().map(|field| field.name.clone()).collect()
        }
        Shape::Union(_, cases) => cases.iter().map(|case| case.name.clone()).collect(),
        Shape::Enum { members, .. } | Shape::Flags(_, members) => {
            members.iter().map(|(name, _)| name.clone()).collect()
        }
    }
}

/// A type for a field that is new.
fn added(choice: u8) -> Type {
    let named = |name: &str| Type::Named(name.to_owned());
    let list = |count, entry| Type::List { count, cap: 200, entry: Box::new(entry) };
    match choice % 12 {
        0 => Type::Leaf(Kind::U8),
        1 => Type::Leaf(Kind::Varu32),
        2 => Type::Leaf(Kind::Root),
        3 => Type::Leaf(Kind::F64),
        4 => Type::Str8(9),
        5 => Type::Str16(900),
        6 => Type::Optional(Box::new(Type::Leaf(Kind::F32x3))),
        7 => list(CountAt::One, Type::Leaf(Kind::U16)),
        8 => list(CountAt::Two, named("PlayerEntry")),
        9 => named("Form"),
        10 => Type::Section(Box::new(named("MapAdvert"))),
        _ => Type::Tail(Box::new(Type::Leaf(Kind::U32))),
    }
}
