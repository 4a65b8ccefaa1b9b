//! The kinds of leaf a field can be, from one list.
//!
//! Used by slots, the schema and the schema walker. Never: a kind with parameters (texts, enums,
//! flags), which the schema spells on its own.

use core::ops::Deref;

/// How many bytes an enum, flag set, union tag or mask takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Width {
    /// One byte.
    One,
    /// Two bytes.
    Two,
    /// Four bytes.
    Four,
}

impl Width {
    /// The width in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Four => 4,
        }
    }

    /// The word of the schema text.
    pub const fn word(self) -> &'static str {
        match self {
            Self::One => "u8",
            Self::Two => "u16",
            Self::Four => "u32",
        }
    }

    /// The width that this word of the schema text means.
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::One, Self::Two, Self::Four].into_iter().find(|width| width.word() == word)
    }

    /// A number of this width as bytes: its first ones.
    #[inline]
    pub(crate) const fn number(self, value: u32) -> NumberBytes {
        let [a, b, c, d] = value.to_le_bytes();
        NumberBytes { bytes: [a, b, c, d, 0], len: self.bytes() }
    }

    /// How many bits it has.
    pub const fn bits(self) -> u32 {
        match self {
            Self::One => 8,
            Self::Two => 16,
            Self::Four => 32,
        }
    }
}

/// A number as the bytes it travels in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NumberBytes {
    bytes: [u8; 5],
    len: usize,
}

impl NumberBytes {
    /// A `varu32`.
    #[inline]
    pub(crate) fn varu32(value: u32) -> Self {
        let (mut bytes, mut len, mut left) = ([0; 5], 1, value);
        for byte in &mut bytes {
            *byte = left.to_le_bytes()[0] & 0x7f;
            left >>= 7;
            if left == 0 {
                break;
            }
            *byte |= 0x80;
            len += 1;
        }
        Self { bytes, len }
    }
}

impl Deref for NumberBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $Kind:ident = $word:literal;)*) => {
        /// A leaf without parameters.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Kind { $($(#[$doc])* $Kind),* }

        impl Kind {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$(Self::$Kind),*];

            /// The word of the schema text.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$Kind => $word),* }
            }

            /// The kind that this word of the schema text means.
            pub fn of_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|kind| kind.word() == word)
            }
        }
    };
}

impl Kind {
    /// The first version of the frame that spells it.
    pub const fn since(self) -> u32 {
        match self {
            Self::Varu32 => 2,
            _ => 1,
        }
    }

    /// The greatest whole number it has room for; none where it is no whole number.
    pub const fn greatest(self) -> Option<u64> {
        Some(match self {
            Self::U8 => u8::MAX as u64,
            Self::U16 => u16::MAX as u64,
            Self::U32 | Self::Varu32 => u32::MAX as u64,
            Self::U64 => u64::MAX,
            Self::I8 => i8::MAX as u64,
            Self::I16 => i16::MAX as u64,
            Self::I32 => i32::MAX as u64,
            Self::I64 => i64::MAX as u64,
            _ => return None,
        })
    }

    /// How many bytes each value takes, where that is one number.
    pub(crate) const fn size(self) -> Option<usize> {
        Some(match self {
            Self::U8 | Self::I8 | Self::Bool => 1,
            Self::U16 | Self::I16 | Self::Count16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
            Self::F32x3 => 12,
            Self::F32x4 | Self::Hash128 | Self::Guid => 16,
            Self::Root => 32,
            Self::Varu32 | Self::Rest => return None,
        })
    }
}

kinds! {
    /// One byte, 0 to 255.
    U8 = "u8";
    /// Two bytes, little endian.
    U16 = "u16";
    /// Four bytes, little endian.
    U32 = "u32";
    /// Eight bytes, little endian.
    U64 = "u64";
    /// One byte, two's complement.
    I8 = "i8";
    /// Two bytes, two's complement, little endian.
    I16 = "i16";
    /// Four bytes, two's complement, little endian.
    I32 = "i32";
    /// Eight bytes, two's complement, little endian.
    I64 = "i64";
    /// Four bytes, IEEE 754, finite.
    F32 = "f32";
    /// Eight bytes, IEEE 754, finite.
    F64 = "f64";
    /// One byte, 0 or 1.
    Bool = "bool";
    /// One to five bytes, seven bits each, low bits first, shortest form only.
    Varu32 = "varu32";
    /// Two bytes that tell how many entries a later list has.
    Count16 = "count16";
    /// Three finite `f32`.
    F32x3 = "f32x3";
    /// Four finite `f32`.
    F32x4 = "f32x4";
    /// Sixteen bytes of a hash.
    Hash128 = "hash128";
    /// Sixteen bytes of an identifier, in the order of RFC 4122.
    Guid = "guid";
    /// Thirty-two bytes of a hash.
    Root = "root";
    /// All bytes to the end of the packet or section.
    Rest = "rest";
}
