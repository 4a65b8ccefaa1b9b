//! What a type holds before a visit, where no record says otherwise.
//!
//! Used by `compile` for what a peer does not send. Never: a peer's type.

use alloc::vec::Vec;

use super::measure::size_of_leaf;
use crate::error::counted;
use crate::kind::Kind;
use crate::schema::{CountAt, Schema, Shape, Type};

/// What a value of a type of this build holds before a visit, as bytes.
pub(super) fn preset(own: &Schema, kind: &Type) -> Vec<u8> {
    match kind {
        Type::Leaf(Kind::Varu32)
        | Type::Str8(_)
        | Type::Optional(_)
        | Type::List { count: CountAt::One, .. } => [0].into(),
        Type::Str16(_) | Type::List { count: CountAt::Two, .. } => [0, 0].into(),
        Type::Leaf(kind) => alloc::vec![0; size_of_leaf(*kind).unwrap_or(0)],
        Type::List { count: CountAt::Field(_), .. } | Type::Tail(_) => Vec::new(),
        Type::Section(inner) => {
            let body = preset(own, inner);
            [counted(body.len()).to_le_bytes()[..2].to_vec(), body].concat()
        }
        Type::Named(name) => match own.shapes.get(name) {
            Some(Shape::Record(fields)) => match own.presets.get(name) {
                Some(held) => held.concat(),
                None => fields.iter().flat_map(|field| preset(own, &field.kind)).collect(),
            },
            Some(Shape::Sparse(width, _) | Shape::Flags(width, _)) => alloc::vec![0; width.bytes()],
            Some(Shape::Enum { width, open, members }) => {
                let first = members.first().map_or(0, |(_, value)| *value);
                let value = if *open { 0 } else { first };
                value.to_le_bytes()[..width.bytes()].into()
            }
            Some(Shape::Union(width, cases)) => {
                let Some(case) = cases.first() else { return Vec::new() };
                let tag = case.tag.to_le_bytes()[..width.bytes()].to_vec();
                [tag, preset(own, &case.kind)].concat()
            }
            None => Vec::new(),
        },
    }
}
