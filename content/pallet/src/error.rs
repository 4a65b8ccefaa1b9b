//! `PalletError`: why bytes are not the pallet they should be.

use dh_machine::DiskError;
use dh_wire::{Hash128, Root};
use std::fmt;

use crate::header::VERSION;
use crate::printable::{clipped, printable};

/// Why a pallet, or a part of one, is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PalletError {
    /// The disk failed, which says nothing about the pallet.
    Disk(DiskError),
    /// The bytes end too early, after `len`.
    CutShort {
        /// Bytes that are there.
        len: u64,
    },
    /// There are more bytes than the header tells.
    Trailing {
        /// Bytes too many.
        bytes: u64,
    },
    /// It does not begin as a pallet does.
    NotAPallet,
    /// Another version of the format.
    Version(u32),
    /// The header is damaged or contradicts itself.
    Header(&'static str),
    /// Header and group table do not give the root the header claims.
    BadRoot,
    /// A valid header of other content: the fingerprint is not the advertised one.
    OtherFingerprint {
        /// What was asked for.
        wanted: Hash128,
        /// What the header has.
        found: Hash128,
    },
    /// The fingerprint is the advertised one, the content is not.
    OtherRoot {
        /// What was asked for.
        wanted: Root,
        /// What the header has.
        found: Root,
    },
    /// These 64 KiB of the body are not those of the table.
    BadGroup {
        /// Which, from 0.
        group: u64,
    },
    /// The manifest is malformed or contradicts the file.
    Manifest(&'static str),
    /// A name that no pallet may hold.
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Two names that are one on some disks.
    Twins {
        /// The first.
        one: String,
        /// The second.
        other: String,
    },
    /// There is no such entry.
    NoEntry(String),
    /// An entry is larger than the reader allows.
    TooLarge {
        /// Its path.
        path: String,
        /// Its bytes.
        bytes: u64,
        /// Bytes allowed.
        bytes_max: u64,
    },
    /// An entry's bytes are not what the manifest tells.
    Entry {
        /// Its path.
        path: String,
        /// What is wrong.
        why: &'static str,
    },
    /// Bytes between entries are not zero.
    Padding,
    /// The fingerprint of the header is not that of the content.
    BadFingerprint {
        /// What the header claims.
        stored: Hash128,
        /// What the content gives.
        computed: Hash128,
    },
}

impl PalletError {
    /// Whether the disk failed and the pallet may be good.
    #[must_use]
    pub const fn is_disk(&self) -> bool {
        matches!(self, Self::Disk(_))
    }

    pub(crate) fn name(name: &str, why: &'static str) -> Self {
        Self::Name { name: name.to_owned(), why }
    }

    pub(crate) fn entry(path: &str, why: &'static str) -> Self {
        Self::Entry { path: path.to_owned(), why }
    }
}

impl fmt::Display for PalletError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disk(error) => error.fmt(f),
            Self::CutShort { len } => write!(f, "the pallet ends too early, after {len} bytes"),
            Self::Trailing { bytes } => write!(f, "{bytes} bytes after the end of the pallet"),
            Self::NotAPallet => f.write_str("not a pallet"),
            Self::Version(version) => write!(
                f,
                "Pallet format v{version} cannot be read by this build (expected v{VERSION}) - \
                 recompile the pallet with 'dh build'"
            ),
            Self::Header(why) => write!(f, "pallet header: {why}"),
            Self::BadRoot => f.write_str("header and group table do not give the stored root"),
            Self::OtherFingerprint { wanted, found } => {
                write!(f, "another pallet: fingerprint {found}, expected {wanted}")
            }
            Self::OtherRoot { wanted, found } => {
                write!(f, "fingerprint equal, content differs: root {found}, expected {wanted}")
            }
            Self::BadGroup { group } => write!(f, "group {group} of the body is damaged"),
            Self::Manifest(why) => write!(f, "pallet manifest: {why}"),
            Self::Name { name, why } => write!(f, "{} {why}", Quoted(name)),
            Self::Twins { one, other } => {
                // Escaped further, so that a difference in composition is seen.
                let (one, other) = (clipped(one), clipped(other));
                write!(f, "{one:?} and {other:?} are one name on some disks: rename one of them")
            }
            Self::NoEntry(path) => write!(f, "the pallet holds no {}", Quoted(path)),
            Self::TooLarge { path, bytes, bytes_max } => {
                write!(f, "{} has {bytes} bytes, at most {bytes_max}", Quoted(path))
            }
            Self::Entry { path, why } => write!(f, "{}: {why}", Quoted(path)),
            Self::Padding => f.write_str("bytes between two entries are not zero"),
            Self::BadFingerprint { stored, computed } => {
                write!(f, "the content's fingerprint is {computed}, the header claims {stored}")
            }
        }
    }
}

/// A name that others gave, between quotes.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", printable(self.0))
    }
}

impl std::error::Error for PalletError {}

impl From<DiskError> for PalletError {
    fn from(error: DiskError) -> Self {
        Self::Disk(error)
    }
}
