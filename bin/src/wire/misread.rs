//! Why a text is no schema, with what was found in it.
//!
//! The error of a schema holds no text of a peer; a file that its user names may be shown to them.

use std::collections::BTreeSet;

use dh_wire::schema::{SchemaError, SchemaFault};

/// Characters of a line that are shown.
const SHOWN_MAX: usize = 60;

/// What is wrong, where, and what was found there.
pub(super) fn told(text: &[u8], error: SchemaError) -> String {
    let text = String::from_utf8_lossy(text);
    if text.trim_start().starts_with('{') {
        return "expected the text of a schema, found JSON: what dh wire schema --json prints \
                cannot be read back"
            .to_owned();
    }
    let at = (error.line as usize).checked_sub(1);
    let Some(line) = at.map(|at| text.split('\n').nth(at).unwrap_or_default()) else {
        return error.to_string();
    };
    let found = match line {
        "" => "an empty line, or the end".to_owned(),
        line if line.ends_with('\r') => {
            return format!(
                "line {}: expected lines that end with a line feed alone, found a carriage return",
                error.line
            );
        }
        line => format!("{:?}", line.chars().take(SHOWN_MAX).collect::<String>()),
    };
    let more = match error.fault {
        SchemaFault::NoShape => match missing(&text) {
            Some(name) => format!(": {name}"),
            None => String::new(),
        },
        SchemaFault::NotCanonical => {
            ": expected messages by direction and number, and shapes by name".to_owned()
        }
        _ => String::new(),
    };
    format!("{error}{more}, found {found}")
}

/// The first shape that is named and not there.
fn missing(text: &str) -> Option<&str> {
    let is_capital = |name: &&str| name.starts_with(|it: char| it.is_ascii_uppercase());
    let is_heading = |line: &&str| !line.starts_with("  ") && !line.starts_with("message ");
    let headings = text.lines().filter(is_heading);
    let known: BTreeSet<&str> =
        headings.filter_map(|line| line.split(' ').find(is_capital)).collect();
    let used = text.lines().filter_map(|line| {
        let shape = line.strip_prefix("message ").and_then(|it| it.rsplit(' ').next());
        shape.or_else(|| line.strip_prefix("  ")?.split_once(' ').map(|(_, kind)| kind))
    });
    let is_part = |it: char| !(it.is_ascii_alphanumeric() || it == '_');
    let mut names = used.flat_map(|kind| kind.split(is_part)).filter(is_capital);
    names.find(|name| !known.contains(name))
}

#[cfg(test)]
mod tests {
    use dh_wire::Schema;

    use super::*;

    fn why(text: &str) -> String {
        told(text.as_bytes(), Schema::read(text.as_bytes()).unwrap_err())
    }

    #[test]
    fn every_text_that_is_no_schema_is_told_with_what_was_expected_and_found() {
        let own = dh_messages::schema_text();
        let with = |from: &str, to: &str| {
            assert!(own.contains(from), "{from}");
            why(&own.replacen(from, to, 1))
        };
        assert!(why("{}").contains("found JSON"));
        assert_eq!(why("hello\n"), "line 1: expected protocol, found \"hello\"");
        assert!(why(&own.replace('\n', "\r\n")).contains("found a carriage return"));
        assert!(why(&format!("{own}\n")).ends_with(", found an empty line, or the end"));
        let told = with("  name str16(1024)\n", "  name Nowhere\n");
        assert!(told.contains("no shape of this name: Nowhere, found "), "{told}");
        let told = with("  avatar str16(1024)\n", "  avatar u33\n");
        assert!(told.ends_with("expected a type, as in u32 or str8(20), found \"  avatar u33\""));
        let told = with("message toServer 3 input", "message toServer 99 input");
        assert!(told.contains("expected messages by direction"), "{told}");
        assert!(told.contains("found \"message toServer"), "{told}");
    }
}
