//! What a plan loses on the way, for people to read.
//!
//! Made by `compile` beside the steps. Never: used to read a packet.

use alloc::string::String;
use core::fmt;

/// Something of a message that does not come through as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The names of the fields around it and its own, joined by dots.
    pub path: String,
    /// What becomes of it.
    pub lost: Lost,
}

/// What becomes of something that only one of two builds has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// Only the writer has the field.
    Skipped,
    /// Only the reader has the field.
    Held,
    /// Both have it, as values of different families.
    Family,
    /// Only the writer has this value of an enum.
    Member,
    /// Only the writer has this flag.
    Bit,
    /// Only the writer has this case of a union, or has something else in it.
    Case,
    /// The writer keeps values without a name, and the reader's plan knows names alone.
    Unnamed,
    /// A whole number of the reader's has less room.
    Range,
    /// A number with a fraction of the reader's has less room.
    Rounded,
    /// A text of the reader's has at most so many bytes.
    Text(usize),
    /// A list of the reader's has at most so many entries.
    Entries(usize),
}

impl Lost {
    /// The word for programs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Skipped => "skipped",
            Self::Held => "held",
            Self::Family => "family",
            Self::Member => "member",
            Self::Bit => "bit",
            Self::Case => "case",
            Self::Unnamed => "unnamed",
            Self::Range => "range",
            Self::Rounded => "rounded",
            Self::Text(_) => "text",
            Self::Entries(_) => "entries",
        }
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Skipped => "is stepped over: only the writer has it",
            Self::Held => "holds its default: only the reader has it",
            Self::Family => "holds its default: the writer has another kind of value there",
            Self::Member => "is read as the default: only the writer has this value",
            Self::Bit => "vanishes: only the writer has this flag",
            Self::Case => "drops its entry: only the writer has this case",
            Self::Unnamed => "is read as the default where its value has no name",
            Self::Range => "holds its default where it does not fit: the reader has less room",
            Self::Rounded => {
                "is rounded, and holds its default where it does not fit: the reader has less room"
            }
            Self::Text(cap) => {
                return write!(f, "holds its default where it is longer than {cap} bytes");
            }
            Self::Entries(cap) => {
                return write!(f, "is empty where it has more than {cap} entries");
            }
        })
    }
}
