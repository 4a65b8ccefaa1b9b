//! Header: the first 128 bytes, all that a lookup reads.

use dh_wire::{Content, Hash128, Root};
use xxhash_rust::xxh3::xxh3_64;

use crate::error::PalletError;
use crate::manifest::MANIFEST_BYTES_MAX;
use crate::source::{Source, count, fill_part, size};

/// Version of the format.
pub(crate) const VERSION: u32 = 2;
/// Bytes of the body that are proved together.
pub const GROUP_BYTES: usize = 64 * 1024;
/// Bytes of a pallet: 32 GiB, so that a group table has at most 16 MiB.
pub const FILE_BYTES_MAX: u64 = 32 << 30;
/// Bytes of a hash in the group table.
pub(crate) const HASH_BYTES: usize = 32;

/// What every pallet begins with.
pub const MAGIC: &[u8; 8] = b"DHPALLET";
/// Where the root lies.
const ROOT_AT: usize = 48;
/// Where the checksum lies: behind all that it covers.
const CHECKSUM_AT: usize = 120;

/// What the first 128 bytes tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Bytes of the manifest, which the body starts with.
    pub manifest_bytes: u64,
    /// Bytes of the whole file.
    pub file_bytes: u64,
    /// What the file claims to be.
    pub content: Content,
    /// Bytes of the group table.
    pub table_bytes: u64,
}

impl Header {
    /// Bytes of a header.
    pub const BYTES: usize = 128;

    /// The header of a file of which these are the manifest's and the body's bytes.
    pub(crate) fn of(manifest_bytes: u64, body_bytes: u64) -> Result<Self, PalletError> {
        let table_bytes = body_bytes.div_ceil(count(GROUP_BYTES)) * count(HASH_BYTES);
        let file_bytes = count(Self::BYTES) + table_bytes + body_bytes;
        let header = Self { manifest_bytes, file_bytes, content: Content::default(), table_bytes };
        header.check().map(|()| header)
    }

    /// Read the header of `source`, and nothing else of it.
    pub fn read<S: Source + ?Sized>(source: &S) -> Result<Self, PalletError> {
        let mut bytes = [0; Self::BYTES];
        let read = fill_part(source, 0, &mut bytes)?;
        Self::decode(&bytes[..read])
    }

    /// Read the header at the start of `bytes`.
    pub fn decode(bytes: &[u8]) -> Result<Self, PalletError> {
        if !bytes.starts_with(&MAGIC[..bytes.len().min(MAGIC.len())]) {
            return Err(PalletError::NotAPallet);
        }
        let short = PalletError::CutShort { len: count(bytes.len()) };
        let version = bytes.get(8..12).ok_or_else(|| short.clone())?;
        let version = u32::from_le_bytes(array(version));
        if version != VERSION {
            return Err(PalletError::Version(version));
        }
        let bytes = bytes.get(..Self::BYTES).ok_or(short)?;
        if xxh3_64(&bytes[..CHECKSUM_AT]) != long(&bytes[CHECKSUM_AT..]) {
            return Err(PalletError::Header("its checksum does not hold"));
        }
        if bytes[12..16] != [0; 4] {
            return Err(PalletError::Header("flags are not zero"));
        }
        if bytes[88..CHECKSUM_AT].iter().any(|byte| *byte != 0) {
            return Err(PalletError::Header("reserved bytes are not zero"));
        }
        let fingerprint = Hash128(array(&bytes[32..ROOT_AT]));
        let root = Root(array(&bytes[ROOT_AT..80]));
        let header = Self {
            manifest_bytes: long(&bytes[16..24]),
            file_bytes: long(&bytes[24..32]),
            content: Content { fingerprint, root },
            table_bytes: long(&bytes[80..88]),
        };
        header.check().map(|()| header)
    }

    /// The bytes of the header.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = self.without_seal();
        bytes[ROOT_AT..80].copy_from_slice(&self.content.root.0);
        let checksum = xxh3_64(&bytes[..CHECKSUM_AT]);
        bytes[CHECKSUM_AT..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Whether this is the pallet that was advertised.
    pub fn is(&self, wanted: &Content) -> Result<(), PalletError> {
        let Content { fingerprint, root } = self.content;
        if fingerprint != wanted.fingerprint {
            let wanted = wanted.fingerprint;
            return Err(PalletError::OtherFingerprint { wanted, found: fingerprint });
        }
        if root != wanted.root {
            return Err(PalletError::OtherRoot { wanted: wanted.root, found: root });
        }
        Ok(())
    }

    /// Whether a file of `len` bytes is as long as this header tells.
    pub fn fits(&self, len: u64) -> Result<(), PalletError> {
        match len.checked_sub(self.file_bytes) {
            None => Err(PalletError::CutShort { len }),
            Some(0) => Ok(()),
            Some(bytes) => Err(PalletError::Trailing { bytes }),
        }
    }

    /// Where the body starts in the file: behind header and group table.
    #[must_use]
    pub const fn body_at(&self) -> u64 {
        Self::BYTES as u64 + self.table_bytes
    }

    /// Bytes of the body.
    #[must_use]
    pub const fn body_bytes(&self) -> u64 {
        self.file_bytes - self.body_at()
    }

    /// Bytes of group `group` of the body: 64 KiB, or fewer in the last one.
    pub(crate) fn group_bytes(&self, group: u64) -> usize {
        let rest = self.body_bytes().saturating_sub(group * count(GROUP_BYTES));
        size(rest).min(GROUP_BYTES)
    }

    /// The header as the root covers it: root and checksum zero.
    pub(crate) fn without_seal(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.manifest_bytes.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.file_bytes.to_le_bytes());
        bytes[32..ROOT_AT].copy_from_slice(&self.content.fingerprint.0);
        bytes[80..88].copy_from_slice(&self.table_bytes.to_le_bytes());
        bytes
    }

    /// Whether the lengths can be those of one file.
    fn check(&self) -> Result<(), PalletError> {
        if self.file_bytes > FILE_BYTES_MAX {
            return Err(PalletError::Header("the file has more than 32 GiB"));
        }
        let body = count(Self::BYTES).checked_add(self.table_bytes);
        let Some(body) = body.and_then(|at| self.file_bytes.checked_sub(at)) else {
            return Err(PalletError::Header("the group table is longer than the file"));
        };
        if self.table_bytes != body.div_ceil(count(GROUP_BYTES)) * count(HASH_BYTES) {
            return Err(PalletError::Header("the group table does not fit the body"));
        }
        if self.manifest_bytes == 0 || self.manifest_bytes > body {
            return Err(PalletError::Header("the manifest does not fit the body"));
        }
        if self.manifest_bytes > MANIFEST_BYTES_MAX {
            return Err(PalletError::Header("the manifest has more than 16 MiB"));
        }
        Ok(())
    }
}

/// The first bytes of a slice that has them.
pub(crate) fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[..N]);
    array
}

fn long(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(array(bytes))
}
