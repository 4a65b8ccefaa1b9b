//! Physics behind our own nouns: solids, the capsule that sweeps among them, and the casts.
//!
//! Used by the mover and the world. Nothing outside this module names rapier or parry.

mod boxes;
mod casts;
mod distance;
mod grid;
mod rapier;
mod solid;
mod solids;
#[cfg(test)]
mod tests;

pub use self::boxes::{BoxCasts, Near};
pub use self::casts::{Capsule, Casts, Hit, Overlap};
pub use self::rapier::{RapierCasts, RapierScene};
pub use self::solid::{BodyId, Solid};
pub use self::solids::Solids;
