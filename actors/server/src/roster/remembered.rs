//! Remembered: which slot each identity had last, so that whoever comes back finds it again.

use std::collections::{BTreeMap, VecDeque};

use crate::Identity;

/// Identities whose slot is remembered after they left.
pub(super) const REMEMBERED_MAX: usize = 1_024;

/// The slots of those who were here, the longest known forgotten first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Remembered {
    slots: BTreeMap<Identity, u8>,
    order: VecDeque<Identity>,
}

impl Remembered {
    /// The slot that this identity had last.
    pub(super) fn slot_of(&self, identity: &Identity) -> Option<u8> {
        self.slots.get(identity).copied()
    }

    pub(super) fn note(&mut self, identity: Identity, slot: u8) {
        if self.slots.insert(identity.clone(), slot).is_none() {
            self.order.push_back(identity);
        }
        if REMEMBERED_MAX < self.order.len()
            && let Some(oldest) = self.order.pop_front()
        {
            self.slots.remove(&oldest);
        }
    }
}
