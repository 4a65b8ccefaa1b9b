//! Planted bugs: what a hunt must find. Each is one line where it would be made; none is on unless
//! a test turns it on, and nothing but the tests is built with the switch.
//!
//! Which one is on is known to one thread alone, so that worlds that run side by side do not share
//! it. Without the feature `planted` the question is answered at compile time, by no.

macro_rules! bugs {
    ($($(#[$what:meta])+ $name:ident,)+) => {
        /// A bug that a test can turn on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Bug { $($(#[$what])+ $name,)+ }

        impl Bug {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)+];
        }
    };
}

bugs! {
    /// A snapshot acknowledges one input more than was simulated.
    AckOneTooHigh,
    /// A fragment of an old tick joins the set of a newer one.
    OldFragment,
    /// A chunk of content is written where the next one belongs.
    ChunkOneOff,
    /// A roster that starts again forgets one of those who are here, and gives their slot away.
    RestartLosesSlot,
    /// A lane takes more than it was made for.
    LaneWithoutBound,
    /// The clock of a client's ticks stays with the first depth it read.
    ClockNeverRetargets,
    /// The pawn of one who left stays.
    LeaverStays,
    /// A snapshot that comes late passes for the newest.
    StaleSnapshot,
    /// A message that takes the place of another is counted twice.
    CountedTwice,
    /// A client applies snapshots of a map that it has not loaded.
    TornMap,
    /// A blob that is asked for again while it moves goes on where it was.
    AskedAgainGoesOn,
    /// A slot counts as taken only once its holder has a pawn.
    SlotTakenLate,
    /// The turns of a tick are searched by pawn and not sorted by pawn.
    TurnsUnsorted,
    /// A queue that once had no input says so for good.
    StarvedForGood,
    /// A listener that starts again gives out the numbers of its peers anew.
    PeersCountedAnew,
    /// A roster that starts again passes lines of chat on before it knows who is here.
    TypedIntoNothing,
    /// A client whose session was lost compares fragments with the ticks of that session.
    FragmentsOfBefore,
}

/// Whether this bug is on in this thread.
#[cfg(not(feature = "planted"))]
#[inline]
#[must_use]
pub const fn is(_bug: Bug) -> bool {
    false
}

#[cfg(feature = "planted")]
pub use self::switch::{is, with};

#[cfg(feature = "planted")]
mod switch {
    extern crate std;

    use core::cell::Cell;
    use std::thread_local;

    use super::Bug;

    thread_local! {
        static ON: Cell<Option<Bug>> = const { Cell::new(None) };
    }

    /// Whether this bug is on in this thread.
    #[must_use]
    pub fn is(bug: Bug) -> bool {
        ON.get() == Some(bug)
    }

    /// Do something in this thread with a bug on.
    pub fn with<T>(bug: Bug, act: impl FnOnce() -> T) -> T {
        /// Off again, however `act` ends.
        struct Off(Option<Bug>);
        impl Drop for Off {
            fn drop(&mut self) {
                ON.set(self.0);
            }
        }
        let _off = Off(ON.replace(Some(bug)));
        act()
    }
}
