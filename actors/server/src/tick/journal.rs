//! Journal: what entered the world in the last half minute, and its digest after each tick, so that
//! the same ticks can be run again.
//!
//! Written by the tick's performer, read by whoever writes a flight record. It consists of spans:
//! each begins with the world as it stood between two ticks and goes on with everything that came
//! after. The oldest span gives way to the newest. Nothing here allocates once every span was used,
//! and no lock is held longer than it takes to copy a pointer.

mod entry;
mod format;
mod replay;

use std::fmt;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, AtomicUsize, fence};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use dh_host::flight::{self, Flight};
use dh_machine::TickRate;
use dh_messages::MapAdvert;

pub use self::entry::Entry;
#[cfg(test)]
pub(super) use self::format::resealed;
pub use self::format::{JOURNAL_FILE_MAX, JournalError, Recorded, Span as RecordedSpan};
pub use self::replay::{Compared, Replay, ground_of};

use self::entry::ENTRY_WORDS;
use super::state::Kept;

/// Spans that are kept. One of them is being filled, so the others hold what is promised.
const SPANS: usize = 5;
/// How long a span lasts, in seconds.
const SPAN_SECONDS: u32 = 10;
/// Words of a span; 64 players who play need about 116,000.
const SPAN_WORDS: usize = 1 << 17;
/// A span ends early when less than this is left in it: a tick of everybody fits.
const SPAN_SPARE: usize = 1 << 13;
/// The largest world that is kept with a span, in bytes; of a larger one there is no journal.
const KEPT_BYTES_MAX: usize = 576 << 10;

const _: () = assert!(
    SPANS * (SPAN_WORDS * size_of::<u64>() + KEPT_BYTES_MAX) <= Flight::JOURNAL_BYTES
        && (SPANS as u64 - 1) * SPAN_SECONDS as u64 >= 30,
    "all spans fit, and last for what is promised"
);

/// What entered one world lately.
pub struct Journal {
    rate: TickRate,
    spans: [Span; SPANS],
    /// Spans ever begun; the newest is filled.
    begun: AtomicUsize,
}

#[derive(Default)]
struct Span {
    start: Mutex<Option<Start>>,
    /// Raised before anything of it changes.
    round: AtomicU64,
    words: OnceLock<Box<[AtomicU64]>>,
    len: AtomicUsize,
    ticks: AtomicUsize,
    /// Something did not fit: what follows is missing.
    cut: AtomicU64,
}

/// How a span begins.
#[derive(Clone)]
struct Start {
    number: usize,
    kept: Arc<Kept>,
    map: Arc<MapAdvert>,
    after_fault: bool,
}

impl Journal {
    /// An empty journal of a world of this rate.
    #[must_use]
    pub fn new(rate: TickRate) -> Self {
        Self { rate, spans: Default::default(), begun: AtomicUsize::new(0) }
    }

    /// Begin a span: the world stands like this on that map. A world that is too large ends the
    /// journal until there is a smaller one.
    pub(super) fn begin(&self, kept: &Arc<Kept>, map: &Arc<MapAdvert>, after_fault: bool) {
        let number = self.begun.load(Relaxed);
        let span = &self.spans[number % SPANS];
        let fits = kept.bytes() <= KEPT_BYTES_MAX;
        let start = fits.then(|| Start {
            number,
            kept: Arc::clone(kept),
            map: Arc::clone(map),
            after_fault,
        });
        let mut place = span.start();
        span.round.store(span.round.load(Relaxed) + 1, Relaxed);
        // Whoever reads a word of the new round must also see that it is another round.
        fence(Release);
        span.len.store(0, Relaxed);
        span.ticks.store(0, Relaxed);
        span.cut.store(0, Relaxed);
        *place = start;
        drop(place);
        self.begun.store(number + 1, Release);
    }

    /// Whether a new span should begin at the next opportunity.
    pub(super) fn is_due(&self) -> bool {
        let Some(span) = self.newest() else { return true };
        let ticks = u32::try_from(span.ticks.load(Relaxed)).unwrap_or(u32::MAX);
        ticks >= SPAN_SECONDS * u32::from(self.rate.hz())
            || span.len.load(Relaxed) + SPAN_SPARE > SPAN_WORDS
    }

    /// Write down one entry.
    pub(super) fn note(&self, entry: &Entry) {
        let Some(span) = self.newest() else { return };
        if span.cut.load(Relaxed) > 0 {
            return;
        }
        let words = span.words.get_or_init(|| (0..SPAN_WORDS).map(|_| AtomicU64::new(0)).collect());
        let len = span.len.load(Relaxed);
        let (mut head, mut long) = ([0; ENTRY_WORDS], Vec::new());
        let all = entry.words(&mut head, &mut long);
        let Some(places) = words.get(len..len + all.len()) else {
            return span.cut.store(1, Relaxed);
        };
        places.iter().zip(all).for_each(|(place, word)| place.store(*word, Relaxed));
        span.len.store(len + all.len(), Release);
        if matches!(entry, Entry::Tick(..)) {
            span.ticks.store(span.ticks.load(Relaxed) + 1, Relaxed);
        }
    }

    fn newest(&self) -> Option<&Span> {
        let begun = self.begun.load(Relaxed);
        Some(&self.spans[begun.checked_sub(1)? % SPANS])
    }

    /// Every span that is kept, oldest first.
    fn read(&self) -> Vec<(Start, Vec<u64>)> {
        let mut spans: Vec<_> = self.spans.iter().filter_map(Span::read).collect();
        spans.sort_by_key(|(start, _)| start.number);
        spans
    }
}

impl Span {
    fn start(&self) -> MutexGuard<'_, Option<Start>> {
        self.start.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is there now; nothing if it begins anew meanwhile.
    fn read(&self) -> Option<(Start, Vec<u64>)> {
        let (start, round) = {
            let start = self.start();
            (start.clone()?, self.round.load(Relaxed))
        };
        let len = self.len.load(Acquire);
        let words = self.words.get().map_or(&[][..], |words| &words[..len]);
        let words = words.iter().map(|word| word.load(Relaxed)).collect();
        fence(Acquire);
        (self.round.load(Relaxed) == round).then_some((start, words))
    }
}

impl flight::Journal for Journal {
    fn to_file(&self) -> Option<Vec<u8>> {
        let spans = self.read();
        (!spans.is_empty()).then(|| format::write(self.rate, &spans))
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").field("begun", &self.begun).finish_non_exhaustive()
    }
}
