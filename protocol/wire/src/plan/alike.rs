//! Whether two builds mean the same bytes.
//!
//! Used by `compile`. Names of shapes do not count: they are in no packet, and pair nothing.

use crate::schema::{Field, Schema, Shape, Type};

/// Whether two shapes are read alike, whatever they are called.
pub(super) fn same_named(peer: (&Schema, &str), own: (&Schema, &str)) -> bool {
    let same = |theirs: &Type, ours: &Type| same_type((peer.0, theirs), (own.0, ours));
    let fields = |theirs: &[Field], ours: &[Field]| {
        theirs.len() == ours.len()
            && theirs.iter().zip(ours).all(|(a, b)| a.name == b.name && same(&a.kind, &b.kind))
    };
    match (peer.0.shapes.get(peer.1), own.0.shapes.get(own.1)) {
        (Some(Shape::Record(theirs)), Some(Shape::Record(ours))) => fields(theirs, ours),
        (Some(Shape::Sparse(from, theirs)), Some(Shape::Sparse(to, ours))) => {
            from == to && fields(theirs, ours)
        }
        (Some(Shape::Union(from, theirs)), Some(Shape::Union(to, ours))) => {
            from == to
                && theirs.len() == ours.len()
                && theirs
                    .iter()
                    .zip(ours)
                    .all(|(a, b)| (&a.name, a.tag) == (&b.name, b.tag) && same(&a.kind, &b.kind))
        }
        (Some(theirs), Some(ours)) => theirs == ours,
        _ => false,
    }
}

/// Whether two types are read alike.
pub(super) fn same_type(
    (peer_schema, peer): (&Schema, &Type),
    (own_schema, own): (&Schema, &Type),
) -> bool {
    let same = |theirs: &Type, ours: &Type| same_type((peer_schema, theirs), (own_schema, ours));
    match (peer, own) {
        (Type::Named(theirs), Type::Named(ours)) => {
            same_named((peer_schema, theirs), (own_schema, ours))
        }
        (Type::Optional(theirs), Type::Optional(ours))
        | (Type::Section(theirs), Type::Section(ours))
        | (Type::Tail(theirs), Type::Tail(ours)) => same(theirs, ours),
        (
            Type::List { count: from, cap: theirs, entry: their_entry },
            Type::List { count: to, cap: ours, entry: our_entry },
        ) => from == to && theirs <= ours && same(their_entry, our_entry),
        (Type::Str8(theirs), Type::Str8(ours)) | (Type::Str16(theirs), Type::Str16(ours)) => {
            theirs <= ours
        }
        (theirs, ours) => theirs == ours,
    }
}
