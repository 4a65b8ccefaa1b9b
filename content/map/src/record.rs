//! Records of authored files: one declaration reads, writes canonically and describes itself.
//!
//! A record visits its fields once, by name, with the value each has when it is not given. Three
//! walks use that visit: reading from a tree, writing canonical text, writing a JSON Schema.

use crate::jsonc::{Member, Node, Report, Value};
use crate::problem::near;
use crate::schema;
use crate::value::TEXT_MAX;

/// What is known about a field besides its value.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// The key.
    pub name: &'static str,
    /// What it is, in one line, with its unit.
    pub about: &'static str,
    /// The least number allowed.
    pub low: f64,
    /// The greatest number allowed.
    pub high: f64,
    /// Whether one number may stand for a list of equal ones.
    pub one_for_all: bool,
    /// A list may have so many items.
    pub items_max: usize,
    /// A text, or each text of a list, may have so many characters.
    pub chars_max: usize,
}

impl Field {
    /// A field of any finite value.
    pub const fn new(name: &'static str, about: &'static str) -> Self {
        let (low, high) = (f32::MIN as f64, f32::MAX as f64);
        let (one_for_all, items_max, chars_max) = (false, usize::MAX, TEXT_MAX);
        Self { name, about, low, high, one_for_all, items_max, chars_max }
    }

    /// The same with both ends of its numbers.
    pub const fn within(self, low: f64, high: f64) -> Self {
        Self { low, high, ..self }
    }

    /// The same where one number may stand for all of a list.
    pub const fn one_for_all(self) -> Self {
        Self { one_for_all: true, ..self }
    }

    /// The same with the most items of a list.
    pub const fn items(self, items_max: usize) -> Self {
        Self { items_max, ..self }
    }

    /// The same with the most characters of a text.
    pub const fn chars(self, chars_max: usize) -> Self {
        Self { chars_max, ..self }
    }
}

/// A visit to the fields of a record.
pub trait Walk {
    /// A field that must be given.
    fn needed<V: Written>(&mut self, field: Field, value: &mut V);
    /// A field that is `plain` when it is not given.
    fn field<V: Written + PartialEq>(&mut self, field: Field, value: &mut V, plain: V);
    /// A field that may be absent.
    fn optional<V: Written>(&mut self, field: Field, value: &mut Option<V>);
}

/// A record with named fields.
pub trait Record: Default {
    /// What it is, in one line.
    const ABOUT: &'static str;
    /// Visits every field once.
    fn walk<W: Walk>(&mut self, walk: &mut W);
}

/// A value that can stand in a field.
pub trait Written: Clone {
    /// Reads it; none if it is no such value, which is then told.
    fn read(node: &Node<'_>, field: &Field, report: &mut Report<'_>) -> Option<Self>;
    /// Appends its canonical text.
    fn write(&self, out: &mut String);
    /// Its JSON Schema.
    fn describe(field: &Field) -> String;
}

impl<R: Record + Clone> Written for R {
    fn read(node: &Node<'_>, _: &Field, report: &mut Report<'_>) -> Option<Self> {
        let Value::Record(members) = &node.value else {
            report.tell_kind(node, "a record { ... }");
            return None;
        };
        let mut record = Self::default();
        let (known, missing) = (Vec::new(), Vec::new());
        let mut reading = Reading { at: node.at, members, known, missing, report };
        record.walk(&mut reading);
        reading.finish();
        Some(record)
    }

    fn write(&self, out: &mut String) {
        out.push('{');
        self.clone().walk(&mut Writing { out, first: true });
        out.push('}');
    }

    fn describe(_: &Field) -> String {
        schema::of_record::<Self>()
    }
}

/// Canonical text of a record: strict JSON on one line, plain values left out.
pub fn text_of<R: Record + Clone>(record: &R) -> String {
    let mut out = String::new();
    record.write(&mut out);
    out.push('\n');
    out
}

/// Reads a record from the root of a text.
pub fn read<R: Record + Clone>(node: &Node<'_>, report: &mut Report<'_>) -> Option<R> {
    R::read(node, &Field::new("", ""), report)
}

struct Reading<'n, 'r, 'a, 't> {
    at: usize,
    members: &'n [Member<'a>],
    known: Vec<&'static str>,
    /// Needed fields that are not there.
    missing: Vec<Field>,
    report: &'r mut Report<'t>,
}

impl Reading<'_, '_, '_, '_> {
    fn given<V: Written>(&mut self, field: &Field) -> Option<Option<V>> {
        self.known.push(field.name);
        let member = self.members.iter().find(|member| member.name == field.name)?;
        Some(V::read(&member.node, field, self.report))
    }

    /// Tells unknown and missing keys; one that is mistyped is unknown only.
    fn finish(mut self) {
        for member in self.members.iter().filter(|m| !self.known.contains(&m.name.as_ref())) {
            if self.report.is_full() {
                return self.report.tell_more();
            }
            let known = || self.known.iter().copied();
            if let Some(meant) = near(&member.name, known()) {
                self.missing.retain(|field| field.name != meant);
            }
            self.report.tell_unknown(member.at, "key", &member.name, known());
        }
        for field in &self.missing {
            let text = format!("the key \"{}\" is missing", field.name);
            self.report.tell(self.at, text, format!("it is {}", field.about));
        }
    }
}

impl Walk for Reading<'_, '_, '_, '_> {
    fn needed<V: Written>(&mut self, field: Field, value: &mut V) {
        match self.given(&field) {
            Some(Some(given)) => *value = given,
            Some(None) => {}
            None => self.missing.push(field),
        }
    }

    fn field<V: Written + PartialEq>(&mut self, field: Field, value: &mut V, plain: V) {
        *value = self.given(&field).flatten().unwrap_or(plain);
    }

    fn optional<V: Written>(&mut self, field: Field, value: &mut Option<V>) {
        *value = self.given(&field).flatten();
    }
}

struct Writing<'o> {
    out: &'o mut String,
    first: bool,
}

impl Writing<'_> {
    fn put<V: Written>(&mut self, field: &Field, value: &V) {
        if !self.first {
            self.out.push(',');
        }
        self.first = false;
        write_text(field.name, self.out);
        self.out.push(':');
        value.write(self.out);
    }
}

impl Walk for Writing<'_> {
    fn needed<V: Written>(&mut self, field: Field, value: &mut V) {
        self.put(&field, value);
    }

    fn field<V: Written + PartialEq>(&mut self, field: Field, value: &mut V, plain: V) {
        if *value != plain {
            self.put(&field, value);
        }
    }

    fn optional<V: Written>(&mut self, field: Field, value: &mut Option<V>) {
        if let Some(value) = value {
            self.put(&field, value);
        }
    }
}

/// Appends a JSON string.
pub(crate) fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if u32::from(control) < 0x20 => {
                out.push_str(&format!("\\u{:04x}", u32::from(control)));
            }
            plain => out.push(plain),
        }
    }
    out.push('"');
}
