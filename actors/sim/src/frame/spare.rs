//! Spare: values that were published and that nobody may hold any more, to be filled again.

use std::collections::VecDeque;
use std::sync::Arc;

/// What was published lately, oldest first.
#[derive(Debug)]
pub(super) struct Spare<T> {
    lent: VecDeque<Arc<T>>,
}

/// Values watched at most; older ones are left to whoever holds them.
const LENT_MAX: usize = 512;
/// The oldest values looked at for one that came back.
const LOOKS_MAX: usize = 8;

impl<T: Default> Spare<T> {
    /// A value to fill: one that came back, or else a new one. Its old content is still in it.
    pub(super) fn take(&mut self) -> Arc<T> {
        let looks = self.lent.len().min(LOOKS_MAX);
        let back = (0..looks).find(|at| Arc::get_mut(&mut self.lent[*at]).is_some());
        back.and_then(|at| self.lent.remove(at)).unwrap_or_default()
    }

    /// Watches a value that others may hold.
    pub(super) fn lend(&mut self, value: Arc<T>) {
        if self.lent.len() == LENT_MAX {
            self.lent.pop_front();
        }
        self.lent.push_back(value);
    }
}

impl<T> Default for Spare<T> {
    fn default() -> Self {
        Self { lent: VecDeque::new() }
    }
}
