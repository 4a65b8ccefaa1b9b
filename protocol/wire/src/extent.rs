//! What bounds or ends a packet: optionals, reserved sections, tails, and bytes to the end.
//!
//! Used by messages. Never: anything after a tail or a rest; the describer refuses such a shape.

use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

use crate::error::WireError;
use crate::slot::Slot;
use crate::walk::{Group, Value, Walk};

/// A body behind a two-byte length that a reader may step over as a whole. Bytes inside the length
/// that the own body does not know are skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Section<T>(pub T);

/// What follows a place where an older writer's packet may end; past that end it keeps the value
/// it had before the visit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tail<T>(pub T);

/// All bytes to the end of the packet or section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rest(pub Vec<u8>);

impl<T: Value> Value for Option<T> {
    const BYTES_MIN: usize = 1;

    #[inline]
    fn walk<W: Walk + ?Sized>(
        &mut self,
        name: &'static str,
        walk: &mut W,
    ) -> Result<(), WireError> {
        let mut present = self.is_some();
        let mark = walk.open(name, Group::Optional(&mut present))?;
        if present {
            self.get_or_insert_with(T::default).walk(name, walk)?;
        } else {
            *self = None;
        }
        walk.close(mark)
    }
}

impl<T: Value> Value for Section<T> {
    const BYTES_MIN: usize = 2;

    #[inline]
    fn walk<W: Walk + ?Sized>(
        &mut self,
        name: &'static str,
        walk: &mut W,
    ) -> Result<(), WireError> {
        let mark = walk.open(name, Group::Section)?;
        self.0.walk(name, walk)?;
        walk.close(mark)
    }
}

impl<T: Value> Value for Tail<T> {
    const BYTES_MIN: usize = 0;

    #[inline]
    fn walk<W: Walk + ?Sized>(
        &mut self,
        name: &'static str,
        walk: &mut W,
    ) -> Result<(), WireError> {
        let mut present = true;
        let mark = walk.open(name, Group::Tail(&mut present))?;
        if present {
            self.0.walk(name, walk)?;
        }
        walk.close(mark)
    }
}

impl Value for Rest {
    const BYTES_MIN: usize = 0;

    #[inline]
    fn walk<W: Walk + ?Sized>(
        &mut self,
        name: &'static str,
        walk: &mut W,
    ) -> Result<(), WireError> {
        walk.leaf(name, Slot::Rest(&mut self.0))
    }
}

macro_rules! wrappers {
    ($($Type:ident)*) => {$(
        impl<T> Deref for $Type<T> {
            type Target = T;

            fn deref(&self) -> &T {
                &self.0
            }
        }

        impl<T> DerefMut for $Type<T> {
            fn deref_mut(&mut self) -> &mut T {
                &mut self.0
            }
        }

        impl<T> From<T> for $Type<T> {
            fn from(inner: T) -> Self {
                Self(inner)
            }
        }
    )*};
}

wrappers! {
    Section
    Tail
}

impl Deref for Rest {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl From<&[u8]> for Rest {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}

impl From<Vec<u8>> for Rest {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}
