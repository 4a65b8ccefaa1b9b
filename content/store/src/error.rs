//! `StoreError`: why content could not be kept or used.

use std::fmt;

use dh_machine::DiskError;
use dh_pallet::PalletError;

/// Why the store could not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// The disk failed; nothing was lost that was proved, and trying again may help.
    Disk(DiskError),
    /// The content is not what it should be.
    Pallet(PalletError),
    /// The disk has no room for the rest of a transfer.
    NoRoom {
        /// Bytes still to come.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disk(error) => error.fmt(f),
            Self::Pallet(error) => error.fmt(f),
            Self::NoRoom { needed, free } => {
                write!(f, "the disk is full: {needed} bytes are needed, {free} are free")
            }
        }
    }
}

impl std::error::Error for StoreError {}

impl From<DiskError> for StoreError {
    fn from(error: DiskError) -> Self {
        Self::Disk(error)
    }
}

impl From<PalletError> for StoreError {
    fn from(error: PalletError) -> Self {
        match error {
            PalletError::Disk(error) => Self::Disk(error),
            error => Self::Pallet(error),
        }
    }
}
