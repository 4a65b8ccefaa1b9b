//! Nearest: a mistyped verb, flag or value is answered with the closest one that exists.
//!
//! Used by the command line. The parser suggests only what is very close; people who guess a word
//! want the closest anyway.

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use std::ffi::OsString;

/// The same error with the nearest existing name, where the parser found none.
pub(crate) fn suggest(mut error: Error, root: &clap::Command, words: &[OsString]) -> Error {
    let (wrong, suggested) = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand)
        }
        ErrorKind::UnknownArgument => (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        ErrorKind::InvalidValue => (ContextKind::InvalidValue, ContextKind::SuggestedValue),
        _ => return error,
    };
    if error.get(suggested).is_some() {
        return error;
    }
    let Some(ContextValue::String(word)) = error.get(wrong).cloned() else { return error };
    let command = deepest(root, words);
    let names = match error.kind() {
        ErrorKind::InvalidValue => values(&error),
        _ if word.starts_with('-') => flags(command),
        _ => verbs(command),
    };
    if let Some(name) = nearest(&word, &names) {
        // A verb where a flag was expected, or the other way round, is told as what it is.
        let is_flag = name.starts_with('-');
        let kind = if suggested == ContextKind::SuggestedArg && !is_flag {
            ContextKind::SuggestedSubcommand
        } else {
            suggested
        };
        let value = match kind {
            ContextKind::SuggestedSubcommand => ContextValue::Strings(vec![name]),
            _ => ContextValue::String(name),
        };
        error.insert(kind, value);
    }
    error
}

/// The name that is most like `word`, if there are names at all.
pub(crate) fn nearest(word: &str, names: &[String]) -> Option<String> {
    let likeness = |name: &String| strsim::jaro_winkler(word, name);
    names.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b))).cloned()
}

/// The command that the words lead to.
fn deepest<'a>(root: &'a clap::Command, words: &[OsString]) -> &'a clap::Command {
    words.iter().skip(1).fold(root, |command, word| {
        word.to_str().and_then(|word| command.find_subcommand(word)).unwrap_or(command)
    })
}

fn verbs(command: &clap::Command) -> Vec<String> {
    command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect()
}

fn flags(command: &clap::Command) -> Vec<String> {
    command.get_arguments().filter_map(|flag| Some(format!("--{}", flag.get_long()?))).collect()
}

fn values(error: &Error) -> Vec<String> {
    match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(values)) => values.clone(),
        _ => Vec::new(),
    }
}
