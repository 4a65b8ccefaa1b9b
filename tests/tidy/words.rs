//! Words: ASCII only, nothing unfinished, no name that says nothing, nothing of one machine.

use crate::tree::{Source, holds, passes, sees};

/// Names that say nothing about what they hold.
const EMPTY_NAMES: [&str; 5] = ["util", "helper", "common", "manager", "misc"];

/// Marks of unfinished work; split so that this file does not hold them.
const UNFINISHED: [&str; 7] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X:"),
    concat!("todo", "!"),
    concat!("unimplemented", "!"),
    concat!("#[ig", "nore"),
    concat!("dbg", "!("),
];

/// Package registries and folders of one machine.
const PLACES: [&str; 9] = [
    concat!("crates", ".io"),
    concat!("npmjs", "."),
    concat!("pypi", ".org"),
    concat!("golang", ".org"),
    concat!("debian", ".org"),
    concat!("arti", "factory"),
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
];

#[test]
fn every_text_is_ascii() {
    sees(not_ascii, &[("x.rs", "// caf\u{e9}")]);
    holds(not_ascii);
}

#[test]
fn nothing_is_left_unfinished_or_skipped() {
    for mark in UNFINISHED {
        sees(unfinished, &[("x.rs", mark)]);
    }
    holds(unfinished);
}

#[test]
fn no_file_or_type_has_a_name_that_says_nothing() {
    sees(empty_names, &[("a/src/net_util.rs", "")]);
    sees(empty_names, &[("a/src/x.rs", "struct PortManager;")]);
    sees(empty_names, &[("a/helpers/x.rs", "")]);
    passes(empty_names, &[("a/src/utility_pole.rs", "struct Commoner; // a helper")]);
    holds(empty_names);
}

#[test]
fn no_module_is_named_mod_rs() {
    sees(mod_files, &[("a/src/x/mod.rs", "")]);
    holds(mod_files);
}

#[test]
fn no_text_names_a_registry_or_a_folder_of_one_machine() {
    for place in PLACES {
        sees(places, &[("README.md", place)]);
    }
    holds(places);
}

#[test]
fn every_rust_file_opens_with_what_it_is() {
    sees(headless, &[("x.rs", "use std::fmt;\n//! Late.")]);
    holds(headless);
}

fn not_ascii(sources: &[Source]) -> Vec<String> {
    lines_where(sources, |line| !line.is_ascii())
}

fn unfinished(sources: &[Source]) -> Vec<String> {
    lines_where(sources, |line| UNFINISHED.iter().any(|mark| line.contains(mark)))
}

fn places(sources: &[Source]) -> Vec<String> {
    lines_where(sources, |line| PLACES.iter().any(|place| line.contains(place)))
}

/// Every line that has the fault; lock files are cargo's own and are not read.
fn lines_where(sources: &[Source], faulty: fn(&str) -> bool) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources.iter().filter(|source| source.name() != "Cargo.lock") {
        for (index, line) in source.text.lines().enumerate().filter(|(_, line)| faulty(line)) {
            faults.push(format!("{}:{}: {}", source.path, index + 1, line.trim()));
        }
    }
    faults
}

fn mod_files(sources: &[Source]) -> Vec<String> {
    let named = sources.iter().filter(|source| source.name() == "mod.rs");
    named.map(|source| format!("{}: name it after what it holds", source.path)).collect()
}

fn headless(sources: &[Source]) -> Vec<String> {
    let rust = sources.iter().filter(|source| source.is_rust());
    let bare = rust.filter(|source| !source.text.starts_with("//! "));
    bare.map(|source| format!("{}: no header", source.path)).collect()
}

fn empty_names(sources: &[Source]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources.iter().filter(|source| source.is_rust()) {
        let path = source.path.trim_end_matches(".rs");
        if path.split(['/', '_', '-']).any(says_nothing) {
            faults.push(format!("{}: the name says nothing", source.path));
        }
        for keyword in ["struct ", "enum ", "trait ", "type ", "union ", "mod "] {
            let names = source.code.split(keyword).skip(1).map(|rest| {
                rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or("")
            });
            for name in names.filter(|name| camel_words(name).iter().any(|word| says_nothing(word)))
            {
                faults.push(format!("{}: {name} says nothing", source.path));
            }
        }
    }
    faults
}

/// Whether a word, plural or not, is one of the empty names.
fn says_nothing(word: &str) -> bool {
    EMPTY_NAMES.iter().any(|name| word == *name || word.strip_suffix('s') == Some(name))
}

/// The words of a camel-case or snake-case name, in lower case.
fn camel_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for letter in name.chars() {
        if letter.is_ascii_uppercase() || letter == '_' {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter != '_') {
            word.push(letter.to_ascii_lowercase());
        }
    }
    words
}
