//! Content on this machine: the verbs that make and look at pallets, and the shelf that roles run
//! maps from.

mod build;
mod extract;
mod fresh;
mod interrupt;
mod opened;
mod pallet;
mod shelf;
mod stock;

use crate::command::{Content, Shared};
use crate::exit::Failure;

pub(crate) use self::shelf::{map, shelf, text};

/// Does what is asked with content.
pub(crate) fn run(what: &Content, shared: &Shared) -> Result<(), Failure> {
    match what {
        Content::New { dir } => fresh::run(dir, shared),
        Content::Build(flags) => build::run(flags, shared),
        Content::Pallet(what) => pallet::run(what, shared),
        Content::Store(what) => stock::run(what, shared),
    }
}
