//! `CompositionWatch`: says when a world's snapshots became another kind of load, and only then.
//!
//! Used by the session actor for its one log line. It logs nothing itself.

use core::fmt;

use dh_messages::limit::{PACKET_BYTES_MAX, SNAPSHOT_FRAGMENTS_MAX};

/// How one snapshot relates to the budget of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It goes whole.
    Whole,
    /// It goes in fragments.
    Cut,
    /// It would take too many fragments, and is not sent.
    Unsendable,
}

/// What one snapshot is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Composition {
    /// Records it lists.
    pub records: u32,
    /// Bytes of the whole datagram.
    pub bytes: usize,
    /// Bytes one datagram may have now.
    pub budget: usize,
    /// Fragments it takes; 1 when it goes whole.
    pub fragments: usize,
}

impl Composition {
    /// How it relates to the budget.
    #[must_use]
    pub const fn fit(&self) -> Fit {
        if self.bytes <= self.budget && self.bytes <= PACKET_BYTES_MAX {
            Fit::Whole
        } else if self.fragments <= SNAPSHOT_FRAGMENTS_MAX {
            Fit::Cut
        } else {
            Fit::Unsendable
        }
    }
}

/// The log line: `snapshot: 40 records, 1498 bytes of 1200, 2 fragments`.
impl fmt::Display for Composition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { records, bytes, budget, fragments } = self;
        write!(f, "snapshot: {records} records, {bytes} bytes of {budget}, ")?;
        match self.fit() {
            Fit::Whole => f.write_str("whole"),
            Fit::Cut => write!(f, "{fragments} fragments"),
            Fit::Unsendable => write!(
                f,
                "not sent: {fragments} fragments, at most {SNAPSHOT_FRAGMENTS_MAX}; \
                 fewer entities are needed"
            ),
        }
    }
}

/// Remembers the last composition told.
#[derive(Clone, Copy, Debug, Default)]
pub struct CompositionWatch {
    last: Option<(u32, Fit)>,
}

impl CompositionWatch {
    /// Whether `now` differs from what was last told, in its number of records or in how it
    /// relates to the budget; the first one does.
    pub fn changed(&mut self, now: &Composition) -> bool {
        let told = Some((now.records, now.fit()));
        core::mem::replace(&mut self.last, told) != told
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec::Vec;

    use super::*;

    fn made(records: u32, bytes: usize) -> Composition {
        Composition { records, bytes, budget: 1200, fragments: bytes.div_ceil(1193) }
    }

    /// SNAP-16
    #[test]
    fn a_steady_world_is_told_once_and_each_entity_or_budget_crossing_once_more() {
        let mut watch = CompositionWatch::default();
        let ticks = [(30, 1150), (30, 1190), (31, 1199), (31, 1201), (31, 1300), (31, 1100)];
        let told: Vec<_> =
            ticks.iter().map(|(n, bytes)| watch.changed(&made(*n, *bytes))).collect();
        assert_eq!(told, [true, false, true, true, false, true]);
        assert!((0..3600).all(|_| !watch.changed(&made(31, 1100))));
    }

    /// SNAP-14
    #[test]
    fn what_fits_the_budget_to_the_byte_goes_whole_and_a_budget_past_1200_helps_nobody() {
        let fit = |bytes, budget| Composition { budget, ..made(9, bytes) }.fit();
        assert_eq!([fit(1162, 1162), fit(1200, 1200)], [Fit::Whole; 2]);
        assert_eq!([fit(1163, 1162), fit(1201, 1200), fit(1201, 1400)], [Fit::Cut; 3]);
    }

    /// SNAP-13
    #[test]
    fn the_line_says_that_a_snapshot_of_more_than_sixteen_fragments_is_not_sent() {
        assert_eq!(made(900, 31_000).fit(), Fit::Unsendable);
        let line = made(900, 31_000).to_string();
        assert!(line.contains("900 records, 31000 bytes") && line.contains("not sent"), "{line}");
        assert_eq!(
            made(40, 1498).to_string(),
            "snapshot: 40 records, 1498 bytes of 1200, 2 fragments"
        );
    }
}
