//! A short list that lives where it is declared, without a heap.
//!
//! Used by messages of the hot path. On the wire it is a [`List8`](crate::List8) like any other.

use core::fmt;
use core::ops::{Deref, DerefMut};

use crate::error::WireError;
use crate::limit::LIST8_MAX;
use crate::walk::{Count, Group, ListLen, Value, Walk};

/// At most `CAP` entries behind a one-byte count, held inline.
#[derive(Clone, Copy)]
pub struct Few8<T, const CAP: usize> {
    entries: [T; CAP],
    len: usize,
}

/// The list holds as many entries as it can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

impl<T: Copy + Default, const CAP: usize> Few8<T, CAP> {
    /// The most entries the list may have.
    pub const CAP: usize = CAP;

    /// The given entries; more than `CAP` do not compile.
    pub fn of<const N: usize>(entries: [T; N]) -> Self {
        const { assert!(N <= CAP, "more entries than the list may hold") };
        let mut few = Self::default();
        few.entries[..N].copy_from_slice(&entries);
        few.len = N;
        few
    }

    /// Adds an entry at the end.
    pub fn push(&mut self, entry: T) -> Result<(), Full> {
        *self.entries.get_mut(self.len).ok_or(Full)? = entry;
        self.len += 1;
        Ok(())
    }

    /// Forgets every entry.
    pub fn clear(&mut self) {
        self.len = 0;
    }
}

impl<T: Copy + Default + Value, const CAP: usize> Value for Few8<T, CAP> {
    const BYTES_MIN: usize = 1;

    #[inline]
    fn walk<W: Walk + ?Sized>(
        &mut self,
        name: &'static str,
        walk: &mut W,
    ) -> Result<(), WireError> {
        const {
            assert!(CAP <= LIST8_MAX, "the cap does not fit the count");
            assert!(T::BYTES_MIN > 0, "an entry takes at least one byte");
        };
        let (count, entry_bytes_min) = (Count::One, T::BYTES_MIN);
        let mut list = ListLen { len: self.len, count, cap: CAP, entry_bytes_min };
        let mark = walk.open(name, Group::List(&mut list))?;
        self.len = list.len.min(CAP);
        for entry in &mut self.entries[..self.len] {
            entry.walk("entry", walk)?;
        }
        walk.close(mark)
    }
}

impl<T: Copy + Default, const CAP: usize> Default for Few8<T, CAP> {
    fn default() -> Self {
        Self { entries: [T::default(); CAP], len: 0 }
    }
}

impl<T, const CAP: usize> Deref for Few8<T, CAP> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.entries[..self.len]
    }
}

impl<T, const CAP: usize> DerefMut for Few8<T, CAP> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.entries[..self.len]
    }
}

impl<T: Copy + Default, const CAP: usize> TryFrom<&[T]> for Few8<T, CAP> {
    type Error = Full;

    fn try_from(entries: &[T]) -> Result<Self, Full> {
        let mut few = Self::default();
        entries.iter().try_for_each(|entry| few.push(*entry))?;
        Ok(few)
    }
}

impl<'a, T, const CAP: usize> IntoIterator for &'a Few8<T, CAP> {
    type Item = &'a T;
    type IntoIter = core::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: PartialEq, const CAP: usize> PartialEq for Few8<T, CAP> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq, const CAP: usize> Eq for Few8<T, CAP> {}

impl<T: fmt::Debug, const CAP: usize> fmt::Debug for Few8<T, CAP> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the list is full")
    }
}

impl core::error::Error for Full {}
