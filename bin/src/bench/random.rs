//! Random: numbers that nothing can foresee and every run repeats.
//!
//! Used for content that does not compress.

/// A source of numbers; not for secrets.
pub(super) struct Random(u32);

impl Random {
    /// The same numbers on every run.
    pub(super) const fn new() -> Self {
        Self(0x9e37_79b9)
    }

    pub(super) fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    /// So many bytes, of each number the second.
    pub(super) fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next().to_le_bytes()[1]).collect()
    }
}
