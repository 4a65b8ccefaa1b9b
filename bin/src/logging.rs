//! Logging: everything that is not data goes to stderr, once set up by `main`.
//!
//! `-v` and `-q` choose the level, `DH_LOG` overrides it target by target. Colour only on a
//! terminal, and not where `NO_COLOR` is set.

use crate::command::{LogFormat, Shared, Verb};
use crate::output::printer;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _, Write, stderr};
use std::sync::{Mutex, OnceLock, PoisonError};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;

/// Sends the program's log to stderr from here on; what was dropped is told as everything else.
/// Who runs a server wants to read of its players; everybody else wants less.
pub(crate) fn start(shared: &Shared, verb: Option<&Verb>) {
    let quieter = match verb {
        Some(Verb::Server(_)) => 0,
        // Faults are what scenarios are made of.
        Some(Verb::Scenario(_)) => 3,
        _ => 1,
    };
    let chosen = std::env::var("DH_LOG").ok();
    let chosen = chosen.filter(|text| !text.is_empty() && EnvFilter::try_new(text).is_ok());
    let base = chosen.unwrap_or_else(|| directives(shared.verbosity() - quieter).to_owned());
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let log = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(&base))
        .with_writer(|| Line)
        .with_ansi(stderr().is_terminal() && !plain)
        .log_internal_errors(false);
    if shared.json {
        printer::out().speak_json();
    }
    // A second start, as in tests, keeps the first.
    let reload: Reload = match shared.log_format {
        LogFormat::Text => {
            let log = log.with_target(false).with_filter_reloading();
            let handle = log.reload_handle();
            drop(log.try_init());
            Box::new(move |filter| handle.reload(filter).is_ok())
        }
        LogFormat::Json => {
            printer::err().speak_json();
            let log = log.json().flatten_event(true).with_filter_reloading();
            let handle = log.reload_handle();
            drop(log.try_init());
            Box::new(move |filter| handle.reload(filter).is_ok())
        }
    };
    let levels = Levels { base, by_path: BTreeMap::new(), reload };
    drop(LEVELS.set(Mutex::new(levels)));
}

/// Puts another filter in force; whether there was a log to filter.
type Reload = Box<dyn Fn(EnvFilter) -> bool + Send>;

/// What is logged, and what was changed since the start.
struct Levels {
    base: String,
    by_path: BTreeMap<String, String>,
    reload: Reload,
}

static LEVELS: OnceLock<Mutex<Levels>> = OnceLock::new();

/// Paths whose level can be changed at once.
const PATHS_MAX: usize = 64;

/// Logs what lies below a path of the program at another level from now on; what was done, or why
/// not.
pub(crate) fn set_level(path: &str, level: &str) -> Result<String, String> {
    let known = ["off", "error", "warn", "info", "debug", "trace"];
    if !known.contains(&level) {
        return Err(format!("level: expected one of {}, found {level:?}", known.join(", ")));
    }
    let is_of_path = |letter: char| letter.is_ascii_alphanumeric() || "_:".contains(letter);
    if path.is_empty() || !path.chars().all(is_of_path) {
        return Err(format!("path: expected a module as in dh_host::net, found {path:?}"));
    }
    let levels = LEVELS.get().ok_or("nothing is logged")?;
    let mut levels = levels.lock().unwrap_or_else(PoisonError::into_inner);
    if levels.by_path.len() >= PATHS_MAX && !levels.by_path.contains_key(path) {
        return Err(format!("the levels of {PATHS_MAX} paths have been changed already"));
    }
    levels.by_path.insert(path.to_owned(), level.to_owned());
    let filter = levels.filter().map_err(|error| error.to_string())?;
    if !(levels.reload)(filter) {
        return Err("nothing is logged".to_owned());
    }
    Ok(format!("{path} is logged at {level}"))
}

impl Levels {
    fn filter(&self) -> Result<EnvFilter, ParseError> {
        let changed = self.by_path.iter().map(|(path, level)| format!(",{path}={level}"));
        EnvFilter::try_new(format!("{}{}", self.base, changed.collect::<String>()))
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
    fn a_level_that_is_none_and_a_path_that_is_none_are_refused_with_what_is_expected() {
        for (path, level, part) in
            [("dh_host", "loud", "one of off, error"), ("a=b,c", "off", "dh_host::net")]
        {
            let told = set_level(path, level).unwrap_err();
            assert!(told.contains(part), "{told}");
        }
    }

    #[test]
    fn what_was_changed_is_put_behind_what_was_chosen() {
        let by_path = BTreeMap::from([("dh_host::net".to_owned(), "trace".to_owned())]);
        let levels = Levels { base: directives(0).to_owned(), by_path, reload: Box::new(|_| true) };
        let filter = levels.filter().unwrap().to_string();
        assert!(filter.contains("dh_host::net=trace") && filter.contains("dh=info"), "{filter}");
    }

    #[test]
    fn each_q_is_quieter_and_each_v_is_louder() {
        assert_eq!(directives(-9), "off");
        assert_eq!([-1, 0, 1].map(directives), ["warn", "warn,dh=info", "warn,dh=debug"]);
        assert_eq!(directives(9), "trace");
    }
}
