//! `ScriptError`: why a script is refused, with its place, what was expected there, and what helps.

use std::fmt;

use rhai::{EvalAltResult, ParseError, Position};

use super::Script;
use super::limit::{ARRAY_MAX, CALLS_MAX, LISTED_MAX, MAP_MAX, OPERATIONS_MAX, TEXT_MAX};
use super::value::shown;
use super::words::told;

/// What helps where a word, or an entry, or a name of the language is not what is there.
const DOCS: &str = "dh scenario docs lists every word and what it takes";
/// What helps where the text is no text of the language.
const LANGUAGE: &str = "https://rhai.rs/book/language explains the language";
/// What helps where a preference is not what is there.
const PREFS: &str = "dh prefs list";

/// Why a script is refused or cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1; 0 where the whole file is meant.
    pub line: usize,
    /// The column, from 1; 0 where the whole line is meant.
    pub column: usize,
    /// What is wrong, and what was expected.
    pub what: String,
    /// Whether something that the script names is not there, rather than wrong.
    pub missing: bool,
    /// What helps, where it is more than to mend that line.
    pub helps: Option<&'static str>,
}

impl ScriptError {
    pub(super) fn at(script: &Script, place: Position, what: impl Into<String>) -> Self {
        let (line, column) = (place.line().unwrap_or(0), place.position().unwrap_or(0));
        let file = script.file.clone();
        Self { file, line, column, what: what.into(), missing: false, helps: None }
    }

    pub(super) fn parsing(script: &Script, error: &ParseError) -> Self {
        let told = Self::at(script, error.position(), error.err_type().to_string());
        Self { helps: Some(LANGUAGE), ..told }
    }

    /// What went wrong while a script ran; `call` is where what ran was handed over.
    pub(super) fn running(script: &Script, error: &EvalAltResult, call: Position) -> Self {
        let inner = error.unwrap_inner();
        let place = [inner.position(), error.position(), call];
        let place = place.into_iter().find(|place| !place.is_none()).unwrap_or(Position::NONE);
        match inner {
            EvalAltResult::ErrorRuntime(value, _) => match value.clone().try_cast::<Wrong>() {
                Some(wrong) => wrong.told(script, place),
                None if value.is_string() => Self::at(script, place, value.to_string()),
                None => Self::at(script, place, format!("it throws {}", shown(value))),
            },
            EvalAltResult::ErrorTooManyOperations(_) => Self::at(
                script,
                place,
                format!("it does not end within {OPERATIONS_MAX} operations; expected less"),
            ),
            EvalAltResult::ErrorStackOverflow(_) => Self::at(
                script,
                place,
                format!("functions call each other {CALLS_MAX} deep; expected less"),
            ),
            EvalAltResult::ErrorDataTooLarge(what, _) => Self::at(script, place, too_large(what)),
            EvalAltResult::ErrorTooManyModules(_) => {
                Self::at(script, place, "there are no modules; expected all of it in this file")
            }
            EvalAltResult::ErrorFunctionNotFound(call, _) => {
                Self::of_words(script, place, told::call(call))
            }
            EvalAltResult::ErrorTerminated(why, _) => Self::at(script, place, why.to_string()),
            EvalAltResult::ErrorVariableNotFound(name, _) if is_in_function(error) => Self::at(
                script,
                place,
                format!(
                    "no variable is called {name} in here: a function sees its parameters alone; \
                     expected it among them, or a closure"
                ),
            ),
            EvalAltResult::ErrorDotExpr(what, _) => match told::property(what) {
                Some(what) => Self::of_words(script, place, what),
                None => Self::at(script, place, plain(inner)),
            },
            other => Self::at(script, place, plain(other)),
        }
    }

    /// What is no word, no property, or no use of one.
    pub(super) fn of_words(script: &Script, place: Position, what: String) -> Self {
        Self { helps: Some(DOCS), ..Self::at(script, place, what) }
    }

