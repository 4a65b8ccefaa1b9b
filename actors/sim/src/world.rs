//! World: the entities of one running world and the one order in which a tick changes them.
//!
//! Owned by the server's tick actor; tests make several side by side. It takes the tick's inputs
//! from a closure and publishes a [`Frame`](crate::Frame); it never waits, reads a clock or knows a
//! session.

mod checkpoint;
mod entity;
mod pawn;
mod placer;
mod prop;
mod settings;
mod slots;
mod state;
#[cfg(test)]
mod tests;
mod words;

pub use self::checkpoint::Checkpoint;
pub use self::pawn::{FreezeReason, Pawn};
pub use self::placer::Placement;
pub use self::prop::Prop;
pub use self::settings::fit_settings;
pub use self::slots::WorldFull;
pub use self::state::World;
