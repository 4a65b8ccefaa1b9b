//! Ticks: the last turns of an actor that lives by deadlines, as its shell saw them.
//!
//! One writer, any readers, no lock. Space is made in parts as the strip fills for the first time,
//! and never again.

use std::sync::OnceLock;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, fence};

use dh_machine::{Micros, Tick};

use crate::metrics::{Histogram, Noted, bump};

/// One turn in which a deadline was served. In simulation work takes no time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TickRecord {
    /// The tick completed last; 0 for an actor that does not say.
    pub tick: Tick,
    /// Ticks this turn ran: more than one where it had to catch up.
    pub ticks: u16,
    /// Messages taken before.
    pub drained: u16,
    /// Whether the next deadline had passed when it was done.
    pub behind: bool,
    /// When the turn began.
    pub start: Micros,
    /// How late the deadline was served.
    pub late: Micros,
    /// Time for the messages.
    pub drain: Micros,
    /// Time in the machine: the simulation.
    pub wake: Micros,
    /// Time for what it asked for: publishing.
    pub perform: Micros,
}

/// The last [`Ticks::MAX`] records.
#[derive(Debug, Default)]
pub(crate) struct Ticks {
    parts: [OnceLock<Box<[[AtomicU64; WORDS]]>>; PARTS],
    /// Records ever begun, and those that are whole.
    begun: AtomicU64,
    written: AtomicU64,
    /// What the actor said in this turn: the last tick, and how many.
    last: AtomicU64,
    count: AtomicU64,
    /// Of all records, also those that are no longer kept: how many were behind, how long each
    /// worked.
    overruns: AtomicU64,
    work: Histogram,
}

/// What is known of all records ever written, of one strip or of several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TickSums {
    /// Turns after which the next deadline had passed already.
    pub(crate) overruns: u64,
    /// How long turns worked.
    pub(crate) work: Noted,
}

const WORDS: usize = 5;
const PARTS: usize = 16;
const PART: usize = Ticks::MAX / PARTS;

impl Ticks {
    /// Records that are kept.
    pub(crate) const MAX: usize = 4_096;

    /// The actor has completed a tick.
    pub(crate) fn ticked(&self, tick: Tick) {
        self.last.store(u64::from(tick.0), Relaxed);
        self.count.store(self.count.load(Relaxed) + 1, Relaxed);
    }

    /// Write a record; what the actor said of its ticks is added.
    pub(crate) fn write(&self, record: TickRecord) {
        let tick = Tick(u32::try_from(self.last.load(Relaxed)).unwrap_or(u32::MAX));
        let ticks = u16::try_from(self.count.load(Relaxed)).unwrap_or(u16::MAX);
        self.count.store(0, Relaxed);
        let written = self.written.load(Relaxed);
        let words = TickRecord { tick, ticks, ..record }.words();
        self.work.note(record.work().0.saturating_mul(1_000));
        bump(&self.overruns, u64::from(record.behind));
        self.begun.store(written + 1, Relaxed);
        // Whoever reads a word of this record must also see that its place was given away.
        fence(Release);
        let at = place(written);
        let part = self.parts[at / PART].get_or_init(new_part);
        part[at % PART].iter().zip(words).for_each(|(place, word)| place.store(word, Relaxed));
        self.written.store(written + 1, Release);
    }

    /// Records ever written of turns after which the next deadline had passed already.
    pub(crate) fn overruns(&self) -> u64 {
        self.overruns.load(Relaxed)
    }

    /// All records ever written, added up.
    pub(crate) fn sums(&self) -> TickSums {
        TickSums { overruns: self.overruns(), work: self.work.read() }
    }

    /// The records from the `from`th ever written on, oldest first, and how many were ever written.
    pub(crate) fn read(&self, from: u64) -> (Vec<TickRecord>, u64) {
        let end = self.written.load(Acquire);
        let from = from.clamp(end.saturating_sub(Self::MAX as u64), end);
        let read: Vec<TickRecord> = (from..end).filter_map(|number| self.record(number)).collect();
        fence(Acquire);
        // Those whose place was given to newer ones meanwhile.
        let lost = self.begun.load(Relaxed).saturating_sub(from + Self::MAX as u64);
        let lost = usize::try_from(lost).unwrap_or(usize::MAX).min(read.len());
        (read[lost..].to_vec(), end)
    }

    fn record(&self, number: u64) -> Option<TickRecord> {
        let at = place(number);
        let words = &self.parts[at / PART].get()?[at % PART];
        Some(TickRecord::of(std::array::from_fn(|word| words[word].load(Relaxed))))
    }
}

