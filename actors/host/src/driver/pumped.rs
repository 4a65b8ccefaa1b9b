//! The `pumped` driver: the owner of a loop says when, as the window's loop and the tick do.

use std::fmt;

use dh_machine::Micros;

use crate::actor::Actor;
use crate::port::Command;
use crate::shell::{Life, Shell, TURN_MESSAGES, Turn};

/// Runs an actor on whatever thread pumps it. Dropping it stops the actor in order.
pub struct Pump<A: Actor> {
    shell: Shell<A>,
}

impl<A: Actor> Pump<A> {
    pub(crate) fn new(life: Life<A>) -> Self {
        Self { shell: Shell::new(life) }
    }

    /// One turn, in which it is `now` and at most `messages` messages are taken.
    pub fn pump(&mut self, now: Micros, messages: usize) -> Turn {
        self.shell.turn(Some(now), messages)
    }

    /// One turn on the runtime's own clock, which also bounds how long it takes.
    pub fn pump_now(&mut self, messages: usize) -> Turn {
        self.shell.turn(None, messages)
    }

    /// Have `wake` called when something waits that was not there at the last turn, so that a loop
    /// which sleeps can be woken. Only the first call counts.
    pub fn wake_with(&self, wake: impl Fn() + Send + Sync + 'static) {
        self.shell.core().driven_by(Box::new(wake));
    }
}

impl<A: Actor> Drop for Pump<A> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.shell.core().command(Command::STOP);
            self.shell.turn(None, TURN_MESSAGES);
        }
    }
}

impl<A: Actor> fmt::Debug for Pump<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pump").field(&self.shell.entry().path).finish()
    }
}
