//! Lists on the heap: counted before the entries, or by a field visited earlier.
//!
//! Used by messages. Never: allocates for entries that the bytes left over could not hold.

use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

use crate::error::WireError;
use crate::limit::{LIST_MEMORY_RATIO_MAX, LIST8_MAX, LIST16_MAX};
use crate::slot::Slot;
use crate::walk::{Count, Group, ListLen, Value, Walk};

/// Entries behind a one-byte count, at most `CAP`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List8<T, const CAP: usize = LIST8_MAX>(pub Vec<T>);

/// Entries behind a two-byte count, at most `CAP`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List16<T, const CAP: usize = LIST16_MAX>(pub Vec<T>);

/// Entries whose count is the newest [`Count16`] visited before them, at most `CAP`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted<T, const CAP: usize = LIST16_MAX>(pub Vec<T>);

/// The number of entries of a [`Counted`] list further on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Count16(pub u16);

impl Value for Count16 {
    const BYTES_MIN: usize = 2;

    #[inline]
    fn walk<W: Walk + ?Sized>(
        &mut self,
        name: &'static str,
        walk: &mut W,
    ) -> Result<(), WireError> {
        walk.leaf(name, Slot::Count16(&mut self.0))
    }
}

impl From<u16> for Count16 {
    fn from(count: u16) -> Self {
        Self(count)
    }
}

impl From<Count16> for usize {
    fn from(count: Count16) -> Self {
        Self::from(count.0)
    }
}

macro_rules! lists {
    ($($Type:ident $Count:ident $bytes:literal $most:ident;)*) => {$(
        impl<T, const CAP: usize> $Type<T, CAP> {
            /// The most entries the list may have.
            pub const CAP: usize = CAP;
        }

        impl<T: Value, const CAP: usize> Value for $Type<T, CAP> {
            const BYTES_MIN: usize = $bytes;

            #[inline]
            fn walk<W: Walk + ?Sized>(
                &mut self,
                name: &'static str,
                walk: &mut W,
            ) -> Result<(), WireError> {
                const { assert!(CAP <= $most, "the cap does not fit the count") };
                walk_entries(&mut self.0, name, Count::$Count, CAP, walk)
            }
        }

        impl<T, const CAP: usize> Default for $Type<T, CAP> {
            fn default() -> Self {
                Self(Vec::new())
            }
        }

        impl<T, const CAP: usize> Deref for $Type<T, CAP> {
            type Target = Vec<T>;

            fn deref(&self) -> &Vec<T> {
                &self.0
            }
        }

        impl<T, const CAP: usize> DerefMut for $Type<T, CAP> {
            fn deref_mut(&mut self) -> &mut Vec<T> {
                &mut self.0
            }
        }

        impl<T, const CAP: usize> From<Vec<T>> for $Type<T, CAP> {
            fn from(entries: Vec<T>) -> Self {
                Self(entries)
            }
        }

        impl<T, const CAP: usize> FromIterator<T> for $Type<T, CAP> {
            fn from_iter<I: IntoIterator<Item = T>>(entries: I) -> Self {
                Self(entries.into_iter().collect())
            }
        }

        impl<'a, T, const CAP: usize> IntoIterator for &'a $Type<T, CAP> {
            type Item = &'a T;
            type IntoIter = core::slice::Iter<'a, T>;

            fn into_iter(self) -> Self::IntoIter {
                self.0.iter()
            }
        }

        impl<T, const CAP: usize> IntoIterator for $Type<T, CAP> {
            type Item = T;
            type IntoIter = alloc::vec::IntoIter<T>;

            fn into_iter(self) -> Self::IntoIter {
                self.0.into_iter()
            }
        }
    )*};
}

lists! {
    List8 One 1 LIST8_MAX;
    List16 Two 2 LIST16_MAX;
    Counted Earlier 0 LIST16_MAX;
}

#[inline]
fn walk_entries<T: Value, W: Walk + ?Sized>(
    entries: &mut Vec<T>,
    name: &'static str,
    count: Count,
    cap: usize,
    walk: &mut W,
) -> Result<(), WireError> {
    const {
        assert!(T::BYTES_MIN > 0, "an entry takes at least one byte");
        assert!(
            size_of::<T>() <= LIST_MEMORY_RATIO_MAX * T::BYTES_MIN,
            "an entry takes too much memory for its bytes"
        );
    };
    let mut list = ListLen { len: entries.len(), count, cap, entry_bytes_min: T::BYTES_MIN };
    let mark = walk.open(name, Group::List(&mut list))?;
    let len = list.len;
    // A reader has checked that the bytes left over can hold `len` entries.
    entries.truncate(len);
    entries.reserve_exact(len - entries.len());
    entries.resize_with(len, T::default);
    for entry in entries {
        entry.walk("entry", walk)?;
    }
    walk.close(mark)
}
