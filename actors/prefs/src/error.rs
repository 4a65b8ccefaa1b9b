//! `PrefError`: what is wrong with a preference, told in one line.

use std::fmt;

use crate::nearest::nearest;
use crate::{Preference, TABLE};

/// One thing wrong. Its text is one line: where, what, expected, found, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefError {
    /// Where it stands.
    pub place: Place,
    /// What it is.
    pub problem: Problem,
}

/// Where a preference was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a file.
    File {
        /// Its name, as the user knows it.
        name: String,
        /// Counted from 1.
        line: usize,
        /// Counted from 1, in characters.
        column: usize,
    },
    /// In an environment variable of this name.
    Environment(String),
    /// In a command line argument.
    Argument,
    /// At the console.
    Console,
}

/// What is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// No preference is called that.
    Unknown {
        /// What was written.
        key: String,
        /// What was probably meant.
        nearest: Option<&'static str>,
    },
    /// The value is of another kind, or out of range.
    Value {
        /// The key of its row.
        key: &'static str,
        /// What the row allows.
        expected: String,
        /// What was written.
        found: String,
    },
    /// It is the name of a table of preferences and not of one.
    NoTable {
        /// What was written.
        key: String,
        /// The value it was given.
        found: String,
    },
    /// One place gives it twice.
    Twice {
        /// The key of its row.
        key: &'static str,
    },
    /// No `KEY=VALUE`.
    NoValue {
        /// What was written.
        found: String,
    },
    /// The file is no TOML.
    Syntax {
        /// What its parser says.
        message: String,
    },
}

impl Problem {
    /// That no preference is called `key`, with the nearest that there is.
    #[must_use]
    pub fn unknown(key: &str) -> Self {
        let nearest = nearest(key, TABLE.iter().map(|row| row.key));
        Self::Unknown { key: key.to_owned(), nearest }
    }

    pub(crate) fn value(preference: &Preference, found: &str) -> Self {
        let expected = preference.kind.to_string();
        Self::Value { key: preference.key, expected, found: found.to_owned() }
    }
}

impl fmt::Display for PrefError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, problem } = self;
        match place {
            Place::File { name, line, column } => write!(f, "{name}:{line}:{column}: ")?,
            Place::Environment(name) => write!(f, "environment variable {name}: ")?,
            Place::Argument => f.write_str("--set: ")?,
            Place::Console => (),
        }
        match problem {
            Problem::Unknown { key, nearest: Some(nearest) } => {
                write!(f, "no preference is called {}; did you mean {nearest}?", quoted(key))
            }
            Problem::Unknown { key, nearest: None } => {
                write!(f, "no preference is called {}; `dh prefs list` names them all", quoted(key))
            }
            Problem::Value { key, expected, found } => {
                write!(f, "{key}: expected {expected}, found {}; {}", quoted(found), remedy(place))
            }
            Problem::NoTable { key, found } => {
                let (found, remedy) = (quoted(found.trim()), remedy(place));
                write!(f, "{key}: expected a table of preferences, found {found}; {remedy}")
            }
            Problem::Twice { key } => write!(f, "{key} is given twice; {}", remedy(place)),
            Problem::NoValue { found } => {
                write!(f, "expected KEY=VALUE, found {}; write KEY=VALUE", quoted(found))
            }
            Problem::Syntax { message } => write!(f, "{message}; {}", remedy(place)),
        }
    }
}

impl std::error::Error for PrefError {}

const fn remedy(place: &Place) -> &'static str {
    match place {
        Place::File { .. } => "correct the line or remove it",
        Place::Environment(_) => "correct the variable or unset it",
        Place::Argument => "correct the argument or leave it out",
        Place::Console => "nothing was changed",
    }
}

/// What was written, on one line and no longer than a line.
fn quoted(text: &str) -> String {
    const SHOWN_MAX: usize = 60;
    let mut shown: String = text.chars().take(SHOWN_MAX).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN_MAX).is_some() {
        shown.push_str("...");
    }
    format!("`{shown}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line_that_says_where_what_expected_found_and_what_to_do() {
        let place = Place::File { name: "config.toml".to_owned(), line: 3, column: 14 };
        let row = crate::find("server.maxPlayers").unwrap();
        let error = PrefError { place, problem: Problem::value(row, "many\nmore") };
        assert_eq!(
            error.to_string(),
            "config.toml:3:14: server.maxPlayers: expected a whole number from 1 to 64, \
             found `many\\nmore`; correct the line or remove it"
        );
    }

    #[test]
    fn an_unknown_key_names_the_nearest_one() {
        let said =
            |key| PrefError { place: Place::Console, problem: Problem::unknown(key) }.to_string();
        assert_eq!(
            said("server.maxplayer"),
            "no preference is called `server.maxplayer`; did you mean server.maxPlayers?"
        );
        assert!(said("weather").ends_with("`dh prefs list` names them all"));
        assert!(said(&"x".repeat(5_000)).len() < 200);
    }
}
