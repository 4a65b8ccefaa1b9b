//! The inspector as a state machine.

use std::collections::VecDeque;
use std::sync::Arc;

use dh_machine::{Machine, Micros, Outbox};

use super::{Asked, InspectorMsg, Looked, Missed, Reply, Want};
use crate::inspect::order::{Answer, Undone};
use crate::inspect::snapshot::Snapshot;

/// What an inspector wants done.
#[derive(Debug)]
pub(crate) enum Effect {
    /// Take a snapshot of this seq and hand it over.
    Take {
        /// Its seq.
        seq: u64,
        /// The actor whose buckets are wanted.
        detail: Option<String>,
        /// Where it goes.
        reply: Reply<Looked>,
    },
    /// Hand over one that is kept.
    Answer(Reply<Looked>, Arc<Snapshot>),
    /// Say that it is not kept, and which are.
    Miss(Reply<Looked>, Missed),
    /// Do this, and say what it came to.
    Do(Asked),
    /// Say why this is not done.
    Refuse(Answer, Undone),
}

/// Numbers snapshots and keeps the last few.
#[derive(Debug)]
pub(crate) struct Inspector {
    last: u64,
    kept: VecDeque<(Micros, Arc<Snapshot>)>,
}

impl Inspector {
    /// Snapshots that are kept.
    pub(crate) const KEPT_MAX: usize = 8;
    /// A snapshot is handed out again for this long: many who look cost as much as one.
    pub(crate) const FRESH: Micros = Micros::from_millis(10);

    pub(crate) fn new(last: u64) -> Self {
        Self { last, kept: VecDeque::new() }
    }

    fn look(&mut self, now: Micros, want: Want, reply: Reply<Looked>) -> Effect {
        let kept = match &want {
            Want::Seq(seq) => self.kept.iter().find(|(_, kept)| kept.seq == *seq),
            Want::Newest(Some(_)) => None,
            Want::Newest(None) => {
                self.kept.back().filter(|(taken, _)| now.since(*taken) < Self::FRESH)
            }
        };
        match (kept, want) {
            (Some((_, kept)), _) => Effect::Answer(reply, Arc::clone(kept)),
            (None, Want::Seq(seq)) => {
                let kept = self.kept.iter().map(|(_, kept)| kept.seq).collect();
                Effect::Miss(reply, Missed { seq, kept })
            }
            (None, Want::Newest(detail)) => {
                self.last += 1;
                Effect::Take { seq: self.last, detail, reply }
            }
        }
    }
}

impl Machine for Inspector {
    type Msg = InspectorMsg;
    type Effect = Effect;

    fn handle(&mut self, now: Micros, msg: InspectorMsg, out: &mut Outbox<Effect>) {
        match msg {
            InspectorMsg::Look(look) => {
                out.push(self.look(now, look.want, look.reply));
            }
            InspectorMsg::Ask(asked) => out.push(match asked.order.check() {
                Ok(()) => Effect::Do(asked),
                Err(why) => Effect::Refuse(asked.answer, why),
            }),
            InspectorMsg::Taken(snapshot) => {
                if self.kept.len() == Self::KEPT_MAX {
                    self.kept.pop_front();
                }
                self.kept.push_back((now, snapshot));
            }
        }
    }
}
