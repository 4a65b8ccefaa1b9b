//! The values that fields of authored files hold, each checked as it is read.
//!
//! Used by every record.

use crate::jsonc::{Node, Report, Value};
use crate::record::{Field, Written, write_text};
use std::collections::BTreeMap;

/// A name or a line of text may have so many characters.
pub const TEXT_MAX: usize = 1024;
/// An id may have so many bytes.
pub const ID_MAX: usize = 64;
/// A text without control characters, as a JSON Schema says it.
const NO_CONTROL: &str = "^[^\\\\u0000-\\\\u001f\\\\u007f-\\\\u009f]*$";

/// A colour as people see it: sRGB, red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Color(pub [u8; 3]);

impl Color {
    /// From `0xRRGGBB`.
    pub const fn hex(rgb: u32) -> Self {
        let [_, red, green, blue] = rgb.to_be_bytes();
        Self([red, green, blue])
    }

    fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#')?;
        let plain = digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        plain.then(|| u32::from_str_radix(digits, 16).ok().map(Self::hex)).flatten()
    }
}

impl Written for Color {
    fn read(node: &Node<'_>, _: &Field, report: &mut Report<'_>) -> Option<Self> {
        let Value::Text(text) = &node.value else {
            report.tell_kind(node, "a colour \"#rrggbb\"");
            return None;
        };
        let color = Self::parse(text);
        if color.is_none() {
            let remedy = "write # and six hexadecimal digits, such as \"#e0c080\"";
            report.tell(node.at, format!("\"{text}\" is no colour"), remedy);
        }
        color
    }

    fn write(&self, out: &mut String) {
        let [red, green, blue] = self.0;
        out.push_str(&format!("\"#{red:02x}{green:02x}{blue:02x}\""));
    }

    fn describe(_: &Field) -> String {
        "{\"type\":\"string\",\"pattern\":\"^#[0-9a-fA-F]{6}$\"}".to_owned()
    }
}

impl Written for f32 {
    fn read(node: &Node<'_>, field: &Field, report: &mut Report<'_>) -> Option<Self> {
        let Value::Number(digits) = &node.value else {
            report.tell_kind(node, "a number");
            return None;
        };
        let number = digits.parse::<Self>().ok().filter(|number| number.is_finite());
        let within = |number: &Self| (field.low..=field.high).contains(&f64::from(*number));
        if !number.as_ref().is_some_and(within) {
            let (low, high) = (field.low, field.high);
            let remedy = if high < f64::from(Self::MAX) {
                format!("{} lies within {low} and {high}", field.name)
            } else {
                "write a smaller number".to_owned()
            };
            report.tell(node.at, format!("{digits} is out of range"), remedy);
            return None;
        }
        number
    }

    fn write(&self, out: &mut String) {
        out.push_str(&self.to_string());
    }

    fn describe(field: &Field) -> String {
        if field.high < f64::from(Self::MAX) {
            let (low, high) = (field.low, field.high);
            format!("{{\"type\":\"number\",\"minimum\":{low},\"maximum\":{high}}}")
        } else {
            "{\"type\":\"number\"}".to_owned()
        }
    }
}

impl<const N: usize> Written for [f32; N] {
    fn read(node: &Node<'_>, field: &Field, report: &mut Report<'_>) -> Option<Self> {
        if let (true, Value::Number(_)) = (field.one_for_all, &node.value) {
            return f32::read(node, field, report).map(|number| [number; N]);
        }
        let Value::List(items) = &node.value else {
            let one = if field.one_for_all { ", or one number" } else { "" };
            report.tell_kind(node, &format!("a list of {N} numbers{one}"));
            return None;
        };
        if items.len() != N {
            let text = format!("expected {N} numbers, found {}", items.len());
            report.tell(node.at, text, format!("it is {}", field.about));
            return None;
        }
        let mut numbers = [0.0; N];
        let mut whole = true;
        for (number, item) in numbers.iter_mut().zip(items) {
            match f32::read(item, field, report) {
                Some(read) => *number = read,
                None => whole = false,
            }
        }
        whole.then_some(numbers)
    }

    fn write(&self, out: &mut String) {
        write_list(self.iter(), out);
    }

    fn describe(field: &Field) -> String {
        let items = f32::describe(field);
        let list =
            format!("{{\"type\":\"array\",\"items\":{items},\"minItems\":{N},\"maxItems\":{N}}}");
        if field.one_for_all { format!("{{\"anyOf\":[{items},{list}]}}") } else { list }
    }
}

impl Written for bool {
    fn read(node: &Node<'_>, _: &Field, report: &mut Report<'_>) -> Option<Self> {
        if let Value::Bool(value) = node.value {
            return Some(value);
        }
        report.tell_kind(node, "true or false");
        None
    }

