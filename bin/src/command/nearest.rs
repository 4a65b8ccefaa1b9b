//! Nearest: a mistyped verb, flag or value is answered with the one that was meant.
//!
//! Used by the command line. A name is near if a third of the typed word's letters at most are
//! slips; a tip that leads astray is worse than none.

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
    let Some(ContextValue::String(word)) = error.get(wrong).cloned() else { return error };
    let command = deepest(root, words);
    let names = match error.kind() {
        ErrorKind::InvalidValue => values(&error),
        _ => [verbs(command), flags(command)].concat(),
    };
    if error.get(suggested).is_some() {
        // The parser compares words with words only: the same word as a flag is nearer than those.
        if !names.iter().any(|name| name.trim_start_matches('-') == word) {
            return error;
        }
        error.remove(suggested);
    }
    if let Some(name) = nearest(&word, &names) {
        // A verb where a flag was expected, or the other way round, is told as what it is.
        let (kind, value) = match suggested {
            ContextKind::SuggestedValue => (suggested, ContextValue::String(name)),
            _ if name.starts_with('-') => (ContextKind::SuggestedArg, ContextValue::String(name)),
            _ => (ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![name])),
        };
        error.insert(kind, value);
    }
    error
}

/// The name that `word` was meant to be, if one is near enough; dashes before it are no letters.
fn nearest(word: &str, names: &[String]) -> Option<String> {
    let bare = |name: &str| name.trim_start_matches('-').to_lowercase();
    let typed = bare(word);
    let slips_max = (typed.chars().count() / 3).max(1);
    let rank = |name: &String| {
        let slips = strsim::osa_distance(&typed, &bare(name));
        let other_kind = name.starts_with('-') != word.starts_with('-');
        (slips <= slips_max).then_some((slips, other_kind))
    };
    let near = names.iter().filter_map(|name| Some((rank(name)?, name)));
    near.min().map(|(_, name)| name.clone())
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
