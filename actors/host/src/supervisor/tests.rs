//! The supervisor's decisions: single cases and properties over random trees.

use std::collections::BTreeSet;

use dh_machine::{Machine, Micros, Outbox, Restart, Strategy};
use proptest::prelude::{
    TestCaseError, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest,
};
use proptest::strategy::Strategy as _;

use super::*;

/// A supervisor and what it has asked for.
struct Case {
    supervisor: Supervisor,
    now: Micros,
}

impl Case {
    fn new() -> Self {
        Self { supervisor: Supervisor::new(), now: Micros(0) }
    }

    fn tell(&mut self, msg: SupervisorMsg) -> Vec<SupervisorEffect> {
        let mut out = Outbox::default();
        self.supervisor.handle(self.now, msg, &mut out);
        out.drain().collect()
    }

    fn scope(&mut self, scope: u64, parent: u64, count: u32, exhausted: Exhausted) {
        let restart = Restart { count, window: Micros::from_secs(10) };
        let policy = ScopePolicy { restart, exhausted };
        let (scope, parent) = (ActorId(scope), ActorId(parent));
        self.tell(SupervisorMsg::ScopeOpened(ScopeOpened { scope, parent, policy }));
    }

    fn actor(&mut self, actor: u64, scope: u64, strategy: Strategy) {
        let (actor, scope) = (ActorId(actor), ActorId(scope));
        self.tell(SupervisorMsg::Started(Started { actor, scope, strategy }));
    }

    fn ended(&mut self, actor: u64, reason: ExitReason) -> Vec<SupervisorEffect> {
        self.tell(SupervisorMsg::Ended(Ended { actor: ActorId(actor), reason }))
    }
}

fn restarts(actors: &[u64]) -> Vec<SupervisorEffect> {
    actors.iter().map(|actor| SupervisorEffect::Restart(ActorId(*actor))).collect()
}

fn give_ups(actors: &[u64]) -> Vec<SupervisorEffect> {
    actors.iter().map(|actor| SupervisorEffect::GiveUp(ActorId(*actor))).collect()
}

/// Scope 1 with actors 10 and 11, scope 2 within it with actor 20, then actor 21 in scope 1 again.
fn tree() -> Case {
    let mut case = Case::new();
    case.scope(1, 0, 1, Exhausted::Escalate);
    case.actor(10, 1, Strategy::OneForAll);
    case.actor(11, 1, Strategy::RestForOne);
    case.scope(2, 1, 0, Exhausted::Contain);
    case.actor(20, 2, Strategy::OneForOne);
    case.actor(21, 1, Strategy::OneForOne);
    case.actor(30, 0, Strategy::OneForAll);
    case
}

/// D5
#[test]
fn each_strategy_takes_along_the_siblings_it_names() {
    let mut case = tree();
    assert_eq!(case.tell(SupervisorMsg::Restarted(ActorId(21))), []);
    assert_eq!(case.tell(SupervisorMsg::Restarted(ActorId(11))), restarts(&[20, 21]));
    assert_eq!(case.tell(SupervisorMsg::Restarted(ActorId(10))), restarts(&[11, 20, 21]));
    assert_eq!(case.tell(SupervisorMsg::Restarted(ActorId(20))), []);
}

/// D5
#[test]
fn a_spent_actor_has_its_scope_remade_then_its_parents_and_then_everything_ends() {
    let mut case = tree();
    let spent = |case: &mut Case| case.tell(SupervisorMsg::Exhausted(ActorId(11)));
    assert_eq!(spent(&mut case), restarts(&[10, 11, 20, 21]));
    for _ in 0..Supervisor::ROOT_RESTART.count {
        assert_eq!(spent(&mut case), restarts(&[10, 11, 20, 21, 30]));
    }
    assert_eq!(spent(&mut case), [SupervisorEffect::LastResort(ActorId(11))]);
    assert_eq!(spent(&mut case), give_ups(&[11]), "it must not wait for ever");
    assert_eq!(case.tell(SupervisorMsg::Restarted(ActorId(10))), []);
}

/// D5
#[test]
fn budgets_come_back_with_time() {
    let mut case = tree();
    for _ in 0..10 {
        let remade = case.tell(SupervisorMsg::Exhausted(ActorId(11)));
        assert_eq!(remade, restarts(&[10, 11, 20, 21]));
        case.now = case.now + Micros::from_secs(10);
    }
}

/// D5
#[test]
fn a_contained_scope_is_ended_and_its_parent_does_not_notice() {
    let mut case = tree();
    assert_eq!(case.tell(SupervisorMsg::Exhausted(ActorId(20))), give_ups(&[20]));
    assert_eq!(case.ended(20, ExitReason::Exhausted), []);
    assert_eq!(case.tell(SupervisorMsg::Restarted(ActorId(10))), restarts(&[11, 21]));
}

/// D5
#[test]
fn an_actor_that_broke_takes_its_contained_scope_along_or_everything() {
    let mut case = tree();
    case.actor(22, 2, Strategy::OneForOne);
    assert_eq!(case.ended(22, ExitReason::Broken), give_ups(&[20]));
    assert_eq!(case.ended(21, ExitReason::Finished), []);
    let overflowed = ExitReason::Overflowed { kind: "Fatal" };
    assert_eq!(case.ended(11, overflowed), [SupervisorEffect::LastResort(ActorId(11))]);
    assert_eq!(case.ended(10, ExitReason::Broken), [], "once is enough");
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Scope { parent: usize, count: u32, contain: bool },
    Start { scope: usize, strategy: u8 },
    Restarted { actor: usize },
    Exhausted { actor: usize },
    Ended { actor: usize },
    Pass { millis: u64 },
}

