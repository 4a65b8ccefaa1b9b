//! Layout: where manifest and entries lie in a body. It follows from their lengths alone.

use crate::error::PalletError;
use crate::header::FILE_BYTES_MAX;
use crate::source::count;

/// The manifest and each entry start at a multiple of this; the gap is zeros.
pub(crate) const ALIGN: usize = 16;

/// Walks through a body, manifest first.
#[derive(Debug)]
pub(crate) struct Layout {
    at: u64,
}

impl Layout {
    /// Behind a manifest of so many bytes.
    pub(crate) fn behind(manifest_bytes: u64) -> Result<Self, PalletError> {
        let mut layout = Self { at: 0 };
        layout.place(manifest_bytes)?;
        Ok(layout)
    }

    /// Where the next entry lies, which has so many stored bytes.
    pub(crate) fn place(&mut self, bytes: u64) -> Result<u64, PalletError> {
        let at = self.at;
        let end = at.checked_add(bytes).filter(|end| *end <= FILE_BYTES_MAX);
        self.at = end.ok_or(PalletError::Manifest("entries reach past 32 GiB"))?;
        self.at = self.at.next_multiple_of(count(ALIGN));
        Ok(at)
    }

    /// Bytes of the body so far, padded.
    pub(crate) fn body_bytes(&self) -> u64 {
        self.at
    }
}
