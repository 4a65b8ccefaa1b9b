//! The role that joins a server.

use crate::command::{Client, Shared};
use crate::exit::{Exit, Failure};

/// Runs the role to its end.
pub(crate) fn run(_flags: &Client, _shared: &Shared) -> Result<(), Failure> {
    Err(Failure::new(Exit::Internal, "not wired: join"))
}
