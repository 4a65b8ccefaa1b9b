//! What several of the test binaries need: entry points for fuzzing, one for each decoder of bytes
//! that nobody vouches for, a shape of every construct, and bytes to put into content.
//!
//! The test binaries replay a corpus through the entry points on every run, and a fuzzer drives the
//! same functions for longer. Never: an assertion about a particular value.

pub mod fuzz;
pub mod shapes;

/// Bytes that do not compress.
pub fn noise(len: usize) -> Vec<u8> {
    let mut word = 0x1234_5678_u32;
    let next = |_| {
        word ^= word << 13;
        word ^= word >> 17;
        word ^= word << 5;
        word.to_le_bytes()[1]
    };
    (0..len).map(next).collect()
}
