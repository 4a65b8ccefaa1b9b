//! Sender: which actor has its turn on this thread, so that what it offers can name it.

use std::cell::Cell;

use crate::registry::ActorId;

thread_local! {
    static CURRENT: Cell<ActorId> = const { Cell::new(ActorId::NOBODY) };
}

/// The actor whose turn it is on this thread.
#[inline]
pub(crate) fn sender() -> ActorId {
    CURRENT.get()
}

/// While this is kept it is the turn of one actor; turns may lie within turns.
#[derive(Debug)]
pub(crate) struct Sending {
    outer: ActorId,
}

impl Sending {
    #[inline]
    pub(crate) fn by(id: ActorId) -> Self {
        Self { outer: CURRENT.replace(id) }
    }
}

impl Drop for Sending {
    #[inline]
    fn drop(&mut self) {
        CURRENT.set(self.outer);
    }
}
