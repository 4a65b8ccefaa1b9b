//! What a supervisor decides: pure.
//!
//! The tree of scopes and actors, each scope's restart budget, and three rules. A restart within an
//! actor's own budget takes along the siblings its strategy names. A spent budget has the scope
//! remade, within the scope's budget. A spent scope is ended or hands its failure up, and past the
//! root there is only the orderly shutdown.

use std::collections::BTreeMap;

use dh_machine::{Machine, Micros, Outbox, Restart, Strategy};

use super::{Ended, Exhausted, ScopeOpened, ScopePolicy, Started, SupervisorEffect, SupervisorMsg};
use crate::actor::ExitReason;
use crate::registry::ActorId;
use crate::shell::Budget;

type Effect = SupervisorEffect;

/// The tree of one runtime.
#[derive(Debug)]
pub(crate) struct Supervisor {
    scopes: BTreeMap<ActorId, Scope>,
    actors: BTreeMap<ActorId, Live>,
    /// The last resort is on; nothing is decided any more.
    over: bool,
}

#[derive(Debug)]
struct Scope {
    parent: Option<ActorId>,
    exhausted: Exhausted,
    budget: Budget,
}

#[derive(Clone, Copy, Debug)]
struct Live {
    scope: ActorId,
    strategy: Strategy,
}

impl Supervisor {
    /// The number of the root scope.
    pub(crate) const ROOT: ActorId = ActorId(0);
    /// How often everything may be remade before the last resort.
    pub(crate) const ROOT_RESTART: Restart = Restart { count: 3, window: Micros::from_secs(60) };

    /// A tree with an empty root.
    pub(crate) fn new() -> Self {
        let mut tree = Self { scopes: BTreeMap::new(), actors: BTreeMap::new(), over: false };
        let policy = ScopePolicy { restart: Self::ROOT_RESTART, exhausted: Exhausted::Escalate };
        tree.open(Self::ROOT, None, policy);
        tree
    }

    fn open(&mut self, scope: ActorId, parent: Option<ActorId>, policy: ScopePolicy) {
        let ScopePolicy { restart, exhausted } = policy;
        self.scopes.insert(scope, Scope { parent, exhausted, budget: Budget::new(restart) });
    }

    /// An actor was remade on its own: its strategy says who else is.
    fn take_along(&self, actor: ActorId, out: &mut Outbox<Effect>) {
        let Some(live) = self.actors.get(&actor) else { return };
        let siblings = self.within(live.scope);
        match live.strategy {
            Strategy::OneForOne => {}
            Strategy::RestForOne => siblings
                .filter(|other| *other > actor)
                .for_each(|other| out.push(Effect::Restart(other))),
            Strategy::OneForAll => siblings
                .filter(|other| *other != actor)
                .for_each(|other| out.push(Effect::Restart(other))),
        }
    }

    /// An actor cannot be remade on its own any more: the nearest scope with a budget left is.
    fn remake(&mut self, now: Micros, actor: ActorId, out: &mut Outbox<Effect>) {
        let Some(live) = self.actors.get(&actor) else { return };
        let mut at = live.scope;
        while let Some(scope) = self.scopes.get_mut(&at) {
            if scope.budget.allows(now) {
                return self.within(at).for_each(|other| out.push(Effect::Restart(other)));
            }
            match (scope.exhausted, scope.parent) {
                (Exhausted::Contain, _) => {
                    return self.within(at).for_each(|other| out.push(Effect::GiveUp(other)));
                }
                (Exhausted::Escalate, Some(parent)) => at = parent,
                (Exhausted::Escalate, None) => break,
            }
        }
        self.over = true;
        out.push(Effect::LastResort(actor));
    }

    /// An actor ended that was not meant to and cannot come back: so does what depends on it.
    fn bury(&mut self, actor: ActorId, live: Live, out: &mut Outbox<Effect>) {
        let mut at = live.scope;
        while let Some(scope) = self.scopes.get(&at) {
            match (scope.exhausted, scope.parent) {
                (Exhausted::Contain, _) => {
                    return self.within(at).for_each(|other| out.push(Effect::GiveUp(other)));
                }
                (Exhausted::Escalate, Some(parent)) => at = parent,
                (Exhausted::Escalate, None) => break,
            }
        }
        self.over = true;
        out.push(Effect::LastResort(actor));
    }

    fn ended(&mut self, ended: Ended, out: &mut Outbox<Effect>) {
        let Some(live) = self.actors.remove(&ended.actor) else { return };
        match ended.reason {
            ExitReason::Overflowed { .. } | ExitReason::Broken if !self.over => {
                self.bury(ended.actor, live, out);
            }
            // Given up here, or meant.
            ExitReason::Overflowed { .. }
            | ExitReason::Broken
            | ExitReason::Exhausted
            | ExitReason::Finished
            | ExitReason::Stopped
            | ExitReason::Killed => {}
        }
    }

    /// The live actors of a scope and all scopes in it, the first started first.
    fn within(&self, scope: ActorId) -> impl Iterator<Item = ActorId> {
        self.actors
            .iter()
            .filter(move |(_, live)| self.is_within(live.scope, scope))
            .map(|(actor, _)| *actor)
    }

    fn is_within(&self, scope: ActorId, outer: ActorId) -> bool {
        let mut at = Some(scope);
        while let Some(scope) = at {
            if scope == outer {
                return true;
            }
            at = self.scopes.get(&scope).and_then(|scope| scope.parent);
        }
        false
    }
}

impl Machine for Supervisor {
    type Msg = SupervisorMsg;
    type Effect = SupervisorEffect;

    fn handle(&mut self, now: Micros, msg: SupervisorMsg, out: &mut Outbox<SupervisorEffect>) {
        match msg {
            SupervisorMsg::ScopeOpened(ScopeOpened { scope, parent, policy }) => {
                self.open(scope, Some(parent), policy);
            }
            SupervisorMsg::ScopeClosed(scope) => {
                self.scopes.remove(&scope);
            }
            SupervisorMsg::Started(Started { actor, scope, strategy }) => {
                self.actors.insert(actor, Live { scope, strategy });
            }
            SupervisorMsg::Restarted(actor) if !self.over => self.take_along(actor, out),
            SupervisorMsg::Exhausted(actor) if !self.over => self.remake(now, actor, out),
            SupervisorMsg::Restarted(_) => {}
            // Nobody decides any more; it must not wait for a verdict for ever.
            SupervisorMsg::Exhausted(actor) => out.push(Effect::GiveUp(actor)),
            SupervisorMsg::Ended(ended) => self.ended(ended, out),
        }
    }
}
