//! Budget: how often a machine may be made again.
//!
//! Used by shells for their machine and by the supervisor for whole scopes.

use std::collections::VecDeque;

use dh_machine::{Micros, Restart};

/// Restarts within a sliding window.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    restart: Restart,
    past: VecDeque<Micros>,
}

impl Budget {
    pub(crate) const fn new(restart: Restart) -> Self {
        Self { restart, past: VecDeque::new() }
    }

    /// Whether one more restart fits; if so it is spent.
    pub(crate) fn allows(&mut self, now: Micros) -> bool {
        let Restart { count, window } = self.restart;
        while self.past.front().is_some_and(|past| now.since(*past) >= window) {
            self.past.pop_front();
        }
        let fits = self.past.len() < usize::try_from(count).unwrap_or(usize::MAX);
        if fits {
            self.past.push_back(now);
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_many_restarts_fit_into_any_window() {
        let restart = Restart { count: 2, window: Micros::from_secs(10) };
        let mut budget = Budget::new(restart);
        let at = [0, 4, 5, 9, 10, 11, 14].map(|secs| budget.allows(Micros::from_secs(secs)));
        assert_eq!(at, [true, true, false, false, true, false, true]);
    }
}
