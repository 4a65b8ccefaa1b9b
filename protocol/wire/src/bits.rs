//! What enums, flags, masks and union tags share: the integers they travel in, and their names.
//!
//! Used by what [`message!`](crate::message) writes. Never: a width the wire has no word for.

use core::fmt;

use crate::error::{Fault, WireError};
use crate::kind::Width;
use crate::walk::Names;

/// An integer type that names or bits travel in.
pub trait Tag: Copy + Into<u32> + TryFrom<u32> {
    /// How many bytes it takes.
    const WIDTH: Width;
}

impl Tag for u8 {
    const WIDTH: Width = Width::One;
}

impl Tag for u16 {
    const WIDTH: Width = Width::Two;
}

impl Tag for u32 {
    const WIDTH: Width = Width::Four;
}

impl Names {
    /// The name of the member with `value`.
    pub fn name_of(&self, value: u32) -> Option<&'static str> {
        self.members.iter().find(|(_, member)| *member == value).map(|(name, _)| *name)
    }

    /// Those of `bits` whose number no member has.
    #[inline]
    pub fn unknown_bits(&self, bits: u32) -> u32 {
        self.members.iter().fold(bits, |left, (_, bit)| left & !(1 << bit))
    }

    /// Whether each member has a bit.
    #[doc(hidden)]
    pub const fn fit(&self) -> bool {
        self.members.len() <= self.width.bytes() * 8
    }
}

/// Each name with its place.
#[doc(hidden)]
pub const fn numbered<const N: usize>(names: [&'static str; N]) -> [(&'static str, u32); N] {
    let mut members = [("", 0); N];
    let (mut at, mut place) = (0, 0);
    while at < N {
        members[at] = (names[at], place);
        at += 1;
        place += 1;
    }
    members
}

/// A value as the width it travels in.
#[doc(hidden)]
#[inline]
pub fn narrow<T: Tag>(name: &'static str, raw: u32) -> Result<T, WireError> {
    T::try_from(raw).map_err(|_| WireError::new(name, Fault::UnknownMember(raw)))
}

/// The names of the bits set, joined by `|`; `-` for none, bits without a name in hex.
#[doc(hidden)]
pub fn write_flags<W: fmt::Write + ?Sized>(out: &mut W, names: &Names, bits: u32) -> fmt::Result {
    if bits == 0 {
        return out.write_char('-');
    }
    let mut between = "";
    for (name, _) in names.members.iter().filter(|(_, bit)| bits >> bit & 1 == 1) {
        write!(out, "{between}{name}")?;
        between = "|";
    }
    match names.unknown_bits(bits) {
        0 => Ok(()),
        unknown => write!(out, "{between}{unknown:#x}"),
    }
}
