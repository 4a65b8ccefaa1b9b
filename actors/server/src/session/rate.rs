//! Rate: what one peer may do only so often.

use super::bucket::{CHAT, CONSOLE};
use super::datagrams::BURST_MAX;

/// What one peer may do only so often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// Lines of chat.
    Chat,
    /// Lines for the server's console.
    Console,
    /// Datagrams.
    Datagrams,
}

impl Rate {
    /// How many at once.
    pub(crate) fn burst(self) -> usize {
        let burst = match self {
            Self::Chat => CHAT.burst,
            Self::Console => CONSOLE.burst,
            Self::Datagrams => u64::from(BURST_MAX),
        };
        usize::try_from(burst).unwrap_or(usize::MAX)
    }
}
