//! What is wrong with a file, where, and what to do about it.
//!
//! Made by every reader of authored files; shown by the program, one line each. A problem holds
//! what others wrote as it is; only what is shown is made harmless and short.

use dh_pallet::printable;
use std::fmt;

/// So many names are listed; of more, only one that is near is told.
const NAMES_LISTED_MAX: usize = 12;
/// A longer name, in bytes, is like no other.
const NAME_BYTES_MAX: usize = 256;
/// One search for a near name compares so many pairs of letters.
const PAIRS_MAX: usize = 4_000_000;
/// The text of the last problem of a file that has more than are told.
const MORE: &str = "has more problems than the 100 that are told";

/// One mistake in one file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The file, as a path from the content folder, with forward slashes.
    pub file: String,
    /// Line, counted from 1; 0 where the file is not text.
    pub line: u32,
    /// Column in characters, counted from 1; 0 where the file is not text.
    pub column: u32,
    /// What is wrong, in one line once it is shown.
    pub text: String,
    /// What to do; may be empty.
    pub remedy: String,
}

impl Problem {
    /// A mistake that has no place in a text.
    pub fn of_file(file: &str, text: impl Into<String>, remedy: impl Into<String>) -> Self {
        let (text, remedy) = (text.into(), remedy.into());
        Self { file: file.to_owned(), line: 0, column: 0, text, remedy }
    }

    /// Says that a file has more problems than are told.
    pub fn more(file: &str) -> Self {
        Self::of_file(file, MORE, "mend those first")
    }

    /// Whether it only says that there are more.
    pub fn is_more(&self) -> bool {
        self.line == 0 && self.text == MORE
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", printable(&self.file))?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        write!(f, ": {}", printable(&self.text))?;
        if self.remedy.is_empty() { Ok(()) } else { write!(f, "; {}", printable(&self.remedy)) }
    }
}

impl std::error::Error for Problem {}

/// "did you mean" for a known name that is near; the list of them if none is.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match near(wrong, known.iter().copied()) {
        Some(name) => format!("did you mean \"{name}\"?"),
        None if known.is_empty() => String::new(),
        None if known.len() <= NAMES_LISTED_MAX => format!("known here: {}", known.join(", ")),
        None => format!("none of the {} names known here is like it", known.len()),
    }
}

/// The known name that was meant, if one is near: a few letters apart, or the same behind a dot or
/// a slash. Of very many long names only the first are looked at.
pub fn near<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if wrong.is_empty() || wrong.len() > NAME_BYTES_MAX {
        return None;
    }
    let typed = wrong.to_lowercase();
    let far = 1.max(wrong.len() / 3);
    let mut pairs = 0_usize;
    let mut best: Option<(usize, &str)> = None;
    for name in known {
        // A letter has four bytes at most.
        if name.strip_suffix(wrong).is_some_and(|head| head.ends_with(['.', '/'])) {
            return Some(name);
        }
        if name.len().abs_diff(wrong.len()) > 4 * far {
            continue;
        }
        pairs = pairs.saturating_add(name.len().saturating_mul(typed.len()));
        if pairs > PAIRS_MAX {
            break;
        }
        let apart = strsim::damerau_levenshtein(&typed, &name.to_lowercase());
        if apart <= far && best.is_none_or(|(least, _)| apart < least) {
            best = Some((apart, name));
        }
    }
    best.map(|(_, name)| name)
}

#[cfg(test)]
mod tests;
