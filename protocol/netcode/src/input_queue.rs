//! `InputQueue`: what a server holds of one session's input, and which one each tick uses.
//!
//! Used by the tick actor, one a session. It never simulates, never reads a clock, and tells of
//! every input that will not be used and why.

use alloc::collections::VecDeque;

use dh_machine::Digest;
use dh_machine::planted::{self, Bug};
use dh_messages::PlayerInput;

/// One session's inputs between the packet and the tick that uses them.
#[derive(Clone, Debug, Default)]
pub struct InputQueue {
    /// Not yet simulated, lowest sequence first, at most [`InputQueue::MAX`].
    waiting: VecDeque<PlayerInput>,
    /// The input the last tick used; repeated while starved.
    last: Option<PlayerInput>,
    /// What became of recent sequences.
    settled: Settled,
    /// Ticks in a row that found nothing, in the present run.
    starved_run: u32,
    /// Ticks left to wait for the first inputs to gather; `None` until one has come.
    priming: Option<u8>,
    depth: i8,
    counts: InputCounts,
}

/// What became of one offered input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// It waits for its tick.
    Queued,
    /// The queue was full, and the oldest un-simulated input, which may be this one, was dropped:
    /// its sequence. It is skipped for good.
    Overflowed(u32),
    /// It was applied, or waits, or was told as skipped before. Redundant packets make these.
    Duplicate,
    /// A newer input was applied before it came. It is skipped for good.
    Late,
    /// Too old to say which of the above it is, or sequence 0, which no input has.
    Stale,
}

/// What one tick gets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Taken {
    /// No input has come to use yet: the pawn is not stepped, and the tick is not starved.
    Nothing,
    /// The oldest waiting input, simulated now and never again.
    Fresh(PlayerInput),
    /// Starved: the input of the tick before once more.
    Repeated(PlayerInput),
    /// Starved for long: the last look and buttons, with no movement.
    Standing(PlayerInput),
}

impl Taken {
    /// The input to simulate.
    #[must_use]
    pub const fn input(&self) -> Option<&PlayerInput> {
        match self {
            Self::Nothing => None,
            Self::Fresh(input) | Self::Repeated(input) | Self::Standing(input) => Some(input),
        }
    }
}

/// Totals since the session began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputCounts {
    /// Inputs simulated.
    pub applied: u64,
    /// Sequences a newer input passed over before they came. Those that come after all are counted
    /// under `late` as well; the rest were lost or dropped by overflow.
    pub passed_over: u64,
    /// Inputs dropped because the queue was full.
    pub overflowed: u64,
    /// Inputs that came after a newer one was applied.
    pub late: u64,
    /// Inputs that came again.
    pub duplicate: u64,
    /// Inputs too old to judge.
    pub stale: u64,
    /// Ticks that found no input.
    pub starved: u64,
}

impl InputQueue {
    /// Inputs that may wait.
    pub const MAX: usize = 12;
    /// Starved ticks in a row that repeat the last input; after them movement is zero.
    pub const REPEAT_MAX: u32 = 3;
    /// Ticks the first input waits for others behind it, which is the clock's target. A session
    /// then starts at its lead and does not have to starve its way to it.
    pub const PRIME_TICKS: u8 = 2;

    /// Takes one input of a packet, in any order, any number of times.
    pub fn offer(&mut self, input: PlayerInput) -> Offered {
        let sequence = input.sequence;
        let place = self.waiting.partition_point(|waiting| waiting.sequence < sequence);
        if self.waiting.get(place).is_some_and(|waiting| waiting.sequence == sequence) {
            self.counts.duplicate += 1;
            return Offered::Duplicate;
        }
        match self.settled.judge(sequence) {
            Verdict::Open if sequence > self.ack() => self.insert(place, input),
            Verdict::Open => {
                self.settled.settle(sequence);
                self.counts.late += 1;
                Offered::Late
            }
            Verdict::Settled => {
                self.counts.duplicate += 1;
                Offered::Duplicate
            }
            Verdict::Forgotten => {
                self.counts.stale += 1;
                Offered::Stale
            }
        }
    }

    /// The input of this tick. Called exactly once a tick, before its movement.
    pub fn take(&mut self) -> Taken {
        let taken = if self.primed() { self.next() } else { Taken::Nothing };
        self.depth = if self.starved_run > 0 {
            i8::try_from(self.starved_run).map_or(i8::MIN, |run| -run)
        } else {
            i8::try_from(self.waiting.len()).unwrap_or(i8::MAX)
        };
        taken
    }

