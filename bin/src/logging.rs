//! Logging: everything that is not data goes to stderr, once set up by `main`.
//!
//! `-v` and `-q` choose the level, `DH_LOG` overrides it target by target. Colour only on a
//! terminal, and not where `NO_COLOR` is set.

use crate::command::{LogFormat, Shared};
use crate::output::printer;
use std::io::{self, IsTerminal as _, Write, stderr};
use tracing_subscriber::EnvFilter;

/// Sends the program's log to stderr from here on; what was dropped is told as everything else.
/// Who runs a server wants to read of its players; everybody else wants it so much `quieter`.
pub(crate) fn start(shared: &Shared, quieter: i16) {
    let filter = EnvFilter::try_from_env("DH_LOG");
    let filter =
        filter.unwrap_or_else(|_| EnvFilter::new(directives(shared.verbosity() - quieter)));
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(|| Line)
        .with_ansi(stderr().is_terminal() && !plain)
        .log_internal_errors(false);
    if shared.json {
        printer::out().speak_json();
    }
    // A second start, as in tests, keeps the first.
    match shared.log_format {
        LogFormat::Text => drop(log.with_target(false).try_init()),
        LogFormat::Json => {
            printer::err().speak_json();
            drop(log.json().flatten_event(true).try_init());
        }
    }
}

/// One log line on its way to stderr; an actor that logs never waits for whoever reads it.
struct Line;

impl Write for Line {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        printer::err().print(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What is logged: ours at the chosen level, libraries only when they warn or when all is wanted.
fn directives(verbosity: i16) -> &'static str {
    match verbosity {
        ..=-3 => "off",
        -2 => "error",
        -1 => "warn",
        0 => "warn,dh=info",
        1 => "warn,dh=debug",
        2 => "info,dh=trace",
        3.. => "trace",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_q_is_quieter_and_each_v_is_louder() {
        assert_eq!(directives(-9), "off");
        assert_eq!([-1, 0, 1].map(directives), ["warn", "warn,dh=info", "warn,dh=debug"]);
        assert_eq!(directives(9), "trace");
    }
}
