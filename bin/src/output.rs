//! Output: data on stdout, as text or as JSON.
//!
//! Used by every verb that answers with data. A reader that went away, as in `dh prefs list |
//! head -1`, is not a failure.

use crate::exit::{Exit, Failure};
use serde_json::Value;
use std::io::{ErrorKind, Write as _, stdout};

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
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new(Exit::Io, format!("cannot write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}