fn step() -> impl proptest::strategy::Strategy<Value = Step> {
    prop_oneof![
        (0..9usize, 0..3u32, any::<bool>()).prop_map(|(parent, count, contain)| Step::Scope {
            parent,
            count,
            contain
        }),
        (0..9usize, 0..3u8).prop_map(|(scope, strategy)| Step::Start { scope, strategy }),
        (0..20usize).prop_map(|actor| Step::Restarted { actor }),
        (0..20usize).prop_map(|actor| Step::Exhausted { actor }),
        (0..20usize).prop_map(|actor| Step::Ended { actor }),
        (0..20_000u64).prop_map(|millis| Step::Pass { millis }),
    ]
}

/// The tree as a test knows it.
#[derive(Default)]
struct Model {
    /// Scope, its parent, whether it is contained.
    scopes: Vec<(u64, u64, bool)>,
    /// Actor, its scope.
    actors: Vec<(u64, u64)>,
    next: u64,
}

impl Model {
    fn chain(&self, scope: u64) -> Vec<u64> {
        let mut chain = vec![scope];
        while let Some((_, parent, _)) =
            self.scopes.iter().find(|(id, ..)| Some(id) == chain.last() && *id != 0)
        {
            chain.push(*parent);
        }
        chain
    }

    /// Everything a failure of `actor` may touch: the nearest contained scope around it, or all.
    fn reach(&self, actor: u64) -> BTreeSet<u64> {
        let (_, scope) = *self.actors.iter().find(|(id, _)| *id == actor).unwrap();
        let contained = |id: &u64| self.scopes.iter().any(|(scope, _, is)| scope == id && *is);
        let outermost = self.chain(scope).into_iter().find(contained).unwrap_or(0);
        let within = |(_, scope): &&(u64, u64)| self.chain(*scope).contains(&outermost);
        self.actors.iter().filter(within).map(|(actor, _)| *actor).collect()
    }
}

proptest! {
    /// D5
    #[test]
    fn only_live_actors_within_reach_are_ever_touched(
        steps in prop::collection::vec(step(), 1..120),
    ) {
        let mut case = Case::new();
        let mut model = Model { scopes: vec![(0, 0, false)], actors: vec![], next: 1 };
        let mut over = false;
        for step in steps {
            let pick = |at: usize| {
                let at = at.checked_rem(model.actors.len())?;
                Some(model.actors[at].0)
            };
            match step {
                Step::Scope { parent, count, contain } => {
                    let (_, parent, _) = model.scopes[parent % model.scopes.len()];
                    let exhausted = if contain { Exhausted::Contain } else { Exhausted::Escalate };
                    case.scope(model.next, parent, count, exhausted);
                    model.scopes.push((model.next, parent, contain));
                    model.next += 1;
                }
                Step::Start { scope, strategy } => {
                    let (scope, ..) = model.scopes[scope % model.scopes.len()];
                    let strategies =
                        [Strategy::OneForOne, Strategy::RestForOne, Strategy::OneForAll];
                    case.actor(model.next, scope, strategies[usize::from(strategy)]);
                    model.actors.push((model.next, scope));
                    model.next += 1;
                }
                Step::Pass { millis } => case.now = case.now + Micros::from_millis(millis),
                Step::Restarted { actor } => if let Some(actor) = pick(actor) {
                    let asked = case.tell(SupervisorMsg::Restarted(ActorId(actor)));
                    let reach = model.reach(actor);
                    for effect in asked {
                        let SupervisorEffect::Restart(ActorId(other)) = effect else {
                            return Err(TestCaseError::fail("only restarts"));
                        };
                        prop_assert!(other != actor && reach.contains(&other) && !over);
                    }
                },
                Step::Exhausted { actor } => if let Some(actor) = pick(actor) {
                    let reach = model.reach(actor);
                    let asked = case.tell(SupervisorMsg::Exhausted(ActorId(actor)));
                    let names = |id| asked.iter().any(|effect| match effect {
                        SupervisorEffect::Restart(ActorId(other))
                        | SupervisorEffect::GiveUp(ActorId(other))
                        | SupervisorEffect::LastResort(ActorId(other)) => *other == id,
                    });
                    prop_assert!(names(actor), "it waits for a verdict: {:?}", asked);
                    for effect in asked {
                        match effect {
                            SupervisorEffect::Restart(ActorId(other))
                            | SupervisorEffect::GiveUp(ActorId(other)) => {
                                prop_assert!(reach.contains(&other));
                            }
                            SupervisorEffect::LastResort(_) => {
                                prop_assert!(!over, "once");
                                over = true;
                            }
                        }
                    }
                },
                Step::Ended { actor } => if let Some(actor) = pick(actor) {
                    prop_assert_eq!(case.ended(actor, ExitReason::Stopped), []);
                    model.actors.retain(|(id, _)| *id != actor);
                },
            }
        }
    }
}
