//! The world: entities, solids, the character mover and the gray box they stand in.
//!
//! Used by the server's tick actor, which owns a [`World`], and by the client's predictor, which
//! steps the same mover over the same solids. It has no clock, no socket, no thread and no log, and
//! nothing here depends on the order of a hash map: equal calls give equal bits on every machine.
//!
//! Axes: metres, right-handed, +y up. Yaw 0 looks along -z, a positive yaw turns left (about +y).
//! All arithmetic that two machines must agree on is f32 add, multiply, divide and square root in a
//! written order; sine and cosine come from `libm`.

#[cfg(test)]
mod dice;
mod frame;
mod graybox;
mod ground;
mod mover;
mod physics;
mod world;

pub use self::frame::{Answer, Chunk, Frame, Owner};
pub use self::graybox::{GrayBox, SpawnPoint};
pub use self::ground::Ground;
pub use self::mover::{MoverSettings, MoverState, SERVER_OWNED, step};
pub use self::physics::{
    BodyId, Capsule, Casts, Hit, Near, Overlap, RapierCasts, RapierScene, Solid, SolidCasts, Solids,
};
pub use self::world::{
    Checkpoint, FreezeReason, Pawn, Placement, Prop, World, WorldFull, fit_settings,
};
