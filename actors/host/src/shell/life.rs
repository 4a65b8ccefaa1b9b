//! Life: the part of a shell that can travel to the actor's thread, and that ends the actor exactly
//! once however its driver goes away.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use dh_machine::Micros;

use crate::actor::{Actor, Context, EffectOf, Exit, ExitReason, MsgOf, Performed, Start};
use crate::barrier::{PanicNote, guard};
use crate::flight::Notes;
use crate::pacer::Pacing;
use crate::port::Port;
use crate::registry::Entry;
use crate::scope::Scope;

pub(crate) struct Life<A: Actor> {
    /// Gone once it has ended.
    actor: Option<A>,
    port: Port<MsgOf<A>>,
    entry: Arc<Entry>,
    scope: Scope,
}

impl<A: Actor> Life<A> {
    pub(crate) fn new(actor: A, port: Port<MsgOf<A>>, entry: Arc<Entry>, scope: Scope) -> Self {
        Self { actor: Some(actor), port, entry, scope }
    }

    pub(crate) fn port(&self) -> &Port<MsgOf<A>> {
        &self.port
    }

    pub(crate) fn entry(&self) -> &Arc<Entry> {
        &self.entry
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.actor.is_none()
    }

    pub(crate) fn pacing(&self) -> Pacing {
        self.actor.as_ref().map_or(Pacing::RELAXED, A::pacing)
    }

    pub(super) fn awaits_verdict(&self, yes: bool) {
        self.entry.awaits_verdict.store(yes, Relaxed);
    }

    pub(super) fn notes(&self) -> Option<Notes> {
        self.scope.runtime().flight().notes(&self.entry)
    }

    /// Something went wrong that is worth a flight record.
    pub(super) fn record(&self, cause: &'static str) {
        self.scope.runtime().record(cause);
    }

    pub(super) fn tell_restarted(&self) {
        self.scope.runtime().actor_restarted(self.entry.id);
    }

    pub(super) fn tell_exhausted(&self) {
        self.scope.runtime().actor_exhausted(self.entry.id);
    }

    /// Make the machine, after `lost` was; `None` when the actor has ended.
    pub(super) fn make(
        &mut self,
        now: Micros,
        restarts: u32,
        lost: Option<MsgOf<A>>,
    ) -> Result<Option<A::Machine>, PanicNote> {
        let Some(actor) = &mut self.actor else { return Ok(None) };
        let start = Start { now, restarts, port: &self.port, lost };
        guard(|| Some(actor.make(start)))
    }

    pub(super) fn perform(
        &mut self,
        effect: EffectOf<A>,
        now: Micros,
    ) -> Result<Performed<EffectOf<A>>, PanicNote> {
        let Some(actor) = &mut self.actor else { return Ok(Performed::Stop) };
        let mut cx = Context { now, port: &self.port, scope: &self.scope, entry: &self.entry };
        guard(|| actor.perform(effect, &mut cx))
    }

    /// End it: last words, then everything is closed and everybody told.
    pub(super) fn end(&mut self, reason: ExitReason) {
        let Some(mut actor) = self.actor.take() else { return };
        let exit = Exit { path: self.entry.path.clone(), reason, panic: self.entry.last_panic() };
        if reason.is_orderly() {
            tracing::debug!("{exit}");
        } else {
            tracing::error!("{exit}");
        }
        // The port is closed first, so that nobody can offer to an actor that had its last word.
        self.port.core.close();
        let last_words = guard(|| {
            if reason != ExitReason::Killed {
                actor.ended(&exit);
            }
            drop(actor);
        });
        if let Err(note) = last_words {
            tracing::error!(actor = exit.path, "panicked in its last words: {note}");
        }
        self.scope.leave(&self.entry);
        self.scope.runtime().registry().leave(&self.entry, &exit);
        self.scope.runtime().actor_ended(self.entry.id, reason);
        self.entry.end(exit);
    }
}

impl<A: Actor> Drop for Life<A> {
    fn drop(&mut self) {
        // Whoever drove it has gone away without a word, or is unwinding.
        let unwinding = std::thread::panicking();
        self.end(if unwinding { ExitReason::Broken } else { ExitReason::Killed });
    }
}
