//! `ScriptError`: why a script is refused, with its place, and what was expected there.

use std::fmt;

use rhai::{EvalAltResult, ParseError, Position};

/// Why a script is refused or cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1; 0 where the whole file is meant.
    pub line: usize,
    /// The column, from 1; 0 where the whole line is meant.
    pub column: usize,
    /// What is wrong, what was expected, and what to do.
    pub what: String,
    /// Whether something that the script names is not there, rather than wrong.
    pub missing: bool,
}

impl ScriptError {
    pub(super) fn at(file: &str, place: Position, what: impl Into<String>) -> Self {
        let (line, column) = (place.line().unwrap_or(0), place.position().unwrap_or(0));
        Self { file: file.to_owned(), line, column, what: what.into(), missing: false }
    }

    pub(super) fn parsing(file: &str, error: &ParseError) -> Self {
        Self::at(file, error.position(), error.err_type().to_string())
    }

    /// What went wrong while a script ran; `call` is where what ran was handed over.
    pub(super) fn running(file: &str, error: &EvalAltResult, call: Position) -> Self {
        let inner = error.unwrap_inner();
        let place = [inner.position(), error.position(), call];
        let place = place.into_iter().find(|place| !place.is_none()).unwrap_or(Position::NONE);
        let (what, missing) = match inner {
            EvalAltResult::ErrorRuntime(value, _) => match value.clone().try_cast::<Wrong>() {
                Some(wrong) => (wrong.what, wrong.missing),
                None => (value.to_string(), false),
            },
            EvalAltResult::ErrorTooManyOperations(_) => {
                let max = super::limit::OPERATIONS_MAX;
                (
                    format!("it does not end within {max} operations; expected a short callback"),
                    false,
                )
            }
            EvalAltResult::ErrorTerminated(..) => {
                let max = super::limit::CALL_MAX.as_secs();
                (format!("it does not end within {max} s; expected a short callback"), false)
            }
            EvalAltResult::ErrorFunctionNotFound(call, _) => (unknown_word(call), false),
            other => (plain(other), false),
        };
        Self { missing, ..Self::at(file, place, what) }
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, what, .. } = self;
        match (line, column) {
            (0, _) => write!(f, "{file}: {what}"),
            (line, 0) => write!(f, "{file}:{line}: {what}"),
            _ => write!(f, "{file}:{line}:{column}: {what}"),
        }
    }
}

impl std::error::Error for ScriptError {}

/// What a word of the vocabulary complains of; the engine adds the place.
#[derive(Clone, Debug)]
pub(super) struct Wrong {
    pub(super) what: String,
    pub(super) missing: bool,
}

/// What a word hands back.
pub(super) type Said<T> = Result<T, Box<EvalAltResult>>;

/// A complaint about how a word was used.
pub(super) fn wrong(what: impl Into<String>) -> Box<EvalAltResult> {
    complaint(what.into(), false)
}

/// A complaint about something that is not there.
pub(super) fn missing(what: impl Into<String>) -> Box<EvalAltResult> {
    complaint(what.into(), true)
}

fn complaint(what: String, missing: bool) -> Box<EvalAltResult> {
    let value = rhai::Dynamic::from(Wrong { what, missing });
    Box::new(EvalAltResult::ErrorRuntime(value, Position::NONE))
}

/// A list of words that one of was expected, and the nearest to what was said.
pub(super) fn unknown<'a>(
    kind: &str,
    said: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Box<EvalAltResult> {
    let near = dh_prefs::nearest(said, known.clone());
    let known: Vec<&str> = known.collect();
    let hint = near.map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
    wrong(format!("no {kind} is called \"{said}\"{hint} expected one of {}", known.join(", ")))
}

/// A call of something that is no word, or of a word with other things than it takes.
fn unknown_word(call: &str) -> String {
    let name = call.split([' ', '(']).next().unwrap_or(call);
    match super::words::usages(name) {
        Some(usages) => format!("expected {usages}, found {call}"),
        None => {
            let words = super::words::list();
            let near = dh_prefs::nearest(name, words.iter().map(super::words::Word::name));
            let hint = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            format!("no word is called {name}{hint} `dh scenario docs` lists them")
        }
    }
}

/// An error of the engine in one line, without its place.
fn plain(error: &EvalAltResult) -> String {
    let mut text = error.to_string();
    if let Some(end) = text.find(" (line ") {
        text.truncate(end);
    }
    text.replace('\n', " ")
}
