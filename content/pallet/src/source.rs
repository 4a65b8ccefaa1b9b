//! Source, Output: bytes at offsets, wherever they lie.

use dh_machine::{DiskError, DiskFile};
use std::fmt;
use std::sync::Arc;

use crate::error::PalletError;

/// Bytes that can be read at any offset: a slice, a mapped file, an open file.
pub trait Source: fmt::Debug {
    /// How many bytes there are.
    fn len(&self) -> Result<u64, DiskError>;

    /// Whether there is no byte.
    fn is_empty(&self) -> Result<bool, DiskError> {
        self.len().map(|len| len == 0)
    }

    /// Read at `offset`; fewer bytes than `buf` holds may come, and none only at the end.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, DiskError>;
}

/// Bytes that can be written at any offset and read again.
pub trait Output: Source {
    /// Write all of `bytes` at `offset`, which may lie behind the end.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), DiskError>;
}

/// Takes bytes piece by piece.
pub type Take<'a> = dyn FnMut(&[u8]) -> Result<(), PalletError> + 'a;

/// Fill `buf` from `offset` on, or tell that the source is too short.
pub(crate) fn fill<S: Source + ?Sized>(
    source: &S,
    offset: u64,
    buf: &mut [u8],
) -> Result<(), PalletError> {
    let read = fill_part(source, offset, buf)?;
    if read == buf.len() {
        Ok(())
    } else {
        Err(PalletError::CutShort { len: offset + count(read) })
    }
}

/// Fill `buf` from `offset` on as far as the source goes; how many bytes that was.
pub fn fill_part<S: Source + ?Sized>(
    source: &S,
    offset: u64,
    buf: &mut [u8],
) -> Result<usize, DiskError> {
    let mut filled = 0;
    while filled < buf.len() {
        match source.read_at(offset + count(filled), &mut buf[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

/// A length in memory as a length in a file.
pub(crate) fn count(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

/// A length that is known to be small, as one in memory.
pub(crate) fn size(len: u64) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX)
}

impl Source for [u8] {
    fn len(&self) -> Result<u64, DiskError> {
        Ok(count(<[u8]>::len(self)))
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, DiskError> {
        let rest = self.get(size(offset)..).unwrap_or_default();
        let read = rest.len().min(buf.len());
        buf[..read].copy_from_slice(&rest[..read]);
        Ok(read)
    }
}

impl Source for Vec<u8> {
    fn len(&self) -> Result<u64, DiskError> {
        Source::len(self.as_slice())
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, DiskError> {
        self.as_slice().read_at(offset, buf)
    }
}

impl Output for Vec<u8> {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), DiskError> {
        let start = size(offset);
        let end = start + bytes.len();
        if self.len() < end {
            self.resize(end, 0);
        }
        self[start..end].copy_from_slice(bytes);
        Ok(())
    }
}

impl Source for dyn DiskFile {
    fn len(&self) -> Result<u64, DiskError> {
        DiskFile::len(self)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, DiskError> {
        DiskFile::read_at(self, offset, buf)
    }
}

impl Output for dyn DiskFile {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), DiskError> {
        DiskFile::write_at(self, offset, bytes)
    }
}

macro_rules! sources_behind {
    ($($Pointer:ty)*) => {$(
        impl<S: Source + ?Sized> Source for $Pointer {
            fn len(&self) -> Result<u64, DiskError> {
                (**self).len()
            }

            fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, DiskError> {
                (**self).read_at(offset, buf)
            }
        }
    )*};
}

sources_behind! { &S Box<S> Arc<S> }
