//! Output: data on stdout, as text or as JSON.
//!
//! Used by every verb that answers with data: results are written at once, events of a role that
//! runs on go through the printer. A reader that went away, as in `dh prefs list | head -1`, is not
//! a failure.

pub(crate) mod bar;
pub(crate) mod printer;

use crate::exit::{Exit, Failure};
use serde_json::{Value, json};
use std::io::{ErrorKind, Result as Written, Write as _, stdout};

/// Writes one line of data.
pub(crate) fn line(text: &str) -> Result<(), Failure> {
    bytes(format!("{text}\n").as_bytes())
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
    let mut line = text.to_owned();
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

/// What having written to stdout came to.
pub(crate) fn written(result: Written<()>) -> Result<(), Failure> {
    match result {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new(Exit::Io, format!("cannot write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}
