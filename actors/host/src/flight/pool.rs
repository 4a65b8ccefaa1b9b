//! Pool: one ring of small chunks for all actors. Each writer holds one chunk at a time, which no
//! other writes to, and takes the oldest free one when it is full.
//!
//! A busy actor so gets most of the space and an idle one keeps its last chunk. Chunks are made
//! when they are first needed.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, fence};
use std::sync::{Arc, OnceLock};

use crate::registry::ActorId;

/// A record.
pub(super) type Words = [u64; 2];

#[derive(Debug)]
pub(super) struct Pool {
    chunks: Box<[OnceLock<Arc<Chunk>>]>,
    next: AtomicUsize,
}

/// Records of one writer, oldest first.
#[derive(Debug)]
struct Chunk {
    held: AtomicBool,
    /// Raised before a new writer changes anything, to an odd number, and again after.
    round: AtomicU64,
    owner: AtomicU64,
    base: AtomicU64,
    len: AtomicUsize,
    words: [[AtomicU64; 2]; Pool::RECORDS],
}

/// The only writer of one chunk after the other.
#[derive(Debug)]
pub(super) struct Hand {
    pool: Arc<Pool>,
    owner: ActorId,
    chunk: Option<Arc<Chunk>>,
    at: usize,
    pub(super) base: u64,
}

/// What was read of one chunk.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) owner: ActorId,
    /// What its writer counts from.
    pub(super) base: u64,
    pub(super) records: Vec<Words>,
}

impl Pool {
    /// Records of one chunk.
    pub(super) const RECORDS: usize = 127;
    /// Chunks that are looked at for a free one; with so many held, records are lost instead.
    const TRIES: usize = 64;

    /// Chunks for so many bytes.
    pub(super) fn new(bytes: usize) -> Self {
        let chunks = bytes / size_of::<Chunk>();
        Self { chunks: (0..chunks).map(|_| OnceLock::new()).collect(), next: AtomicUsize::new(0) }
    }

    /// Everything that is there now. A chunk that gets a new writer meanwhile is left out.
    pub(super) fn read(&self) -> Vec<Piece> {
        self.chunks.iter().filter_map(OnceLock::get).filter_map(|chunk| chunk.read()).collect()
    }

    fn take(&self) -> Option<Arc<Chunk>> {
        for _ in 0..Self::TRIES.min(self.chunks.len()) {
            let at = self.next.fetch_add(1, Relaxed) % self.chunks.len();
            let chunk = self.chunks[at].get_or_init(Arc::default);
            if !chunk.held.swap(true, Acquire) {
                return Some(Arc::clone(chunk));
            }
        }
        None
    }
}

impl Chunk {
    fn begin(&self, owner: ActorId, base: u64) {
        let round = self.round.load(Relaxed);
        self.round.store(round + 1, Relaxed);
        // Whoever reads anything of what follows must also see that it is being changed.
        fence(Release);
        self.len.store(0, Relaxed);
        self.owner.store(owner.0, Relaxed);
        self.base.store(base, Relaxed);
        self.round.store(round + 2, Release);
    }

    fn read(&self) -> Option<Piece> {
        let round = self.round.load(Acquire);
        let len = self.len.load(Acquire);
        let (owner, base) = (ActorId(self.owner.load(Relaxed)), self.base.load(Relaxed));
        let words = self.words.iter().take(len);
        let records = words.map(|[a, b]| [a.load(Relaxed), b.load(Relaxed)]).collect();
        fence(Acquire);
        let is_whole = round.is_multiple_of(2) && self.round.load(Relaxed) == round;
        is_whole.then_some(Piece { owner, base, records })
    }
}

impl Default for Chunk {
    fn default() -> Self {
        Self {
            held: AtomicBool::new(false),
            round: AtomicU64::new(0),
            owner: AtomicU64::new(0),
            base: AtomicU64::new(0),
            len: AtomicUsize::new(0),
            words: [const { [const { AtomicU64::new(0) }; 2] }; Pool::RECORDS],
        }
    }
}

impl Hand {
    pub(super) fn new(pool: &Arc<Pool>, owner: ActorId) -> Self {
        Self { pool: Arc::clone(pool), owner, chunk: None, at: Pool::RECORDS, base: 0 }
    }

