//! A break of the grammar in plain words: what was expected, what is there, what may help.
//!
//! Used when a text cannot be read to its end. The library says where it stopped, which is often a
//! little behind the mistake.

use jsonc_parser::ParseStringErrorKind as InString;
use jsonc_parser::errors::{ParseError, ParseErrorKind as Kind};

/// So many letters of a word are shown.
const WORD_MAX: usize = 20;

/// A break: where, what is wrong, what may help.
pub(super) struct Break {
    pub(super) at: usize,
    pub(super) text: String,
    pub(super) remedy: String,
    /// What was opened and never closed: where it begins, and what closes it.
    pub(super) open: Option<(usize, char)>,
}

/// The break that the library found in a text.
pub(super) fn broken(text: &str, error: &ParseError) -> Break {
    let at = error.range().start;
    let end = text.trim_end().len();
    let unclosed = |what: &str, close: char| Break {
        at: end,
        text: format!("the file ends within {what}"),
        remedy: String::new(),
        open: Some((at, close)),
    };
    let (expected, remedy) = match error.kind() {
        Kind::UnterminatedObject => return unclosed("a record", '}'),
        Kind::UnterminatedArray => return unclosed("a list", ']'),
        kind => words(kind),
    };
    let found = found(text.get(at..).unwrap_or_default());
    let at = at.min(end);
    let text = match error.kind() {
        Kind::String(_) | Kind::UnterminatedCommentBlock => expected,
        _ => format!("{expected}, found {found}"),
    };
    Break { at, text, remedy: remedy.to_owned(), open: None }
}

/// What was expected, and what may help.
fn words(kind: &Kind) -> (String, &'static str) {
    let (expected, remedy) = match kind {
        Kind::ExpectedComma => {
            ("expected a comma", "a comma or a closing quote may be missing before this place")
        }
        Kind::ExpectedColonAfterObjectKey => {
            ("expected \":\" behind a key", "a colon or a quote may be missing before this place")
        }
        Kind::ExpectedStringObjectProperty => {
            ("expected a key in double quotes", "write \"key\": value")
        }
        Kind::UnexpectedTokenInObject => (
            "expected a key in double quotes",
            "\"}\" may be missing before this place, or a comma may stand there twice",
        ),
        Kind::UnexpectedCloseBrace => {
            ("expected a value", "a value or \"]\" may be missing before this place")
        }
        Kind::UnexpectedCloseBracket => {
            ("expected a value", "a value or \"}\" may be missing before this place")
        }
        Kind::UnexpectedComma => ("expected a value", "one comma stands between two values"),
        Kind::ExpectedObjectValue | Kind::UnexpectedColon => {
            ("expected a value", "write \"key\": value")
        }
        Kind::UnexpectedWord | Kind::UnexpectedToken | Kind::SingleQuotedStringsNotAllowed => {
            ("expected a value", "text stands in double quotes; a quote may be missing here")
        }
        Kind::MultipleRootJsonValues => {
            ("expected the end of the file", "a bracket may be closed too early before this place")
        }
        Kind::UnterminatedCommentBlock => ("a comment is never closed", "close it with */"),
        Kind::String(InString::UnterminatedStringLiteral) => {
            ("a string is never closed", "write the closing double quote on the same line")
        }
        Kind::String(_) => (
            "a string has an escape that does not exist",
            "a backslash is written twice; other signs are \\\" \\n \\t and \\u with four digits",
        ),
        _ => ("expected a number in plain form", "write it with digits alone, such as -0.5"),
    };
    (expected.to_owned(), remedy)
}

/// What stands at the beginning of a text, in words.
fn found(rest: &str) -> String {
    let rest = rest.trim_start();
    match rest.chars().next() {
        None => "the end of the file".to_owned(),
        Some('"') => "a string".to_owned(),
        Some(letter) if letter.is_alphanumeric() => {
            let word = rest.chars().take_while(|letter| letter.is_alphanumeric());
            format!("\"{}\"", word.take(WORD_MAX).collect::<String>())
        }
        Some(letter) => format!("\"{letter}\""),
    }
}
