//! Examine: whether a pallet of the cache still is what it was when it was committed.
//!
//! Used by the program's `store` verb. Looking deletes nothing.

use dh_pallet::{Header, PalletError, verify};
use dh_wire::Content;

use crate::cached::{Kind, name_of};
use crate::error::StoreError;
use crate::prune::Kept;
use crate::store::Store;

impl Store {
    /// Read all of a cached pallet and check everything, its name too; the file stays as it is.
    pub fn examine(
        &self,
        kept: &Kept,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Content, StoreError> {
        let file = self.inner.disk.open(&kept.path)?;
        let content = Header::read(&file)?.content;
        if self.in_cache(&name_of(&content, Kind::Pallet)) != kept.path {
            return Err(PalletError::Header("it is not the content of the file's name").into());
        }
        Ok(verify(&file, Some(&content), self.inner.options.digest, progress)?)
    }

    /// Remove a cached pallet.
    pub fn remove(&self, kept: &Kept) -> Result<(), StoreError> {
        self.inner.disk.remove(&kept.path)?;
        self.state().known.forget(&kept.path);
        Ok(())
    }
}
