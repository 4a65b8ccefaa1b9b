//! Numbered: what belongs to one attempt at a server, and to the session it became. Whatever comes
//! late bears an old number, and is swallowed by whoever it comes to.

/// Something of one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbered<T> {
    /// Which attempt; later ones have larger numbers.
    pub attempt: u64,
    /// What belongs to it.
    pub event: T,
}

impl<T> Numbered<T> {
    /// `event` of this attempt.
    #[must_use]
    pub const fn new(attempt: u64, event: T) -> Self {
        Self { attempt, event }
    }
}
