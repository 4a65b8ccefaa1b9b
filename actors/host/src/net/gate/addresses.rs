//! Addresses: who has knocked in the last seconds, how patiently, and who was let in.
//!
//! Used by the sieve. Bounded: when a bucket is full, whoever has proven least gives way.

use dh_machine::Micros;

/// The addresses heard of lately, by the upper and lower half of a keyed hash.
#[derive(Debug)]
pub(super) struct Addresses {
    buckets: Vec<[Option<Record>; 2]>,
}

#[derive(Clone, Copy, Debug)]
struct Record {
    tag: u32,
    stand: Stand,
    /// When it last rose, or was let in.
    since: Micros,
}

/// What an address has behind it; later ones give way later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stand {
    /// It came again so many times, each time after a pause twice as long.
    Waiting(u8),
    /// It was let in, and may send so many packets with tokens.
    LetIn(u8),
}

impl Addresses {
    pub(super) fn new() -> Self {
        Self { buckets: vec![[None; 2]; BUCKETS] }
    }

    /// An address knocks. Its patience, from 1 to [`PATIENCE_MAX`], if this knock shows any:
    /// none on the first, on one before its time, and while it rests from having been let in.
    pub(super) fn knock(&mut self, hash: u64, now: Micros) -> Option<u8> {
        let record = self.record(hash, now);
        let waited = now.since(record.since);
        let patience = match record.stand {
            Stand::Waiting(patience) if waited >= pause(patience) => patience + 1,
            Stand::LetIn(_) if waited >= REST => 0,
            _ => return None,
        };
        let patience = patience.min(PATIENCE_MAX);
        (record.stand, record.since) = (Stand::Waiting(patience), now);
        (patience > 0).then_some(patience)
    }

    /// An address is let in.
    pub(super) fn let_in(&mut self, hash: u64, now: Micros) {
        let record = self.record(hash, now);
        (record.stand, record.since) = (Stand::LetIn(FOLLOWED_MAX), now);
    }

    /// Whether an address was let in and may still send a packet with a token; this is one.
    pub(super) fn follows(&mut self, hash: u64, now: Micros) -> bool {
        let (bucket, tag) = self.place(hash);
        let mut fresh = bucket.iter_mut().flatten().filter(|record| record.is(tag, now));
        match fresh.next().map(|record| &mut record.stand) {
            Some(Stand::LetIn(left @ 1..)) => {
                *left -= 1;
                true
            }
            _ => false,
        }
    }

    /// The record of an address; a new one takes the place of the weakest.
    fn record(&mut self, hash: u64, now: Micros) -> &mut Record {
        let (bucket, tag) = self.place(hash);
        let strength = |slot: &Option<Record>| {
            let fresh = slot.filter(|record| now.since(record.since) < KEPT_FOR);
            fresh.map(|record| (record.tag == tag, record.stand, record.since))
        };
        let [a, b] = bucket.each_ref().map(strength);
        let is_ours = |strength: Option<(bool, Stand, Micros)>| strength.is_some_and(|s| s.0);
        let at = match (is_ours(a), is_ours(b)) {
            (false, false) => usize::from(b < a),
            (_, second) => usize::from(second),
        };
        if !is_ours([a, b][at]) {
            bucket[at] = None;
        }
        bucket[at].get_or_insert(Record { tag, stand: Stand::Waiting(0), since: now })
    }

    fn place(&mut self, hash: u64) -> (&mut [Option<Record>; 2], u32) {
        let bucket = usize::try_from(hash & BUCKET_MASK).unwrap_or(0);
        (&mut self.buckets[bucket], u32::try_from(hash >> 32).unwrap_or(0))
    }
}

impl Record {
    fn is(&self, tag: u32, now: Micros) -> bool {
        self.tag == tag && now.since(self.since) < KEPT_FOR
    }
}

/// The pause after which a knock shows more patience: half a beat less than that after which a
/// client repeats its first packet (240 ms, 480 ms, 960 ms and so on).
fn pause(patience: u8) -> Micros {
    Micros(PAUSE_MIN.0 << patience.min(PATIENCE_MAX - 1))
}

