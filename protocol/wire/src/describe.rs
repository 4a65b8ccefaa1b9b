//! The walk that describes: it asks each value for one of everything and writes down what it is.
//!
//! Used by `Schema::shape`. The only bytes it makes are those of what a field held before. It also
//! refuses declarations that could not be read back: fields after an end, lists nested too deep,
//! two shapes under one name, two defaults of one shape.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::{Fault, WireError};
use crate::kind::Kind;
use crate::limit::{LIST_DEPTH_MAX, NESTING_MAX};
use crate::schema::{Case, CountAt, Field, Schema, Shape, Type, section};
use crate::slot::{NamedValue, Slot};
use crate::walk::{Count, Group, ListLen, Mark, Names, Walk};
use crate::writer::Writer;

/// Collects what it visits into a schema.
#[derive(Debug)]
pub(crate) struct Describe<'a> {
    schema: &'a mut Schema,
    open: Vec<Open>,
    /// The newest count field that no list has taken yet.
    count: Option<&'static str>,
}

/// A group between its `open` and its `close`.
#[derive(Debug)]
struct Open {
    field: &'static str,
    what: What,
    /// What has been visited inside.
    inside: Vec<Visited>,
}

/// A field, and the bytes of what it held before the visit.
#[derive(Debug)]
struct Visited {
    field: Field,
    preset: Vec<u8>,
}