    /// The last sequence really simulated; 0 before any.
    #[must_use]
    pub const fn ack(&self) -> u32 {
        self.settled.applied
    }

    /// The depth byte of the owner detail, as the last tick left it: inputs still waiting, or the
    /// length of the present run of starved ticks as a negative number, which stops at -128.
    #[must_use]
    pub const fn depth(&self) -> i8 {
        self.depth
    }

    /// Inputs waiting now, at most [`InputQueue::MAX`].
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Ticks in a row that found nothing; 0 as soon as an input is used.
    #[must_use]
    pub const fn starved_run(&self) -> u32 {
        self.starved_run
    }

    /// Totals since the session began.
    #[must_use]
    pub const fn counts(&self) -> InputCounts {
        self.counts
    }

    /// Folds what decides the future into `digest`.
    pub fn digest(&self, digest: &mut Digest) {
        for input in &self.waiting {
            digest.word(u64::from(input.sequence));
        }
        digest.word(u64::from(self.ack()));
        digest.word(u64::from(self.starved_run));
    }

    fn insert(&mut self, place: usize, input: PlayerInput) -> Offered {
        self.priming.get_or_insert(Self::PRIME_TICKS);
        self.waiting.insert(place, input);
        if self.waiting.len() <= Self::MAX {
            return Offered::Queued;
        }
        let dropped = self.waiting.pop_front().map_or(0, |oldest| oldest.sequence);
        self.settled.settle(dropped);
        self.counts.overflowed += 1;
        Offered::Overflowed(dropped)
    }

    /// Whether the first inputs have gathered, or had their time to.
    fn primed(&mut self) -> bool {
        match &mut self.priming {
            None => false,
            Some(0) => true,
            Some(_) if self.waiting.len() > usize::from(Self::PRIME_TICKS) => {
                self.priming = Some(0);
                true
            }
            Some(ticks) => {
                *ticks -= 1;
                false
            }
        }
    }

    fn next(&mut self) -> Taken {
        let Some(input) = self.waiting.pop_front() else { return self.starve() };
        let before = self.ack();
        self.settled.apply(input.sequence);
        self.starved_run *= u32::from(planted::is(Bug::StarvedForGood));
        self.counts.applied += 1;
        self.counts.passed_over += u64::from(input.sequence - before - 1);
        self.last = Some(input);
        Taken::Fresh(input)
    }

    fn starve(&mut self) -> Taken {
        let Some(last) = &mut self.last else { return Taken::Nothing };
        self.starved_run = self.starved_run.saturating_add(1);
        self.counts.starved += 1;
        if self.starved_run <= Self::REPEAT_MAX {
            return Taken::Repeated(*last);
        }
        // Buttons stay: a held jump that was let go of here would count as pressed anew when the
        // next input comes.
        (last.move_x, last.move_y, last.move_z) = (0, 0, 0);
        Taken::Standing(*last)
    }
}

/// Which recent sequences need no further answer: applied, dropped, or told as late.
#[derive(Clone, Copy, Debug, Default)]
struct Settled {
    /// The last sequence applied.
    applied: u32,
    /// The highest settled sequence; at or above `applied`, and 0 before any.
    top: u32,
    /// Bit i: sequence `top - i` is settled.
    mask: u128,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Open,
    Settled,
    Forgotten,
}

impl Settled {
    const fn judge(&self, sequence: u32) -> Verdict {
        if sequence == 0 {
            return Verdict::Forgotten;
        }
        if sequence > self.top {
            return Verdict::Open;
        }
        match 1_u128.checked_shl(self.top - sequence) {
            None => Verdict::Forgotten,
            Some(bit) if self.mask & bit != 0 => Verdict::Settled,
            Some(_) => Verdict::Open,
        }
    }

    fn settle(&mut self, sequence: u32) {
        if sequence > self.top {
            self.mask = self.mask.checked_shl(sequence - self.top).unwrap_or(0);
            self.top = sequence;
        }
        self.mask |= 1_u128.checked_shl(self.top - sequence).unwrap_or(0);
    }

    fn apply(&mut self, sequence: u32) {
        self.settle(sequence);
        self.applied = sequence;
    }
}

mod words;

pub use self::words::{INPUT_WORDS, input_of_words, input_words};

#[cfg(test)]
mod tests;
