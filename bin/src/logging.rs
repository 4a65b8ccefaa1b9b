//! Logging: everything that is not data goes to stderr, once set up by `main`.
//!
//! `-v` and `-q` choose the level, `DH_LOG` overrides it target by target. Colour only on a
//! terminal, and not where `NO_COLOR` is set.

mod places;

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

/// In place of a level: as it was at the start.
const RESET: &str = "reset";
/// Paths whose level can be changed at once.
const PATHS_MAX: usize = 64;

/// Logs what lies below a path of the program, or what actors of a kind tell, at another level from
/// now on, or as at the start again; without a path, tells what was changed. What was done, or why
/// not.
pub(crate) fn set_level(path: &str, level: &str) -> Result<String, String> {
    let levels = LEVELS.get().ok_or("nothing is logged")?;
    let mut levels = levels.lock().unwrap_or_else(PoisonError::into_inner);
    let done = levels.set(path, level)?;
    let filter = levels.filter().map_err(|error| error.to_string())?;
    if !(levels.reload)(filter) {
        return Err("nothing is logged".to_owned());
    }
    Ok(done)
}

impl Levels {
    fn set(&mut self, path: &str, level: &str) -> Result<String, String> {
        if path.is_empty() {
            return Ok(format!("{}; {}", self.told(), places::all()));
        }
        let module = places::module(path)?;
        if level == RESET {
            self.by_path.remove(&module);
            return Ok(format!("{module} is logged as at the start; {}", self.told()));
        }
        let known = ["off", "error", "warn", "info", "debug", "trace"];
        if !known.contains(&level) {
            let known = known.join(", ");
            return Err(format!("level: expected one of {known}, {RESET}, found {level:?}"));
        }
        if self.by_path.len() >= PATHS_MAX && !self.by_path.contains_key(&module) {
            return Err(format!("the levels of {PATHS_MAX} paths have been changed already"));
        }
        self.by_path.insert(module.clone(), level.to_owned());
        Ok(format!("{module} is logged at {level}; {}", self.told()))
    }

    /// What is in force.
    fn told(&self) -> String {
        let changed: Vec<String> =
            self.by_path.iter().map(|(path, level)| format!("{path}={level}")).collect();
        let changed = if changed.is_empty() { "nothing".to_owned() } else { changed.join(", ") };
        format!("at the start {}, changed since: {changed}", self.base)
    }

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

    fn levels() -> Levels {
        let base = directives(0).to_owned();
        Levels { base, by_path: BTreeMap::new(), reload: Box::new(|_| true) }
    }

    #[test]
    fn a_level_or_a_path_that_is_none_is_refused_with_those_there_are() {
        for (path, level, part) in [
            ("dh_host", "loud", "one of off, error, warn, info, debug, trace, reset"),
            ("a=b,c", "off", "expected a module that logs"),
            ("dh_nonsense", "off", "expected a module that logs"),
            ("dh_host::watchdg", "off", "dh_host::watchdog"),
        ] {
            let told = levels().set(path, level).unwrap_err();
            assert!(told.contains(part), "{told}");
        }
    }

    #[test]
    fn what_was_changed_is_put_behind_what_was_chosen_is_told_and_can_be_undone() {
        let mut levels = levels();
        let told = levels.set("", "").unwrap();
        assert!(told.starts_with(&levels.told()) && told.contains("dh_server::roster"), "{told}");
        levels.set("dh_host", "trace").unwrap();
        let told = levels.set("roster", "debug").unwrap();
        let part = "changed since: dh_host=trace, dh_server::roster=debug";
        assert!(told.starts_with("dh_server::roster is logged at debug; ") && told.ends_with(part));
        let filter = levels.filter().unwrap().to_string();
        assert!(filter.contains("dh_host=trace") && filter.contains("dh=info"), "{filter}");
        levels.set("dh_host", "reset").unwrap();
        let told = levels.set("dh_server::roster", "reset").unwrap();
        assert!(told.ends_with("changed since: nothing"), "{told}");
        assert!(!levels.filter().unwrap().to_string().contains("trace"));
    }

    #[test]
    fn each_q_is_quieter_and_each_v_is_louder() {
        assert_eq!(directives(-9), "off");
        assert_eq!([-1, 0, 1].map(directives), ["warn", "warn,dh=info", "warn,dh=debug"]);
        assert_eq!(directives(9), "trace");
    }
}
