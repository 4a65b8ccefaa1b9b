//! The store: which content is on this disk, and how more of it arrives.
//!
//! A cache folder belongs to the store; other pallets are given to it and stay where they are. A
//! lookup reads one header a candidate; what is then opened is proved as it is read. What arrives
//! lies in a partial beside its future place, is verified there, and committed by a rename. Used by
//! client, server and program, from any thread that may block. Never: opens a file but through a
//! `Disk`, or commits what was not verified.

mod cached;
mod error;
mod examine;
mod known;
pub mod load;
mod prune;
mod shelf;
mod store;
mod transfer;

#[cfg(test)]
mod tests;

pub use self::cached::Kind;
pub use self::error::StoreError;
pub use self::prune::{Kept, PARTIAL_AGE_MAX, Pruned};
pub use self::shelf::Shelf;
pub use self::store::{Found, Options, Place, Resolved, Store};
pub use self::transfer::{Transfer, Verified};
