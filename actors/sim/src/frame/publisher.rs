//! Publisher: turns what changed since the last tick into the next frame. Owned by the world.
//!
//! Its work follows what was touched, not what exists, and after a while it allocates nothing:
//! chunks and frames that every session has let go of are filled again.

use std::sync::Arc;

use dh_machine::Tick;
use dh_messages::{EntityRecord, WorldSettings};

use super::spare::Spare;
use super::{Chunk, Frame, Owner};

/// Turns what changed into frames.
#[derive(Debug, Default)]
pub(crate) struct Publisher {
    chunks: Vec<Arc<Chunk>>,
    count: usize,
    touched: Vec<u32>,
    spare_chunks: Spare<Chunk>,
    spare_frames: Spare<Frame>,
}

impl Publisher {
    /// Notes that the entity of `slot` came, went or changed.
    pub(crate) fn touch(&mut self, slot: u32) {
        self.touched.push(slot);
    }

    /// The next frame. `record_of` tells how the entity of a touched slot stands now.
    pub(crate) fn publish(
        &mut self,
        (tick, generation, settings): (Tick, u32, WorldSettings),
        owners: impl Iterator<Item = Owner>,
        record_of: impl Fn(u32) -> Option<EntityRecord>,
    ) -> Arc<Frame> {
        let mut shared = self.spare_frames.take();
        let frame = Arc::get_mut(&mut shared).expect("a spare frame is nobody else's");
        (frame.tick, frame.generation, frame.settings) = (tick, generation, settings);
        frame.bytes.reset();
        frame.owners.clear();
        frame.owners.extend(owners);
        frame.changed.clear();
        self.update_chunks(frame, record_of);
        frame.count = self.count;
        frame.chunks.clear();
        frame.chunks.extend(self.chunks.iter().map(Arc::clone));
        self.spare_frames.lend(Arc::clone(&shared));
        shared
    }

    /// Replaces the chunks that hold touched slots and lists the entities in them that changed.
    fn update_chunks(&mut self, frame: &mut Frame, of: impl Fn(u32) -> Option<EntityRecord>) {
        let mut touched = std::mem::take(&mut self.touched);
        touched.sort_unstable();
        touched.dedup();
        for group in touched.chunk_by(|a, b| Chunk::holding(*a) == Chunk::holding(*b)) {
            let at = Chunk::holding(group[0]);
            if at >= self.chunks.len() {
                self.chunks.resize_with(at + 1, Arc::default);
            }
            let mut shared = self.spare_chunks.take();
            let chunk = Arc::get_mut(&mut shared).expect("a spare chunk is nobody else's");
            chunk.copy_from(&self.chunks[at]);
            self.count -= chunk.records.len();
            for slot in group {
                let record = of(*slot);
                let was = chunk.set(*slot, record);
                frame.changed.extend(record.map(|record| record.id).or(was));
            }
            self.count += chunk.records.len();
            let old = std::mem::replace(&mut self.chunks[at], shared);
            self.spare_chunks.lend(old);
        }
        touched.clear();
        self.touched = touched;
    }
}
