//! Rows: the manifest's bytes. Text length u32, canonical text, entry count u32, then per entry
//! path (u16 length, UTF-8), offset u64, stored length u64, encoding u8, BLAKE3.

use dh_wire::Root;

use crate::encoding::Encoding;
use crate::error::PalletError;
use crate::header::array;
use crate::manifest::{ENTRIES_MAX, Entry};
use crate::names::PATH_BYTES_MAX;

/// The manifest's bytes.
pub(crate) fn write(text: &str, entries: &[Entry]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() + entries.len() * 128);
    put_count(&mut bytes, text.len());
    bytes.extend(text.as_bytes());
    put_count(&mut bytes, entries.len());
    for entry in entries {
        let len = u16::try_from(entry.path.len()).unwrap_or(u16::MAX);
        bytes.extend(len.to_le_bytes());
        bytes.extend(entry.path.as_bytes());
        bytes.extend(entry.offset.to_le_bytes());
        bytes.extend(entry.stored_bytes.to_le_bytes());
        bytes.push(entry.encoding.number());
        bytes.extend(entry.checksum.0);
    }
    bytes
}

/// The canonical text and the rows; the sizes of the files are still to come from the text.
pub(crate) fn read(bytes: &[u8]) -> Result<(&str, Vec<Entry>), PalletError> {
    let mut reader = Reader { bytes };
    let text_bytes = reader.count()?;
    let text = std::str::from_utf8(reader.take(text_bytes)?);
    let text = text.map_err(|_| PalletError::Manifest("its text is not UTF-8"))?;
    let count = reader.count()?;
    if count > ENTRIES_MAX {
        return Err(PalletError::Manifest("more than 65,536 entries"));
    }
    // Grows as rows are read: the count is only a claim.
    let mut entries = Vec::new();
    for _ in 0..count {
        entries.push(reader.row()?);
    }
    if !reader.bytes.is_empty() {
        return Err(PalletError::Manifest("bytes follow its last row"));
    }
    Ok((text, entries))
}

fn put_count(bytes: &mut Vec<u8>, count: usize) {
    bytes.extend(u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], PalletError> {
        let short = PalletError::Manifest("it ends too early");
        let (taken, rest) = self.bytes.split_at_checked(len).ok_or(short)?;
        self.bytes = rest;
        Ok(taken)
    }

    fn count(&mut self) -> Result<usize, PalletError> {
        let count = u32::from_le_bytes(array(self.take(4)?));
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }

    fn long(&mut self) -> Result<u64, PalletError> {
        Ok(u64::from_le_bytes(array(self.take(8)?)))
    }

    fn row(&mut self) -> Result<Entry, PalletError> {
        let len = usize::from(u16::from_le_bytes(array(self.take(2)?)));
        if len > PATH_BYTES_MAX {
            return Err(PalletError::Manifest("a path has more than 240 bytes"));
        }
        let path = std::str::from_utf8(self.take(len)?);
        let path = path.map_err(|_| PalletError::Manifest("a path is not UTF-8"))?.to_owned();
        let (offset, stored_bytes) = (self.long()?, self.long()?);
        let encoding = Encoding::of(self.take(1)?[0])?;
        let checksum = Root(array(self.take(32)?));
        Ok(Entry { path, raw_bytes: 0, offset, stored_bytes, encoding, checksum })
    }
}
