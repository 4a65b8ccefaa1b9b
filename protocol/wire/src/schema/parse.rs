//! Reads the text of a schema: the other half of `text`.
//!
//! Used through [`Schema::read`]. The text may be anybody's: nothing here panics, nests without a
//! bound, or allocates more than a share of the bytes that came. Whether shapes fit together is
//! asked by `check`.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use super::error::{SchemaError, SchemaFault};
use super::{Case, CountAt, Field, MessageEntry, Schema, Shape, Type};
use crate::kind::{Kind, Width};
use crate::limit::{
    ENVELOPE_BODY_MAX, LIST8_MAX, LIST16_MAX, NESTING_MAX, SCHEMA_NAME_MAX, STR8_MAX, STR16_MAX,
};

/// The first version of the frame that names a case by a token with dots.
const TOKENS_SINCE: u32 = 2;

/// The schema that this text spells. Whether its shapes fit together is not asked.
pub(super) fn parse(text: &str) -> Result<Schema, SchemaError> {
    let mut lines = Lines { rest: text, number: 0 };
    let schema = parse_lines(&mut lines);
    schema.map_err(|fault| SchemaError::new(lines.number, fault))
}

/// The lines that have not been read.
struct Lines<'a> {
    rest: &'a str,
    /// The line at hand, from 1.
    number: u32,
}

impl<'a> Lines<'a> {
    /// The next line, if it starts so, without that start.
    fn after(&mut self, start: &str) -> Option<Words<'a>> {
        let (line, rest) = self.rest.split_once('\n')?;
        let line = line.strip_prefix(start)?;
        self.rest = rest;
        self.number += 1;
        Some(Words(line))
    }

    /// The next line, which has to start so.
    fn expect(&mut self, start: &'static str) -> Result<Words<'a>, SchemaFault> {
        self.after(start).ok_or_else(|| {
            self.number += 1;
            SchemaFault::Expected(start)
        })
    }
}

/// What is left of a line.
struct Words<'a>(&'a str);

impl<'a> Words<'a> {
    /// Whether this comes next; it is stepped over.
    fn eat(&mut self, text: &str) -> bool {
        let rest = self.0.strip_prefix(text);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn expect(&mut self, text: &'static str) -> Result<(), SchemaFault> {
        if self.eat(text) { Ok(()) } else { Err(SchemaFault::Expected(text)) }
    }

    fn end(&self) -> Result<(), SchemaFault> {
        if self.0.is_empty() { Ok(()) } else { Err(SchemaFault::Expected("the end of the line")) }
    }

    /// Letters, digits and underscores, a letter first.
    fn name(&mut self) -> Result<&'a str, SchemaFault> {
        let end = self.0.bytes().position(|it| !(it.is_ascii_alphanumeric() || it == b'_'));
        let (name, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        let is_name = name.bytes().next().is_some_and(|it| it.is_ascii_alphabetic());
        if !is_name || name.len() > SCHEMA_NAME_MAX {
            return Err(SchemaFault::Expected("a name of at most 64 letters, digits and _"));
        }
        self.0 = rest;
        Ok(name)
    }

    /// Names joined by dots: what a row of a table is called.
    fn token(&mut self) -> Result<&'a str, SchemaFault> {
        let line = self.0;
        let mut len = self.name()?.len();
        while self.eat(".") {
            len += 1 + self.name()?.len();
        }
        if len > SCHEMA_NAME_MAX {
            return Err(SchemaFault::Expected("a token of at most 64 characters"));
        }
        Ok(&line[..len])
    }

    /// A name that starts with a capital, which no other word does.
    fn shape(&mut self) -> Result<&'a str, SchemaFault> {
        let name = self.name()?;
        if name.starts_with(|it: char| it.is_ascii_uppercase()) {
            return Ok(name);
        }
        Err(SchemaFault::Expected("the name of a shape, which starts with a capital"))
    }

    /// A number in its shortest form, at most this.
    fn number(&mut self, max: u32) -> Result<u32, SchemaFault> {
        let end = self.0.bytes().position(|it| !it.is_ascii_digit());
        let (digits, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        let number = digits.parse().ok().filter(|it| *it <= max);
        self.0 = rest;
        number.ok_or(SchemaFault::Expected("a number within its range"))
    }

    fn cap(&mut self, max: usize) -> Result<usize, SchemaFault> {
        let max = u32::try_from(max).unwrap_or(u32::MAX);
        Ok(self.number(max)? as usize)
    }

    fn width(&mut self) -> Result<Width, SchemaFault> {
        let word = self.name()?;
        Width::of_word(word).ok_or(SchemaFault::Expected("u8, u16 or u32"))
    }
}

