//! Asks whether the shapes of a schema fit together, so that stepping over bytes with it ends.
//!
//! Used for every schema that was read from a text. Each shape is measured once, however often it
//! is named; a chain of shapes is followed only as deep as bytes may nest.

use alloc::collections::BTreeMap;

use super::error::SchemaFault;
use super::{CountAt, Field, Schema, Shape, Type};
use crate::kind::Kind;
use crate::limit::{LIST_DEPTH_MAX, NESTING_MAX, SCHEMA_FIELDS_MAX};

/// What of a schema is wrong, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Misfit<'s> {
    /// The shape that is wrong, or the message that is.
    pub(super) name: &'s str,
    pub(super) fault: SchemaFault,
}

/// Every shape of a schema, and all of its messages together.
pub(super) fn check(schema: &Schema) -> Result<(), Misfit<'_>> {
    let mut scale = Scale { schema, known: BTreeMap::new() };
    for name in schema.shapes.keys() {
        scale.named(name, 0).map_err(|fault| Misfit { name, fault })?;
    }
    let mut fields = 0_usize;
    for message in &schema.messages {
        let name = message.shape.as_str();
        let misfit = |fault| Misfit { name, fault };
        let measure = scale.named(name, 0).map_err(misfit)?;
        fields = fields.saturating_add(1).saturating_add(measure.fields);
        if fields > SCHEMA_FIELDS_MAX {
            return Err(misfit(SchemaFault::TooManyFields));
        }
        Counts { schema, newest: None }.named(name).map_err(misfit)?;
    }
    Ok(())
}

/// What a type comes to.
#[derive(Clone, Copy, Debug, Default)]
struct Measure {
    /// Groups inside one another.
    height: usize,
    /// Lists inside one another.
    lists: usize,
    /// Fields, each shape counted where it is used.
    fields: usize,
    /// Whether it may take no byte at all.
    nothing: bool,
    /// Whether it goes to the end of what it is in.
    ends: bool,
}

struct Scale<'s> {
    schema: &'s Schema,
    /// Nothing for a shape that is being measured.
    known: BTreeMap<&'s str, Option<Measure>>,
}

impl<'s> Scale<'s> {
    fn named(&mut self, name: &'s str, depth: usize) -> Result<Measure, SchemaFault> {
        match self.known.get(name) {
            Some(Some(measure)) => return Ok(*measure),
            Some(None) => return Err(SchemaFault::Cycle),
            None => {}
        }
        let shape = self.schema.shapes.get(name).ok_or(SchemaFault::NoShape)?;
        self.known.insert(name, None);
        let measure = self.shape(shape, depth)?;
        self.known.insert(name, Some(measure));
        Ok(measure)
    }

    fn shape(&mut self, shape: &'s Shape, depth: usize) -> Result<Measure, SchemaFault> {
        match shape {
            Shape::Record(fields) => self.record(fields, depth),
            Shape::Sparse(_, members) => {
                let mut whole = Measure::default();
                for member in members {
                    let inner = self.inside(&member.kind, depth)?;
                    if inner.ends {
                        return Err(SchemaFault::AfterEnd);
                    }
                    whole = whole.beside(inner);
                }
                Ok(whole)
            }
            Shape::Union(_, cases) => {
                let mut whole = Measure::default();
                for case in cases {
                    let inner = self.inside(&case.kind, depth)?;
                    whole = whole.beside(inner);
                    whole.ends |= inner.ends;
                }
                Ok(whole)
            }
            Shape::Enum { .. } | Shape::Flags(..) => Ok(Measure::default()),
        }
    }

    fn record(&mut self, fields: &'s [Field], depth: usize) -> Result<Measure, SchemaFault> {
        let mut whole = Measure { nothing: true, ..Measure::default() };
        for field in fields {
            if whole.ends {
                return Err(SchemaFault::AfterEnd);
            }
            let inner = self.inside(&field.kind, depth)?;
            if inner.nothing && !inner.ends {
                return Err(SchemaFault::TakesNothing);
            }
            whole = whole.beside(inner);
            whole.nothing &= inner.nothing;
            whole.ends = inner.ends;
        }
        Ok(whole)
    }

