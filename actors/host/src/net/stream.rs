//! Streams of random numbers by name.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The stream that `name` has under `seed`; other names have unrelated ones.
pub(crate) fn stream(seed: u64, name: &str) -> ChaCha8Rng {
    let mut key = [0; 32];
    for (part, at) in key.chunks_mut(8).zip(0_u64..) {
        let word = xxh3_64_with_seed(name.as_bytes(), seed.wrapping_add(at << 60) ^ at);
        part.copy_from_slice(&word.to_le_bytes());
    }
    ChaCha8Rng::from_seed(key)
}
