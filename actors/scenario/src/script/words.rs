//! The vocabulary: every word of the language, registered with what it means, so that the list that
//! people read is the one that scripts are held to.

mod chaos;
mod checks;
mod faults;
pub(super) mod peers;
mod reading;
pub(super) mod servers;
mod time;

use rhai::{Engine, RhaiNativeFunc};

use super::error::Said;
use super::stage::Stage;
use super::value::LINK_ENTRIES;
use crate::happening::{PEER_EVENTS, SERVER_EVENTS};
use crate::roles::Role;

/// One word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// What it is about.
    pub group: &'static str,
    /// How it is written.
    pub usage: &'static str,
    /// What it does.
    pub help: &'static str,
}

/// A server, as scripts hold it.
#[derive(Clone)]
pub(super) struct ServerHandle {
    pub(super) stage: Stage,
    pub(super) at: usize,
}

/// A peer, as scripts hold it.
#[derive(Clone)]
pub(super) struct PeerHandle {
    pub(super) stage: Stage,
    pub(super) at: usize,
}

/// Registers words and keeps what they mean.
pub(super) struct Words<'a> {
    engine: &'a mut Engine,
    pub(super) stage: Stage,
    group: &'static str,
    list: Vec<Word>,
}

/// Register every word.
pub(super) fn register(engine: &mut Engine, stage: &Stage) -> Vec<Word> {
    engine.register_type_with_name::<ServerHandle>("server");
    engine.register_type_with_name::<PeerHandle>("peer");
    let mut words = Words { engine, stage: stage.clone(), group: "", list: Vec::new() };
    time::register(&mut words);
    servers::register(&mut words);
    peers::register(&mut words);
    reading::register(&mut words);
    faults::register(&mut words);
    chaos::register(&mut words);
    checks::register(&mut words);
    words.list
}

/// Every word, in the order of the documents.
#[must_use]
pub fn list() -> Vec<Word> {
    let stage = Stage::new(dh_host::Seeds::new(0), std::collections::BTreeSet::new());
    register(&mut Engine::new_raw(), &stage)
}

/// What surprises whoever comes from another language.
const NOTES: &[(&str, &str)] = &[
    (
        "closures",
        "share their variables: in a loop call a function that makes them, fn f(peer) { ... }",
    ),
    (
        "seeds",
        "random(), dice() and pick() follow from the seed, and nothing else is left to chance",
    ),
    ("checks", "that stand under no `if` must be reached in every run"),
    ("names", "peers made by spawn() are called ROLE-N, N counting all peers"),
];

/// What else there is to know: events, roles, and the entries of links.
#[must_use]
pub fn tables() -> Vec<(&'static str, Vec<(&'static str, &'static str)>)> {
    let roles = Role::ALL.iter().map(|(name, _, help)| (*name, *help));
    vec![
        ("events of a peer", PEER_EVENTS.to_vec()),
        ("events of a server", SERVER_EVENTS.to_vec()),
        ("roles", roles.collect()),
        ("entries of a link", LINK_ENTRIES.to_vec()),
        ("to know", NOTES.to_vec()),
    ]
}

/// How a word is written, if there is one of that name.
pub(super) fn usages(name: &str) -> Option<String> {
    let usages: Vec<&str> =
        list().iter().filter(|word| word.name() == name).map(|word| word.usage).collect();
    (!usages.is_empty()).then(|| usages.join(" or "))
}

impl Word {
    /// What it is called by.
    #[must_use]
    pub fn name(&self) -> &'static str {
        let head = self.usage.split('(').next().unwrap_or(self.usage);
        head.rsplit('.').next().unwrap_or(head)
    }
}

impl Words<'_> {
    /// The words from here on are about this.
    fn group(&mut self, group: &'static str) {
        self.group = group;
    }

    /// A word that is called.
    fn word<A: 'static, const N: usize, const X: bool, R, const F: bool>(
        &mut self,
        usage: &'static str,
        help: &'static str,
        act: impl RhaiNativeFunc<A, N, X, R, F> + 'static,
    ) where
        R: rhai::Variant + Clone,
    {
        let word = Word { group: self.group, usage, help };
        self.engine.register_fn(word.name(), act);
        if !self.list.contains(&word) {
            self.list.push(word);
        }
    }

    /// A word that is read.
    fn reading<T, R>(
        &mut self,
        usage: &'static str,
        help: &'static str,
        read: impl Fn(&mut T) -> Said<R> + 'static,
    ) where
        T: rhai::Variant + Clone,
        R: rhai::Variant + Clone,
    {
        let word = Word { group: self.group, usage, help };
        self.engine.register_get(word.name(), read);
        self.list.push(word);
    }
}
