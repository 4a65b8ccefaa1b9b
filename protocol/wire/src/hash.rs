//! Hashes and identifiers as fields, and the pair that names content.
//!
//! Used by adverts, openings and stores. Never: computes a hash, apart from a schema's identity.

use core::fmt;

use crate::error::WireError;
use crate::slot::Slot;
use crate::walk::{Value, Walk};

/// A hash of 16 bytes: a fingerprint, a closure, a schema's identity.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash128(pub [u8; 16]);

/// An identifier of 16 bytes, in the order of RFC 4122.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Guid(pub [u8; 16]);

/// A hash of 32 bytes that proves content.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Root(pub [u8; 32]);

crate::message!(
    /// How content is named: the fingerprint finds it, the root proves it.
    #[derive(Copy, Eq, PartialOrd, Ord, Hash)]
    pub struct Content {
        /// XXH128, for lookup only.
        pub fingerprint: Hash128,
        /// BLAKE3-256; two contents are the same exactly if this is.
        pub root: Root,
    }
);

impl Content {
    /// Whether this names nothing.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl Hash128 {
    /// XXH128 of `bytes`, big endian.
    pub fn of(bytes: &[u8]) -> Self {
        Self(xxhash_rust::xxh3::xxh3_128(bytes).to_be_bytes())
    }

    /// The first 8 hex digits, which is how logs name a schema.
    pub fn short(&self) -> Short {
        let [a, b, c, d, ..] = self.0;
        Short([a, b, c, d])
    }
}

/// The first four bytes of a hash, shown as 8 hex digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Short([u8; 4]);

macro_rules! hex_leaves {
    ($($Type:ident = $Slot:ident $bytes:literal;)*) => {$(
        impl Value for $Type {
            const BYTES_MIN: usize = $bytes;

            #[inline]
            fn walk<W: Walk + ?Sized>(
                &mut self,
                name: &'static str,
                walk: &mut W,
            ) -> Result<(), WireError> {
                walk.leaf(name, Slot::$Slot(&mut self.0))
            }
        }

        impl From<[u8; $bytes]> for $Type {
            fn from(bytes: [u8; $bytes]) -> Self {
                Self(bytes)
            }
        }
    )*};
}

hex_leaves! {
    Hash128 = Hash128 16;
    Guid = Guid 16;
    Root = Root 32;
}

macro_rules! shown_as_hex {
    ($($Type:ident)*) => {$(
        impl fmt::Display for $Type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                hex(f, &self.0)
            }
        }
    )*};
}

shown_as_hex! { Hash128 Root Short }

macro_rules! debugged_as_shown {
    ($($Type:ident)*) => {$(
        impl fmt::Debug for $Type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({self})", stringify!($Type))
            }
        }
    )*};
}

debugged_as_shown! { Hash128 Guid Root Short }

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, byte) in self.0.iter().enumerate() {
            if matches!(at, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

fn hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}
