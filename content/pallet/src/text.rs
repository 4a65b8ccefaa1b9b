//! Text: the canonical text of a pallet, one line an item, tabs between fields.
//!
//! `pallet ID`, `name TEXT`, `version TEXT`, `author TEXT` each, `licence TEXT`, `dependency ID`
//! each; then path, bytes of the file, BLAKE3 of the stored bytes for each entry.

use std::fmt::Write;
use std::str::Lines;

use crate::error::PalletError;
use crate::manifest::{About, Entry};

/// What a text starts with.
pub(crate) const FIRST_KEY: &str = "pallet\t";

/// The canonical text.
pub(crate) fn write(about: &About, entries: &[Entry]) -> String {
    let mut text = String::new();
    let mut line = |key: &str, value: &str| {
        for part in [key, "\t", value, "\n"] {
            text.push_str(part);
        }
    };
    line("pallet", &about.id);
    line("name", &about.name);
    line("version", &about.version);
    about.authors.iter().for_each(|author| line("author", author));
    line("licence", &about.licence);
    about.dependencies.iter().for_each(|id| line("dependency", id));
    for entry in entries {
        let Entry { path, raw_bytes, checksum, .. } = entry;
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{path}\t{raw_bytes}\t{checksum}");
    }
    text
}

/// Read a text and complete the rows of the table that belongs to it. Whether it was canonical is
/// seen by writing it again.
pub(crate) fn read(
    text: &str,
    mut entries: Vec<Entry>,
) -> Result<(About, Vec<Entry>), PalletError> {
    let mut keyed = Keyed { lines: text.lines() };
    let about = About {
        id: keyed.one("pallet")?,
        name: keyed.one("name")?,
        version: keyed.one("version")?,
        authors: keyed.each("author"),
        licence: keyed.one("licence")?,
        dependencies: keyed.each("dependency"),
    };
    let told = |line: &str, entry: &Entry| {
        let (path, rest) = line.split_once('\t')?;
        let (bytes, _) = rest.split_once('\t')?;
        bytes.parse().ok().filter(|_| path == entry.path)
    };
    let mut lines = keyed.lines;
    for entry in &mut entries {
        let bytes = lines.next().and_then(|line| told(line, entry));
        entry.raw_bytes = bytes.ok_or(PalletError::Manifest("text and table differ"))?;
    }
    Ok((about, entries))
}

struct Keyed<'a> {
    lines: Lines<'a>,
}

impl Keyed<'_> {
    fn one(&mut self, key: &str) -> Result<String, PalletError> {
        self.next(key).ok_or(PalletError::Manifest("its text lacks a line"))
    }

    fn each(&mut self, key: &str) -> Vec<String> {
        std::iter::from_fn(|| self.next(key)).collect()
    }

    /// The next line's value if the line has this key and no third field.
    fn next(&mut self, key: &str) -> Option<String> {
        let mut ahead = self.lines.clone();
        let value = ahead.next()?.strip_prefix(key)?.strip_prefix('\t')?;
        if value.contains('\t') {
            return None;
        }
        self.lines = ahead;
        Some(value.to_owned())
    }
}
