//! JSON with comments and trailing commas, read into a tree that knows its places.
//!
//! Used by the records of authored files. The grammar is a library's; this file adds places, limits
//! and the refusal of duplicate keys. A break of the grammar ends the reading of a file, because
//! what follows it means nothing; every other mistake is collected.

mod grammar;
mod places;

use self::places::Places;
use crate::problem::{Problem, nearest};
use jsonc_parser::ast;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use std::borrow::Cow;

/// A text may be so long, in bytes.
pub const TEXT_BYTES_MAX: usize = 64 << 20;
/// Lists and records may be nested so deep.
pub const DEPTH_MAX: usize = 32;
/// So many mistakes of one file are told.
pub const PROBLEMS_MAX: usize = 100;

/// A value and where it begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Node<'a> {
    /// Offset of its first byte.
    pub at: usize,
    /// The value.
    pub value: Value<'a>,
}

/// A value as it was written.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number's own digits, so that each reader rounds them once.
    Number(&'a str),
    /// A string.
    Text(Cow<'a, str>),
    /// A list.
    List(Vec<Node<'a>>),
    /// Keys and values; a key that stands twice was told, and the first counts.
    Record(Vec<Member<'a>>),
}

/// A key, its value and where the key begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Member<'a> {
    /// The key.
    pub name: Cow<'a, str>,
    /// Offset of the key's first byte.
    pub at: usize,
    /// The value.
    pub node: Node<'a>,
}

impl<'a> Node<'a> {
    /// The value behind a key of a record.
    pub fn get(&self, name: &str) -> Option<&Self> {
        let Value::Record(members) = &self.value else { return None };
        members.iter().find(|member| member.name == name).map(|member| &member.node)
    }

    /// The value at a place of a list.
    pub fn item(&self, index: usize) -> Option<&Self> {
        let Value::List(items) = &self.value else { return None };
        items.get(index)
    }

    /// What it is, in words.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::Text(_) => "a string",
            Value::List(_) => "a list",
            Value::Record(_) => "a record",
        }
    }
}

/// The mistakes of one text, in the order of their discovery.
#[derive(Debug)]
pub struct Report<'a> {
    file: &'a str,
    text: &'a str,
    places: Places<'a>,
    problems: Vec<Problem>,
    /// Whether there was no room for one.
    more: bool,
}

impl<'a> Report<'a> {
    /// No mistake yet. A byte order mark, which some editors write, is no part of the text; offsets
    /// are counted behind it.
    pub fn new(file: &'a str, text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Self { file, text, places: Places::new(text), problems: Vec::new(), more: false }
    }

    /// Tells a mistake at an offset of the text; beyond the limit it is dropped.
    pub fn tell(&mut self, at: usize, text: impl Into<String>, remedy: impl Into<String>) {
        if self.is_full() {
            self.more = true;
            return;
        }
        let (line, column) = self.places.of(at);
        let (text, remedy, file) = (text.into(), remedy.into(), self.file.to_owned());
        self.problems.push(Problem { file, line, column, text, remedy });
    }

    /// Whether no further mistake is kept: then none needs to be looked for.
    pub fn is_full(&self) -> bool {
        self.problems.len() >= PROBLEMS_MAX
    }

    /// Notes that there are mistakes which nobody looked for.
    pub fn tell_more(&mut self) {
        self.more = true;
    }

    /// The line of an offset, counted from 1.
    pub fn line_of(&mut self, at: usize) -> u32 {
        self.places.of(at).0
    }

    /// Tells that a value is of another kind than wanted.
    pub fn tell_kind(&mut self, node: &Node<'_>, wanted: &str) {
        self.tell(node.at, format!("expected {wanted}, found {}", node.kind()), "");
    }

    /// Tells a name that is not known.
    pub fn tell_unknown<'n>(
        &mut self,
        at: usize,
        what: &str,
        name: &str,
        known: impl IntoIterator<Item = &'n str>,
    ) {
        if self.is_full() {
            self.more = true;
        } else {
            self.tell(at, format!("unknown {what} \"{name}\""), nearest(name, known));
        }
    }

    /// Whether nothing was told.
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    /// All mistakes, by place; the last one says whether there are more.
    pub fn into_problems(mut self) -> Vec<Problem> {
        self.problems.sort();
        self.problems.dedup();
        self.problems.extend(self.more.then(|| Problem::more(self.file)));
        self.problems
    }

    /// Reads the text; none if it breaks the grammar or a limit, which is then told.
    pub fn parse(&mut self) -> Option<Node<'a>> {
        if self.text.len() > TEXT_BYTES_MAX {
            let most = TEXT_BYTES_MAX >> 20;
            self.tell(0, format!("the text is over {most} MiB"), "split the file");
            return None;
        }
        let text = self.text;
        let parsed = parse_to_ast(text, &CollectOptions::default(), &strict());
        match parsed.map(|parsed| parsed.value) {
            Ok(Some(value)) => self.take(&value, 0),
            Ok(None) => {
                self.tell(text.len(), "the file is empty", "begin with { and end with }");
                None
            }
            Err(error) => {
                self.tell_break(grammar::broken(text, &error));
                None
            }
        }
    }

    fn tell_break(&mut self, broken: grammar::Break) {
        let grammar::Break { at, text, remedy, open } = broken;
        let remedy = open.map_or(remedy, |(open, close)| {
            let (line, column) = self.places.of(open);
            format!("what was opened at {line}:{column} is closed with \"{close}\"")
        });
        self.tell(at, text, remedy);
    }

    fn take(&mut self, value: &ast::Value<'a>, depth: usize) -> Option<Node<'a>> {
        let at = jsonc_parser::common::Ranged::start(value);
        if depth > DEPTH_MAX {
            let remedy = "write it with fewer brackets in each other";
            self.tell(at, format!("nested more than {DEPTH_MAX} deep"), remedy);
            return None;
        }
        let value = match value {
            ast::Value::NullKeyword(_) => Value::Null,
            ast::Value::BooleanLit(literal) => Value::Bool(literal.value),
            ast::Value::NumberLit(literal) => Value::Number(literal.value),
            ast::Value::StringLit(literal) => Value::Text(literal.value.clone()),
            ast::Value::Array(array) => {
                let items = array.elements.iter().map(|item| self.take(item, depth + 1));
                Value::List(items.collect::<Option<_>>()?)
            }
            ast::Value::Object(object) => Value::Record(self.members(object, depth)?),
        };
        Some(Node { at, value })
    }

    fn members(&mut self, object: &ast::Object<'a>, depth: usize) -> Option<Vec<Member<'a>>> {
        let mut members: Vec<Member<'a>> = Vec::with_capacity(object.properties.len());
        let mut seen = std::collections::BTreeSet::new();
        for property in &object.properties {
            let name = match &property.name {
                ast::ObjectPropName::String(literal) => literal.value.clone(),
                ast::ObjectPropName::Word(literal) => Cow::Borrowed(literal.value),
            };
            let at = property.range.start;
            if !seen.insert(name.clone()) {
                self.tell(at, format!("the key \"{name}\" stands here twice"), "remove one");
            }
            let node = self.take(&property.value, depth + 1)?;
            members.push(Member { name, at, node });
        }
        Some(members)
    }
}

/// The grammar: JSON, comments and trailing commas, nothing else.
fn strict() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

#[cfg(test)]
mod tests;
