//! Spoken: what somebody said, as everybody may read it.

use dh_prefs::printable;

/// The longest line, in UTF-16 units (the specification's `MaxMessageChars`).
pub const LINE_UNITS_MAX: usize = 200;

/// A line that shows something, without control characters, on one line, at most
/// [`LINE_UNITS_MAX`] long. There is no other way to have one said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spoken {
    text: String,
    cut: bool,
}

impl Spoken {
    /// What is left of a text that somebody typed; `None` where that shows nothing.
    #[must_use]
    pub fn read(typed: &str) -> Option<Self> {
        let text = printable(typed, LINE_UNITS_MAX);
        let cut = text.len() < printable(typed, usize::MAX).len();
        (!text.is_empty()).then_some(Self { text, cut })
    }

    /// The line.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether there was more of it.
    #[must_use]
    pub const fn is_cut(&self) -> bool {
        self.cut
    }
}
