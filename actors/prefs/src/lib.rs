//! The table of preferences, the command grammar and the authority gate.
//!
//! Used by server, client, scenario and bin. Everything is text in and values out: no file, no
//! environment, no argument list, no clock; who has those hands their contents in. A preference
//! exists only as a row of the one table, from which keys, names, help, documents and checks are
//! derived.

mod command;
mod document;
mod environment;
mod error;
mod file;
mod gate;
mod name;
mod nearest;
mod operators;
mod preference;
mod prefs;
mod table;
mod target;
mod value;

pub use self::command::{
    COMMANDS, Command, CommandError, CommandRow, Destination, Side, help, parse,
};
pub use self::document::{markdown, plain};
pub use self::environment::environment_name;
pub use self::error::{Place, PrefError, Problem};
pub use self::file::{with_value, without_values};
pub use self::gate::{Access, Facts, Refusal, gate};
pub use self::name::{
    NAME_UNITS_MAX, default_colour, default_name, display_name, is_displayable, player_name,
    printable,
};
pub use self::nearest::nearest;
pub use self::operators::{NoOperator, Operators};
pub use self::preference::{Applies, Key, Kind, Preference, Standard, Typed};
pub use self::prefs::{Change, Prefs, Source};
pub use self::table::{TABLE, find, key};
pub use self::target::{Address, DEFAULT_PORT, NoTarget, Target};
pub use self::value::Value;
