//! Link: what one direction of a path does to packets.
//!
//! One model serves the simulated network, the memory transport and the wrapper around real
//! sockets. It never holds a packet: it answers when each one arrives, or that it does not.

use dh_machine::Micros;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

/// One direction of a path: applies to every packet of every kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// How long a packet takes, before the draw.
    pub latency: Micros,
    /// Each packet takes up to this much more or less, drawn uniformly, so packets may reorder.
    pub draw: Micros,
    /// Packets lost, in parts per million.
    pub loss_ppm: u32,
    /// Packets held back by `reorder`, in parts per million.
    pub reorder_ppm: u32,
    /// How much later a held back packet arrives.
    pub reorder: Micros,
    /// Bytes a second that pass; 0 for no limit.
    pub rate: u32,
    /// The longest wait in the queue before the rate limit; packets that would wait longer are
    /// lost. Only with a rate.
    pub queue: Micros,
}

/// Both directions of a client's path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// From the owner of the socket.
    pub up: Link,
    /// To the owner of the socket.
    pub down: Link,
}

impl Link {
    /// Nothing passes.
    pub const CUT: Self = Self { loss_ppm: PPM, ..Self::IDEAL };

    /// Everything passes at once.
    pub const IDEAL: Self = Self {
        latency: Micros(0),
        draw: Micros(0),
        loss_ppm: 0,
        reorder_ppm: 0,
        reorder: Micros(0),
        rate: 0,
        queue: Micros(0),
    };

    /// Whether the link changes nothing.
    #[must_use]
    pub fn is_ideal(&self) -> bool {
        *self == Self::IDEAL
    }
}

impl Links {
    /// Everything passes at once, both ways.
    pub const IDEAL: Self = Self { up: Link::IDEAL, down: Link::IDEAL };

    /// Nothing passes, either way.
    pub const CUT: Self = Self { up: Link::CUT, down: Link::CUT };

    /// The same link both ways.
    #[must_use]
    pub const fn both(link: Link) -> Self {
        Self { up: link, down: link }
    }
}

/// What became of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives so long after it was sent.
    After(Micros),
    /// The link lost it.
    Lost,
    /// The queue before the rate limit was full.
    Overflowed,
}

/// A link with its draws and its queue.
#[derive(Debug)]
pub(crate) struct Lane {
    link: Link,
    rng: ChaCha8Rng,
    /// When the rate limit has passed on everything taken so far.
    free_at: Micros,
}

impl Lane {
    pub(crate) fn new(link: Link, rng: ChaCha8Rng) -> Self {
        Self { link, rng, free_at: Micros(0) }
    }

    /// The link as it is now.
    pub(crate) fn link(&self) -> Link {
        self.link
    }

    /// Another link from the next packet on; what is under way stays so.
    pub(crate) fn set(&mut self, link: Link) {
        self.link = link;
    }

    /// Decide about one packet. All three draws are taken for every packet, used or not, so that
    /// one changed figure does not shift the draws of all later packets.
    pub(crate) fn carry(&mut self, now: Micros, bytes: usize) -> Fate {
        let [loss, held, spread] = [(); 3].map(|()| self.rng.next_u64());
        if below(loss, PPM) < self.link.loss_ppm {
            return Fate::Lost;
        }
        let Some(waited) = self.pass_rate(now, bytes) else { return Fate::Overflowed };
        let span = self.link.draw.0.saturating_mul(2).saturating_add(1);
        let drawn = (self.link.latency.0 + spread % span).saturating_sub(self.link.draw.0);
        let late = if below(held, PPM) < self.link.reorder_ppm { self.link.reorder.0 } else { 0 };
        Fate::After(Micros(waited + drawn + late))
    }

