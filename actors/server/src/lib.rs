//! The server's actors: who may come in, one session a peer, the roster, and the tick that owns the
//! world.
//!
//! Used by bin and by scenarios, which start a [`Server`] in a scope. It trusts no peer, knows no
//! window and no file, and names no runtime: `host` runs what is decided here.

pub mod blob_transfer;
pub mod chat;
mod directory;
mod event;
mod facts;
pub mod library;
mod limits;
pub mod listener;
pub mod map_switch;
mod peer;
mod prefs;
pub mod roster;
mod server;
pub mod session;
pub mod tick;

pub use self::directory::Directory;
pub use self::event::{Observer, ServerEvent};
pub use self::facts::Facts;
pub use self::library::Library;
pub use self::listener::ListenerMsg;
pub use self::map_switch::MapError;
pub use self::peer::{Identity, Label, PeerId};
pub use self::prefs::{Pace, players_max};
pub use self::roster::{ConsoleLine, RosterMsg};
pub use self::server::{SPECS, Server, ServerOptions, StartError};
pub use self::session::SessionMsg;
pub use self::tick::{TickMsg, Ticking};
