//! The files of scenarios: found, read within a bound, and written only where nothing is.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use dh_scenario::Script;
use dh_scenario::script::limit::FILE_MAX;

use crate::exit::{Exit, Failure};
use crate::input;

/// A scenario to start from.
pub(super) const TEMPLATE: &str = include_str!("template.rhai");
/// What scenarios end in.
pub(super) const EXTENSION: &str = "rhai";
/// Scenarios of one command, at most.
const FILES_MAX: usize = 10_000;

/// One scenario, and where it lies.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) path: String,
    pub(super) script: Script,
}

/// The scenarios of these files and folders, in the order of their names.
pub(super) fn find(paths: &[PathBuf]) -> Result<Vec<Found>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        let missing = |error: io::Error| {
            Failure::new(Exit::Missing, format!("{}: {error}", path.display()))
                .remedy("dh scenario new NAME writes one to start from")
        };
        if !fs::metadata(path).map_err(missing)?.is_dir() {
            files.push(path.clone());
            continue;
        }
        let mut inside = Vec::new();
        for entry in fs::read_dir(path).map_err(missing)? {
            let file = entry.map_err(missing)?.path();
            if file.extension().is_some_and(|it| it == EXTENSION) {
                inside.push(file);
            }
            if FILES_MAX < inside.len() {
                let cause = format!("{}: more than {FILES_MAX} scenarios", path.display());
                return Err(Failure::new(Exit::Usage, cause));
            }
        }
        if inside.is_empty() {
            let cause = format!("{}: no file in it ends in .{EXTENSION}", path.display());
            return Err(Failure::new(Exit::Missing, cause));
        }
        inside.sort();
        files.extend(inside);
    }
    Ok(files.iter().map(|path| read(path)).collect())
}

/// The keys in a file, one a line.
pub(super) fn keys(path: &Path) -> Result<Vec<String>, Failure> {
    let text = text(path)?;
    let lines = text.lines().filter(|line| !line.starts_with("//"));
    Ok(lines.map(of_line).collect())
}

/// What `as_line` made a line of.
fn of_line(line: &str) -> String {
    let mut key = String::with_capacity(line.len());
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.next() == Some('n') => key.push('\n'),
            letter => key.push(letter),
        }
    }
    key
}

/// A key as a line of such a file.
pub(super) fn as_line(key: &str) -> String {
    key.replace('\\', "\\\\").replace('\n', "\\n")
}

/// Write a file that is not there yet.
pub(super) fn create(path: &Path, text: &str) -> Result<(), Failure> {
    let made = OpenOptions::new().write(true).create_new(true).open(path);
    made.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
        Failure::new(Exit::CannotCreate, format!("{}: {error}", path.display()))
            .remedy("another name, or another folder")
    })
}

/// One that cannot be read says so in its turn, and hides no other.
fn read(path: &Path) -> Found {
    let (text, path) = (text(path), path.display().to_string());
    let script = match text {
        Ok(text) => Script::new(path.clone(), text),
        Err(Failure { exit, cause, .. }) => {
            let why = cause.strip_prefix(&format!("{path}: ")).unwrap_or(&cause);
            Script::unread(path.clone(), why, exit == Exit::Missing)
        }
    };
    Found { script, path }
}

fn text(path: &Path) -> Result<String, Failure> {
    let bytes = input::bytes(path, FILE_MAX, "a scenario")?;
    String::from_utf8(bytes).map_err(|error| {
        let (shown, at) = (path.display(), error.utf8_error().valid_up_to());
        Failure::new(Exit::Damaged, format!("{shown}: byte {at} is not UTF-8, expected text"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_with_whatever_is_in_it_is_one_line_and_read_as_it_was() {
        for key in ["peer ada #1", "a\nb", r"a\nb", r"a\", "\\\n\\n"] {
            let line = as_line(key);
            assert_eq!((line.lines().count(), of_line(&line).as_str()), (1, key));
        }
    }
}
