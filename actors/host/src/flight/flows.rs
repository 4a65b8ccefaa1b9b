//! Flows: from the slice of a trace in which a message was sent to the one in which it was handled.
//!
//! Worked out while a trace is written, of what is recorded anyhow: a message says who sent it and
//! how long it waited, so the slice of its sender at that moment is where it came from.

use std::collections::BTreeMap;

use dh_machine::Micros;

use super::messages::Message;
use crate::registry::ActorId;

/// Begins of messages are known to the microsecond and have been cut: so far may a slice seem to
/// begin too late or to end too early.
const CUT_NS: u64 = 1_000;
/// A tick's work is the sum of three that have been cut.
const TICK_CUT_NS: u64 = 4_000;

/// A piece of a track, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slice {
    pub(super) begin: u64,
    pub(super) end: u64,
}

/// The slices of several tracks, each in order and without overlaps: no reader of traces takes
/// two that overlap.
#[derive(Debug, Default)]
pub(super) struct Slices(BTreeMap<ActorId, Vec<Slice>>);

/// Everything that was written of messages and ticks.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) messages: Slices,
    pub(super) ticks: Slices,
}

/// The way of one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flow {
    /// Whether the sender's slice is a tick's.
    pub(super) by_tick: bool,
    pub(super) from: ActorId,
    pub(super) to: ActorId,
    /// A moment within the sender's slice.
    pub(super) sent: u64,
    /// A moment within the receiver's, not before that.
    pub(super) handled: u64,
}

impl Slice {
    /// The moment of this slice that is nearest to another. Where there is room neither its begin
    /// nor its end, which a neighbour may share.
    fn nearest(self, at: u64) -> u64 {
        match self.end - self.begin {
            0 | 1 => self.begin,
            _ => at.clamp(self.begin + 1, self.end - 1),
        }
    }
}

impl Slices {
    /// The next slice of a track. It begins then, or where the one before ends, which is at most a
    /// microsecond later and never later than it was.
    pub(super) fn add(&mut self, track: ActorId, at: Micros, took_ns: u64) -> Slice {
        let slices = self.0.entry(track).or_default();
        let last = slices.last().map_or(0, |last| last.end);
        let begin = last.max(at.0.saturating_mul(1_000));
        let slice = Slice { begin, end: begin.saturating_add(took_ns) };
        slices.push(slice);
        slice
    }

    /// The slice of a track at a moment, or no further from it than `slack`.
    fn at(&self, track: ActorId, moment: u64, slack: u64) -> Option<Slice> {
        let slices = self.0.get(&track)?;
        let (before, after) = slices.split_at(slices.partition_point(|it| it.begin <= moment));
        let before = before.last().filter(|it| moment <= it.end.saturating_add(slack));
        let after = after.first().filter(|it| it.begin <= moment.saturating_add(slack));
        before.or(after).copied()
    }
}

impl Written {
    /// How a message that was handled in `slice` came there; none where its sender is nobody, was
    /// in no slice then, or that slice is not written any more.
    pub(super) fn flow(&self, message: &Message, slice: Slice) -> Option<Flow> {
        let Message { at, from, to, wait, .. } = *message;
        let sent = at.0.checked_sub(wait.0)?.checked_mul(1_000)?;
        let handled = |slack| self.messages.at(from, sent, slack).map(|it| (false, it));
        let ticked = |slack| self.ticks.at(from, sent, slack).map(|it| (true, it));
        let exact = handled(0).or_else(|| ticked(0));
        let (by_tick, origin) =
            exact.or_else(|| handled(CUT_NS)).or_else(|| ticked(TICK_CUT_NS))?;
        let sent = origin.nearest(sent);
        let handled = slice.nearest(sent.max(slice.begin));
        (sent <= handled).then_some(Flow { by_tick, from, to, sent, handled })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ActorId = ActorId(1);
    const B: ActorId = ActorId(2);

    /// A message from `A` that `B` gets then, after so long a wait.
    fn message(at: u64, wait: u64) -> Message {
        let (at, wait) = (Micros(at), Micros(wait));
        Message { at, from: A, to: B, kind: 0, wait, handle_ns: 5_000, panicked: false }
    }

    /// How it came there, from what `A` did: messages and ticks, each with its begin and length.
    fn flow(message: Message, messages: &[(u64, u64)], ticks: &[(u64, u64)]) -> Option<Flow> {
        let mut written = Written::default();
        for (at, took) in messages {
            written.messages.add(A, Micros(*at), *took);
        }
        for (at, took) in ticks {
            written.ticks.add(A, Micros(*at), *took);
        }
        let slice = written.messages.add(B, message.at, message.handle_ns);
        written.flow(&message, slice)
    }

    #[test]
    fn a_message_comes_from_what_its_sender_did_when_it_was_sent() {
        let slices = [(100, 20_000), (150, 30_000), (300, 1_000)];
        let flow = |message| flow(message, &slices, &[(90, 400_000)]).unwrap();
        let (from, to) = (A, B);
        let sent = Flow { by_tick: false, from, to, sent: 160_000, handled: 200_001 };
        assert_eq!(flow(message(200, 40)), sent);
        let sent = Flow { by_tick: true, sent: 130_000, ..sent };
        assert_eq!(flow(message(200, 70)), sent, "between two messages, in a tick");
    }

    #[test]
    fn what_was_cut_off_a_slice_hides_no_sender_and_no_message_is_handled_before_it_is_sent() {
        let cut = flow(message(200, 79), &[(100, 20_100)], &[]).unwrap();
        assert_eq!((cut.sent, cut.handled), (120_099, 200_001));
        let at_once = flow(message(200, 0), &[(199, 3_000)], &[]).unwrap();
        assert_eq!((at_once.sent, at_once.handled), (200_000, 200_001));
        let pushed_on = flow(message(200, 0), &[(190, 10_500), (200, 2_000)], &[]).unwrap();
        assert_eq!((pushed_on.sent, pushed_on.handled), (200_000, 200_001));
        let late = flow(Message { handle_ns: 16, ..message(200, 0) }, &[(201, 9_000)], &[]);
        assert_eq!(late, None, "it would end before it begins");
    }

    #[test]
    fn a_message_whose_sender_did_nothing_then_that_is_written_comes_from_nowhere() {
        assert_eq!(flow(message(200, 60), &[(100, 20_000), (150, 1_000)], &[]), None);
        assert_eq!(flow(message(200, 190), &[(100, 20_000)], &[(50, 9_000)]), None);
        assert_eq!(flow(message(200, 300), &[(100, 20_000)], &[]), None, "before all time");
        let nobody = Message { from: ActorId::NOBODY, ..message(200, 90) };
        assert_eq!(flow(nobody, &[(100, 20_000)], &[]), None);
    }

    #[test]
    fn a_moment_within_a_slice_is_shared_with_no_neighbour() {
        let slice = Slice { begin: 10, end: 20 };
        assert_eq!([0, 10, 15, 20, 99].map(|at| slice.nearest(at)), [11, 11, 15, 19, 19]);
        assert_eq!(Slice { begin: 10, end: 10 }.nearest(99), 10, "where time stands still");
    }
}
