//! A borrowed leaf: what a walker sees of a field.
//!
//! Made by `Value` impls, taken apart by walkers. Every variant holds one thin reference, so that a
//! slot travels as a number and a pointer and the match on it folds away where the kind is known.

use alloc::string::String;
use alloc::vec::Vec;

use crate::kind::Kind;
use crate::walk::Names;

/// One leaf field, borrowed for the length of a visit.
#[derive(Debug)]
pub enum Slot<'a> {
    /// One byte.
    U8(&'a mut u8),
    /// Two bytes.
    U16(&'a mut u16),
    /// Four bytes.
    U32(&'a mut u32),
    /// Eight bytes.
    U64(&'a mut u64),
    /// One byte, signed.
    I8(&'a mut i8),
    /// Two bytes, signed.
    I16(&'a mut i16),
    /// Four bytes, signed.
    I32(&'a mut i32),
    /// Eight bytes, signed.
    I64(&'a mut i64),
    /// A finite float.
    F32(&'a mut f32),
    /// A finite double.
    F64(&'a mut f64),
    /// A truth value.
    Bool(&'a mut bool),
    /// One to five bytes.
    Varu32(&'a mut u32),
    /// The number of entries of a later list.
    Count16(&'a mut u16),
    /// A finite vector.
    F32x3(&'a mut [f32; 3]),
    /// Four finite floats.
    F32x4(&'a mut [f32; 4]),
    /// A short hash.
    Hash128(&'a mut [u8; 16]),
    /// An identifier.
    Guid(&'a mut [u8; 16]),
    /// A long hash.
    Root(&'a mut [u8; 32]),
    /// All bytes to the end.
    Rest(&'a mut Vec<u8>),
    /// Text behind a one-byte length.
    Str8(&'a mut CappedText<'a>),
    /// Text behind a two-byte length.
    Str16(&'a mut CappedText<'a>),
    /// One value of a list of names.
    Enum(&'a mut NamedValue),
    /// Any bits of a list of names.
    Flags(&'a mut NamedValue),
}

/// A text and the most bytes it may have.
#[derive(Debug)]
pub struct CappedText<'a> {
    /// The most bytes.
    pub cap: usize,
    /// The text.
    pub text: &'a mut String,
}

/// A number and the names it is made of.
#[derive(Clone, Copy, Debug)]
pub struct NamedValue {
    /// The names.
    pub names: &'static Names,
    /// A member's value, bits of members, or a case's tag.
    pub value: u32,
}

impl Slot<'_> {
    /// The kind, for leaves without parameters.
    pub const fn kind(&self) -> Option<Kind> {
        Some(match self {
            Self::U8(_) => Kind::U8,
            Self::U16(_) => Kind::U16,
            Self::U32(_) => Kind::U32,
            Self::U64(_) => Kind::U64,
            Self::I8(_) => Kind::I8,
            Self::I16(_) => Kind::I16,
            Self::I32(_) => Kind::I32,
            Self::I64(_) => Kind::I64,
            Self::F32(_) => Kind::F32,
            Self::F64(_) => Kind::F64,
            Self::Bool(_) => Kind::Bool,
            Self::Varu32(_) => Kind::Varu32,
            Self::Count16(_) => Kind::Count16,
            Self::F32x3(_) => Kind::F32x3,
            Self::F32x4(_) => Kind::F32x4,
            Self::Hash128(_) => Kind::Hash128,
            Self::Guid(_) => Kind::Guid,
            Self::Root(_) => Kind::Root,
            Self::Rest(_) => Kind::Rest,
            Self::Str8(_) | Self::Str16(_) | Self::Enum(_) | Self::Flags(_) => return None,
        })
    }
}