    fn write(&self, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" });
    }

    fn describe(_: &Field) -> String {
        "{\"type\":\"boolean\"}".to_owned()
    }
}

impl Written for String {
    fn read(node: &Node<'_>, field: &Field, report: &mut Report<'_>) -> Option<Self> {
        let Value::Text(text) = &node.value else {
            report.tell_kind(node, "a string");
            return None;
        };
        let (name, most) = (field.name, field.chars_max);
        let wrong = if text.chars().nth(most).is_some() {
            format!("{name} has more than {most} characters")
        } else if text.chars().any(char::is_control) {
            format!("{name} holds a control character")
        } else {
            return Some(text.clone().into_owned());
        };
        report.tell(node.at, wrong, "write one short line");
        None
    }

    fn write(&self, out: &mut String) {
        write_text(self, out);
    }

    fn describe(field: &Field) -> String {
        let most = field.chars_max;
        format!("{{\"type\":\"string\",\"maxLength\":{most},\"pattern\":\"{NO_CONTROL}\"}}")
    }
}

/// The name of a thing within one file: letters, digits, `_`, `-` and `.`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Id(pub String);

impl Id {
    /// Whether a text is an id.
    pub fn is_valid(text: &str) -> bool {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        (1..=ID_MAX).contains(&text.len()) && text.bytes().all(plain)
    }
}

impl Written for Id {
    fn read(node: &Node<'_>, field: &Field, report: &mut Report<'_>) -> Option<Self> {
        let text = String::read(node, field, report)?;
        if !Self::is_valid(&text) {
            let remedy = format!("use 1 to {ID_MAX} letters, digits, \"_\", \"-\" and \".\"");
            report.tell(node.at, format!("\"{text}\" is no valid {}", field.name), remedy);
            return None;
        }
        Some(Self(text))
    }

    fn write(&self, out: &mut String) {
        write_text(&self.0, out);
    }

    fn describe(_: &Field) -> String {
        format!("{{\"type\":\"string\",\"pattern\":\"^[A-Za-z0-9_.-]{{1,{ID_MAX}}}$\"}}")
    }
}

impl<V: Written> Written for Vec<V> {
    fn read(node: &Node<'_>, field: &Field, report: &mut Report<'_>) -> Option<Self> {
        let Value::List(items) = &node.value else {
            report.tell_kind(node, "a list [ ... ]");
            return None;
        };
        if let Some(first) = items.get(field.items_max) {
            let (count, name, most) = (items.len(), field.name, field.items_max);
            report.tell(first.at, format!("{count} {name}, {most} are allowed"), "take some away");
            return None;
        }
        Some(items.iter().filter_map(|item| V::read(item, field, report)).collect())
    }

    fn write(&self, out: &mut String) {
        write_list(self.iter(), out);
    }

    fn describe(field: &Field) -> String {
        let items = V::describe(field);
        if field.items_max == usize::MAX {
            format!("{{\"type\":\"array\",\"items\":{items}}}")
        } else {
            let most = field.items_max;
            format!("{{\"type\":\"array\",\"items\":{items},\"maxItems\":{most}}}")
        }
    }
}

impl<V: Written> Written for BTreeMap<Id, V> {
    fn read(node: &Node<'_>, field: &Field, report: &mut Report<'_>) -> Option<Self> {
        let Value::Record(members) = &node.value else {
            report.tell_kind(node, "a record of names");
            return None;
        };
        let mut named = Self::new();
        for member in members {
            let name = Node { at: member.at, value: Value::Text(member.name.clone()) };
            let name = Id::read(&name, &Field::new("name", ""), report);
            let value = V::read(&member.node, field, report);
            named.extend(name.zip(value));
        }
        Some(named)
    }

    fn write(&self, out: &mut String) {
        out.push('{');
        for (index, (name, value)) in self.iter().enumerate() {
            out.push_str(if index == 0 { "" } else { "," });
            name.write(out);
            out.push(':');
            value.write(out);
        }
        out.push('}');
    }

    fn describe(field: &Field) -> String {
        let (names, values) = (Id::describe(field), V::describe(field));
        let named = format!("\"propertyNames\":{names},\"additionalProperties\":{values}");
        format!("{{\"type\":\"object\",{named}}}")
    }
}

fn write_list<'v, V: Written + 'v>(values: impl Iterator<Item = &'v V>, out: &mut String) {
    out.push('[');
    for (index, value) in values.enumerate() {
        out.push_str(if index == 0 { "" } else { "," });
        value.write(out);
    }
    out.push(']');
}
