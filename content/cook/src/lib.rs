//! Geometry to collision: the meshes of a map in, one set of triangles to search out.
//!
//! Used by whoever prepares a map (server and client alike), who may keep the bytes on disk, and by
//! the world, which moves pawns among the triangles. It opens no file, keeps no clock and starts no
//! thread: a caller runs it on a worker and hears how far it is.
//!
//! Equal parts give equal bytes on every machine: arithmetic is add and multiply in a written
//! order, every order that is made has a tie-break, and no negative zero survives.

mod bytes;
mod cook;
mod cooked;
mod part;
#[cfg(test)]
mod tests;
mod tree;
mod weld;

pub use self::bytes::DecodeError;
pub use self::cook::{CookError, Progress, cook, cook_while};
pub use self::cooked::Cooked;
pub use self::part::{OBJECTS_MAX, Part, REACH, TRIANGLES_MAX};
