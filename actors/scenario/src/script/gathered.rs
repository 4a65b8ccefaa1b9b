//! Gathered: the mistakes of one object map, so that none hides another.

use rhai::{Dynamic, Map};

use super::error::{Mistake, Said, Under as _, unknown};
use super::plan::map;
use super::words::Entries;

/// What is wrong with an object map, in the order it was read in.
#[derive(Default)]
pub(super) struct Gathered(Vec<Mistake>);

impl Gathered {
    /// One more mistake.
    pub(super) fn add(&mut self, mistake: Mistake) {
        self.0.push(mistake);
    }

    /// A mistake, if that is one.
    pub(super) fn hear(&mut self, said: Said<()>) {
        self.0.extend(said.err());
    }

    /// Whether nothing was wrong so far.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Everything that was wrong.
    pub(super) fn all(self) -> Vec<Mistake> {
        self.0
    }

    /// What was read, unless something was wrong with it.
    pub(super) fn or_first<T>(self, read: T) -> Said<T> {
        self.0.into_iter().next().map_or(Ok(read), Err)
    }

    /// Read what stands under a key.
    pub(super) fn under<T>(&mut self, key: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let mut within = Self::default();
        let it = read(&mut within);
        self.0.extend(within.0.into_iter().map(|mistake| mistake.under(key)));
        it
    }

    /// What an entry says, or what holds where it is not there or wrong.
    pub(super) fn entry<T>(
        &mut self,
        data: &Map,
        key: &str,
        standard: T,
        read: impl FnOnce(&Dynamic) -> Said<T>,
    ) -> T {
        match data.get(key).map(|value| read(value).under(key)) {
            None => standard,
            Some(Ok(it)) => it,
            Some(Err(mistake)) => {
                self.add(mistake);
                standard
            }
        }
    }

    /// Read each entry of the object map that an entry is.
    pub(super) fn each(
        &mut self,
        data: &Map,
        key: &str,
        mut read: impl FnMut(&str, &Dynamic, &mut Self),
    ) {
        let all = self.entry(data, key, Map::new(), |it| map(key, it));
        self.under(key, |told| {
            for (name, value) in &all {
                told.under(name, |told| read(name, value, told));
            }
        });
    }

    /// An object map; an empty one where it is none.
    pub(super) fn map(&mut self, what: &str, value: &Dynamic) -> Map {
        match map(what, value) {
            Ok(map) => map,
            Err(mistake) => {
                self.add(mistake);
                Map::new()
            }
        }
    }

    /// Refuse every entry that nobody reads.
    pub(super) fn known(&mut self, kind: &str, data: &Map, keys: Entries) {
        let names = keys.iter().map(|(key, _)| *key);
        for key in data.keys().filter(|key| !names.clone().any(|name| name == key.as_str())) {
            self.add(unknown(kind, key, names.clone()).under(key));
        }
    }
}
