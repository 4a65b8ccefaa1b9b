//! The trait every pure part implements, and what an actor says about itself.
//!
//! A machine takes one message at a time and answers with effects as values. It has no clock, no
//! socket, no file, no thread and no log: time comes in, effects go out. `host` runs machines; this
//! crate does not know how.
#![no_std]
extern crate alloc;

mod digest;
mod machine;
mod message;
mod outbox;
mod spec;
mod time;

pub use self::digest::Digest;
pub use self::machine::Machine;
pub use self::message::{ActorMessage, Lane, Overflow};
pub use self::outbox::Outbox;
pub use self::spec::{Restart, Spec, Strategy};
pub use self::time::{Micros, Tick, TickRate};
