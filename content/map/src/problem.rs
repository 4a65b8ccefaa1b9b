//! What is wrong with a file, where, and what to do about it.
//!
//! Made by every reader of authored files; shown by the program, one line each.

use std::fmt;

/// One mistake in one file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The file, as a path from the content folder, with forward slashes.
    pub file: String,
    /// Line, counted from 1; 0 where the file is not text.
    pub line: u32,
    /// Column in characters, counted from 1; 0 where the file is not text.
    pub column: u32,
    /// What is wrong, in one line.
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
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        write!(f, ": {}", self.text)?;
        if self.remedy.is_empty() { Ok(()) } else { write!(f, "; {}", self.remedy) }
    }
}

impl std::error::Error for Problem {}

/// "did you mean" for the nearest of the known names; the list of them if none is near.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let near =
        |name: &&str| strsim::damerau_levenshtein(&wrong.to_lowercase(), &name.to_lowercase());
    let best = known.iter().copied().min_by_key(near);
    match best {
        None => String::new(),
        Some(best) if near(&best) <= 1.max(wrong.len() / 3) => {
            format!("did you mean \"{best}\"?")
        }
        Some(_) if known.len() <= NAMES_LISTED_MAX => format!("known here: {}", known.join(", ")),
        Some(best) => format!("the nearest name is \"{best}\""),
    }
}

/// So many names are listed; of more, only the nearest is told.
const NAMES_LISTED_MAX: usize = 12;
