//! Pawn: the body of a player. Its position is written by the mover and by the placer, and by
//! nothing else.

use dh_machine::Digest;
use dh_messages::{EntityId, PawnFlags};

use crate::mover::MoverState;

/// The body of a player.
#[derive(Clone, Copy, Debug)]
pub struct Pawn {
    id: EntityId,
    slot: u8,
    /// Private to this module and its placer and mover doors: no other code moves a pawn.
    state: MoverState,
    /// Raised by each placement after the first.
    epoch: u8,
    frozen: u8,
}

/// Why a pawn may only look. It is frozen while any reason stands; each is told on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FreezeReason {
    /// Its player edits the scene.
    Editor,
    /// It has arrived in a new map and its player has not yet.
    Arrival,
    /// An operator said so.
    Admin,
}

impl FreezeReason {
    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl Pawn {
    /// A pawn at its first place.
    pub(super) const fn new(id: EntityId, slot: u8, state: MoverState) -> Self {
        Self { id, slot, state, epoch: 0, frozen: 0 }
    }

    /// A pawn as it was in another process.
    pub(super) const fn going_on(
        (id, slot): (EntityId, u8),
        state: MoverState,
        epoch: u8,
        frozen: u8,
    ) -> Self {
        Self { id, slot, state, epoch, frozen }
    }

    /// The reasons for which it is frozen, as bits.
    pub(super) const fn frozen(&self) -> u8 {
        self.frozen
    }

    /// Whether it is frozen for this reason.
    #[must_use]
    pub const fn is_frozen(&self, reason: FreezeReason) -> bool {
        self.frozen & reason.bit() != 0
    }

    /// Its entity.
    #[must_use]
    pub const fn id(&self) -> EntityId {
        self.id
    }

    /// The roster slot of its player.
    #[must_use]
    pub const fn slot(&self) -> u8 {
        self.slot
    }

    /// Where it is and what it does.
    #[must_use]
    pub const fn state(&self) -> &MoverState {
        &self.state
    }

    /// How often it was placed after its first spawn, modulo 256.
    #[must_use]
    pub const fn epoch(&self) -> u8 {
        self.epoch
    }

    /// The mover's door: what one step made of it.
    pub(super) const fn moved(&mut self, state: MoverState) {
        self.state = state;
    }

    /// The placer's door: a place that has nothing to do with the one before.
    pub(super) const fn placed(&mut self, state: MoverState) {
        self.state = state;
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// Turns noclip on or off from the next step on.
    pub(super) const fn set_noclip(&mut self, on: bool) {
        self.state.flags = self.state.flags.with(PawnFlags::NOCLIP, on);
    }

    /// Lets one reason stand or fall; the flag follows all of them.
    pub(super) const fn set_frozen(&mut self, reason: FreezeReason, on: bool) {
        let bit = reason.bit();
        self.frozen = if on { self.frozen | bit } else { self.frozen & !bit };
        self.state.flags = self.state.flags.with(PawnFlags::FROZEN, self.frozen != 0);
    }

    /// Fold everything into `digest`.
    pub(super) fn digest(&self, digest: &mut Digest) {
        digest.word(u64::from(self.id.0));
        let [slot, epoch, frozen] = [self.slot, self.epoch, self.frozen].map(u64::from);
        digest.word(slot << 16 | epoch << 8 | frozen);
        self.state.digest(digest);
    }
}
