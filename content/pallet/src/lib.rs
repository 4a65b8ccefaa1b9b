//! The `.pallet` format, version 2: content in one file that is found by a fingerprint and proved
//! by a root.
//!
//! A file is a header of 128 bytes, a table with the BLAKE3 of each 64 KiB of the body, and the
//! body: the manifest, then the stored bytes of the entries in the order of their paths. Read a
//! pallet with [`Pallet`], check all of it with [`verify()`], receive it with [`Prover`], make it
//! with [`Writer`]. Used by `compile`, `store` and both ends of a transfer. Never: trusts a byte
//! that is not proved, or opens a file.

mod barcode;
mod closure;
mod encoding;
mod error;
mod fingerprint;
mod groups;
mod header;
mod layout;
mod manifest;
mod names;
mod pallet;
mod printable;
mod prover;
mod rows;
mod source;
mod text;
mod verify;
mod writer;

#[cfg(test)]
mod tests;

pub use self::barcode::Barcode;
pub use self::closure::closure_hash;
pub use self::encoding::{Encoding, Packed, ZSTD_LEVEL, pack};
pub use self::error::PalletError;
pub use self::fingerprint::{Digest, Fingerprint, NewDigest, xxh128};
pub use self::header::{FILE_BYTES_MAX, GROUP_BYTES, Header, MAGIC};
pub use self::manifest::{
    ABOUT_CHARS_MAX, AUTHORS_MAX, About, ENTRIES_MAX, Entry, MANIFEST_BYTES_MAX, Manifest,
};
pub use self::names::{
    CORE_PALLET_ID, PALLET_ID_BYTES_MAX, PATH_BYTES_MAX, check_pallet_id, check_path, check_twins,
};
pub use self::pallet::{Pallet, peek_id};
pub use self::printable::{PRINTABLE_CHARS_MAX, clipped, printable};
pub use self::prover::{Prover, Put};
pub use self::source::{Output, Source, Take, fill_part};
pub use self::verify::verify;
pub use self::writer::{Stored, Writer};
