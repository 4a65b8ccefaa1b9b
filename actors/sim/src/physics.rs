//! Physics behind our own nouns: solids, the capsule that sweeps among them, and the casts.
//!
//! Used by the mover and the world. Nothing outside this module names rapier or parry.

mod casts;
mod distance;
mod grid;
mod near_box;
mod near_triangles;
mod rapier;
mod solid;
mod solid_casts;
mod solids;
mod sweep;
#[cfg(test)]
mod tests;
mod triangle;

pub use self::casts::{Capsule, Casts, Hit, Overlap};
pub use self::rapier::{RapierCasts, RapierScene};
pub use self::solid::{BodyId, Solid};
pub use self::solid_casts::{Near, SolidCasts};
pub use self::solids::Solids;