    /// Whether the next record needs a new chunk.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.at == Pool::RECORDS
    }

    /// Take another chunk, whose records count from `base`.
    #[cold]
    pub(super) fn turn_over(&mut self, base: u64) {
        self.let_go();
        self.chunk = self.pool.take();
        if let Some(chunk) = &self.chunk {
            chunk.begin(self.owner, base);
        }
        (self.at, self.base) = (0, base);
    }

    /// Write one record; lost where every chunk is held.
    #[inline]
    pub(super) fn push(&mut self, [a, b]: Words) {
        if let Some(chunk) = &self.chunk
            && let Some([first, second]) = chunk.words.get(self.at)
        {
            first.store(a, Relaxed);
            second.store(b, Relaxed);
            chunk.len.store(self.at + 1, Release);
        }
        self.at += 1;
    }

    fn let_go(&mut self) {
        if let Some(chunk) = self.chunk.take() {
            chunk.held.store(false, Release);
        }
    }
}

impl Drop for Hand {
    fn drop(&mut self) {
        self.let_go();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pool: &Pool, owner: u64) -> Vec<u64> {
        let mut of: Vec<Piece> = pool.read();
        of.retain(|piece| piece.owner == ActorId(owner));
        of.sort_by_key(|piece| piece.base);
        of.iter().flat_map(|piece| piece.records.iter().map(|[a, _]| *a)).collect()
    }

    fn write(hand: &mut Hand, number: u64) {
        if hand.is_full() {
            hand.turn_over(number);
        }
        hand.push([number, !number]);
    }

    #[test]
    fn the_busy_overwrite_the_oldest_and_the_idle_keep_what_they_had() {
        let pool = Arc::new(Pool::new(8 * size_of::<Chunk>()));
        let (mut idle, mut busy) = (Hand::new(&pool, ActorId(1)), Hand::new(&pool, ActorId(2)));
        (0..3).for_each(|number| write(&mut idle, number));
        (0..100_000).for_each(|number| write(&mut busy, number));
        assert_eq!(read(&pool, 1), [0, 1, 2]);
        let kept = read(&pool, 2);
        assert!(kept.len() > 6 * Pool::RECORDS, "{}", kept.len());
        assert_eq!(kept, (100_000 - kept.len() as u64..100_000).collect::<Vec<_>>());
    }

    #[test]
    fn a_chunk_that_is_begun_anew_holds_nothing_of_before_and_is_its_own_writers_next() {
        let pool = Arc::new(Pool::new(size_of::<Chunk>()));
        let mut hand = Hand::new(&pool, ActorId(1));
        let records = Pool::RECORDS as u64;
        (0..=records).for_each(|number| write(&mut hand, number));
        assert_eq!(read(&pool, 1), [records]);
    }

    #[test]
    fn with_every_chunk_held_records_are_lost_and_nothing_else() {
        let pool = Arc::new(Pool::new(size_of::<Chunk>()));
        let mut first = Hand::new(&pool, ActorId(1));
        write(&mut first, 7);
        let mut second = Hand::new(&pool, ActorId(2));
        (0..1_000).for_each(|number| write(&mut second, number));
        assert_eq!((read(&pool, 1), read(&pool, 2)), (vec![7], vec![]));
        drop(first);
        (0..1_000).for_each(|number| write(&mut second, number));
        assert!(!read(&pool, 2).is_empty(), "what is free again is used");
    }

    #[test]
    fn whoever_reads_while_others_write_gets_whole_records() {
        let pool = Arc::new(Pool::new(16 * size_of::<Chunk>()));
        std::thread::scope(|scope| {
            let writers = [1, 2].map(|owner| {
                let mut hand = Hand::new(&pool, ActorId(owner));
                scope.spawn(move || (0..300_000).for_each(|number| write(&mut hand, number)))
            });
            while writers.iter().any(|writer| !writer.is_finished()) {
                for piece in pool.read() {
                    let first = piece.records.first().map_or(piece.base, |[a, _]| *a);
                    assert_eq!(first, piece.base);
                    let whole = (piece.base..).zip(&piece.records);
                    assert!(whole.clone().all(|(number, words)| *words == [number, !number]));
                }
            }
        });
    }
}
