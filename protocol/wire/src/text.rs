//! Texts with a length before them and a cap on their bytes.
//!
//! Used by messages that carry names, reasons and lines. Never: cuts a text on its own; the writer
//! refuses what is too long, and [`Str8::clipped`] is there for those who want to cut.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;
use core::ops::Deref;

use crate::error::WireError;
use crate::limit::{STR8_MAX, STR16_MAX};
use crate::slot::{CappedText, Slot};
use crate::walk::{Value, Walk};

/// Text behind a one-byte length, at most `CAP` bytes.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Str8<const CAP: usize = STR8_MAX>(pub String);

/// Text behind a two-byte length, at most `CAP` bytes.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Str16<const CAP: usize = STR16_MAX>(pub String);

macro_rules! texts {
    ($($Type:ident $Slot:ident $prefix:literal $most:ident;)*) => {$(
        impl<const CAP: usize> $Type<CAP> {
            /// The most bytes the text may have.
            pub const CAP: usize = CAP;

            /// As much of `text` as fits, cut between two characters.
            pub fn clipped(text: &str) -> Self {
                Self(text[..text.floor_char_boundary(CAP)].to_owned())
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl<const CAP: usize> Value for $Type<CAP> {
            const BYTES_MIN: usize = $prefix;

            #[inline]
            fn walk<W: Walk + ?Sized>(
                &mut self,
                name: &'static str,
                walk: &mut W,
            ) -> Result<(), WireError> {
                const { assert!(CAP <= $most, "the cap does not fit the length before the text") };
                let mut slot = CappedText { cap: CAP, text: &mut self.0 };
                walk.leaf(name, Slot::$Slot(&mut slot))
            }
        }

        impl<const CAP: usize> Deref for $Type<CAP> {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl<const CAP: usize> From<&str> for $Type<CAP> {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl<const CAP: usize> From<String> for $Type<CAP> {
            fn from(text: String) -> Self {
                Self(text)
            }
        }

        impl<const CAP: usize> From<$Type<CAP>> for String {
            fn from(text: $Type<CAP>) -> Self {
                text.0
            }
        }

        impl<const CAP: usize> PartialEq<str> for $Type<CAP> {
            fn eq(&self, other: &str) -> bool {
                self.0 == other
            }
        }

        impl<const CAP: usize> PartialEq<&str> for $Type<CAP> {
            fn eq(&self, other: &&str) -> bool {
                self.0 == *other
            }
        }

        impl<const CAP: usize> fmt::Display for $Type<CAP> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl<const CAP: usize> fmt::Debug for $Type<CAP> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }
    )*};
}

texts! {
    Str8 Str8 1 STR8_MAX;
    Str16 Str16 2 STR16_MAX;
}
