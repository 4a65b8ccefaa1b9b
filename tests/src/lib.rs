//! Entry points for fuzzing, one for each decoder of bytes that nobody vouches for.
//!
//! Used by the golden test binary, which replays a corpus through them on every run, and by a
//! fuzzer that drives the same functions for longer. Never: an assertion about a particular value.

pub mod fuzz;
