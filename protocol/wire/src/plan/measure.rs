//! How much of a packet a type takes, as far as its schema alone can tell.
//!
//! Used by `compile`. Never: bytes.

use crate::kind::Kind;
use crate::schema::{Schema, Shape, Type};

/// Whether a value has a count field for a list after it.
pub(super) fn holds_count(schema: &Schema, kind: &Type) -> bool {
    match kind {
        Type::Leaf(kind) => *kind == Kind::Count16,
        Type::Named(name) => match schema.shapes.get(name) {
            Some(Shape::Record(fields)) => fields.iter().any(|it| holds_count(schema, &it.kind)),
            _ => false,
        },
        _ => false,
    }
}

/// How many bytes each value of a type takes, where that is one number. Nothing of a count field,
/// and of what has one, as a list after it has to know of it.
pub(super) fn size_of(schema: &Schema, kind: &Type) -> Option<usize> {
    let fields = match kind {
        Type::Named(name) => match schema.shapes.get(name) {
            Some(Shape::Record(fields)) => fields,
            _ => return size_of_single(schema, kind),
        },
        _ => return size_of_single(schema, kind),
    };
    fields.iter().try_fold(0, |sum, field| Some(sum + size_of(schema, &field.kind)?))
}

/// The same of a value that holds no other.
pub(super) fn size_of_single(schema: &Schema, kind: &Type) -> Option<usize> {
    match kind {
        Type::Leaf(Kind::Count16) => None,
        Type::Leaf(kind) => kind.size(),
        Type::Named(name) => match schema.shapes.get(name)? {
            Shape::Enum { width, .. } | Shape::Flags(width, _) => Some(width.bytes()),
            Shape::Record(_) | Shape::Sparse(..) | Shape::Union(..) => None,
        },
        _ => None,
    }
}
