//! Disks: the real one, and one that fails on purpose.
//!
//! Used by `bin`, `client` and `server`, who hand them to the store. Calls block: they are made in
//! the runtime's blocking jobs.

mod faulty;
mod held;
mod real;

#[cfg(test)]
mod tests;

pub use self::faulty::{Faults, FaultyDisk, Tally};
pub use self::held::HeldFolder;
pub use self::real::{RealDisk, free_space};
