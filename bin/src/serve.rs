//! The role that serves a world.

use crate::command::{Server, Shared};
use crate::exit::{Exit, Failure};

/// Runs the role to its end.
pub(crate) fn run(_flags: &Server, _shared: &Shared) -> Result<(), Failure> {
    Err(Failure::new(Exit::Internal, "not wired: serve"))
}
