//! What can be wrong with the text of a schema.
//!
//! Returned by whoever reads or unpacks one. Never holds text of a peer: an error names a line, and
//! what was expected there.

use core::fmt;

/// Where a schema's text is wrong, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// The line, from 1; 0 where the whole is to blame.
    pub line: u32,
    /// What is wrong.
    pub fault: SchemaFault,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaFault {
    /// More bytes than a schema may have.
    TooLong {
        /// Bytes met, as far as they were counted.
        bytes: usize,
        /// Bytes allowed.
        cap: usize,
    },
    /// What was packed cannot be unpacked.
    NotPacked,
    /// Text that is not UTF-8.
    NotUtf8,
    /// Something else stands where this was expected.
    Expected(&'static str),
    /// A word that this version of the frame does not have.
    TooNew,
    /// A name, a number or a bit that was given out before.
    Twice,
    /// A value, a tag or a bit that its width has no room for, or more members than it has.
    TooWide,
    /// A shape that is named and not there.
    NoShape,
    /// A shape that holds itself.
    Cycle,
    /// Groups, or lists in lists, nest deeper than the limit.
    TooDeep,
    /// More fields than the limit, once every shape is counted where it is used.
    TooManyFields,
    /// A field or an entry that takes no byte, so that no packet bounds how many there are.
    TakesNothing,
    /// A field after one that goes to the end.
    AfterEnd,
    /// A list whose count is not the newest before it.
    NoCount,
    /// The text is not the one its own schema would be written as.
    NotCanonical,
}

impl SchemaError {
    /// The fault `fault` in the line `line`.
    #[cold]
    pub const fn new(line: u32, fault: SchemaFault) -> Self {
        Self { line, fault }
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        self.fault.fmt(f)
    }
}

impl core::error::Error for SchemaError {}

impl fmt::Display for SchemaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLong { bytes, cap } => {
                return write!(f, "a schema of {bytes} bytes or more, at most {cap}");
            }
            Self::Expected(what) => return write!(f, "expected {}", what.trim_end()),
            Self::NotPacked => "what was packed cannot be unpacked",
            Self::NotUtf8 => "text is not UTF-8",
            Self::TooNew => "a word that this protocol does not have",
            Self::Twice => "a name or a number that was given out before",
            Self::TooWide => "more than the width has room for",
            Self::NoShape => "no shape of this name",
            Self::Cycle => "a shape that holds itself",
            Self::TooDeep => "shapes or lists nest too deep",
            Self::TooManyFields => "too many fields, counted wherever they are used",
            Self::TakesNothing => "a field or an entry that takes no byte",
            Self::AfterEnd => "nothing may follow a tail or a rest",
            Self::NoCount => "a list whose count field is not the newest before it",
            Self::NotCanonical => "not the canonical text",
        })
    }
}
