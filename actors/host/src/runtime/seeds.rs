//! Seeds: one seed a runtime, a stream of its own for every name.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Where randomness comes from. Cheap to copy; two copies give the same streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeds(u64);

impl Seeds {
    /// All streams of one seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The seed.
    #[must_use]
    pub const fn seed(self) -> u64 {
        self.0
    }

    /// The stream of this name, from its beginning.
    #[must_use]
    pub fn rng(self, name: &str) -> ChaCha8Rng {
        ChaCha8Rng::from_seed(self.bytes(name))
    }

    /// Thirty-two bytes of this name, for keys and seeds of others.
    #[must_use]
    pub fn bytes(self, name: &str) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (part, at) in bytes.chunks_exact_mut(8).zip(0u64..) {
            let seed = self.0.rotate_left(17) ^ at;
            part.copy_from_slice(&xxh3_64_with_seed(name.as_bytes(), seed).to_le_bytes());
        }
        bytes
    }

    /// The streams of a part of the world, such as one peer.
    #[must_use]
    pub fn part(self, name: &str) -> Self {
        Self(xxh3_64_with_seed(name.as_bytes(), self.0))
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::rand_core::Rng;

    use super::*;

    #[test]
    fn each_name_and_each_seed_has_a_stream_of_its_own() {
        let first = |seed, name: &str| Seeds::new(seed).rng(name).next_u64();
        assert_eq!(first(7, "link"), first(7, "link"));
        assert_ne!(first(7, "link"), first(7, "spawn"));
        assert_ne!(first(7, "link"), first(8, "link"));
        assert_ne!(Seeds::new(7).part("peer-1"), Seeds::new(7).part("peer-2"));
    }
}
