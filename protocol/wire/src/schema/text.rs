//! The canonical text of a schema: one line a message, one block a shape, sorted.
//!
//! Used for the schema's identity, for review and for exchange between builds. Its spelling is part
//! of the frozen frame: a change here moves the protocol version.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write as _};

use super::{CountAt, Field, MessageEntry, Schema, Shape, Type};
use crate::limit::ENVELOPE_BODY_MAX;

impl Schema {
    /// The text. Equal schemas give equal texts, byte for byte.
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        let _ = write!(out, "{self}");
        out
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "protocol {}", self.protocol)?;
        writeln!(f, "envelope length u32 id u8 body({ENVELOPE_BODY_MAX})")?;
        writeln!(f, "datagram id u8 body")?;
        let mut messages: Vec<&MessageEntry> = self.messages.iter().collect();
        messages.sort_by(|a, b| (&a.direction, a.id).cmp(&(&b.direction, b.id)));
        for message in messages {
            let MessageEntry { direction, id, name, channel, frame, shape } = message;
            let frame = if *frame { " frame" } else { "" };
            writeln!(f, "message {direction} {id} {name} {channel}{frame} {shape}")?;
        }
        self.shapes.iter().try_for_each(|(name, shape)| write_shape(f, name, shape))
    }
}

fn write_shape(f: &mut fmt::Formatter<'_>, name: &str, shape: &Shape) -> fmt::Result {
    match shape {
        Shape::Record(fields) => {
            writeln!(f, "record {name}")?;
            write_fields(f, fields)
        }
        Shape::Sparse(width, members) => {
            writeln!(f, "sparse {name} {}", width.word())?;
            write_fields(f, members)
        }
        Shape::Union(width, cases) => {
            writeln!(f, "union {name} {}", width.word())?;
            let mut cases = cases.iter();
            cases.try_for_each(|case| writeln!(f, "  {} {} {}", case.name, case.tag, case.kind))
        }
        Shape::Enum { width, open, members } => {
            let open = if *open { "open " } else { "" };
            writeln!(f, "{open}enum {name} {}", width.word())?;
            write_members(f, members)
        }
        Shape::Flags(width, members) => {
            writeln!(f, "flags {name} {}", width.word())?;
            write_members(f, members)
        }
    }
}

fn write_fields(f: &mut fmt::Formatter<'_>, fields: &[Field]) -> fmt::Result {
    fields.iter().try_for_each(|field| writeln!(f, "  {} {}", field.name, field.kind))
}

fn write_members(f: &mut fmt::Formatter<'_>, members: &[(String, u32)]) -> fmt::Result {
    members.iter().try_for_each(|(name, value)| writeln!(f, "  {name} {value}"))
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Leaf(kind) => f.write_str(kind.word()),
            Self::Str8(cap) => write!(f, "str8({cap})"),
            Self::Str16(cap) => write!(f, "str16({cap})"),
            Self::Named(name) => f.write_str(name),
            Self::Optional(inner) => write!(f, "optional({inner})"),
            Self::List { count, cap, entry } => match count {
                CountAt::One => write!(f, "list8({cap}, {entry})"),
                CountAt::Two => write!(f, "list16({cap}, {entry})"),
                CountAt::Field(name) => write!(f, "counted({name}, {cap}, {entry})"),
            },
            Self::Section(inner) => write!(f, "section({inner})"),
            Self::Tail(inner) => write!(f, "tail({inner})"),
        }
    }
}
