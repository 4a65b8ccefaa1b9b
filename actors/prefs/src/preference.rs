//! Preference: one row of the table, and the typed key that reads it.

use std::fmt;
use std::marker::PhantomData;

use crate::name::{is_displayable, units};
use crate::{Operators, Side, Value};

/// Everything there is to know about one preference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preference {
    /// Its name, as files, console and documents write it: `server.maxPlayers`.
    pub key: &'static str,
    /// What it may hold.
    pub kind: Kind,
    /// What it holds unless somebody says otherwise.
    pub standard: Standard,
    /// The unit of a number; empty where it has none.
    pub unit: &'static str,
    /// One or two sentences on what it does.
    pub help: &'static str,
    /// When a change is felt.
    pub applies: Applies,
}

/// What a preference may hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// On or off.
    Bool,
    /// A whole number within both ends.
    Int {
        /// The least.
        min: i64,
        /// The most.
        max: i64,
    },
    /// A finite number within both ends.
    Float {
        /// The least.
        min: f64,
        /// The most.
        max: f64,
    },
    /// A text that is not blank and has no control characters.
    Text {
        /// The most characters, counted as UTF-16 units.
        units_max: usize,
    },
    /// One of some names.
    Choice(&'static [&'static str]),
    /// Identities with commas between them, or nobody.
    Identities,
    /// A colour without transparency.
    Colour,
}

/// What a preference holds unless somebody says otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Standard {
    /// On or off.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A text, or the name of a choice.
    Text(&'static str),
    /// Nothing: who reads it works it out from what this names.
    From(&'static str),
}

/// When a change of a preference is felt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applies {
    /// At once.
    Live,
    /// By the next session.
    NextJoin,
    /// By the next start of the process.
    Restart,
}

/// The name of a row that knows the type of its value.
#[derive(Debug)]
pub struct Key<T> {
    row: usize,
    holds: PhantomData<fn() -> T>,
}

/// A type that a preference can be read as. `Option` is for rows whose standard value is worked
/// out by the reader.
pub trait Typed: Sized {
    /// The value as this type; `None` where the row is of another kind, which no row of the table
    /// is.
    fn typed(value: Option<&Value>) -> Option<Self>;
}

impl Preference {
    /// Whose it is: a client's, or the server's and its world's.
    #[must_use]
    pub fn side(&self) -> Side {
        if self.key.starts_with("client.") { Side::Client } else { Side::Server }
    }
}

impl Kind {
    /// Whether `value` is of this kind and in range.
    #[must_use]
    pub fn allows(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Bool, Value::Bool(_)) => true,
            (Self::Int { min, max }, Value::Int(number)) => (min..=max).contains(number),
            (Self::Float { min, max }, Value::Float(number)) => (min..=max).contains(number),
            (Self::Text { units_max }, Value::Text(text)) => {
                !text.trim().is_empty()
                    && text.chars().all(is_displayable)
                    && units(text) <= units_max
            }
            (Self::Choice(names), Value::Text(text)) => names.contains(&text.as_str()),
            (Self::Identities, Value::Text(text)) => Operators::read(text).is_ok(),
            (Self::Colour, Value::Colour(rgb)) => *rgb <= 0x00ff_ffff,
            _ => false,
        }
    }
}

/// What is expected, as messages say it: `a whole number from 1 to 64`.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("true or false"),
            Self::Int { min, max } => write!(f, "a whole number from {min} to {max}"),
            Self::Float { min, max } => write!(f, "a number from {min} to {max}"),
            Self::Text { units_max } => write!(f, "a text of 1 to {units_max} characters"),
            Self::Choice(names) => write!(f, "one of {}", names.join(", ")),
            Self::Identities => {
                write!(f, "at most {} identities with commas between", Operators::MAX)
            }
            Self::Colour => f.write_str("a colour as #rrggbb"),
        }
    }
}

impl Standard {
    /// The value; `None` where the reader works it out.
    #[must_use]
    pub fn value(self) -> Option<Value> {
        match self {
            Self::Bool(on) => Some(Value::Bool(on)),
            Self::Int(number) => Some(Value::Int(number)),
            Self::Float(number) => Some(Value::Float(number)),
            Self::Text(text) => Some(Value::Text(text.to_owned())),
            Self::From(_) => None,
        }
    }
}

/// The value, or what it is worked out from in brackets.
impl fmt::Display for Standard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::From(what) => write!(f, "({what})"),
            Self::Bool(on) => write!(f, "{on}"),
            Self::Int(number) => write!(f, "{number}"),
            Self::Float(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl fmt::Display for Applies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Live => "live",
            Self::NextJoin => "next join",
            Self::Restart => "restart",
        })
    }
}

impl<T> Key<T> {
    pub(crate) const fn new(row: usize) -> Self {
        Self { row, holds: PhantomData }
    }

    pub(crate) const fn row(self) -> usize {
        self.row
    }
}

impl<T> Clone for Key<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Key<T> {}

impl Typed for bool {
    fn typed(value: Option<&Value>) -> Option<Self> {
        if let Some(Value::Bool(on)) = value { Some(*on) } else { None }
    }
}

impl Typed for u32 {
    fn typed(value: Option<&Value>) -> Option<Self> {
        match value {
            Some(Value::Int(number)) => Self::try_from(*number).ok(),
            Some(Value::Colour(rgb)) => Some(*rgb),
            _ => None,
        }
    }
}

impl Typed for u64 {
    fn typed(value: Option<&Value>) -> Option<Self> {
        if let Some(Value::Int(number)) = value { Self::try_from(*number).ok() } else { None }
    }
}

impl Typed for f32 {
    #[expect(clippy::cast_possible_truncation, reason = "ranges of floats are small")]
    fn typed(value: Option<&Value>) -> Option<Self> {
        if let Some(Value::Float(number)) = value { Some(*number as Self) } else { None }
    }
}

impl Typed for String {
    fn typed(value: Option<&Value>) -> Option<Self> {
        if let Some(Value::Text(text)) = value { Some(text.clone()) } else { None }
    }
}

impl<T: Typed> Typed for Option<T> {
    fn typed(value: Option<&Value>) -> Option<Self> {
        match value {
            None => Some(None),
            Some(_) => T::typed(value).map(Some),
        }
    }
}
