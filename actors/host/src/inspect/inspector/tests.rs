//! What the inspector is asked, and what it has done.

use super::*;
use crate::inspect::order::tests::said;
use crate::inspect::snapshot::Process;
use crate::runtime::Simulation;
use crate::shell::TURN_MESSAGES;
use dh_machine::Machine;

fn told(inspector: &mut Inspector, now: u64, msg: InspectorMsg) -> Vec<Effect> {
    let mut out = dh_machine::Outbox::default();
    inspector.handle(Micros(now), msg, &mut out);
    out.drain().collect()
}

fn look(inspector: &mut Inspector, now: u64, want: Want) -> Option<u64> {
    let (reply, _arrives) = Reply::new();
    let effects = told(inspector, now, InspectorMsg::Look(Look { want: want.clone(), reply }));
    effects.into_iter().next().and_then(|effect| match effect {
        Effect::Take { seq, .. } => Some(seq),
        Effect::Answer(_, kept) => Some(kept.seq),
        Effect::Miss(_, missed) => {
            assert_eq!(Want::Seq(missed.seq), want);
            None
        }
        Effect::Do(_) | Effect::Refuse(..) => None,
    })
}

fn taken(inspector: &mut Inspector, now: u64, seq: u64) {
    let snapshot = Snapshot { seq, ..Snapshot::default() };
    assert!(told(inspector, now, InspectorMsg::Taken(Arc::new(snapshot))).is_empty());
}

#[test]
fn every_snapshot_has_a_seq_of_its_own_and_a_fresh_one_is_handed_out_again() {
    let mut inspector = Inspector::new(4);
    assert_eq!(look(&mut inspector, 0, Want::Newest(None)), Some(5));
    taken(&mut inspector, 0, 5);
    let fresh = Inspector::FRESH.0;
    assert_eq!(look(&mut inspector, fresh - 1, Want::Newest(None)), Some(5));
    assert_eq!(look(&mut inspector, fresh - 1, Want::Newest(Some("a".to_owned()))), Some(6));
    assert_eq!(look(&mut inspector, fresh, Want::Newest(None)), Some(7));
}

#[test]
fn the_last_few_snapshots_are_kept_and_older_ones_are_gone() {
    let mut inspector = Inspector::new(0);
    let max = Inspector::KEPT_MAX as u64;
    (1..=max + 1).for_each(|seq| taken(&mut inspector, 0, seq));
    assert_eq!(look(&mut inspector, 0, Want::Seq(1)), None);
    assert_eq!(look(&mut inspector, 0, Want::Seq(2)), Some(2));
    let told = |kept: &[u64]| Missed { seq: 1, kept: kept.to_vec() }.to_string();
    assert_eq!(told(&[]), "the snapshot of seq 1 is not kept; none is");
    assert_eq!(told(&[7]), "the snapshot of seq 1 is not kept; only 7 is");
    assert_eq!(told(&[7, 9]), "the snapshot of seq 1 is not kept; 7, 9 are");
    assert_eq!(look(&mut inspector, 0, Want::Seq(max + 1)), Some(max + 1));
}

/// Somebody asks for this; where the answer arrives.
fn asked(order: Order) -> (Asked, oneshot::Receiver<Outcome>) {
    let (reply, arrives) = Reply::new();
    let answer = Answer::new("127.0.0.1:4711".parse().unwrap(), &order, reply);
    (Asked { order, answer }, arrives)
}

#[test]
fn an_order_that_makes_no_sense_is_refused_before_anything_is_done() {
    let is_done = |order: Order| {
        let asked = InspectorMsg::Ask(asked(order).0);
        let effects = told(&mut Inspector::new(0), 0, asked);
        matches!(effects.as_slice(), [Effect::Do(_)])
    };
    let bound = |max| Order::Bound { path: "a".to_owned(), lane: LaneName::Data, max };
    let restart = |path: &str| Order::Restart { path: path.to_owned() };
    assert!(is_done(bound(1)) && is_done(bound(Order::BOUND_MAX)) && is_done(restart("a/b")));
    assert!(!is_done(bound(0)) && !is_done(bound(Order::BOUND_MAX + 1)));
    let (longest, too_long) = ("a".repeat(Order::WORD_MAX), "a".repeat(Order::WORD_MAX + 1));
    for (word, is_sound) in [("a", true), (&longest, true), ("a\nb", false), (&too_long, false)] {
        let (word, a) = (|| word.to_owned(), || "a".to_owned());
        for order in [
            restart(&word()),
            Order::Bound { path: word(), lane: LaneName::Control, max: 1 },
            Order::LogLevel { path: word(), level: a() },
            Order::LogLevel { path: a(), level: word() },
            Order::Set { key: word(), value: a() },
            Order::Set { key: a(), value: word() },
        ] {
            assert_eq!(is_done(order.clone()), is_sound, "{order:?}");
        }
    }
}

#[test]
fn whatever_becomes_of_an_order_the_log_has_it_with_who_asked_and_why() {
    let simulation = Simulation::new(1);
    simulation.run(async |runtime| {
        let process = Process::default();
        let actor = InspectorActor::new(Collector::new(runtime.clone(), process), Hooks::default());
        let (port, mut pump) = runtime.root().pumped("inspector", actor);
        let senseless = Order::Bound { path: "a/b".to_owned(), lane: LaneName::Data, max: 0 };
        let missing = Order::Restart { path: "a/b".to_owned() };
        for (order, why) in [
            (senseless, "refused through the inspector: max: expected 1 to 65536, found 0"),
            (missing, "refused through the inspector: there is no actor at \"a/b\""),
        ] {
            let (asked, mut arrives) = asked(order);
            let said = said(|| {
                drop(port.offer(InspectorMsg::Ask(asked)));
                pump.pump_now(TURN_MESSAGES);
            });
            assert!(arrives.try_recv().unwrap().is_err());
            for part in ["by=127.0.0.1:4711", "a/b", why] {
                assert!(said.contains(part), "{part}: {said}");
            }
        }
    });
}
