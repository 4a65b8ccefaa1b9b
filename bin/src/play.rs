//! The role that starts a world here and plays in it.

use crate::command::{Play, Shared};
use crate::exit::{Exit, Failure};

/// Runs the role to its end.
pub(crate) fn run(_flags: &Play, _shared: &Shared) -> Result<(), Failure> {
    Err(Failure::new(Exit::Internal, "not wired: play"))
}
