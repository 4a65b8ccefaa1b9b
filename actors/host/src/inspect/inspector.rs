//! Inspector actor: numbers and keeps what is taken of the process.
//!
//! Owned by: the process, in a scope of its own. Talks to: the registry and every port of its
//! runtime. Never: works unasked, or waits for anybody.

mod state;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use dh_machine::{Micros, Restart, Spec, Strategy, actor_message};
use tokio::sync::oneshot;

pub(crate) use self::state::{Effect, Inspector};
use super::collect::Collector;
use super::order::{Answer, Hook, Hooks, LaneName, Order, Outcome, Undone};
use super::snapshot::Snapshot;
use crate::actor::{Actor, Context, Performed, Start};
use crate::barrier::guard;
use crate::port::Command;
use crate::registry::Entry;

/// The promise of the inspector.
pub const SPEC: Spec = Spec {
    kind: "inspector",
    control_max: 64,
    data_max: 1,
    data_wakes: true,
    restart: Restart { count: 10, window: Micros::from_secs(10) },
    strategy: Strategy::OneForOne,
    ask_deadline: None,
    asks: &[],
};

actor_message! {
    /// Everything the inspector can be told.
    pub enum InspectorMsg {
        /// Somebody wants a snapshot.
        Look(Look): Control Refuse,
        /// Somebody wants something done.
        Ask(Asked): Control Refuse,
        /// A snapshot was taken.
        Taken(Arc<Snapshot>): Control Refuse,
    }
}

/// Somebody wants a snapshot.
#[derive(Debug)]
pub struct Look {
    /// Which one.
    pub(crate) want: Want,
    /// Where it goes.
    pub(crate) reply: Reply<Looked>,
}

/// What a look came to.
pub(crate) type Looked = Result<Arc<Snapshot>, Missed>;

/// A snapshot that is not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Missed {
    /// The one that was wanted.
    pub(crate) seq: u64,
    /// Those that are.
    pub(crate) kept: Vec<u64>,
}

impl fmt::Display for Missed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the snapshot of seq {} is not kept; ", self.seq)?;
        let kept: Vec<String> = self.kept.iter().map(u64::to_string).collect();
        match kept.as_slice() {
            [] => f.write_str("none is"),
            [one] => write!(f, "only {one} is"),
            several => write!(f, "{} are", several.join(", ")),
        }
    }
}

/// Somebody wants something done.
#[derive(Debug)]
pub struct Asked {
    /// What.
    pub(crate) order: Order,
    /// Where it is told what it came to, whatever that is.
    pub(crate) answer: Answer,
}

/// Which snapshot is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    /// The newest, taken now unless one is fresh; with the buckets of the actor at this path.
    Newest(Option<String>),
    /// The one of this seq, if it is kept.
    Seq(u64),
}

/// Where one answer goes.
pub(crate) struct Reply<T>(oneshot::Sender<T>);

impl<T> Reply<T> {
    /// A reply, and where it arrives.
    pub(crate) fn new() -> (Self, oneshot::Receiver<T>) {
        let (to, from) = oneshot::channel();
        (Self(to), from)
    }

    /// Answer; whoever asked may have gone.
    pub(crate) fn send(self, answer: T) {
        drop(self.0.send(answer));
    }
}

impl<T> fmt::Debug for Reply<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reply")
    }
}

/// The actor around the inspector.
#[derive(Debug)]
pub(crate) struct InspectorActor {
    collector: Collector,
    hooks: Hooks,
    /// The last seq, kept over restarts: no two snapshots have the same.
    last: u64,
}

impl InspectorActor {
    pub(crate) fn new(collector: Collector, hooks: Hooks) -> Self {
        Self { collector, hooks, last: 0 }
    }

    /// Do it, and tell whoever asked what became of it; of some things others tell, later.
    fn do_it(&self, order: Order, answer: Answer) {
        match order {
            Order::Restart { path } => answer.tell(self.restart(&path)),
            Order::Bound { path, lane, max } => answer.tell(self.bound(&path, lane, max)),
            Order::LogLevel { path, level } => {
                let none = "this process cannot change what it logs";
                // An actor tells as all of its kind do.
                let kind = self.found(&path).map(|entry| entry.spec.kind.to_owned());
                let path = kind.unwrap_or(path);
                answer.tell(asked(self.hooks.log_level.as_ref(), (path, level), none));
            }
            Order::Set { key, value } => self.set(key, value, answer),
            Order::DumpFlight {} => {
                let none = "this process has no flight recorder";
                let dumped = asked(self.hooks.dump_flight.as_ref(), (), none);
                answer.tell(dumped.map_err(|undone| match undone {
                    Undone::Wrong(why) => Undone::Failed(why),
                    other => other,
                }));
            }
        }
    }

    fn restart(&self, path: &str) -> Outcome {
        self.found(path)?.face.command(Command::RESTART);
        Ok(format!("{path} is made anew"))
    }

    fn bound(&self, path: &str, lane: LaneName, max: usize) -> Outcome {
        let is_control = lane == LaneName::Control;
        self.found(path)?.face.bound(is_control, max).map_err(|depth| {
            let why = format!("{path}: {depth} messages wait there, which is more than {max}");
            Undone::Refused(why)
        })?;
        let lane = if is_control { "control" } else { "data" };
        Ok(format!("at most {max} messages wait in the {lane} lane of {path}"))
    }

    /// Have the program set a preference. One that panics drops the answer, which says so.
    fn set(&self, key: String, value: String, answer: Answer) {
        match &self.hooks.set {
            Some(hook) => drop(guard(|| hook((key, value), answer))),
            None => {
                let none = "this process has no preferences that can be changed";
                answer.tell(Err(Undone::Cannot(none)));
            }
        }
    }

    fn found(&self, path: &str) -> Result<Arc<Entry>, Undone> {
        let entry = self.collector.live().into_iter().find(|entry| entry.path == path);
        entry.ok_or_else(|| Undone::Missing(format!("there is no actor at {path:?}")))
    }
}

/// Have the program do it; a panic of its own is its answer.
fn asked<W>(hook: Option<&Hook<W>>, words: W, none: &'static str) -> Outcome {
    let hook = hook.ok_or(Undone::Cannot(none))?;
    let done = guard(|| hook(words)).unwrap_or_else(|note| Err(format!("it panicked: {note}")));
    done.map_err(Undone::Wrong)
}

impl Actor for InspectorActor {
    type Machine = Inspector;
    const SPEC: Spec = SPEC;

    fn make(&mut self, _start: Start<'_, InspectorMsg>) -> Inspector {
        Inspector::new(self.last)
    }

    fn perform(&mut self, effect: Effect, cx: &mut Context<'_, InspectorMsg>) -> Performed<Effect> {
        match effect {
            Effect::Take { seq, detail, reply } => {
                self.last = seq;
                let taken = Arc::new(self.collector.take(seq, detail.as_deref()));
                reply.send(Ok(Arc::clone(&taken)));
                // Where there is no place for it, nobody can ask for it again.
                let _ = cx.port().offer(InspectorMsg::Taken(taken));
            }
            Effect::Answer(reply, snapshot) => reply.send(Ok(snapshot)),
            Effect::Miss(reply, missed) => reply.send(Err(missed)),
            Effect::Do(Asked { order, answer }) => self.do_it(order, answer),
            Effect::Refuse(answer, why) => answer.tell(Err(why)),
        }
        Performed::Done
    }
}
