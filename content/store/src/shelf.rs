//! Shelf: all that a role runs maps from.

use dh_pallet::{Barcode, Pallet, PalletError};

use crate::load::{AnySource, CookCache, Core, Loading, Request};
use crate::store::Store;

/// Where the maps of a server or of a client come from. Clones are the same shelf.
#[derive(Clone, Debug)]
pub struct Shelf {
    /// Pallets: the cache, and what was given.
    pub store: Store,
    /// The core pallet of this build.
    pub core: Option<Core>,
    /// Where cooked collision is kept.
    pub cook: Option<CookCache>,
}

impl Shelf {
    /// A shelf of pallets alone.
    #[must_use]
    pub fn of(store: Store) -> Self {
        Self { store, core: None, cook: None }
    }

    /// Begin to load a map of `pallet`; without one, of the core pallet. Pictures longer than
    /// `picture_side_max` pixels are made smaller; without it none are read.
    ///
    /// # Errors
    /// When the core pallet cannot be opened.
    pub fn load(
        &self,
        map: Barcode,
        pallet: Option<Pallet<AnySource>>,
        picture_side_max: Option<u32>,
    ) -> Result<Loading, PalletError> {
        let mut pallets: Vec<_> = pallet.into_iter().collect();
        if let Some(core) = &self.core {
            pallets.push(core.open()?);
        }
        let cache = self.cook.clone();
        Ok(Loading::new(Request { map, pallets, picture_side_max, cache }))
    }
}
