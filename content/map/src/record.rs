//! Records of authored files: one declaration reads, writes canonically and describes itself.
//!
//! A record visits its fields once, by name, with the value each has when it is not given. Three
//! walks use that visit: reading from a tree, writing canonical text, writing a JSON Schema.

use crate::jsonc::{Member, Node, Report, Value};
use crate::schema;

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
}

impl Field {
    /// A field of any finite value.
    pub const fn new(name: &'static str, about: &'static str) -> Self {
        Self { name, about, low: f32::MIN as f64, high: f32::MAX as f64 }
    }

    /// The same with both ends of its numbers.
    pub const fn within(self, low: f64, high: f64) -> Self {
        Self { low, high, ..self }
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
        let mut reading = Reading { at: node.at, members, known: Vec::new(), report };
        record.walk(&mut reading);
        reading.refuse_unknown();
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
    report: &'r mut Report<'t>,
}

impl Reading<'_, '_, '_, '_> {
    fn given<V: Written>(&mut self, field: &Field) -> Option<Option<V>> {
        self.known.push(field.name);
        let member = self.members.iter().find(|member| member.name == field.name)?;
        Some(V::read(&member.node, field, self.report))
    }

    fn refuse_unknown(self) {
        for member in self.members.iter().filter(|m| !self.known.contains(&m.name.as_ref())) {
            let known = self.known.iter().copied();
            self.report.tell_unknown(member.at, "key", &member.name, known);
        }
    }
}

impl Walk for Reading<'_, '_, '_, '_> {
    fn needed<V: Written>(&mut self, field: Field, value: &mut V) {
        match self.given(&field) {
            Some(Some(given)) => *value = given,
            Some(None) => {}
            None => {
                let text = format!("the key \"{}\" is missing", field.name);
                self.report.tell(self.at, text, format!("it is {}", field.about));
            }
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