    /// A type one group deeper than what it is in.
    fn inside(&mut self, kind: &'s Type, depth: usize) -> Result<Measure, SchemaFault> {
        let depth = depth + 1;
        if depth > NESTING_MAX {
            return Err(SchemaFault::TooDeep);
        }
        let mut measure = self.kind(kind, depth)?;
        measure.height += 1;
        measure.fields = measure.fields.saturating_add(1);
        if depth + measure.height > NESTING_MAX + 1 {
            return Err(SchemaFault::TooDeep);
        }
        Ok(measure)
    }

    fn kind(&mut self, kind: &'s Type, depth: usize) -> Result<Measure, SchemaFault> {
        match kind {
            Type::Leaf(Kind::Rest) => {
                Ok(Measure { nothing: true, ends: true, ..Measure::default() })
            }
            Type::Leaf(_) | Type::Str8(_) | Type::Str16(_) => Ok(Measure::default()),
            Type::Named(name) => self.named(name, depth),
            Type::Optional(inner) => {
                let inner = self.inside(inner, depth)?;
                if inner.ends {
                    return Err(SchemaFault::AfterEnd);
                }
                Ok(Measure { nothing: false, ..inner })
            }
            Type::List { entry, .. } => {
                let entry = self.inside(entry, depth)?;
                match entry {
                    Measure { ends: true, .. } => return Err(SchemaFault::AfterEnd),
                    Measure { nothing: true, .. } => return Err(SchemaFault::TakesNothing),
                    Measure { lists, .. } if lists >= LIST_DEPTH_MAX => {
                        return Err(SchemaFault::TooDeep);
                    }
                    _ => {}
                }
                // One whose count stands before it has taken that.
                Ok(Measure { lists: entry.lists + 1, ..entry })
            }
            Type::Section(inner) => {
                let inner = self.inside(inner, depth)?;
                Ok(Measure { nothing: false, ends: false, ..inner })
            }
            Type::Tail(inner) => {
                let inner = self.inside(inner, depth)?;
                Ok(Measure { nothing: true, ends: true, ..inner })
            }
        }
    }
}

impl Measure {
    /// As high as the higher of the two, with the fields of both.
    fn beside(self, inner: Self) -> Self {
        Self {
            height: self.height.max(inner.height),
            lists: self.lists.max(inner.lists),
            fields: self.fields.saturating_add(inner.fields),
            ..self
        }
    }
}

/// A message walked once, to see that each list is counted by the field that it names.
struct Counts<'s> {
    schema: &'s Schema,
    /// The newest count field that no list has taken.
    newest: Option<&'s str>,
}

impl<'s> Counts<'s> {
    fn named(&mut self, name: &str) -> Result<(), SchemaFault> {
        let schema = self.schema;
        match schema.shapes.get(name) {
            Some(Shape::Record(fields)) => {
                fields.iter().try_for_each(|field| self.kind(&field.name, &field.kind))
            }
            Some(Shape::Sparse(_, members)) => {
                members.iter().try_for_each(|member| self.apart(&member.name, &member.kind))
            }
            Some(Shape::Union(_, cases)) => {
                cases.iter().try_for_each(|case| self.apart(&case.name, &case.kind))
            }
            Some(Shape::Enum { .. } | Shape::Flags(..)) | None => Ok(()),
        }
    }

    fn kind(&mut self, field: &'s str, kind: &'s Type) -> Result<(), SchemaFault> {
        match kind {
            Type::Leaf(Kind::Count16) => {
                self.newest = Some(field);
                Ok(())
            }
            Type::Leaf(_) | Type::Str8(_) | Type::Str16(_) => Ok(()),
            Type::Named(name) => self.named(name),
            Type::List { count, entry, .. } => {
                if let CountAt::Field(name) = count
                    && self.newest.take() != Some(name)
                {
                    return Err(SchemaFault::NoCount);
                }
                self.apart(field, entry)
            }
            Type::Optional(inner) | Type::Section(inner) | Type::Tail(inner) => {
                self.apart(field, inner)
            }
        }
    }

    /// What may be there or not, or more than once: it counts nothing outside, and nothing outside
    /// counts it.
    fn apart(&mut self, field: &'s str, kind: &'s Type) -> Result<(), SchemaFault> {
        let outside = self.newest.take();
        let walked = self.kind(field, kind);
        self.newest = outside;
        walked
    }
}
