//! Machine: a pure state machine.

use crate::{ActorMessage, Digest, Micros, Outbox};

/// A pure state machine: messages and time in, effects out.
///
/// The caller drains the outbox after every call, and calls [`Machine::wake`] at or after the time
/// that [`Machine::next_deadline`] names. Handling must not depend on anything else.
pub trait Machine: 'static {
    /// Everything the machine can be told.
    type Msg: ActorMessage;
    /// Everything the machine may want done.
    type Effect: 'static;

    /// Take one message.
    fn handle(&mut self, now: Micros, msg: Self::Msg, out: &mut Outbox<Self::Effect>);

    /// The named deadline has come.
    fn wake(&mut self, _now: Micros, _out: &mut Outbox<Self::Effect>) {}

    /// When the machine wants to be woken next; `None` for never.
    fn next_deadline(&self) -> Option<Micros> {
        None
    }

    /// Fold the state into `digest`, for replay checks.
    fn digest(&self, _digest: &mut Digest) {}
}