/// Patience beyond which there is no more.
pub(super) const PATIENCE_MAX: u8 = 4;
const PAUSE_MIN: Micros = Micros::from_millis(200);
/// How long whoever was let in stands back: it has an answer, and others have none.
const REST: Micros = Micros::from_secs(2);
/// Packets with tokens of one address that was let in: four, and as many again for what is lost.
const FOLLOWED_MAX: u8 = 8;
/// How long an address is remembered.
const KEPT_FOR: Micros = Micros::from_secs(4);
/// Places for two addresses each: a flood of 10,000 a second has 40,000 that are remembered.
const BUCKETS: usize = 1 << 16;
const BUCKET_MASK: u64 = (1 << 16) - 1;

#[cfg(test)]
mod tests {
    use super::*;

    const A: u64 = 7 << 32 | 5;

    fn ms(millis: u64) -> Micros {
        Micros::from_millis(millis)
    }

    #[test]
    fn a_client_that_repeats_its_first_packet_gains_patience_each_time() {
        let mut addresses = Addresses::new();
        let knocks = [0, 240, 240, 720, 721, 1_680, 3_600, 5_520];
        let gained = knocks.map(|at| addresses.knock(A, ms(at)));
        assert_eq!(gained, [None, Some(1), None, Some(2), None, Some(3), Some(4), Some(4)]);
    }

    #[test]
    fn knocking_faster_gains_nothing() {
        let mut addresses = Addresses::new();
        let gained = (0..3_100).filter_map(|at| addresses.knock(A, ms(at))).collect::<Vec<_>>();
        assert_eq!(gained, [1, 2, 3, 4], "at 200, 600, 1400 and 3000 ms");
        assert_eq!((0..190).find_map(|at| Addresses::new().knock(A, ms(at))), None);
    }

    #[test]
    fn whoever_was_let_in_stands_back_for_two_seconds_and_may_send_eight_tokens() {
        let mut addresses = Addresses::new();
        assert!(!addresses.follows(A, ms(0)));
        addresses.knock(A, ms(0));
        assert!(!addresses.follows(A, ms(0)));
        addresses.let_in(A, ms(300));
        assert_eq!((0..20).filter(|_| addresses.follows(A, ms(301))).count(), 8);
        assert_eq!((400..2_490).find_map(|at| addresses.knock(A, ms(at))), None);
        assert_eq!(addresses.knock(A, ms(2_500)), Some(1));
    }

    #[test]
    fn an_address_is_forgotten_after_four_seconds() {
        let mut addresses = Addresses::new();
        addresses.let_in(A, ms(0));
        assert!(addresses.follows(A, ms(3_999)));
        assert!(!addresses.follows(A, ms(4_000)));
        assert_eq!(addresses.knock(A, ms(4_000)), None);
    }

    #[test]
    fn in_a_full_bucket_the_newcomer_takes_the_place_of_whoever_has_proven_least() {
        let mut addresses = Addresses::new();
        let of = |n: u64| n << 32 | 5;
        addresses.knock(of(1), ms(0));
        addresses.knock(of(1), ms(240));
        for n in 2..50 {
            addresses.knock(of(n), ms(240));
        }
        assert_eq!(addresses.knock(of(1), ms(720)), Some(2));
        addresses.let_in(of(2), ms(720));
        addresses.let_in(of(3), ms(720));
        assert_eq!(addresses.knock(of(1), ms(1_700)), None, "two have proven more");
    }

    #[test]
    fn of_two_that_have_proven_as_much_the_older_gives_way() {
        let mut addresses = Addresses::new();
        for n in 1..=4 {
            addresses.knock(n << 32 | 5, ms(10 * n));
        }
        let gained = [3, 4].map(|n| addresses.knock(n << 32 | 5, ms(10 * n + 200)));
        assert_eq!(gained, [Some(1); 2]);
    }
}
