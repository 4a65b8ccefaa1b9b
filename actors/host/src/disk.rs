//! Disks: the real one, one in memory, and one that fails on purpose.
//!
//! Used by `bin`, `client`, `server` and `scenario`, who hand them to the store. Calls block: they
//! are made in the runtime's blocking jobs.

mod faulty;
mod held;
mod memory;
mod real;

#[cfg(test)]
mod tests;

pub use self::faulty::{Failure, Faults, FaultyDisk, NoFailure, Tally};
pub use self::held::HeldFolder;
pub use self::memory::MemoryDisk;
pub use self::real::{RealDisk, free_space};
