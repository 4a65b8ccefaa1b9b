//! `AckWindow`: which snapshots a client applied, as it tells its server with every input.
//!
//! Written by the client, read by the session actor. It knows ticks only.

use dh_machine::Tick;
use dh_messages::SnapshotAck;

/// The newest tick applied and the 32 before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckWindow {
    newest: Tick,
    mask: u32,
}

impl AckWindow {
    /// Ticks before the newest one that it still answers for.
    pub const SPAN: u32 = 32;

    /// What crossed the wire: the newest tick, and bit i for tick `newest - 1 - i`.
    #[must_use]
    pub const fn from_wire(newest: Tick, mask: u32) -> Self {
        Self { newest, mask }
    }

    /// Marks the snapshot of `tick` as applied; whether it was not so yet. Ticks out of reach, and
    /// tick 0, cannot be marked.
    pub fn apply(&mut self, tick: Tick) -> bool {
        if tick > self.newest {
            let ahead = tick.0 - self.newest.0;
            // The tick that was newest until now moves into the mask, if there was one.
            let before = u64::from(self.mask) << 1 | u64::from(self.newest != Tick(0));
            self.mask = low_word(before.checked_shl(ahead - 1).unwrap_or(0));
            self.newest = tick;
            return true;
        }
        let behind = self.newest.0 - tick.0;
        if tick == Tick(0) || behind == 0 || behind > Self::SPAN {
            return false;
        }
        let bit = 1 << (behind - 1);
        let unmarked = self.mask & bit == 0;
        self.mask |= bit;
        unmarked
    }

    /// Whether the snapshot of `tick` was applied; `None` when it is out of reach.
    #[must_use]
    pub const fn applied(self, tick: Tick) -> Option<bool> {
        let Some(behind) = self.newest.0.checked_sub(tick.0) else { return Some(false) };
        match behind {
            0 => Some(tick.0 != 0),
            1..=Self::SPAN => Some(self.mask & (1 << (behind - 1)) != 0),
            _ => None,
        }
    }

    /// The newest tick applied; 0 before any.
    #[must_use]
    pub const fn newest(self) -> Tick {
        self.newest
    }

    /// Bit i: the snapshot of tick `newest - 1 - i` was applied.
    #[must_use]
    pub const fn mask(self) -> u32 {
        self.mask
    }
}

impl From<AckWindow> for SnapshotAck {
    fn from(AckWindow { newest, mask }: AckWindow) -> Self {
        Self { tick: newest.0, mask }
    }
}

impl From<SnapshotAck> for AckWindow {
    fn from(ack: SnapshotAck) -> Self {
        Self::from_wire(Tick(ack.tick), ack.mask)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "ticks further back are forgotten")]
const fn low_word(mask: u64) -> u32 {
    mask as u32
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_mask_bit_i_stands_for_the_tick_one_and_i_before_the_newest() {
        let mut window = AckWindow::default();
        assert_eq!((window.newest(), window.mask()), (Tick(0), 0));
        for tick in [10, 11, 13] {
            assert!(window.apply(Tick(tick)));
        }
        assert_eq!((window.newest(), window.mask()), (Tick(13), 0b110));
        assert!(!window.apply(Tick(11)), "applied before");
        assert_eq!(SnapshotAck::from(window), SnapshotAck { tick: 13, mask: 0b110 });
        assert_eq!(AckWindow::from(SnapshotAck::from(window)), window);
    }

    proptest! {
        #[test]
        fn it_answers_for_every_tick_in_reach_whatever_the_order(
            ticks in proptest::collection::vec(1_u32..120, 1..60)
        ) {
            let mut window = AckWindow::default();
            let mut applied = BTreeSet::new();
            for tick in ticks {
                let reach = window.newest().0.saturating_sub(AckWindow::SPAN);
                let news = tick >= reach && applied.insert(tick);
                prop_assert_eq!(window.apply(Tick(tick)), news);
            }
            let newest = window.newest().0;
            for tick in newest.saturating_sub(AckWindow::SPAN)..=newest + 1 {
                prop_assert_eq!(window.applied(Tick(tick)), Some(applied.contains(&tick)));
            }
            prop_assert_eq!(window.applied(Tick(newest.saturating_sub(33))),
                (newest < 33).then_some(false));
        }
    }
}
