//! The trait every pure part implements, what an actor says about itself, and files as cores see
//! them.
//!
//! A machine takes one message at a time and answers with effects as values. It has no clock, no
//! socket, no file, no thread and no log: time comes in, effects go out. `host` runs machines; this
//! crate does not know how.
#![no_std]
extern crate alloc;

mod digest;
mod disk;
mod machine;
mod message;
mod outbox;
pub mod planted;
mod spec;
mod time;
mod words;

pub use self::digest::Digest;
pub use self::disk::{DirEntry, Disk, DiskError, DiskErrorKind, DiskFile, Metadata};
pub use self::machine::Machine;
pub use self::message::{ActorMessage, Lane, Overflow};
pub use self::outbox::Outbox;
pub use self::spec::{Restart, Spec, Strategy};
pub use self::time::{Micros, Tick, TickRate};
pub use self::words::{Damage, Words, halves, joined};
