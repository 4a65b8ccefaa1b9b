//! Sending: a message on its way into a port that may have to wait for a place.

use std::pin::Pin;
use std::task::{Context, Poll};

use dh_machine::{ActorMessage, Micros};

use super::waiter::{Waiter, WaiterId, Who};
use super::{Port, Refused, Why};

/// A future that ends when the port has taken the message, or refused it for good.
#[derive(Debug)]
pub struct Sending<M> {
    port: Port<M>,
    msg: Option<M>,
    id: WaiterId,
}

impl<M: ActorMessage> Sending<M> {
    pub(crate) fn new(port: Port<M>, msg: M) -> Self {
        Self { port, msg: Some(msg), id: WaiterId::new() }
    }

    /// Try now; keeps the message where it must wait.
    pub(crate) fn attempt(&mut self, cx: &Context<'_>) -> Poll<Result<(), Refused<M>>> {
        let Some(msg) = self.msg.take() else { return Poll::Ready(Ok(())) };
        let waiter = || Some(Waiter { id: self.id, who: Who::Task(cx.waker().clone()) });
        match self.port.core.offer(msg, Micros(u64::MAX), waiter) {
            Ok(()) => Poll::Ready(Ok(())),
            Err(Refused { msg, why: Why::MustWait }) => {
                self.msg = Some(msg);
                Poll::Pending
            }
            Err(refused) => Poll::Ready(Err(refused)),
        }
    }
}

// The message is moved, never pinned.
impl<M> Unpin for Sending<M> {}

impl<M: ActorMessage> Future for Sending<M> {
    type Output = Result<(), Refused<M>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.attempt(cx)
    }
}
