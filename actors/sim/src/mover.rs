//! The character mover: one pure function from a state, an input and what stands around to the
//! next state.
//!
//! The server steps every pawn with it and the client predicts its own pawn with it; both compare
//! the result bit by bit, so nothing here may depend on anything but the arguments.

mod collide;
mod ground;
mod settings;
mod stance;
mod state;
mod step;
#[cfg(test)]
mod tests;
mod velocity;
mod wire;

pub use self::settings::MoverSettings;
pub use self::state::{MoverState, SERVER_OWNED};
pub use self::step::step;
pub(crate) use self::step::wrap;
