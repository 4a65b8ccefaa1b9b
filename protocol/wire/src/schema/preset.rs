//! What a type holds before a visit, as bytes, where no record says otherwise.
//!
//! Used by the describer, and by plans for what a peer does not send. Never: another build's type.

use alloc::vec;
use alloc::vec::Vec;

use super::{CountAt, Schema, Shape, Type};
use crate::error::counted;
use crate::kind::{Kind, Width};

impl Schema {
    /// What a value of a type of this build holds before a visit.
    pub(crate) fn held(&self, kind: &Type) -> Vec<u8> {
        match kind {
            Type::Leaf(Kind::Varu32) | Type::Str8(_) | Type::Optional(_) => [0].into(),
            Type::Str16(_) => [0, 0].into(),
            Type::Leaf(kind) => vec![0; kind.size().unwrap_or(0)],
            Type::List { count, .. } => match count {
                CountAt::One => [0].into(),
                CountAt::Two => [0, 0].into(),
                CountAt::Field(_) => Vec::new(),
            },
            // The end of a packet, which says nothing of what would follow.
            Type::Tail(_) => Vec::new(),
            Type::Section(inner) => section(&self.held(inner)),
            Type::Named(name) => self.shapes.get(name).map_or_else(Vec::new, |shape| match shape {
                Shape::Record(fields) => match self.presets.get(name) {
                    Some(held) => held.concat(),
                    None => fields.iter().flat_map(|field| self.held(&field.kind)).collect(),
                },
                Shape::Sparse(width, _) | Shape::Flags(width, _) => width.number(0).to_vec(),
                Shape::Enum { width, open, members } => {
                    let first = members.first().filter(|_| !open);
                    width.number(first.map_or(0, |(_, value)| *value)).to_vec()
                }
                Shape::Union(width, cases) => cases.first().map_or_else(Vec::new, |case| {
                    [&*width.number(case.tag), &self.held(&case.kind)].concat()
                }),
            }),
        }
    }
}

/// A section around these bytes.
pub(crate) fn section(body: &[u8]) -> Vec<u8> {
    [&*Width::Two.number(counted(body.len())), body].concat()
}
