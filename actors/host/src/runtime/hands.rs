//! Hands: the threads a runtime has.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use actix_rt::{ArbiterHandle, System};

use crate::scope::Place;

/// The threads of a runtime.
#[derive(Debug)]
pub(crate) enum Hands {
    Real(RealHands),
    Simulated(OnlyHand),
}

/// The threads of the real runtime.
#[derive(Debug)]
pub(crate) struct RealHands {
    pub(super) system: System,
    pub(super) net: ArbiterHandle,
    pub(super) net_tasks: tokio::runtime::Handle,
    pub(super) sessions: Vec<ArbiterHandle>,
    pub(super) next_session: AtomicUsize,
    pub(super) io: ArbiterHandle,
    pub(super) control: ArbiterHandle,
    /// The control thread, which joins the other arbiters when it ends.
    pub(super) root: Mutex<Option<JoinHandle<io::Result<()>>>>,
    /// Threads of actors with one of their own.
    pub(super) own: Mutex<Vec<JoinHandle<()>>>,
    pub(super) watchdog: Mutex<Option<JoinHandle<()>>>,
}

/// The one thread of a simulated runtime.
#[derive(Debug)]
pub(crate) struct OnlyHand {
    pub(crate) arbiter: ArbiterHandle,
    pub(crate) tasks: tokio::runtime::Handle,
}

impl RealHands {
    /// The arbiter of a place; sessions are dealt out in turn.
    pub(crate) fn arbiter(&self, place: Place) -> ArbiterHandle {
        match place {
            Place::Net => self.net.clone(),
            Place::Io => self.io.clone(),
            Place::Sessions => {
                let next = self.next_session.fetch_add(1, Ordering::Relaxed);
                self.sessions.get(next % self.sessions.len().max(1)).unwrap_or(&self.net).clone()
            }
            Place::Control | Place::Thread(_) => self.control.clone(),
        }
    }

    /// Keep a thread to join it at the end.
    pub(crate) fn keep(&self, thread: JoinHandle<()>) {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        own.retain(|thread| !thread.is_finished());
        own.push(thread);
    }

    /// Join the threads of actors; they have been told to end.
    pub(super) fn join_own(&self) {
        let own = std::mem::take(&mut *self.own.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in own {
            // A panic in there was told when its actor ended.
            let _ = thread.join();
        }
    }
}
