//! Digest: a running hash of state, for replay checks.

/// FNV-1a over 64 bits: not for security, only to see whether two runs agree.
/// Source: the FNV-1a definition by Fowler, Noll and Vo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(u64);

impl Digest {
    /// The hash of nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Fold bytes in.
    pub fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Fold a number in; one multiplication a word, for state that is large.
    pub fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }

    /// Fold a float in by its bits.
    pub fn float(&mut self, value: f32) {
        self.word(u64::from(value.to_bits()));
    }

    /// The hash so far.
    #[must_use]
    pub const fn value(self) -> u64 {
        self.0
    }
}

impl Default for Digest {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_a_known_word_is_the_published_one() {
        let mut digest = Digest::new();
        digest.bytes(b"foobar");
        assert_eq!(digest.value(), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn one_bit_changes_it() {
        let [mut a, mut b] = [Digest::new(); 2];
        a.word(1);
        b.word(2);
        assert_ne!(a, b);
    }
}
