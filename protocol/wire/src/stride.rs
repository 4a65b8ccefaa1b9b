//! The schema walker: steps over bytes that only a schema explains.
//!
//! Used by tests and tools, which it tells of each field; a plan for another build steps over what
//! it leaves out by itself. Every byte is read by the one `Reader`. Never: a Rust type of a
//! message; the schema may be another build's, so its nesting and its counts are checked too.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use crate::error::{Fault, WireError};
use crate::kind::{Kind, Width};
use crate::limit::NESTING_MAX;
use crate::reader::Reader;
use crate::schema::{Case, CountAt, Field, Schema, Shape, Type};
use crate::slot::Slot;
use crate::walk::{Count, Group, ListLen, Walk};

/// One field that has been stepped over. Fields inside a group come before the group itself.
#[derive(Clone, Debug)]
pub struct Step<'a> {
    /// How many groups are around it.
    pub depth: usize,
    /// Its name.
    pub name: &'a str,
    /// What it is.
    pub kind: &'a Type,
    /// Which bytes it takes.
    pub range: Range<usize>,
}

/// Where stepping went wrong, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrideError {
    /// Names from the outermost shape to the field, joined by dots.
    pub path: String,
    /// The byte that it begins at; where no field is to blame, the byte after the last.
    pub at: usize,
    /// What was expected there, if it was a field.
    pub expected: Option<Type>,
    /// What is wrong.
    pub fault: Fault,
}

/// Steps over all of `bytes` as the shape `shape` of `schema` and hands each field to `visit`.
pub fn stride(
    schema: &Schema,
    shape: &str,
    bytes: &[u8],
    visit: &mut dyn FnMut(&Step<'_>),
) -> Result<(), StrideError> {
    let mut reader = Reader::new(bytes);
    let mut strider = Strider::new(schema, &mut reader, visit);
    let stepped = strider.named(shape).and_then(|()| strider.reader.finish());
    stepped.map_err(|WireError { fault, .. }| {
        let path: Vec<&str> = strider.path.iter().rev().copied().collect();
        let (at, expected) = match strider.failed {
            Some((at, kind)) => (at, Some(kind.clone())),
            None => (strider.reader.offset(), None),
        };
        StrideError { path: path.join("."), at, expected, fault }
    })
}

struct Strider<'s, 'b, 'v> {
    schema: &'s Schema,
    reader: &'v mut Reader<'b>,
    visit: &'v mut dyn FnMut(&Step<'_>),
    /// How many groups are around.
    depth: usize,
    /// Where it went wrong: names from the field to the groups around it.
    path: Vec<&'s str>,
    /// The innermost field where it went wrong: the byte it begins at, and what it is.
    failed: Option<(usize, &'s Type)>,
    /// The newest count field that no list has taken yet.
    count: Option<&'s str>,
}

