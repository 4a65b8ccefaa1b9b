//! Names: who the numbers in a record are, also of actors that have ended.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::registry::{ActorId, Entry};

/// An actor's path and the kinds of its messages.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) path: String,
    pub(super) kinds: &'static [&'static str],
}

/// The names of the actors started last.
#[derive(Debug, Default)]
pub(super) struct Names(Mutex<BTreeMap<ActorId, Name>>);

impl Names {
    /// Names that are kept.
    const MAX: usize = 8_192;

    pub(super) fn enter(&self, entry: &Entry, kinds: &'static [&'static str]) {
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if names.len() == Self::MAX {
            names.pop_first();
        }
        names.insert(entry.id, Name { path: entry.path.clone(), kinds });
    }

    pub(super) fn all(&self) -> BTreeMap<ActorId, Name> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
