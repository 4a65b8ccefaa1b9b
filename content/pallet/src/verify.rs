//! Verify: all of a pallet is read, and everything it tells is checked.

use dh_wire::Content;

use crate::error::PalletError;
use crate::fingerprint::{Fingerprint, NewDigest};
use crate::pallet::{EntryCheck, Pallet};
use crate::source::{Source, count};

/// Read all of `source` once, in pieces of 64 KiB, and tell what is wrong with it first: header,
/// group table, root, manifest, every group, every entry's checksum and size, the zeros between
/// them, the fingerprint. `progress` is told the bytes done and the bytes in all.
pub fn verify<S: Source>(
    source: S,
    wanted: Option<&Content>,
    digest: NewDigest,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Content, PalletError> {
    let pallet = Pallet::open(source, wanted)?;
    let header = *pallet.header();
    let manifest = pallet.manifest();
    let mut fingerprint = Fingerprint::new(digest, &manifest.text());
    let mut reader = pallet.groups().reader(pallet.source());
    let mut at = header.manifest_bytes;
    for entry in &manifest.entries {
        reader.range(at, entry.offset - at, &mut zeros)?;
        at = entry.offset;
        let mut check = EntryCheck::new(entry)?;
        reader.range(at, entry.stored_bytes, &mut |piece| {
            fingerprint.stored(piece);
            check.stored(piece, &mut |_| Ok(()))?;
            at += count(piece.len());
            progress(header.body_at() + at, header.file_bytes);
            Ok(())
        })?;
        check.finish()?;
    }
    reader.range(at, header.body_bytes() - at, &mut zeros)?;
    progress(header.file_bytes, header.file_bytes);
    let computed = fingerprint.finish();
    if computed != header.content.fingerprint {
        let stored = header.content.fingerprint;
        return Err(PalletError::BadFingerprint { stored, computed });
    }
    Ok(header.content)
}

fn zeros(piece: &[u8]) -> Result<(), PalletError> {
    if piece.iter().all(|byte| *byte == 0) { Ok(()) } else { Err(PalletError::Padding) }
}