    /// How long the packet waits for the rate limit, its own bytes included; `None` for too long.
    fn pass_rate(&mut self, now: Micros, bytes: usize) -> Option<u64> {
        if self.link.rate == 0 {
            return Some(0);
        }
        let wait = self.free_at.since(now);
        if wait > self.link.queue {
            return None;
        }
        let takes = u64::try_from(bytes).ok()? * 1_000_000 / u64::from(self.link.rate);
        self.free_at = now + wait + Micros(takes);
        Some(wait.0 + takes)
    }
}

/// Parts in a million.
const PPM: u32 = 1_000_000;

/// A draw below `bound`, from the high half of a word.
fn below(word: u64, bound: u32) -> u32 {
    let scaled = ((word >> 32) * u64::from(bound)) >> 32;
    u32::try_from(scaled).unwrap_or(bound)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::rand_core::SeedableRng;

    fn lane(link: Link) -> Lane {
        Lane::new(link, ChaCha8Rng::seed_from_u64(7))
    }

    fn fates(link: Link, count: usize) -> Vec<Fate> {
        let mut lane = lane(link);
        (0..count).map(|_| lane.carry(Micros(0), 100)).collect()
    }

    #[test]
    fn an_ideal_link_delivers_at_once() {
        assert!(fates(Link::IDEAL, 100).iter().all(|fate| *fate == Fate::After(Micros(0))));
    }

    #[test]
    fn the_draw_lies_on_both_sides_of_the_latency_and_reaches_its_ends() {
        let link = Link { latency: Micros(60_000), draw: Micros(20_000), ..Link::IDEAL };
        let delays: Vec<u64> = fates(link, 20_000)
            .into_iter()
            .map(|fate| match fate {
                Fate::After(delay) => delay.0,
                other => panic!("lost without loss: {other:?}"),
            })
            .collect();
        let (low, high) = (delays.iter().min().unwrap(), delays.iter().max().unwrap());
        assert!((40_000..40_100).contains(low), "{low}");
        assert!((79_900..=80_000).contains(high), "{high}");
    }

    #[test]
    fn loss_is_what_it_says_in_parts_per_million() {
        let lost = fates(Link { loss_ppm: 20_000, ..Link::IDEAL }, 100_000)
            .iter()
            .filter(|fate| **fate == Fate::Lost)
            .count();
        assert!((1_850..2_150).contains(&lost), "{lost}");
        assert!(fates(Link::CUT, 1_000).iter().all(|fate| *fate == Fate::Lost));
    }

    #[test]
    fn a_draw_is_taken_for_every_packet_so_that_loss_does_not_shift_the_delays() {
        let calm = Link { latency: Micros(50_000), draw: Micros(9_000), ..Link::IDEAL };
        let stormy = Link { loss_ppm: 300_000, ..calm };
        let pairs = fates(calm, 1_000).into_iter().zip(fates(stormy, 1_000));
        let (kept, lost): (Vec<_>, Vec<_>) = pairs.partition(|(_, with)| *with != Fate::Lost);
        assert!(kept.iter().all(|(without, with)| without == with));
        assert!(!lost.is_empty());
    }

    #[test]
    fn a_rate_limit_spaces_packets_and_drops_what_would_wait_too_long() {
        let link = Link { rate: 20_000, queue: Micros(20_000), ..Link::IDEAL };
        let five = Fate::After(Micros(5_000));
        let mut lane = lane(link);
        let first: Vec<Fate> = (0..6).map(|_| lane.carry(Micros(0), 100)).collect();
        assert_eq!(first[0], five);
        assert_eq!(first[4], Fate::After(Micros(25_000)));
        assert_eq!(first[5], Fate::Overflowed);
        assert_eq!(lane.carry(Micros(1_000_000), 100), five);
    }

    #[test]
    fn explicit_reorder_holds_back_its_share() {
        let link = Link { reorder_ppm: 250_000, reorder: Micros(300_000), ..Link::IDEAL };
        let late = fates(link, 10_000)
            .iter()
            .filter(|fate| **fate == Fate::After(Micros(300_000)))
            .count();
        assert!((2_300..2_700).contains(&late), "{late}");
    }
}