impl<'s, 'b, 'v> Strider<'s, 'b, 'v> {
    fn new(
        schema: &'s Schema,
        reader: &'v mut Reader<'b>,
        visit: &'v mut dyn FnMut(&Step<'_>),
    ) -> Self {
        Self { schema, reader, visit, depth: 0, path: Vec::new(), failed: None, count: None }
    }

    fn field(&mut self, name: &'s str, kind: &'s Type) -> Result<(), WireError> {
        if self.depth >= NESTING_MAX {
            return Err(WireError::new("", Fault::TooDeep));
        }
        self.depth += 1;
        let start = self.reader.offset();
        self.value(name, kind).inspect_err(|_| {
            self.failed.get_or_insert((start, kind));
            self.path.push(name);
        })?;
        self.depth -= 1;
        let range = start..self.reader.offset();
        (self.visit)(&Step { depth: self.depth, name, kind, range });
        Ok(())
    }

    fn value(&mut self, name: &'s str, kind: &'s Type) -> Result<(), WireError> {
        match kind {
            Type::Leaf(kind) => self.leaf(name, *kind),
            Type::Str8(cap) => self.reader.take_text("", Width::One, *cap).map(drop),
            Type::Str16(cap) => self.reader.take_text("", Width::Two, *cap).map(drop),
            Type::Named(name) => self.named(name),
            Type::Optional(inner) => self.inside(inner, |present| Group::Optional(present)),
            Type::Tail(inner) => self.inside(inner, |present| Group::Tail(present)),
            Type::List { count, cap, entry } => self.list(count, *cap, entry),
            Type::Section(inner) => {
                let mark = self.reader.open("", Group::Section)?;
                self.field("body", inner)?;
                self.reader.close(mark)
            }
        }
    }

    fn leaf(&mut self, name: &'s str, kind: Kind) -> Result<(), WireError> {
        let reader = &mut *self.reader;
        match kind {
            Kind::U8 => reader.leaf("", Slot::U8(&mut 0)),
            Kind::U16 => reader.leaf("", Slot::U16(&mut 0)),
            Kind::U32 => reader.leaf("", Slot::U32(&mut 0)),
            Kind::U64 => reader.leaf("", Slot::U64(&mut 0)),
            Kind::I8 => reader.leaf("", Slot::I8(&mut 0)),
            Kind::I16 => reader.leaf("", Slot::I16(&mut 0)),
            Kind::I32 => reader.leaf("", Slot::I32(&mut 0)),
            Kind::I64 => reader.leaf("", Slot::I64(&mut 0)),
            Kind::F32 => reader.leaf("", Slot::F32(&mut 0.0)),
            Kind::F64 => reader.leaf("", Slot::F64(&mut 0.0)),
            Kind::Bool => reader.leaf("", Slot::Bool(&mut false)),
            Kind::Varu32 => reader.leaf("", Slot::Varu32(&mut 0)),
            Kind::Count16 => {
                self.count = Some(name);
                reader.leaf("", Slot::Count16(&mut 0))
            }
            Kind::F32x3 => reader.leaf("", Slot::F32x3(&mut [0.0; 3])),
            Kind::F32x4 => reader.leaf("", Slot::F32x4(&mut [0.0; 4])),
            Kind::Hash128 => reader.leaf("", Slot::Hash128(&mut [0; 16])),
            Kind::Guid => reader.leaf("", Slot::Guid(&mut [0; 16])),
            Kind::Root => reader.leaf("", Slot::Root(&mut [0; 32])),
            Kind::Rest => reader.leaf("", Slot::Rest(&mut Vec::new())),
        }
    }

    fn inside(
        &mut self,
        inner: &'s Type,
        group: impl FnOnce(&mut bool) -> Group<'_>,
    ) -> Result<(), WireError> {
        let mut present = false;
        let mark = self.reader.open("", group(&mut present))?;
        if present {
            self.field("value", inner)?;
        }
        self.reader.close(mark)
    }

    fn list(&mut self, count: &CountAt, cap: usize, entry: &'s Type) -> Result<(), WireError> {
        let count = match count {
            CountAt::One => Count::One,
            CountAt::Two => Count::Two,
            CountAt::Field(name) if self.count.take() == Some(name.as_str()) => Count::Earlier,
            CountAt::Field(_) => return Err(WireError::new("", Fault::NoCount)),
        };
        let mut list = ListLen { len: 0, count, cap, entry_bytes_min: 1 };
        let mark = self.reader.open("", Group::List(&mut list))?;
        for _ in 0..list.len {
            let before = self.reader.offset();
            self.field("entry", entry)?;
            if self.reader.offset() == before {
                return Err(WireError::new("", Fault::EmptyEntry));
            }
        }
        self.reader.close(mark)
    }

    fn named(&mut self, name: &str) -> Result<(), WireError> {
        let schema = self.schema;
        match schema.shapes.get(name) {
            Some(Shape::Record(fields)) => {
                fields.iter().try_for_each(|Field { name, kind }| self.field(name, kind))
            }
            Some(Shape::Sparse(width, members)) => self.sparse(*width, members),
            Some(Shape::Union(width, cases)) => self.union(*width, cases),
            Some(Shape::Enum { width, open, members }) => {
                let value = self.reader.take_width("", *width)?;
                if *open || members.iter().any(|(_, member)| *member == value) {
                    return Ok(());
                }
                Err(WireError::new("", Fault::UnknownMember(value)))
            }
            Some(Shape::Flags(width, members)) => {
                let bits = self.reader.take_width("", *width)?;
                let named = members.iter().fold(0, |named, (_, bit)| named | bit_of(*bit));
                refuse_bits(bits & !named)
            }
            None => Err(WireError::new("", Fault::NoShape)),
        }
    }

    fn sparse(&mut self, width: Width, members: &'s [Field]) -> Result<(), WireError> {
        let mut left = self.reader.take_width("", width)?;
        for Field { name, kind } in members {
            if left & 1 == 1 {
                self.field(name, kind)?;
            }
            left >>= 1;
        }
        refuse_bits(left)
    }

    fn union(&mut self, width: Width, cases: &'s [Case]) -> Result<(), WireError> {
        let tag = self.reader.take_width("", width)?;
        match cases.iter().find(|case| case.tag == tag) {
            Some(case) => self.field(&case.name, &case.kind),
            None => Err(WireError::new("", Fault::UnknownCase(tag))),
        }
    }
}

/// The bit of this number; none past 31, which another build's schema may name.
fn bit_of(number: u32) -> u32 {
    1_u32.checked_shl(number).unwrap_or(0)
}

fn refuse_bits(unknown: u32) -> Result<(), WireError> {
    if unknown == 0 { Ok(()) } else { Err(WireError::new("", Fault::UnknownBits(unknown))) }
}

impl fmt::Display for StrideError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}", self.at)?;
        if let Some(expected) = &self.expected {
            write!(f, ", `{}`: expected {expected}", self.path)?;
        }
        write!(f, ": {}", self.fault)
    }
}

impl core::error::Error for StrideError {}
