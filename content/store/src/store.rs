//! Store: where content is found, and that what is found is what was asked for.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dh_machine::{Disk, DiskError, DiskFile};
use dh_pallet::{NewDigest, Pallet, PalletError, verify, xxh128};
use dh_wire::Content;

use crate::cached::{Kind, name_of};
use crate::error::StoreError;
use crate::known::Known;
use crate::load::AnySource;

/// What a store starts with.
#[derive(Clone)]
pub struct Options {
    /// The folder that the store owns; it is made if need be.
    pub cache: String,
    /// Pallets and folders of pallets that come with the program.
    pub bundled: Vec<String>,
    /// The digest of fingerprints: that of every build, but for a test.
    pub digest: NewDigest,
}

impl Options {
    /// A cache in this folder, and nothing bundled.
    #[must_use]
    pub fn new(cache: &str) -> Self {
        Self { cache: cache.to_owned(), bundled: Vec::new(), digest: xxh128 }
    }
}

/// The content of one disk. Clones are the same store.
#[derive(Clone)]
pub struct Store {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) options: Options,
    state: Mutex<State>,
}

/// What changes while a store is used.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// Pallets and folders of pallets that others own.
    given: Vec<String>,
    pub(crate) known: Known,
    /// How many transfers of a content are open.
    pub(crate) writers: BTreeMap<Content, usize>,
}

/// Whose file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The store's own: deleted when it is bad, pruned when it is old.
    Cache,
    /// Somebody else's, or bundled: never moved, changed or removed.
    Given,
}

/// A file that claims to be what was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where it is.
    pub path: String,
    /// Whose it is.
    pub place: Place,
    /// What its header claims.
    pub content: Content,
}

/// What a lookup found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    /// The first file whose header has fingerprint and root.
    pub found: Option<Found>,
    /// Files passed over that have the fingerprint and another root; their bodies were not read.
    pub twins: Vec<String>,
}

impl Store {
    /// The store in `options.cache`, which is made if need be.
    pub fn open(disk: Arc<dyn Disk>, options: Options) -> Result<Self, StoreError> {
        disk.make_dir(&options.cache)?;
        Ok(Self { inner: Arc::new(Inner { disk, options, state: Mutex::default() }) })
    }

    /// From now on these pallets and folders of pallets are looked through too, in this order.
    pub fn set_given(&self, given: Vec<String>) {
        self.state().given = given;
    }

    /// Whether this content is here, as far as headers tell.
    #[must_use]
    pub fn have(&self, content: &Content) -> bool {
        self.resolve(content).found.is_some()
    }

    /// Where this content is: in the cache, bundled, or given. Costs one header a candidate, and
    /// nothing for files that have not changed since. A file that cannot be read is passed over;
    /// one of the cache that is not what its name says is deleted.
    #[must_use]
    pub fn resolve(&self, content: &Content) -> Resolved {
        let mut resolved = Resolved::default();
        let cached = self.cache_path(content, Kind::Pallet);
        let given = self.given();
        let places = [Place::Cache].into_iter().chain(given.iter().map(|_| Place::Given));
        for (path, place) in [cached].iter().chain(&given).zip(places) {
            let Ok(look) = self.state().known.look(&*self.inner.disk, path) else { continue };
            if look.content.as_ref() == Ok(content) {
                let (path, content) = (path.clone(), *content);
                resolved.found = Some(Found { path, place, content });
                break;
            }
            if place == Place::Cache {
                self.remove_bad(path);
            } else if look.content.is_ok_and(|other| other.fingerprint == content.fingerprint) {
                resolved.twins.push(path.clone());
            }
        }
        resolved
    }

    /// The files among those bundled and given that claim this pallet id, in order.
    #[must_use]
    pub fn by_id(&self, id: &str) -> Vec<Found> {
        let claims = |path: String| {
            let (found, content) = self.state().known.id(&*self.inner.disk, &path)?;
            (found == id).then_some(Found { path, place: Place::Given, content })
        };
        self.given().into_iter().filter_map(claims).collect()
    }

    /// The ids that pallets among those bundled and given claim, each once, in order.
    #[must_use]
    pub fn ids(&self) -> Vec<String> {
        let mut ids = Vec::new();
        for path in self.given() {
            let id = self.state().known.id(&*self.inner.disk, &path);
            ids.extend(id.map(|(id, _)| id).filter(|id| !ids.contains(id)));
        }
        ids
    }

