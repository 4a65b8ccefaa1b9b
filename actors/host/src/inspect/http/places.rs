//! Places: the connections that are open at once.
//!
//! Whoever showed a token keeps its place. Of the others the oldest gives way, so that nobody can
//! lock everybody else out by holding connections.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tokio::task::AbortHandle;

use super::CONNECTIONS_MAX;
use crate::limits::{Limit, Limits};
use crate::net::lock;

/// The connections of one listener.
#[derive(Debug)]
pub(crate) struct Places {
    limit: Limit,
    /// Oldest first.
    seated: Mutex<VecDeque<(AbortHandle, Place)>>,
}

/// The place of one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    trusted: Arc<AtomicBool>,
}

impl Place {
    /// It showed a token.
    pub(crate) fn trust(&self) {
        self.trusted.store(true, Ordering::Relaxed);
    }

    fn is_trusted(&self) -> bool {
        self.trusted.load(Ordering::Relaxed)
    }
}

impl Places {
    pub(crate) fn new(limits: &Limits) -> Self {
        let limit = limits.named("inspect.connections", "connections", CONNECTIONS_MAX as u64);
        Self { limit, seated: Mutex::default() }
    }

    /// Serve one more connection, or drop it where everybody else is trusted.
    pub(crate) fn seat<F: Future<Output = ()> + Send + 'static>(
        &self,
        serve: impl FnOnce(Place) -> F,
    ) {
        let mut seated = lock(&self.seated);
        seated.retain(|(task, _)| !task.is_finished());
        if seated.len() >= CONNECTIONS_MAX {
            self.limit.hit();
            let Some(at) = seated.iter().position(|(_, place)| !place.is_trusted()) else { return };
            if let Some((task, _)) = seated.remove(at) {
                task.abort();
            }
        }
        let place = Place::default();
        let (held, served) = (self.limit.hold(), serve(place.clone()));
        let task = tokio::spawn(async move {
            served.await;
            drop(held);
        });
        seated.push_back((task.abort_handle(), place));
    }
}
