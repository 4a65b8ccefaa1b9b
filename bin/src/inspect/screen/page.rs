//! Page: which of the pages is looked at.

/// What is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Page {
    #[default]
    Actors,
    Ticks,
    Links,
    Waits,
    Limits,
    Processes,
}

impl Page {
    /// In the order of their digits, from 1.
    pub(crate) const ALL: [Self; 6] =
        [Self::Actors, Self::Ticks, Self::Links, Self::Waits, Self::Limits, Self::Processes];

    /// So many further, round and round.
    pub(crate) fn beside(self, step: usize) -> Self {
        Self::ALL[(self as usize + step) % Self::ALL.len()]
    }

    /// That of a digit.
    pub(crate) fn at(digit: char) -> Option<Self> {
        let place = digit.to_digit(10)?.checked_sub(1)?;
        Self::ALL.get(usize::try_from(place).ok()?).copied()
    }
}
