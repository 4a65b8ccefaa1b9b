//! Output: data on stdout, as text or as JSON.
//!
//! Used by every verb that answers with data: results are written at once, events of a role that
//! runs on go through the printer. A reader that went away, as in `dh prefs list | head -1`, is not
//! a failure.

pub(crate) mod bar;
pub(crate) mod printer;
pub(crate) mod whole;

use crate::exit::{Exit, Failure};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::io::{ErrorKind, Result as Written, Write as _, stdout};
use std::sync::atomic::{AtomicBool, Ordering};

/// Writes one line of data.
pub(crate) fn line(text: &str) -> Result<(), Failure> {
    bytes(format!("{}\n", tame(text)).as_bytes())
}

/// A text without what steers a terminal or turns letters round, whoever had a hand in it. Lines
/// stay lines.
pub(crate) fn tame(text: &str) -> Cow<'_, str> {
    let is_tame = |it: char| matches!(it, '\n' | '\t') || dh_prefs::is_displayable(it);
    if text.chars().all(is_tame) {
        return Cow::Borrowed(text);
    }
    text.chars().map(|it| if is_tame(it) { it } else { '\u{fffd}' }).collect()
}

/// The same, on one line: for names, and for whatever else somebody else wrote.
pub(crate) fn one_line(text: &str) -> String {
    tame(text).replace(['\n', '\t'], " ")
}

/// Writes one JSON value on a line of its own.
pub(crate) fn json(value: &Value) -> Result<(), Failure> {
    line(&value.to_string())
}

/// Writes bytes as they are.
pub(crate) fn bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = stdout().lock();
    written(stdout.write_all(bytes).and_then(|()| stdout.flush()))
}

/// Tells that something happened, as `facts` or as `text`; waits for no reader.
pub(crate) fn event(as_json: bool, name: &str, facts: &Value, text: &str) {
    let mut line = tame(text).into_owned();
    if as_json {
        let mut object = json!({ "event": name });
        if let (Some(object), Some(facts)) = (object.as_object_mut(), facts.as_object()) {
            object.extend(facts.clone());
        }
        line = object.to_string();
    }
    line.push('\n');
    printer::out().print(line.as_bytes());
}

/// Gives events a moment to leave at the end.
pub(crate) fn finish() -> Result<(), Failure> {
    written(printer::finish_out())
}

/// Whether whoever read stdout is gone, as far as anybody has tried.
pub(crate) fn reader_left() -> bool {
    READER_LEFT.load(Ordering::Relaxed)
}

static READER_LEFT: AtomicBool = AtomicBool::new(false);

/// What having written to stdout came to.
pub(crate) fn written(result: Written<()>) -> Result<(), Failure> {
    match result {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new(Exit::Io, format!("cannot write to stdout: {error}")))
        }
        Err(_) => {
            READER_LEFT.store(true, Ordering::Relaxed);
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}
