//! Actor: a machine together with what `host` needs to run it.
//!
//! Implemented by every actor of server, client, render and scenario. An actor decides nothing: its
//! machine does; the actor makes it, and performs the effects the machine asks for.

use std::sync::Arc;

use dh_machine::{ActorMessage, Machine, Micros, Spec, Tick};

use crate::barrier::PanicNote;
use crate::pacer::Pacing;
use crate::port::{Port, Refused, Waiter, Who, Why};
use crate::registry::{Asked, Awaited, Entry, Waits};
use crate::scope::Scope;

/// The message type of an actor.
pub type MsgOf<A> = <<A as Actor>::Machine as Machine>::Msg;

/// The effect type of an actor.
pub type EffectOf<A> = <<A as Actor>::Machine as Machine>::Effect;

/// One actor: its promise, how its machine is made again, how its effects are performed.
pub trait Actor: Send + 'static {
    /// What decides.
    type Machine: Machine;

    /// Bounds, restarts, asks.
    const SPEC: Spec;

    /// Make the machine: at the start and after each panic or ordered restart. A panic in here
    /// counts against the restart budget like any other.
    fn make(&mut self, start: Start<'_, MsgOf<Self>>) -> Self::Machine;

    /// A copy of a message that must not be lost, taken before it is handled. Where handling it
    /// panics, the machine made in its place is handed the copy before anything else, once. None of
    /// what comes again by itself, as snapshots do.
    fn spare(_msg: &MsgOf<Self>) -> Option<MsgOf<Self>> {
        None
    }

    /// Do what the machine asked for. Must not block, and must not panic: a panic in here ends the
    /// actor, since nobody knows what was half done.
    fn perform(
        &mut self,
        effect: EffectOf<Self>,
        cx: &mut Context<'_, MsgOf<Self>>,
    ) -> Performed<EffectOf<Self>>;

    /// The last word, in the actor's own thread; not called when the actor is killed.
    fn ended(&mut self, _exit: &Exit) {}

    /// How its own thread waits for deadlines. Only asked of actors placed on one.
    fn pacing(&self) -> Pacing {
        Pacing::RELAXED
    }
}

/// What a machine is made from.
#[derive(Debug)]
pub struct Start<'a, M> {
    /// The runtime's clock.
    pub now: Micros,
    /// How often the machine was made before.
    pub restarts: u32,
    /// The actor's own port, for those it hands its address to.
    pub port: &'a Port<M>,
    /// The message that was lost for good: there was a spare of it, and that broke a machine too.
    pub lost: Option<M>,
}

/// How performing one effect went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Performed<E> {
    /// It is done.
    Done,
    /// A port it was offered to is full and its message waits: try this effect again when there is
    /// a place. Until then the actor takes no data messages; control and deadlines go on.
    Wait(E),
    /// It is done, and the actor has nothing more to do: end it.
    Stop,
}

/// What an actor can reach while it performs an effect.
#[derive(Debug)]
pub struct Context<'a, M> {
    pub(crate) now: Micros,
    pub(crate) port: &'a Port<M>,
    pub(crate) scope: &'a Scope,
    pub(crate) entry: &'a Arc<Entry>,
}

impl<M: ActorMessage> Context<'_, M> {
    /// The runtime's clock, as the machine saw it.
    #[must_use]
    pub fn now(&self) -> Micros {
        self.now
    }

    /// The scope the actor was started in.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        self.scope
    }

    /// The actor's own port.
    #[must_use]
    pub fn port(&self) -> &Port<M> {
        self.port
    }

    /// Offer a message to another actor. On [`Why::MustWait`](crate::Why::MustWait) this actor is
    /// woken when there is a place; answer with `Performed::Wait` and the same effect.
    ///
    /// # Errors
    /// As [`Port::offer`].
    pub fn offer<N: ActorMessage>(&mut self, to: &Port<N>, msg: N) -> Result<(), Refused<N>> {
        let core = &self.port.core;
        let offered = to.core.offer(msg, Micros(u64::MAX), || {
            let shell = Arc::downgrade(core);
            Some(Waiter { id: core.id, who: Who::Shell(shell) })
        });
        if let Err(Refused { msg, why: Why::MustWait }) = &offered {
            self.entry.waits.for_place(self.awaited(to, msg.kind()));
            self.scope.runtime().somebody_waits();
        }
        offered
    }

    /// Offer a message that this actor needs an answer to. While what is given back is kept, the
    /// registry shows that this actor waits; drop it when the answer has come.
    ///
    /// # Errors
    /// As [`Port::offer`].
    pub fn ask<N: ActorMessage>(&mut self, to: &Port<N>, msg: N) -> Result<Asked, Refused<N>> {
        let awaited = self.awaited(to, msg.kind());
        self.offer(to, msg)?;
        let asked = Waits::for_answer(self.entry, awaited);
        self.scope.runtime().somebody_waits();
        Ok(asked)
    }

    /// Say that a tick is complete, for the strip of the last ticks.
    pub fn ticked(&self, tick: Tick) {
        if let Some(ticks) = &self.entry.ticks {
            ticks.ticked(tick);
        }
    }

    fn awaited<N: ActorMessage>(&self, to: &Port<N>, kind: usize) -> Awaited {
        Awaited { to: to.core.owner(), message: N::KINDS[kind], since: self.now }
    }

    /// How many times longer than asked the sleeps of this actor's own thread take; 1 is exact, and
    /// what every actor without a thread of its own sees.
    #[must_use]
    pub fn sleep_factor(&self) -> f64 {
        self.entry.metrics.sleep_factor()
    }
}

/// How an actor ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The actor's path in the tree.
    pub path: String,
    /// Why.
    pub reason: ExitReason,
    /// The last panic of its life, if there was any.
    pub panic: Option<PanicNote>,
}

/// Why an actor ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitReason {
    /// Its machine had nothing more to do.
    Finished,
    /// Its scope was stopped.
    Stopped,
    /// Its scope was killed.
    Killed,
    /// It panicked more often than its restart budget and its supervisor allow.
    Exhausted,
    /// A message that must never be refused found its lane full.
    Overflowed {
        /// The kind of that message.
        kind: &'static str,
    },
    /// It panicked outside its machine, while performing an effect.
    Broken,
}

impl ExitReason {
    /// Whether the actor was meant to end.
    #[must_use]
    pub const fn is_orderly(self) -> bool {
        matches!(self, Self::Finished | Self::Stopped | Self::Killed)
    }
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { path, reason, panic } = self;
        match reason {
            ExitReason::Finished => write!(f, "{path} finished")?,
            ExitReason::Stopped => write!(f, "{path} was stopped")?,
            ExitReason::Killed => write!(f, "{path} was killed")?,
            ExitReason::Exhausted => write!(f, "{path} panicked too often")?,
            ExitReason::Overflowed { kind } => write!(f, "{path} had no place for a {kind}")?,
            ExitReason::Broken => write!(f, "{path} panicked while performing an effect")?,
        }
        match panic {
            Some(note) => write!(f, ": {note}"),
            None => Ok(()),
        }
    }
}