fn parse_lines(lines: &mut Lines<'_>) -> Result<Schema, SchemaFault> {
    let mut words = lines.expect("protocol ")?;
    let mut schema = Schema::new(words.number(u32::MAX)?);
    words.end()?;
    let mut words = lines.expect("envelope length u32 id u8 body(")?;
    if words.cap(usize::MAX)? != ENVELOPE_BODY_MAX {
        return Err(SchemaFault::Expected("an envelope as long as this one's"));
    }
    words.expect(")")?;
    words.end()?;
    lines.expect("datagram id u8 body")?.end()?;
    let mut numbers = BTreeSet::new();
    let mut names = BTreeSet::new();
    while let Some(words) = lines.after("message ") {
        let message = parse_message(words)?;
        let direction = message.direction.clone();
        let is_new = numbers.insert((direction.clone(), message.id))
            && names.insert((direction, message.name.clone()));
        if !is_new {
            return Err(SchemaFault::Twice);
        }
        schema.messages.push(message);
    }
    while !lines.rest.is_empty() {
        let (name, shape) = parse_shape(lines, schema.protocol)?;
        if schema.shapes.insert(name, shape).is_some() {
            return Err(SchemaFault::Twice);
        }
    }
    Ok(schema)
}

fn parse_message(mut words: Words<'_>) -> Result<MessageEntry, SchemaFault> {
    let direction = words.name()?.to_owned();
    words.expect(" ")?;
    let id = words.number(u32::from(u8::MAX))?;
    let id = u8::try_from(id).map_err(|_| SchemaFault::TooWide)?;
    words.expect(" ")?;
    let name = words.name()?.to_owned();
    words.expect(" ")?;
    let channel = words.name()?.to_owned();
    let frame = words.eat(" frame");
    words.expect(" ")?;
    let shape = words.shape()?.to_owned();
    words.end()?;
    Ok(MessageEntry { direction, id, name, channel, frame, shape })
}

/// A line that says what comes, and the lines of what it holds.
fn parse_shape(lines: &mut Lines<'_>, protocol: u32) -> Result<(String, Shape), SchemaFault> {
    let mut words = lines.expect("")?;
    let open = words.eat("open ");
    let what = words.name()?;
    words.expect(" ")?;
    let name = words.shape()?.to_owned();
    let shape = match what {
        "record" if !open => {
            words.end()?;
            Shape::Record(parse_fields(lines, protocol)?)
        }
        "sparse" if !open => {
            let width = parse_width(words)?;
            let members = parse_fields(lines, protocol)?;
            if members.len() > width.bits() as usize {
                return Err(SchemaFault::TooWide);
            }
            Shape::Sparse(width, members)
        }
        "union" if !open => {
            let width = parse_width(words)?;
            Shape::Union(width, parse_cases(lines, width, protocol)?)
        }
        "enum" => {
            let width = parse_width(words)?;
            Shape::Enum { width, open, members: parse_members(lines, largest(width))? }
        }
        "flags" if !open => {
            let width = parse_width(words)?;
            Shape::Flags(width, parse_members(lines, width.bits() - 1)?)
        }
        _ => return Err(SchemaFault::Expected("record, sparse, union, enum, open enum or flags")),
    };
    Ok((name, shape))
}

fn parse_width(mut words: Words<'_>) -> Result<Width, SchemaFault> {
    words.expect(" ")?;
    let width = words.width()?;
    words.end()?;
    Ok(width)
}

fn largest(width: Width) -> u32 {
    u32::MAX >> (32 - width.bits())
}

