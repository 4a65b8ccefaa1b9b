//! JSON with comments and trailing commas, read into a tree that knows its places.
//!
//! Used by the records of authored files. The grammar is a library's; this file adds places, limits
//! and the refusal of duplicate keys. A break of the grammar ends the reading of a file, because
//! what follows it means nothing; every other mistake is collected.

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
    /// Keys and values, each key once.
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
    problems: Vec<Problem>,
}

impl<'a> Report<'a> {
    /// No mistake yet.
    pub fn new(file: &'a str, text: &'a str) -> Self {
        Self { file, text, problems: Vec::new() }
    }

    /// Tells a mistake at an offset of the text; beyond the limit it is dropped.
    pub fn tell(&mut self, at: usize, text: impl Into<String>, remedy: impl Into<String>) {
        if self.problems.len() < PROBLEMS_MAX {
            let (line, column) = place(self.text, at);
            let (text, remedy, file) = (text.into(), remedy.into(), self.file.to_owned());
            self.problems.push(Problem { file, line, column, text, remedy });
        }
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
        self.tell(at, format!("unknown {what} \"{name}\""), nearest(name, known));
    }

    /// Whether nothing was told.
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    /// All mistakes, by place.
    pub fn into_problems(mut self) -> Vec<Problem> {
        self.problems.sort();
        self.problems.dedup();
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
                self.tell(error.range().start, lowercased(&error.kind().to_string()), "");
                None
            }
        }
    }

    fn take(&mut self, value: &ast::Value<'a>, depth: usize) -> Option<Node<'a>> {
        let at = jsonc_parser::common::Ranged::start(value);
        if depth > DEPTH_MAX {
            self.tell(at, format!("nested more than {DEPTH_MAX} deep"), "");
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
                continue;
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

/// Line and column of an offset, both counted from 1, the column in characters.
fn place(text: &str, at: usize) -> (u32, u32) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |tail| tail.chars().count()) + 1;
    (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
}

fn lowercased(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

#[cfg(test)]
mod tests;
