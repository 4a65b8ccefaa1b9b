//! JSON Schemas of authored files, for editors that complete and check while one types.
//!
//! Made by the same visit that reads a record, so that a schema cannot tell other keys.

use crate::record::{Field, Record, Walk, Written, write_text};

/// The whole schema of a kind of file.
pub fn document<R: Record + Clone>(title: &str) -> String {
    let mut out = String::from("{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",");
    out.push_str("\"title\":");
    write_text(title, &mut out);
    out.push(',');
    out.push_str(&of_record::<R>()[1..]);
    out.push('\n');
    out
}

/// The schema of a record.
pub(crate) fn of_record<R: Record>() -> String {
    let mut describing = Describing { properties: Vec::new(), needed: Vec::new() };
    R::default().walk(&mut describing);
    let mut out = String::from("{\"description\":");
    write_text(R::ABOUT, &mut out);
    let properties = describing.properties.join(",");
    out.push_str(&format!(",\"type\":\"object\",\"properties\":{{{properties}}}"));
    if !describing.needed.is_empty() {
        out.push_str(&format!(",\"required\":[{}]", describing.needed.join(",")));
    }
    out.push_str(",\"additionalProperties\":false}");
    out
}

struct Describing {
    properties: Vec<String>,
    needed: Vec<String>,
}

impl Describing {
    fn put<V: Written>(&mut self, field: &Field, plain: Option<&V>) {
        let mut out = quoted(field.name);
        out.push_str(":{\"description\":");
        out.push_str(&quoted(field.about));
        if let Some(plain) = plain {
            out.push_str(",\"default\":");
            plain.write(&mut out);
        }
        out.push_str(",\"allOf\":[");
        out.push_str(&V::describe(field));
        out.push_str("]}");
        self.properties.push(out);
    }
}

impl Walk for Describing {
    fn needed<V: Written>(&mut self, field: Field, _: &mut V) {
        self.put::<V>(&field, None);
        self.needed.push(quoted(field.name));
    }

    fn field<V: Written + PartialEq>(&mut self, field: Field, _: &mut V, plain: V) {
        self.put(&field, Some(&plain));
    }

    fn optional<V: Written>(&mut self, field: Field, _: &mut Option<V>) {
        self.put::<V>(&field, None);
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::new();
    write_text(text, &mut out);
    out
}
