//! Core: the pallet that every build carries and no server sends.

use std::fmt;
use std::sync::Arc;

use dh_pallet::{CORE_PALLET_ID, Pallet, PalletError};
use dh_wire::Content;

use super::AnySource;

/// The core pallet, whole, and which one it is. Cheap to clone.
#[derive(Clone)]
pub struct Core {
    bytes: Arc<Vec<u8>>,
    content: Content,
}

impl Core {
    /// Its id in every barcode.
    pub const ID: &str = CORE_PALLET_ID;

    /// The core pallet in these bytes.
    ///
    /// # Errors
    /// When they are no pallet.
    pub fn new(bytes: Vec<u8>) -> Result<Self, PalletError> {
        let bytes = Arc::new(bytes);
        let content = Pallet::open(Arc::clone(&bytes), None)?.content();
        Ok(Self { bytes, content })
    }

    /// Which one it is.
    #[must_use]
    pub fn content(&self) -> Content {
        self.content
    }

    /// Open it; its bytes stay shared.
    ///
    /// # Errors
    /// As for any pallet.
    pub fn open(&self) -> Result<Pallet<AnySource>, PalletError> {
        Pallet::open(Box::new(Arc::clone(&self.bytes)), Some(&self.content))
    }
}

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Core").field(&self.content.fingerprint).finish()
    }
}
