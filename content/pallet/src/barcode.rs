//! Barcode: the name of one entry of one pallet, `palletId:assets/x.dh-map`.

use std::fmt;

use crate::error::PalletError;
use crate::names::{check_pallet_id, check_path};

/// One entry of one pallet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Barcode {
    /// The pallet's id.
    pub pallet: String,
    /// The entry's path in it.
    pub path: String,
}

impl Barcode {
    /// Read `palletId:path`; the first colon divides.
    pub fn parse(text: &str) -> Result<Self, PalletError> {
        let Some((pallet, path)) = text.split_once(':') else {
            return Err(PalletError::name(text, "is no barcode: palletId:path"));
        };
        check_pallet_id(pallet)?;
        check_path(path)?;
        Ok(Self { pallet: pallet.to_owned(), path: path.to_owned() })
    }

    /// Whether it names a map: under `assets/`, ending in `.dh-map`.
    #[must_use]
    pub fn is_map(&self) -> bool {
        is_map(&self.path)
    }
}

/// Whether an entry of this path is a map.
pub(crate) fn is_map(path: &str) -> bool {
    let name = path.strip_prefix("assets/").and_then(|rest| rest.strip_suffix(".dh-map"));
    name.is_some_and(|name| !name.is_empty() && !name.ends_with('/'))
}

impl fmt::Display for Barcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.pallet, self.path)
    }
}
