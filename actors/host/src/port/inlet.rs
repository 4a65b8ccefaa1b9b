//! Inlet: a port seen as taking another type, so that `host` can tell actors of every kind.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use dh_machine::ActorMessage;

use super::waiting::Sending;
use super::{Port, Why};
use crate::registry::ActorId;

/// Where events of type `T` are offered to some actor. Cheap to clone.
pub struct Inlet<T> {
    face: Arc<dyn Face<T>>,
}

/// An event that must wait for a place, already in the actor's own words.
pub struct HeldBack(Box<dyn Attempt>);

impl<T: 'static> Inlet<T> {
    pub(crate) fn new<M: ActorMessage>(
        port: Port<M>,
        map: impl Fn(T) -> M + Send + Sync + 'static,
    ) -> Self {
        Self { face: Arc::new(Mapped { port, map }) }
    }

    /// Hand over one event; what does not fit is given up, as its policy says.
    ///
    /// # Errors
    /// Why the actor did not take it. A kind that would wait is lost with [`Why::MustWait`].
    pub fn offer(&self, event: T) -> Result<(), Why> {
        self.face.offer(event).map_err(|(why, _)| why)
    }

    /// Hand over one event, waiting for a place if that is its policy: the way a reader lets a full
    /// actor slow it down.
    ///
    /// # Errors
    /// Why the actor did not take it; never [`Why::MustWait`].
    pub async fn send(&self, event: T) -> Result<(), Why> {
        match self.face.offer(event) {
            Ok(()) => Ok(()),
            Err((Why::MustWait, held)) => held.wait().await,
            Err((why, _)) => Err(why),
        }
    }

    /// Hand over one event; one that must wait is kept for [`HeldBack::wait`].
    ///
    /// # Errors
    /// Why the actor did not take it, and the event.
    pub fn attempt(&self, event: T) -> Result<(), (Why, HeldBack)> {
        self.face.offer(event)
    }

    /// The actor it leads to.
    pub(crate) fn owner(&self) -> ActorId {
        self.face.owner()
    }

    /// Whether the actor has ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.face.is_closed()
    }
}

impl HeldBack {
    /// Wait for a place and hand the event over.
    ///
    /// # Errors
    /// Why the actor did not take it after all; never [`Why::MustWait`].
    pub async fn wait(mut self) -> Result<(), Why> {
        poll_fn(move |cx| self.0.attempt(cx)).await
    }
}

impl<T> Clone for Inlet<T> {
    fn clone(&self) -> Self {
        Self { face: Arc::clone(&self.face) }
    }
}

impl<T> fmt::Debug for Inlet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inlet").finish_non_exhaustive()
    }
}

impl fmt::Debug for HeldBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeldBack").finish_non_exhaustive()
    }
}

trait Face<T>: Send + Sync {
    fn offer(&self, event: T) -> Result<(), (Why, HeldBack)>;
    fn is_closed(&self) -> bool;
    fn owner(&self) -> ActorId;
}

trait Attempt: Send {
    fn attempt(&mut self, cx: &Context<'_>) -> Poll<Result<(), Why>>;
}

struct Mapped<M, F> {
    port: Port<M>,
    map: F,
}

impl<T, M: ActorMessage, F: Fn(T) -> M + Send + Sync> Face<T> for Mapped<M, F> {
    fn offer(&self, event: T) -> Result<(), (Why, HeldBack)> {
        self.port.offer((self.map)(event)).map_err(|refused| {
            let held = Sending::new(self.port.clone(), refused.msg);
            (refused.why, HeldBack(Box::new(held)))
        })
    }

    fn is_closed(&self) -> bool {
        self.port.is_closed()
    }

    fn owner(&self) -> ActorId {
        self.port.core.owner()
    }
}

impl<M: ActorMessage> Attempt for Sending<M> {
    fn attempt(&mut self, cx: &Context<'_>) -> Poll<Result<(), Why>> {
        Self::attempt(self, cx).map_err(|refused| refused.why)
    }
}