fn parse_fields(lines: &mut Lines<'_>, protocol: u32) -> Result<Vec<Field>, SchemaFault> {
    let (mut fields, mut names) = (Vec::new(), BTreeSet::new());
    while let Some(mut words) = lines.after("  ") {
        let name = words.name()?;
        words.expect(" ")?;
        let kind = parse_type(&mut words, protocol, NESTING_MAX)?;
        words.end()?;
        if !names.insert(name) {
            return Err(SchemaFault::Twice);
        }
        fields.push(Field { name: name.to_owned(), kind });
    }
    Ok(fields)
}

fn parse_cases(
    lines: &mut Lines<'_>,
    width: Width,
    protocol: u32,
) -> Result<Vec<Case>, SchemaFault> {
    let (mut cases, mut names, mut tags) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    while let Some(mut words) = lines.after("  ") {
        let name = words.token()?;
        if name.contains('.') && protocol < TOKENS_SINCE {
            return Err(SchemaFault::TooNew);
        }
        words.expect(" ")?;
        let tag = words.number(largest(width))?;
        words.expect(" ")?;
        let kind = parse_type(&mut words, protocol, NESTING_MAX)?;
        words.end()?;
        if !names.insert(name) || !tags.insert(tag) {
            return Err(SchemaFault::Twice);
        }
        cases.push(Case { name: name.to_owned(), tag, kind });
    }
    Ok(cases)
}

fn parse_members(lines: &mut Lines<'_>, max: u32) -> Result<Vec<(String, u32)>, SchemaFault> {
    let (mut members, mut names, mut values) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    while let Some(mut words) = lines.after("  ") {
        let name = words.name()?;
        words.expect(" ")?;
        let value = words.number(max)?;
        words.end()?;
        if !names.insert(name) || !values.insert(value) {
            return Err(SchemaFault::Twice);
        }
        members.push((name.to_owned(), value));
    }
    Ok(members)
}

impl Type {
    /// The type that this text spells, as a schema does. What it names is not looked for.
    ///
    /// # Errors
    ///
    /// A text that spells none.
    pub fn read(text: &str) -> Result<Self, SchemaFault> {
        let mut words = Words(text);
        let kind = parse_type(&mut words, u32::MAX, NESTING_MAX)?;
        words.end().map(|()| kind)
    }
}

/// A type that nests at most so deep in itself.
fn parse_type(words: &mut Words<'_>, protocol: u32, depth: usize) -> Result<Type, SchemaFault> {
    let depth = depth.checked_sub(1).ok_or(SchemaFault::TooDeep)?;
    let word = words.name()?;
    if let Some(kind) = Kind::of_word(word) {
        return if kind.since() <= protocol {
            Ok(Type::Leaf(kind))
        } else {
            Err(SchemaFault::TooNew)
        };
    }
    if word.starts_with(|it: char| it.is_ascii_uppercase()) {
        return Ok(Type::Named(word.to_owned()));
    }
    if !words.eat("(") {
        return Err(SchemaFault::Expected("a type, as in u32 or str8(20)"));
    }
    let kind = match word {
        "str8" => Type::Str8(words.cap(STR8_MAX)?),
        "str16" => Type::Str16(words.cap(STR16_MAX)?),
        "optional" => Type::Optional(Box::new(parse_type(words, protocol, depth)?)),
        "section" => Type::Section(Box::new(parse_type(words, protocol, depth)?)),
        "tail" => Type::Tail(Box::new(parse_type(words, protocol, depth)?)),
        "list8" | "list16" | "counted" => {
            let (count, max) = match word {
                "list8" => (CountAt::One, LIST8_MAX),
                "list16" => (CountAt::Two, LIST16_MAX),
                _ => {
                    let field = words.name()?.to_owned();
                    words.expect(", ")?;
                    (CountAt::Field(field), LIST16_MAX)
                }
            };
            let cap = words.cap(max)?;
            words.expect(", ")?;
            Type::List { count, cap, entry: Box::new(parse_type(words, protocol, depth)?) }
        }
        _ => return Err(SchemaFault::Expected("a type")),
    };
    words.expect(")")?;
    Ok(kind)
}