fn new_part() -> Box<[[AtomicU64; WORDS]]> {
    (0..PART).map(|_| Default::default()).collect()
}

fn place(number: u64) -> usize {
    usize::try_from(number % Ticks::MAX as u64).unwrap_or_default()
}

impl TickSums {
    /// Add those of another strip.
    pub(crate) fn add(&mut self, other: &Self) {
        self.overruns += other.overruns;
        self.work.add(&other.work);
    }
}

impl TickRecord {
    /// From the start to the end of the turn.
    #[must_use]
    pub fn work(&self) -> Micros {
        self.drain + self.wake + self.perform
    }

    fn words(&self) -> [u64; WORDS] {
        let counts = u64::from(self.ticks) << 16 | u64::from(self.drained);
        let short = |span: Micros| u64::from(u32::try_from(span.0).unwrap_or(u32::MAX));
        [
            u64::from(self.tick.0) << 32 | counts,
            self.start.0,
            self.late.0,
            short(self.drain) << 32 | short(self.wake),
            short(self.perform) << 32 | u64::from(self.behind),
        ]
    }

    #[expect(clippy::cast_possible_truncation, reason = "each part is cut out by its bits")]
    fn of([counts, start, late, drain, perform]: [u64; WORDS]) -> Self {
        Self {
            tick: Tick((counts >> 32) as u32),
            ticks: (counts >> 16) as u16,
            drained: counts as u16,
            behind: perform & 1 == 1,
            start: Micros(start),
            late: Micros(late),
            drain: Micros(drain >> 32),
            wake: Micros(drain & u64::from(u32::MAX)),
            perform: Micros(perform >> 32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(number: u32) -> TickRecord {
        TickRecord {
            tick: Tick(number),
            ticks: 1,
            drained: 7,
            behind: number.is_multiple_of(3),
            start: Micros(u64::from(number) * 16_667),
            late: Micros(3),
            drain: Micros(11),
            wake: Micros(13),
            perform: Micros(17),
        }
    }

    fn write(ticks: &Ticks, number: u32) {
        ticks.ticked(Tick(number));
        ticks.write(record(number));
    }

    #[test]
    fn the_last_4096_are_kept_as_they_were_written_and_may_be_read_on_from_any() {
        let ticks = Ticks::default();
        (0..3).for_each(|number| write(&ticks, number));
        assert_eq!(ticks.read(0), ((0..3).map(record).collect(), 3));
        (3..10_000).for_each(|number| write(&ticks, number));
        let (read, end) = ticks.read(0);
        assert_eq!(read, (10_000 - 4_096..10_000).map(record).collect::<Vec<_>>());
        assert_eq!(end, 10_000);
        assert_eq!(ticks.read(9_998).0, [record(9_998), record(9_999)]);
        assert!(ticks.read(end).0.is_empty());
    }

    #[test]
    fn whoever_reads_while_it_is_written_gets_whole_records_in_order() {
        let ticks = Ticks::default();
        std::thread::scope(|scope| {
            scope.spawn(|| (0..200_000).for_each(|number| write(&ticks, number)));
            while ticks.read(u64::MAX).1 < 200_000 {
                let (read, _) = ticks.read(0);
                assert!(read.iter().all(|it| *it == record(it.tick.0)));
                assert!(read.windows(2).all(|pair| pair[0].tick < pair[1].tick));
            }
        });
    }

    #[test]
    fn overruns_and_work_are_counted_for_ever_also_of_records_that_are_no_longer_kept() {
        let ticks = Ticks::default();
        let mut last = 0;
        for number in 0..10_000 {
            // Nearly all overruns are among the first, which go first.
            let behind = number < 3_000 || number == 9_999;
            ticks.write(TickRecord { behind, ..record(number) });
            let overruns = ticks.sums().overruns;
            assert!(overruns >= last, "{overruns} after {last}");
            last = overruns;
        }
        let kept = ticks.read(0).0.iter().filter(|it| it.behind).count();
        assert_eq!((last, kept), (3_001, 1));
        let work = ticks.sums().work.summary();
        assert_eq!((work.count, work.sum_ns), (10_000, 10_000 * 41_000));
    }

    #[test]
    fn a_turn_that_caught_up_says_how_many_ticks_it_ran() {
        let ticks = Ticks::default();
        (1..=4).for_each(|number| ticks.ticked(Tick(number)));
        ticks.write(TickRecord::default());
        let read = ticks.read(0).0;
        assert_eq!((read[0].tick, read[0].ticks), (Tick(4), 4));
    }
}