#[derive(Debug)]
enum What {
    Record(&'static str),
    /// With these members before the visit.
    Sparse(&'static Names, u32),
    Union(&'static Names),
    /// With a value before the visit, or without one.
    Optional(bool),
    List(CountAt, usize),
    Section,
    Tail,
}

impl<'a> Describe<'a> {
    pub(crate) fn new(schema: &'a mut Schema) -> Self {
        Self { schema, open: Vec::new(), count: None }
    }

    fn enter(&mut self, field: &'static str, what: What) -> Result<Mark, WireError> {
        if self.open.len() >= NESTING_MAX {
            return Err(WireError::new(field, Fault::TooDeep));
        }
        self.open.push(Open { field, what, inside: Vec::new() });
        Ok(Mark::FLAT)
    }

    /// Puts a finished field into the group around it.
    fn put(&mut self, name: &'static str, kind: Type, preset: Vec<u8>) -> Result<(), WireError> {
        let Some(around) = self.open.last_mut() else {
            return Ok(());
        };
        let before =
            if matches!(around.what, What::Union(_)) { None } else { around.inside.last() };
        if before.is_some_and(|before| reaches_end(self.schema, &before.field.kind)) {
            return Err(WireError::new(name, Fault::AfterEnd));
        }
        around.inside.push(Visited { field: Field { name: name.to_owned(), kind }, preset });
        Ok(())
    }

    fn count_at(&mut self, name: &'static str, list: &ListLen) -> Result<CountAt, WireError> {
        let lists = self.open.iter().filter(|open| matches!(open.what, What::List(..))).count();
        if lists >= LIST_DEPTH_MAX {
            return Err(WireError::new(name, Fault::TooDeep));
        }
        match list.count {
            Count::One => Ok(CountAt::One),
            Count::Two => Ok(CountAt::Two),
            Count::Earlier => match self.count.take() {
                Some(field) => Ok(CountAt::Field(field.to_owned())),
                None => Err(WireError::new(name, Fault::NoCount)),
            },
        }
    }

    /// What a group that has ended is, and the bytes of what it held before the visit.
    fn finish(&mut self, open: Open) -> Result<(Type, Vec<u8>), WireError> {
        let Open { field, what, mut inside } = open;
        match what {
            What::Record(shape) => {
                let (fields, presets) = apart(inside);
                let preset = presets.concat();
                self.schema.insert(shape, Shape::Record(fields))?;
                self.schema.preset(shape, presets)?;
                return Ok((Type::Named(shape.to_owned()), preset));
            }
            What::Sparse(names, mask) => {
                self.refuse_ends(field, &inside)?;
                let (members, presets) = apart(inside);
                let set = presets.iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1);
                let held: Vec<u8> = set.flat_map(|(_, preset)| preset).copied().collect();
                self.schema.insert(names.name, Shape::Sparse(names.width, members))?;
                let preset = [&*names.width.number(mask), &held].concat();
                return Ok((Type::Named(names.name.to_owned()), preset));
            }
            What::Union(names) => {
                let (fields, presets) = apart(inside);
                let tag = names.members.first().map_or(0, |(_, tag)| *tag);
                let held = presets.into_iter().next().unwrap_or_default();
                let cases = fields.into_iter().zip(names.members).map(into_case).collect();
                self.schema.insert(names.name, Shape::Union(names.width, cases))?;
                let preset = [&*names.width.number(tag), &held].concat();
                return Ok((Type::Named(names.name.to_owned()), preset));
            }
            What::Optional(_) | What::List(..) => self.refuse_ends(field, &inside)?,
            What::Section | What::Tail => {}
        }
        let Some(Visited { field: Field { kind, .. }, preset }) = inside.pop() else {
            return Err(WireError::new(field, Fault::NoShape));
        };
        let inner = Box::new(kind);
        let kind = match what {
            What::Optional(true) => {
                return Ok((Type::Optional(inner), [&[1], &preset[..]].concat()));
            }
            What::Optional(false) => Type::Optional(inner),
            What::List(count, cap) => Type::List { count, cap, entry: inner },
            What::Tail => Type::Tail(inner),
            What::Section | What::Record(_) | What::Sparse(..) | What::Union(_) => {
                return Ok((Type::Section(inner), section(&preset)));
            }
        };
        let held = self.schema.held(&kind);
        Ok((kind, held))
    }

    fn refuse_ends(&self, field: &'static str, inside: &[Visited]) -> Result<(), WireError> {
        if inside.iter().any(|inner| reaches_end(self.schema, &inner.field.kind)) {
            return Err(WireError::new(field, Fault::AfterEnd));
        }
        Ok(())
    }

    fn named(&mut self, names: &'static Names, flags: bool) -> Result<Type, WireError> {
        let shape = if flags {
            let lower = |(name, bit): &(&str, u32)| (name.to_ascii_lowercase(), *bit);
            Shape::Flags(names.width, names.members.iter().map(lower).collect())
        } else {
            let members = names.members.iter().map(|(name, value)| ((*name).to_owned(), *value));
            Shape::Enum { width: names.width, open: names.open, members: members.collect() }
        };
        self.schema.insert(names.name, shape)?;
        Ok(Type::Named(names.name.to_owned()))
    }
}

impl Walk for Describe<'_> {
    fn leaf(&mut self, name: &'static str, slot: Slot<'_>) -> Result<(), WireError> {
        let kind = match &slot {
            Slot::Str8(text) => Type::Str8(text.cap),
            Slot::Str16(text) => Type::Str16(text.cap),
            Slot::Enum(slot) => self.named(slot.names, false)?,
            Slot::Flags(slot) => self.named(slot.names, true)?,
            slot => {
                let kind = slot.kind().ok_or_else(|| WireError::new(name, Fault::NoShape))?;
                if kind == Kind::Count16 {
                    self.count = Some(name);
                }
                Type::Leaf(kind)
            }
        };
        let mut preset = Vec::new();
        Writer::new(&mut preset).leaf(name, slot)?;
        self.put(name, kind, preset)
    }

    fn record(&mut self, name: &'static str, shape: &'static str) -> Result<Mark, WireError> {
        self.enter(name, What::Record(shape))
    }

    fn open(&mut self, name: &'static str, group: Group<'_>) -> Result<Mark, WireError> {
        let what = match group {
            Group::Optional(present) => {
                let held = *present;
                *present = true;
                What::Optional(held)
            }
            Group::List(list) => {
                if list.len > 0 {
                    return Err(WireError::new(name, Fault::PresetConflict));
                }
                list.len = 1;
                What::List(self.count_at(name, list)?, list.cap)
            }
            Group::Sparse(NamedValue { names, value }) => {
                let held = *value;
                *value = names.members.iter().fold(0, |bits, (_, bit)| bits | 1 << bit);
                What::Sparse(names, held)
            }
            Group::Union(NamedValue { names, value }) => {
                *value = names.members.first().map_or(0, |(_, tag)| *tag);
                What::Union(names)
            }
            Group::Section => What::Section,
            Group::Tail(present) => {
                *present = true;
                What::Tail
            }
        };
        self.enter(name, what)
    }

    fn close(&mut self, _mark: Mark) -> Result<(), WireError> {
        let Some(open) = self.open.pop() else {
            return Err(WireError::new("", Fault::NoShape));
        };
        let field = open.field;
        let (kind, preset) = self.finish(open)?;
        self.put(field, kind, preset)
    }

    fn again(&mut self, tag: &mut u32) -> bool {
        let Some(Open { what: What::Union(names), inside, .. }) = self.open.last() else {
            return false;
        };
        let next = names.members.get(inside.len());
        if let Some((_, next)) = next {
            *tag = *next;
        }
        next.is_some()
    }
}

fn apart(inside: Vec<Visited>) -> (Vec<Field>, Vec<Vec<u8>>) {
    inside.into_iter().map(|Visited { field, preset }| (field, preset)).unzip()
}

fn into_case((field, (_, tag)): (Field, &(&'static str, u32))) -> Case {
    Case { name: field.name, tag: *tag, kind: field.kind }
}

/// Whether nothing may follow: the value ends where the packet or section does.
fn reaches_end(schema: &Schema, kind: &Type) -> bool {
    match kind {
        Type::Leaf(kind) => *kind == Kind::Rest,
        Type::Tail(_) => true,
        Type::Named(name) => named_reaches_end(schema, name),
        Type::Str8(_)
        | Type::Str16(_)
        | Type::Optional(_)
        | Type::List { .. }
        | Type::Section(_) => false,
    }
}

fn named_reaches_end(schema: &Schema, name: &String) -> bool {
    match schema.shapes.get(name) {
        Some(Shape::Record(fields)) => {
            fields.last().is_some_and(|field| reaches_end(schema, &field.kind))
        }
        Some(Shape::Union(_, cases)) => cases.iter().any(|case| reaches_end(schema, &case.kind)),
        Some(Shape::Sparse(..) | Shape::Enum { .. } | Shape::Flags(..)) | None => false,
    }
}
