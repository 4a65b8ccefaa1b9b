//! Words: state as a row of numbers, for checkpoints that outlive their process.

use core::fmt;

/// Reads words one after the other, and knows where it is.
#[derive(Clone, Debug)]
pub struct Words<'a> {
    all: &'a [u64],
    at: usize,
}

/// A word that is not there or cannot be what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Which word, the first being 0.
    pub word: usize,
    /// What should be there.
    pub expected: &'static str,
}

impl<'a> Words<'a> {
    /// From the first word on.
    #[must_use]
    pub const fn new(all: &'a [u64]) -> Self {
        Self { all, at: 0 }
    }

    /// The next word.
    ///
    /// # Errors
    /// There is none.
    pub fn next(&mut self, expected: &'static str) -> Result<u64, Damage> {
        let word = self.all.get(self.at).copied().ok_or_else(|| self.damage(expected))?;
        self.at += 1;
        Ok(word)
    }

    /// The next word as what `of` makes of it.
    ///
    /// # Errors
    /// There is none, or `of` makes nothing of it.
    pub fn read<T>(
        &mut self,
        expected: &'static str,
        of: impl FnOnce(u64) -> Option<T>,
    ) -> Result<T, Damage> {
        let here = self.damage(expected);
        of(self.next(expected)?).ok_or(here)
    }

    /// The next word as a count of things that take at least `each` (above 0) words.
    ///
    /// # Errors
    /// There is none, or there are not words enough for so many.
    pub fn count(&mut self, expected: &'static str, each: usize) -> Result<usize, Damage> {
        let left = self.left().saturating_sub(1) / each;
        self.read(expected, |word| usize::try_from(word).ok().filter(|count| *count <= left))
    }

    /// The next so many words.
    ///
    /// # Errors
    /// There are fewer.
    pub fn take(&mut self, count: usize, expected: &'static str) -> Result<&'a [u64], Damage> {
        let end = self.at.saturating_add(count);
        let part = self.all.get(self.at..end).ok_or_else(|| self.damage(expected))?;
        self.at = end;
        Ok(part)
    }

    /// Words that are left.
    #[must_use]
    pub const fn left(&self) -> usize {
        self.all.len() - self.at
    }

    /// That something else should be here.
    #[must_use]
    pub const fn damage(&self, expected: &'static str) -> Damage {
        Damage { word: self.at, expected }
    }
}

/// The upper and the lower half of a word.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "both halves are taken")]
pub const fn halves(word: u64) -> (u32, u32) {
    ((word >> 32) as u32, word as u32)
}

/// A word of two halves, the upper one first.
#[must_use]
pub const fn joined(upper: u32, lower: u32) -> u64 {
    (upper as u64) << 32 | lower as u64
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: expected {}", self.word * 8, self.expected)
    }
}

impl core::error::Error for Damage {}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn whatever_is_missing_or_wrong_is_told_with_its_place() {
        let all = [2, 7, joined(9, 8)];
        let mut words = Words::new(&all);
        assert_eq!(words.count("a count", 1), Ok(2));
        assert_eq!(words.clone().take(3, "words"), Err(Damage { word: 1, expected: "words" }));
        let odd = words.read("an even word", |word| word.is_multiple_of(2).then_some(word));
        assert_eq!(odd, Err(Damage { word: 1, expected: "an even word" }));
        assert_eq!(words.next("a word").map(halves), Ok((9, 8)));
        assert_eq!(
            words.next("another").unwrap_err().to_string().as_str(),
            "byte 24: expected another"
        );
    }

    #[test]
    fn a_count_that_its_words_do_not_pay_for_is_refused() {
        let counted = |all: &[u64]| Words::new(all).count("things", 2);
        assert_eq!(counted(&[1, 0, 0]), Ok(1));
        assert!(counted(&[2, 0, 0]).is_err() && counted(&[u64::MAX, 0, 0]).is_err());
    }
}
