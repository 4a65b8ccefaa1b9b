//! The role that measures, each figure beside its control.

use crate::command::{Bench, Shared};
use crate::exit::{Exit, Failure};

/// Runs the role to its end.
pub(crate) fn run(_flags: &Bench, _shared: &Shared) -> Result<(), Failure> {
    Err(Failure::new(Exit::Internal, "not wired: bench"))
}
