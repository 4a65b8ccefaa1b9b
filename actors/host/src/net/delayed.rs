//! Delayed: things that are due at a time, handed out in order of time and then of arrival.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use dh_machine::Micros;
use tokio::time::Sleep;

use crate::clock::Clock;

/// Holds things until they are due; one task at a time takes them out.
#[derive(Debug)]
pub(crate) struct Delayed<T> {
    clock: Clock,
    queue: BTreeMap<(Micros, u64), T>,
    waker: Option<Waker>,
    timer: Option<Pin<Box<Sleep>>>,
    /// What the timer is set to.
    armed: Option<Micros>,
}

impl<T> Delayed<T> {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { clock, queue: BTreeMap::new(), waker: None, timer: None, armed: None }
    }

    /// Hold `thing` until `due`; of two with the same due time the lower `sequence` comes first.
    /// The task to wake, if any, is handed back so that no lock is held meanwhile.
    pub(crate) fn hold(&mut self, due: Micros, sequence: u64, thing: T) -> Option<Waker> {
        self.queue.insert((due, sequence), thing);
        if self.armed.is_some_and(|armed| armed <= due) { None } else { self.waker.take() }
    }

    /// How many are held.
    pub(crate) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Give up the oldest.
    pub(crate) fn drop_first(&mut self) -> Option<T> {
        self.queue.pop_first().map(|(_, thing)| thing)
    }

    /// Take the next thing that is due, or be woken when one is.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<T> {
        loop {
            let Some(due) = self.queue.first_key_value().map(|((due, _), _)| *due) else {
                self.armed = None;
                self.wait(cx);
                return Poll::Pending;
            };
            if due <= self.clock.now()
                && let Some(thing) = self.drop_first()
            {
                return Poll::Ready(thing);
            }
            let at = self.clock.instant(due);
            let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(at)));
            if self.armed != Some(due) {
                timer.as_mut().reset(at);
                self.armed = Some(due);
            }
            if timer.as_mut().poll(cx).is_pending() {
                self.wait(cx);
                return Poll::Pending;
            }
            self.armed = None;
        }
    }

    fn wait(&mut self, cx: &Context<'_>) {
        match &mut self.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
    }
}
