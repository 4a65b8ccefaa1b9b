//! One tick's snapshot for one peer: its own head, then the records that all peers share.

use std::mem;

use bytes::Bytes;
use dh_machine::planted::{self, Bug};
use dh_machine::{Micros, Outbox, Tick};
use dh_messages::{
    Count16, EntityId, Message as _, Rest, Section, Snapshot, SnapshotFragment, SnapshotHead,
    datagram, encode,
};
use dh_netcode::{Composition, FRAGMENT_HEADER_BYTES, Part, TooManyFragments, slice};
use dh_sim::Frame;

use super::state::{Effect, Session};

impl Session {
    /// Send `frame` to the peer that owns `pawn`, whole or in fragments, or not at all when it
    /// would take too many.
    pub(super) fn snapshot(
        &mut self,
        now: Micros,
        frame: &Frame,
        pawn: EntityId,
        out: &mut Outbox<Effect>,
    ) {
        let Some(owner) = frame.owner(pawn) else { return };
        let mut head = SnapshotHead {
            tick: frame.tick().0,
            map_generation: frame.generation(),
            rest_revision: 0,
            input_ack: owner.answer.input_ack + u32::from(planted::is(Bug::AckOneTooHigh)),
            world: frame.settings(),
            owner: Section(owner.detail()),
            // More than fit the count fit no snapshot either.
            record_count: Count16(u16::try_from(frame.len()).unwrap_or(u16::MAX)),
        };
        let mut whole = mem::take(&mut self.whole);
        whole.clear();
        whole.push(Snapshot::ID);
        // The head holds nothing that can be over a cap.
        if encode(&mut head, &mut whole).is_ok() {
            whole.extend_from_slice(frame.records_bytes());
            self.send_whole(now, frame, &whole, out);
        }
        self.whole = whole;
    }

    fn send_whole(&mut self, now: Micros, frame: &Frame, whole: &[u8], out: &mut Outbox<Effect>) {
        let budget = self.budget;
        let (fragments, datagrams) = if whole.len() <= budget {
            (1, vec![Bytes::copy_from_slice(whole)])
        } else {
            match slice(whole, budget) {
                Ok(parts) => (parts.len(), cut(frame.tick(), whole.len(), parts)),
                Err(TooManyFragments { needed }) => (needed, Vec::new()),
            }
        };
        let records = u32::try_from(frame.len()).unwrap_or(u32::MAX);
        let made = Composition { records, bytes: whole.len(), budget, fragments };
        // One line for each change of composition, never one a tick.
        if self.composition.changed(&made) {
            out.push(Effect::Log(format!("{made}, for {}", self.label())));
        }
        self.diagnostics.count(&made);
        if let Some(figures) = self.diagnostics.poll(now) {
            out.push(Effect::Detail(figures.line(&self.label(), self.acks)));
        }
        let id = if fragments > 1 { SnapshotFragment::ID } else { Snapshot::ID };
        if !datagrams.is_empty() && self.passes(id, out) {
            out.push(Effect::Datagrams(datagrams));
        }
    }
}

/// The fragments of one snapshot of `bytes` bytes, all in one allocation.
fn cut<'a>(tick: Tick, bytes: usize, parts: impl ExactSizeIterator<Item = Part<'a>>) -> Vec<Bytes> {
    let mut all = Vec::with_capacity(bytes + parts.len() * FRAGMENT_HEADER_BYTES);
    let mut ends = Vec::with_capacity(parts.len());
    for Part { index, count, bytes } in parts {
        let slice = Rest::default();
        let mut fragment = SnapshotFragment { tick: tick.0, index, count, slice };
        // Its slice comes last, so that the part follows its header without another copy.
        if datagram(&mut fragment, &mut all).is_ok() {
            all.extend_from_slice(bytes);
            ends.push(all.len());
        }
    }
    let all = Bytes::from(all);
    let starts = [0].into_iter().chain(ends.iter().copied());
    starts.zip(ends.iter()).map(|(start, end)| all.slice(start..*end)).collect()
}
