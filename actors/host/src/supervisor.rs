//! Supervisor actor: decides what happens to the others when an actor fails.
//!
//! Owned by: the runtime, on the control thread. Talks to: every shell, by commands past their
//! lanes. Never: runs an actor's code, waits for an answer.

mod state;

use dh_machine::{Micros, Restart, Spec, Strategy, actor_message};

pub(crate) use self::state::Supervisor;

use crate::actor::{Actor, Context, ExitReason, Performed, Start};
use crate::port::Command;
use crate::registry::ActorId;

actor_message! {
    /// Everything a supervisor can be told.
    pub(crate) enum SupervisorMsg {
        /// A scope was opened.
        ScopeOpened(ScopeOpened): Control Fatal,
        /// A scope is gone; nothing is started in it any more.
        ScopeClosed(ActorId): Control Fatal,
        /// An actor was started.
        Started(Started): Control Fatal,
        /// An actor's machine was made again within its own budget.
        Restarted(ActorId): Control Fatal,
        /// An actor's own budget is spent; it waits for a verdict.
        Exhausted(ActorId): Control Fatal,
        /// An actor has ended.
        Ended(Ended): Control Fatal,
    }
}

/// A scope was opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScopeOpened {
    /// Its number.
    pub(crate) scope: ActorId,
    /// The scope it was opened in.
    pub(crate) parent: ActorId,
    /// What happens when something in it fails for good.
    pub(crate) policy: ScopePolicy,
}

/// An actor was started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Started {
    /// Its number.
    pub(crate) actor: ActorId,
    /// The scope it was started in.
    pub(crate) scope: ActorId,
    /// Who is restarted with it.
    pub(crate) strategy: Strategy,
}

/// An actor has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    /// Its number.
    pub(crate) actor: ActorId,
    /// Why.
    pub(crate) reason: ExitReason,
}

/// What happens when an actor of a scope fails for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScopePolicy {
    /// How often everything in the scope may be remade instead.
    pub(crate) restart: Restart,
    /// What happens when that is spent too.
    pub(crate) exhausted: Exhausted,
}

/// What becomes of a scope past its budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exhausted {
    /// Its parent scope is remade; past the root there is only the orderly shutdown.
    Escalate,
    /// It is ended, and its parent does not notice.
    Contain,
}

/// What a supervisor wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SupervisorEffect {
    /// Remake the machine of this actor.
    Restart(ActorId),
    /// End this actor: it or a neighbour failed for good.
    GiveUp(ActorId),
    /// End the process in order: this actor failed, and nobody is left to decide.
    LastResort(ActorId),
}

/// The actor around the supervisor.
#[derive(Debug)]
pub(crate) struct SupervisorActor;

impl Actor for SupervisorActor {
    type Machine = Supervisor;

    // Bounds: what it is told must never be lost, so there is place for every actor at once.
    const SPEC: Spec = Spec {
        kind: "supervisor",
        control_max: 65_536,
        data_max: 1,
        data_wakes: true,
        restart: Restart { count: 0, window: Micros(0) },
        strategy: Strategy::OneForOne,
        ask_deadline: None,
        asks: &[],
    };

    fn make(&mut self, _start: Start<'_, SupervisorMsg>) -> Supervisor {
        Supervisor::new()
    }

    fn perform(
        &mut self,
        effect: SupervisorEffect,
        cx: &mut Context<'_, SupervisorMsg>,
    ) -> Performed<SupervisorEffect> {
        let runtime = cx.scope().runtime();
        let command = |actor, command| {
            if let Some(entry) = runtime.registry().get(actor) {
                entry.face.command(command);
            }
        };
        match effect {
            SupervisorEffect::Restart(actor) => command(actor, Command::RESTART),
            SupervisorEffect::GiveUp(actor) => command(actor, Command::GIVE_UP),
            SupervisorEffect::LastResort(actor) => {
                runtime.last_resort(actor);
                command(actor, Command::GIVE_UP);
            }
        }
        Performed::Done
    }
}

#[cfg(test)]
mod tests;
