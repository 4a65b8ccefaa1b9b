//! Landing: where a dial leaves its connection until the machine has heard of it. A connection that
//! nobody waits for any more is closed where it lands.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dh_host::net::Connection;

/// A place for one connection. Clones are the same place.
#[derive(Clone, Debug, Default)]
pub(super) struct Landing(Arc<Mutex<Place>>);

#[derive(Debug, Default)]
struct Place {
    expected: Option<u64>,
    landed: Option<Connection>,
}

impl Landing {
    /// Wait for the connection of this attempt, and for no other.
    pub(super) fn expect(&self, attempt: u64) {
        *self.lock() = Place { expected: Some(attempt), landed: None };
    }

    /// Wait for none.
    pub(super) fn close(&self) {
        *self.lock() = Place::default();
    }

    /// The dial of this attempt came through.
    pub(super) fn land(&self, attempt: u64, connection: Connection) {
        let mut place = self.lock();
        if place.expected == Some(attempt) {
            place.landed = Some(connection);
        }
    }

    /// The connection of this attempt, if it has landed.
    pub(super) fn take(&self, attempt: u64) -> Option<Connection> {
        let mut place = self.lock();
        if place.expected == Some(attempt) { place.landed.take() } else { None }
    }

    fn lock(&self) -> MutexGuard<'_, Place> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
