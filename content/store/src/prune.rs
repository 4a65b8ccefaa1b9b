//! Prune: what lies in the cache, and what of it goes when there is too much.

use dh_machine::{DiskError, Micros};
use dh_wire::Content;

use crate::cached::{Kind, kind_of, name_of};
use crate::error::StoreError;
use crate::store::Store;

/// A partial that nobody touched for so long is given up: 7 days.
pub const PARTIAL_AGE_MAX: Micros = Micros::from_secs(7 * 24 * 60 * 60);

/// One file of the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Where it is.
    pub path: String,
    /// What it is.
    pub kind: Kind,
    /// Its bytes.
    pub bytes: u64,
    /// When it was last used, or written to, since 1970.
    pub used: Micros,
}

/// What pruning did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Files that went.
    pub removed: Vec<Kept>,
    /// Bytes of the pallets that stay.
    pub bytes: u64,
    /// Files that should have gone and did not.
    pub failed: Vec<DiskError>,
}

impl Store {
    /// The files of the cache, by name. What is not ours is not listed.
    pub fn list(&self) -> Result<Vec<Kept>, StoreError> {
        let listed = self.inner.disk.list(&self.inner.options.cache)?.into_iter();
        let ours = listed.filter_map(|entry| {
            let kind = kind_of(&entry.name)?;
            let path = self.in_cache(&entry.name);
            Some(Kept { path, kind, bytes: entry.len, used: entry.modified })
        });
        Ok(ours.collect())
    }

    /// Remove the pallets used longest ago until those left have at most `bytes_max` bytes, and
    /// partials older than [`PARTIAL_AGE_MAX`]. Never what is `pinned`, or being written, or not in
    /// the cache. `now` is since 1970.
    pub fn prune(
        &self,
        now: Micros,
        bytes_max: u64,
        pinned: &[Content],
    ) -> Result<Pruned, StoreError> {
        let mut kept = self.list()?;
        kept.sort_by(|a, b| (a.used, &a.path).cmp(&(b.used, &b.path)));
        let pallets = kept.iter().filter(|kept| kept.kind == Kind::Pallet);
        let bytes = pallets.map(|kept| kept.bytes).sum();
        let mut pruned = Pruned { bytes, ..Pruned::default() };
        // Under the lock, so that no transfer of what goes begins meanwhile.
        let mut state = self.state();
        let held: Vec<String> = pinned
            .iter()
            .chain(state.writers.keys())
            .flat_map(|content| [Kind::Pallet, Kind::Partial].map(|kind| name_of(content, kind)))
            .map(|name| self.in_cache(&name))
            .collect();
        for file in kept.into_iter().filter(|file| !held.contains(&file.path)) {
            let goes = match file.kind {
                Kind::Pallet => pruned.bytes > bytes_max,
                Kind::Partial => now.since(file.used) > PARTIAL_AGE_MAX,
            };
            if !goes {
                continue;
            }
            if let Err(error) = self.inner.disk.remove(&file.path) {
                pruned.failed.push(error);
                continue;
            }
            state.known.forget(&file.path);
            if file.kind == Kind::Pallet {
                pruned.bytes -= file.bytes;
            }
            pruned.removed.push(file);
        }
        Ok(pruned)
    }
}
