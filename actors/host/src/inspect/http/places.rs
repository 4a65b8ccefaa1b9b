//! Places: the connections that are open at once.
//!
//! Whoever showed a token keeps its place. Of the others the oldest gives way, so that nobody can
//! lock everybody else out by holding connections. Where everybody showed one, there are a few
//! places beside that are told of health and of nothing else.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tokio::task::AbortHandle;

use super::{BESIDE_MAX, CONNECTIONS_MAX};
use crate::limits::{Limit, Limits};
use crate::net::lock;

/// The connections of one listener.
#[derive(Debug)]
pub(crate) struct Places {
    limit: Limit,
    /// Oldest first.
    seated: Mutex<VecDeque<(AbortHandle, Place)>>,
    /// Those beside, oldest first.
    beside: Mutex<VecDeque<AbortHandle>>,
}

/// The place of one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    trusted: Arc<AtomicBool>,
    is_beside: bool,
}

impl Place {
    /// It showed a token.
    pub(crate) fn trust(&self) {
        self.trusted.store(true, Ordering::Relaxed);
    }

    /// It is only told of health, and that once.
    pub(crate) fn is_beside(&self) -> bool {
        self.is_beside
    }

    fn is_trusted(&self) -> bool {
        self.trusted.load(Ordering::Relaxed)
    }
}

impl Places {
    pub(crate) fn new(limits: &Limits) -> Self {
        let limit = limits.named("inspect.connections", "connections", CONNECTIONS_MAX as u64);
        Self { limit, seated: Mutex::default(), beside: Mutex::default() }
    }

    /// Serve one more connection; beside where everybody else is trusted.
    pub(crate) fn seat<F: Future<Output = ()> + Send + 'static>(
        &self,
        serve: impl FnOnce(Place) -> F,
    ) {
        let mut seated = lock(&self.seated);
        seated.retain(|(task, _)| !task.is_finished());
        if seated.len() >= CONNECTIONS_MAX {
            self.limit.hit();
            let Some(at) = seated.iter().position(|(_, place)| !place.is_trusted()) else {
                return self.seat_beside(serve);
            };
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

    fn seat_beside<F: Future<Output = ()> + Send + 'static>(&self, serve: impl FnOnce(Place) -> F) {
        let mut beside = lock(&self.beside);
        beside.retain(|task| !task.is_finished());
        if beside.len() >= BESIDE_MAX
            && let Some(task) = beside.pop_front()
        {
            task.abort();
        }
        let place = Place { is_beside: true, ..Place::default() };
        beside.push_back(tokio::spawn(serve(place)).abort_handle());
    }
}