    /// What to do about it.
    #[must_use]
    pub fn remedy(&self) -> String {
        match (self.helps, self.line) {
            (Some(helps), _) => helps.to_owned(),
            (None, 0) => format!("edit {}", self.file),
            (None, line) => format!("edit {}, line {line}", self.file),
        }
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
#[derive(Clone, Debug, Default)]
pub(super) struct Wrong {
    what: String,
    missing: bool,
    helps: Option<&'static str>,
    /// Which entry of the object map that the word was given, from the outermost.
    path: Vec<String>,
}

/// A mistake of a script, as the engine carries it.
pub(super) type Mistake = Box<EvalAltResult>;

/// What a word hands back.
pub(super) type Said<T> = Result<T, Box<EvalAltResult>>;

/// Complaints about an entry of an object map.
pub(super) trait Under {
    /// What is complained of stands under this key.
    fn under(self, key: &str) -> Self;
}

impl<T> Under for Said<T> {
    fn under(self, key: &str) -> Self {
        self.map_err(|error| error.under(key))
    }
}

impl Under for Box<EvalAltResult> {
    fn under(self, key: &str) -> Self {
        match self.unwrap_inner() {
            EvalAltResult::ErrorRuntime(value, _) => match value.clone().try_cast::<Wrong>() {
                Some(mut wrong) => {
                    wrong.path.insert(0, key.to_owned());
                    wrong.into()
                }
                None => self,
            },
            _ => self,
        }
    }
}

impl Wrong {
    /// With its place, and with the keys it stands under.
    fn told(self, script: &Script, place: Position) -> ScriptError {
        let Self { what, missing, helps, path } = self;
        let place = if path.is_empty() { place } else { script.entry(place, &path) };
        let last = path.last().map(String::as_str).unwrap_or_default();
        // What names the last key itself needs only those above.
        let is_named = what.contains(&format!("\"{last}\""));
        let shown = if is_named { &path[..path.len().saturating_sub(1)] } else { &path[..] };
        let what = what.strip_prefix(&format!("{last}: ")).unwrap_or(&what);
        let gap = if shown.is_empty() { "" } else { ": " };
        let what = format!("{}{gap}{what}", shown.join("."));
        ScriptError { missing, helps, ..ScriptError::at(script, place, what) }
    }
}

impl From<Wrong> for Box<EvalAltResult> {
    fn from(wrong: Wrong) -> Self {
        Self::new(EvalAltResult::ErrorRuntime(rhai::Dynamic::from(wrong), Position::NONE))
    }
}

/// The same complaint once more.
pub(super) fn again(error: &EvalAltResult) -> Box<EvalAltResult> {
    match error.unwrap_inner() {
        EvalAltResult::ErrorRuntime(value, place) => {
            Box::new(EvalAltResult::ErrorRuntime(value.clone(), *place))
        }
        other => wrong(other.to_string()),
    }
}

/// A complaint about how a word was used.
pub(super) fn wrong(what: impl Into<String>) -> Box<EvalAltResult> {
    Wrong { what: what.into(), ..Wrong::default() }.into()
}

/// A complaint about a word that is used as it cannot be.
pub(super) fn of_words(what: impl Into<String>) -> Box<EvalAltResult> {
    Wrong { what: what.into(), helps: Some(DOCS), ..Wrong::default() }.into()
}

/// A complaint about something that is not there.
pub(super) fn missing(what: impl Into<String>) -> Box<EvalAltResult> {
    Wrong { what: what.into(), missing: true, ..Wrong::default() }.into()
}

/// A complaint about a preference.
pub(super) fn wrong_pref(problem: dh_prefs::Problem) -> Box<EvalAltResult> {
    let told = dh_prefs::PrefError { place: dh_prefs::Place::Console, problem }.to_string();
    let what = told.strip_suffix("; nothing was changed").unwrap_or(&told).to_owned();
    Wrong { what, helps: Some(PREFS), ..Wrong::default() }.into()
}

/// A name of the language that there is none of.
pub(super) fn unknown<'a>(
    kind: &str,
    said: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Box<EvalAltResult> {
    of_words(no_such(kind, said, known))
}

/// A name that the script gives to nobody.
pub(super) fn nobody<'a>(
    kind: &str,
    said: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Box<EvalAltResult> {
    wrong(no_such(kind, said, known))
}

/// What there is instead, where that is a short list, and the nearest to what was said.
pub(super) fn no_such<'a>(
    kind: &str,
    said: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> String {
    let near = dh_prefs::nearest(said, known.clone());
    let known: Vec<&str> = known.collect();
    let list = known.join(", ");
    let hint = match (near, known.len()) {
        (_, 0) => "; there is none".to_owned(),
        (Some(near), 1..=LISTED_MAX) => format!("; did you mean \"{near}\"? (there are {list})"),
        (None, 1..=LISTED_MAX) => format!("; expected one of {list}"),
        (Some(near), _) => format!("; did you mean \"{near}\"?"),
        (None, _) => String::new(),
    };
    format!("no {kind} is called \"{said}\"{hint}")
}

/// Whether it went wrong in a function with a name, rather than in a closure.
fn is_in_function(error: &EvalAltResult) -> bool {
    match error {
        EvalAltResult::ErrorInFunctionCall(name, _, inner, _) => match **inner {
            EvalAltResult::ErrorInFunctionCall(..) => is_in_function(inner),
            _ => !name.starts_with("anon$"),
        },
        _ => false,
    }
}

/// So many of something, in words.
pub(super) fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// What outgrew its bound, as the engine has it.
pub(super) fn too_large(what: &str) -> String {
    let max = match what {
        it if it.contains("string") => format!("{TEXT_MAX} bytes"),
        it if it.contains("map") => format!("{MAP_MAX} entries"),
        _ => format!("{ARRAY_MAX} elements"),
    };
    format!("{what} too large; expected at most {max}")
}

/// An error of the engine in one line, without its place.
fn plain(error: &EvalAltResult) -> String {
    let mut text = error.to_string();
    if let Some(end) = text.find(" (line ") {
        text.truncate(end);
    }
    text.replace('\n', " ")
}
