//! The field walk: each message is declared once, and that one declaration writes it, reads it,
//! describes it into a schema and dumps it.
//!
//! Who uses it: `messages` declares with [`message!`]; everything above reads and writes through
//! [`encode`] and [`decode`]. Never: a socket, a clock, a file, a number of a message. Bytes from
//! outside never panic here and never make it allocate more than `limit` says.
#![no_std]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod bits;
mod describe;
mod error;
mod extent;
mod few;
mod hash;
mod kind;
mod list;
mod message;
mod reader;
mod scalar;
mod slot;
mod text;
mod walk;
mod writer;

pub mod dump;
pub mod envelope;
pub mod limit;
pub mod plan;
pub mod schema;
pub mod stride;

pub use self::bits::Tag;
#[doc(hidden)]
pub use self::bits::{narrow, numbered, write_flags};
pub use self::error::{Fault, WireError};
pub use self::extent::{Rest, Section, Tail};
pub use self::few::{Few8, Full};
pub use self::hash::{Content, Guid, Hash128, Root, Short};
pub use self::kind::{Kind, Width};
pub use self::list::{Count16, Counted, List8, List16};
pub use self::plan::Plan;
pub use self::reader::{Reader, decode};
pub use self::scalar::Varu32;
pub use self::schema::Schema;
pub use self::slot::{CappedText, NamedValue, Slot};
pub use self::text::{Str8, Str16};
pub use self::walk::{Count, Fields, Group, ListLen, Mark, Names, Value, Walk, WalkExt};
pub use self::writer::{Writer, encode};

#[cfg(test)]
mod tests;
