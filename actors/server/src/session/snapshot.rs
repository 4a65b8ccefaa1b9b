//! One tick's snapshot for one peer: its own head, then the records that all peers share.

use bytes::Bytes;
use dh_machine::Outbox;
use dh_messages::{
    Count16, EntityId, Message as _, Section, Snapshot, SnapshotFragment, SnapshotHead, datagram,
    encode,
};
use dh_netcode::{Composition, slice};
use dh_sim::Frame;

use super::state::{Effect, Session};

impl Session {
    /// Send `frame` to the peer that owns `pawn`, whole or in fragments, or not at all when it
    /// would take too many.
    pub(super) fn snapshot(&mut self, frame: &Frame, pawn: EntityId, out: &mut Outbox<Effect>) {
        let Some(owner) = frame.owner(pawn) else { return };
        let Ok(record_count) = u16::try_from(frame.len()) else { return };
        let mut head = SnapshotHead {
            tick: frame.tick().0,
            map_generation: self.generation,
            rest_revision: 0,
            input_ack: owner.answer.input_ack,
            world: frame.settings(),
            owner: Section(owner.detail()),
            record_count: Count16(record_count),
        };
        let records = frame.records_bytes();
        let mut bytes = Vec::with_capacity(HEAD_BYTES + records.len());
        bytes.push(Snapshot::ID);
        // The head holds nothing that can be over a cap.
        if encode(&mut head, &mut bytes).is_err() {
            return;
        }
        bytes.extend_from_slice(records);
        self.watch_composition(frame.len(), &bytes, out);
        if bytes.len() <= self.budget {
            out.push(Effect::Datagrams(vec![bytes.into()]));
        } else {
            self.fragments(frame, &bytes, out);
        }
    }

    fn fragments(&self, frame: &Frame, whole: &[u8], out: &mut Outbox<Effect>) {
        let Ok(parts) = slice(whole, self.budget) else { return };
        let fragments: Vec<Bytes> = parts
            .filter_map(|part| {
                let mut fragment = SnapshotFragment {
                    tick: frame.tick().0,
                    index: part.index,
                    count: part.count,
                    slice: part.bytes.to_vec().into(),
                };
                let mut bytes = Vec::new();
                datagram(&mut fragment, &mut bytes).ok()?;
                Some(Bytes::from(bytes))
            })
            .collect();
        out.push(Effect::Datagrams(fragments));
    }

    /// One log line for each change of composition, never one a tick.
    fn watch_composition(&mut self, records: usize, whole: &[u8], out: &mut Outbox<Effect>) {
        let (bytes, budget) = (whole.len(), self.budget);
        let fragments = match slice(whole, budget) {
            _ if bytes <= budget => 1,
            Ok(parts) => parts.len(),
            Err(too_many) => too_many.needed,
        };
        let records = u32::try_from(records).unwrap_or(u32::MAX);
        let now = Composition { records, bytes, budget, fragments };
        if self.composition.changed(&now) {
            out.push(Effect::Log(format!("{now}, for {}", self.label())));
        }
    }
}

/// More than any head takes.
const HEAD_BYTES: usize = 160;
