//! What can be wrong with bytes, or with a value on its way out.
//!
//! Returned by every walk. Never holds text of a peer: a fault names our own field and numbers.

use core::fmt;

/// A field and what is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireError {
    /// The field that was being walked, empty where no field is to blame.
    pub field: &'static str,
    /// What is wrong.
    pub fault: Fault,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The bytes end before the field does.
    Truncated,
    /// This many bytes follow the last field.
    Trailing(u32),
    /// More bytes than the field may hold.
    TooLong {
        /// Bytes met.
        len: u32,
        /// Bytes allowed.
        cap: u32,
    },
    /// More entries than the list may hold.
    TooMany {
        /// Entries met.
        count: u32,
        /// Entries allowed.
        cap: u32,
    },
    /// The count field visited earlier tells another number than the list holds.
    CountDiffers {
        /// What the count field says.
        told: u32,
        /// What the list holds.
        held: u32,
    },
    /// A counted list without a count field before it.
    NoCount,
    /// Text that is not UTF-8.
    NotUtf8,
    /// A NaN or an infinity.
    NotFinite,
    /// A truth value or presence byte other than 0 and 1.
    NotBool(u8),
    /// A `varu32` in more bytes than its value needs, or past 32 bits.
    Overlong,
    /// An enum value that no member has.
    UnknownMember(u32),
    /// Flag or mask bits that no member has.
    UnknownBits(u32),
    /// A union tag that no case has.
    UnknownCase(u32),
    /// A message number that nothing is registered under.
    UnknownMessage(u8),
    /// A message number met on a channel that is not its own.
    WrongChannel(u8),
    /// Two different shapes described under one name.
    ShapeConflict,
    /// A shape or a list that holds something else before a visit here than elsewhere.
    PresetConflict,
    /// A field declared where only the end may be: after a tail or a rest.
    AfterEnd,
    /// Groups nested deeper than the limit.
    TooDeep,
    /// A schema names a shape it does not hold.
    NoShape,
    /// A list entry that takes no byte, so that nothing bounds how many there are.
    EmptyEntry,
}

impl WireError {
    /// The fault `fault` in `field`.
    #[cold]
    pub const fn new(field: &'static str, fault: Fault) -> Self {
        Self { field, fault }
    }

    /// `len` bytes where `cap` are allowed.
    #[cold]
    pub fn too_long(field: &'static str, len: usize, cap: usize) -> Self {
        Self::new(field, Fault::TooLong { len: counted(len), cap: counted(cap) })
    }

    /// `count` entries where `cap` are allowed.
    #[cold]
    pub fn too_many(field: &'static str, count: usize, cap: usize) -> Self {
        Self::new(field, Fault::TooMany { count: counted(count), cap: counted(cap) })
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.field.is_empty() {
            write!(f, "field `{}`: ", self.field)?;
        }
        self.fault.fmt(f)
    }
}

impl core::error::Error for WireError {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("the bytes end too early"),
            Self::Trailing(1) => f.write_str("1 byte after the last field"),
            Self::Trailing(bytes) => write!(f, "{bytes} bytes after the last field"),
            Self::TooLong { len, cap } => write!(f, "{len} bytes, at most {cap}"),
            Self::TooMany { count, cap } => write!(f, "{count} entries, at most {cap}"),
            Self::CountDiffers { told, held } => {
                write!(f, "the count says {told}, the list holds {held}")
            }
            Self::NoCount => f.write_str("no count field stands before the list"),
            Self::NotUtf8 => f.write_str("text is not UTF-8"),
            Self::NotFinite => f.write_str("a number is not finite"),
            Self::NotBool(byte) => write!(f, "{byte} is neither 0 nor 1"),
            Self::Overlong => f.write_str("a varu32 in too many bytes"),
            Self::UnknownMember(value) => write!(f, "no member has the value {value}"),
            Self::UnknownBits(bits) => write!(f, "no member has a bit of {bits:#x}"),
            Self::UnknownCase(tag) => write!(f, "no case has the tag {tag}"),
            Self::UnknownMessage(id) => write!(f, "no message has the number {id}"),
            Self::WrongChannel(id) => write!(f, "message {id} does not travel on this channel"),
            Self::ShapeConflict => f.write_str("two shapes share one name"),
            Self::PresetConflict => f.write_str("a shape or a list has more than one default"),
            Self::AfterEnd => f.write_str("nothing may follow a tail or a rest"),
            Self::TooDeep => f.write_str("groups nest too deep"),
            Self::NoShape => f.write_str("the schema holds no such shape"),
            Self::EmptyEntry => f.write_str("a list entry takes no byte"),
        }
    }
}

/// A length as an error tells it.
pub(crate) fn counted(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