    /// The files among those bundled and given that are not used, and why: no pallets, of another
    /// version, damaged, or rejected. A file that cannot be read is one of them.
    #[must_use]
    pub fn refused(&self) -> Vec<(String, PalletError)> {
        let why = |path: String| {
            let look = self.state().known.look(&*self.inner.disk, &path);
            let why = look.map_err(PalletError::Disk).and_then(|look| look.content).err()?;
            Some((path, why))
        };
        self.given().into_iter().filter_map(why).collect()
    }

    /// Open this content, wherever it is: header, group table and manifest are checked against the
    /// root, and what is read later is proved. Files that turn out bad are [rejected](Self::reject)
    /// and the next is tried.
    pub fn pallet(&self, content: &Content) -> Result<Option<Pallet<AnySource>>, StoreError> {
        let mut before = None;
        while let Some(found) = self.resolve(content).found {
            match self.open_pallet(&found) {
                Ok(pallet) => return Ok(Some(pallet)),
                Err(PalletError::Disk(error)) => return Err(error.into()),
                // It was rejected and is found again: the disk does not do what it is told.
                Err(error) if before.as_ref() == Some(&found.path) => return Err(error.into()),
                Err(error) => self.reject(&found, error),
            }
            before = Some(found.path);
        }
        Ok(None)
    }

    /// Open a pallet that was found: header, group table and manifest are checked against the root
    /// that it claimed, and what is read later is proved. One of the cache counts as used.
    pub fn open_pallet(&self, found: &Found) -> Result<Pallet<AnySource>, PalletError> {
        let file = self.open_file(found).map_err(PalletError::Disk)?;
        let pallet = Pallet::open(Box::new(file) as AnySource, Some(&found.content))?;
        if found.place == Place::Cache {
            // For the order of pruning only.
            let _ = self.inner.disk.touch(&found.path);
        }
        Ok(pallet)
    }

    /// Open a file that was found, to be proved by whoever reads it.
    pub fn open_file(&self, found: &Found) -> Result<Box<dyn DiskFile>, DiskError> {
        self.inner.disk.open(&found.path)
    }

    /// A file turned out bad when it was read: one of the cache is deleted, another is passed over
    /// and [told](Self::refused) until it changes.
    pub fn reject(&self, found: &Found, why: PalletError) {
        self.state().known.reject(&found.path, why);
        if found.place == Place::Cache {
            self.remove_bad(&found.path);
        }
    }

    /// Read all of a file that was found and check everything; a bad one is
    /// [rejected](Self::reject).
    pub fn verify(
        &self,
        found: &Found,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), StoreError> {
        let file = self.inner.disk.open(&found.path)?;
        match verify(&file, Some(&found.content), self.inner.options.digest, progress) {
            Ok(_) => Ok(()),
            Err(PalletError::Disk(error)) => Err(error.into()),
            Err(error) => {
                self.reject(found, error.clone());
                Err(error.into())
            }
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn cache_path(&self, content: &Content, kind: Kind) -> String {
        self.in_cache(&name_of(content, kind))
    }

    pub(crate) fn in_cache(&self, name: &str) -> String {
        format!("{}/{name}", self.inner.options.cache)
    }

    /// Delete a file of the cache that is not what it should be. If the disk refuses, it stays and
    /// is passed over.
    pub(crate) fn remove_bad(&self, path: &str) {
        if self.inner.disk.remove(path).is_ok() {
            self.state().known.forget(path);
        }
    }

    /// Every pallet that is bundled or given: files as named, of folders those that end in
    /// `.pallet`, by name.
    #[must_use]
    pub fn given(&self) -> Vec<String> {
        let bundled = self.inner.options.bundled.iter().cloned();
        let named: Vec<String> = bundled.chain(self.state().given.iter().cloned()).collect();
        let mut paths = Vec::new();
        for path in named {
            let is_dir = self.inner.disk.metadata(&path).is_ok_and(|known| known.is_dir);
            if !is_dir {
                paths.push(path);
                continue;
            }
            let listed = self.inner.disk.list(&path).unwrap_or_default().into_iter();
            let pallets = listed.filter(|entry| entry.name.ends_with(Kind::Pallet.suffix()));
            paths.extend(pallets.map(|entry| format!("{path}/{}", entry.name)));
        }
        paths
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Store").field(&self.inner.options.cache).finish()
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cache, bundled, .. } = self;
        f.debug_struct("Options").field("cache", cache).field("bundled", bundled).finish()
    }
}
