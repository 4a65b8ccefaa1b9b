//! Fingerprint: the one walk over content that compiler and verifier share.

use dh_wire::Hash128;
use std::fmt;
use xxhash_rust::xxh3::Xxh3;

/// Version of the formula; another one changes every fingerprint.
const FORMULA: u32 = 1;

/// A running hash of 16 bytes. Every build has XXH128; a test may keep fewer bits of it, so that
/// two pallets with one fingerprint exist.
pub trait Digest: Send {
    /// Take bytes in.
    fn update(&mut self, bytes: &[u8]);

    /// The hash of all that was taken in, big endian.
    fn finish(&self) -> Hash128;
}

/// How a digest is begun.
pub type NewDigest = fn() -> Box<dyn Digest>;

/// XXH128 with seed 0, the digest of every build.
#[must_use]
pub fn xxh128() -> Box<dyn Digest> {
    Box::new(Xxh3::new())
}

impl Digest for Xxh3 {
    fn update(&mut self, bytes: &[u8]) {
        Self::update(self, bytes);
    }

    fn finish(&self) -> Hash128 {
        Hash128(self.digest128().to_be_bytes())
    }
}

/// The walk: formula version, canonical text, then the stored bytes of each entry in path order.
pub struct Fingerprint {
    digest: Box<dyn Digest>,
}

impl Fingerprint {
    /// Begin the walk over a pallet of this canonical text.
    #[must_use]
    pub fn new(digest: NewDigest, text: &str) -> Self {
        let mut digest = digest();
        digest.update(&FORMULA.to_le_bytes());
        digest.update(text.as_bytes());
        Self { digest }
    }

    /// Stored bytes of the entries, in any pieces.
    pub fn stored(&mut self, bytes: &[u8]) {
        self.digest.update(bytes);
    }

    /// The fingerprint.
    #[must_use]
    pub fn finish(&self) -> Hash128 {
        self.digest.finish()
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Fingerprint").field(&self.finish()).finish()
    }
}
