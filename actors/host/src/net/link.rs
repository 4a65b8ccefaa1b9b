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
    /// Each packet takes up to this much more, nearly always far less: half of them a sixteenth
    /// of it, one in ten two thirds.
    pub tail: Micros,
    /// Packets that arrive twice, in parts per million; the copy has a delay of its own.
    pub duplicate_ppm: u32,
    /// Bytes of the largest packet that passes, 0 for no limit. Larger ones vanish without a word.
    pub mtu: u32,
    /// Losses that come together.
    pub burst: Burst,
}

/// Losses that come together (Gilbert and Elliott): a link is well or ill, changes by the odds
/// between two packets, and loses its own share in each state. While well that is
/// [`Link::loss_ppm`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Burst {
    /// Odds, in parts per million a packet, that a well link falls ill; 0 for never.
    pub enter_ppm: u32,
    /// Odds, in parts per million a packet, that an ill link gets well.
    pub leave_ppm: u32,
    /// Packets lost while ill, in parts per million.
    pub loss_ppm: u32,
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
        tail: Micros(0),
        duplicate_ppm: 0,
        mtu: 0,
        burst: Burst::NONE,
    };

    /// Whether the link changes nothing.
    #[must_use]
    pub fn is_ideal(&self) -> bool {
        *self == Self::IDEAL
    }
}

impl Burst {
    /// A link that is never ill.
    pub const NONE: Self = Self { enter_ppm: 0, leave_ppm: 0, loss_ppm: 0 };

    /// Bursts in which everything is lost: `loss_ppm` of all packets, in runs of `packets` on
    /// average. Where so much loss cannot come in runs so short, the runs are longer.
    #[must_use]
    pub fn of(loss_ppm: u32, packets: u32) -> Self {
        let (lost, kept) = (u64::from(loss_ppm.min(PPM)), u64::from(PPM.saturating_sub(loss_ppm)));
        if lost == 0 {
            return Self::NONE;
        }
        let wanted = u64::from(PPM / packets.max(1)).max(1);
        // In balance as many packets are ill as the odds say: enter / (enter + leave).
        let leave = if lost > kept { wanted.min(u64::from(PPM) * kept / lost) } else { wanted };
        let enter = if kept == 0 { u64::from(PPM) } else { (leave * lost).div_ceil(kept) };
        let ppm = |odds: u64| u32::try_from(odds).map_or(PPM, |odds| odds.min(PPM));
        Self { enter_ppm: ppm(enter), leave_ppm: ppm(leave), loss_ppm: PPM }
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

/// Which directions of a path are cut. A cut is kept beside the links, so that healing it gives
/// back exactly what the links were told meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Nothing from the owner of the socket passes.
    pub up: bool,
    /// Nothing to the owner of the socket passes.
    pub down: bool,
}

impl Cut {
    /// Everything passes as the links say.
    pub const NONE: Self = Self { up: false, down: false };

    /// Nothing passes, either way.
    pub const BOTH: Self = Self { up: true, down: true };

    /// Only what the owner of the socket sends is lost.
    pub const UP: Self = Self { up: true, down: false };

    /// Only what is sent to the owner of the socket is lost.
    pub const DOWN: Self = Self { up: false, down: true };
}

/// What became of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives so long after it was sent.
    After(Micros),
    /// It arrives, and so does a copy of it, each so long after it was sent.
    Twice(Micros, Micros),
    /// The link lost it.
    Lost,
    /// The queue before the rate limit was full.
    Overflowed,
    /// It is larger than the link passes.
    TooLarge,
}

impl Fate {
    /// What two links in a row do.
    pub(crate) fn then(self, next: Self) -> Self {
        match (self, next) {
            (Self::After(a), Self::After(b)) => Self::After(a + b),
            (Self::After(a), Self::Twice(b, c)) | (Self::Twice(b, c), Self::After(a)) => {
                Self::Twice(a + b, a + c)
            }
            (Self::Twice(a, b), Self::Twice(c, d)) => Self::Twice(a + c, b + d),
            (Self::After(_) | Self::Twice(..), lost) | (lost, _) => lost,
        }
    }
}

/// A link with its draws and its queue.
#[derive(Debug)]
pub(crate) struct Lane {
    link: Link,
    is_cut: bool,
    /// Whether a burst of losses is on.
    is_ill: bool,
    rng: ChaCha8Rng,
    /// When the rate limit has passed on everything taken so far.
    free_at: Micros,
}

impl Lane {
    pub(crate) fn new(link: Link, rng: ChaCha8Rng) -> Self {
        Self { link, is_cut: false, is_ill: false, rng, free_at: Micros(0) }
    }

    /// The link as it is now.
    pub(crate) fn link(&self) -> Link {
        self.link
    }

    /// Another link from the next packet on; what is under way stays so.
    pub(crate) fn set(&mut self, link: Link) {
        self.link = link;
        self.is_ill &= link.burst.enter_ppm > 0;
    }

    /// Lose everything from the next packet on, or do as the link says again.
    pub(crate) fn cut(&mut self, is_cut: bool) {
        self.is_cut = is_cut;
    }

    /// Decide about one packet. All draws are taken for every packet, used or not, so that one
    /// changed figure does not shift the draws of all later packets: three words, whose halves
    /// are draws of their own; the others follow from them.
    pub(crate) fn carry(&mut self, now: Micros, bytes: usize) -> Fate {
        let [loss, held, spread] = [(); 3].map(|()| self.rng.next_u64());
        let Link { burst, mtu, duplicate_ppm, .. } = self.link;
        let turn = below(loss << 32, PPM);
        self.is_ill = if self.is_ill { turn >= burst.leave_ppm } else { turn < burst.enter_ppm };
        let lost = if self.is_ill { burst.loss_ppm } else { self.link.loss_ppm };
        if self.is_cut || below(loss, PPM) < lost {
            return Fate::Lost;
        }
        if mtu > 0 && u32::try_from(bytes).map_or(true, |bytes| bytes > mtu) {
            return Fate::TooLarge;
        }
        let Some(waited) = self.pass_rate(now, bytes) else { return Fate::Overflowed };
        let takes = self.link.drawn(spread, mixed(spread));
        let late = if below(held, PPM) < self.link.reorder_ppm { self.link.reorder.0 } else { 0 };
        let first = Micros(waited + takes + late);
        if below(held << 32, PPM) < duplicate_ppm {
            let takes = self.link.drawn(mixed(loss), mixed(held));
            return Fate::Twice(first, Micros(waited + takes));
        }
        Fate::After(first)
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

impl Link {
    /// How long a packet takes with these draws.
    fn drawn(&self, spread: u64, tail: u64) -> u64 {
        let span = self.draw.0.saturating_mul(2).saturating_add(1);
        let even = (self.latency.0 + spread % span).saturating_sub(self.draw.0);
        if self.tail == Micros(0) { even } else { even + skewed(tail, self.tail) }
    }
}

/// The fourth power of an even draw, as a share of `most`.
fn skewed(word: u64, most: Micros) -> u64 {
    let square = |part: u64| (part * part) >> 32;
    let share = square(square(word >> 32));
    u64::try_from((u128::from(share) * u128::from(most.0)) >> 32).unwrap_or(most.0)
}

/// Another draw that follows from one (the last steps of splitmix64).
fn mixed(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// Parts in a million.
const PPM: u32 = 1_000_000;

/// A draw below `bound`, from the high half of a word.
fn below(word: u64, bound: u32) -> u32 {
    let scaled = ((word >> 32) * u64::from(bound)) >> 32;
    u32::try_from(scaled).unwrap_or(bound)
}

#[cfg(test)]
mod tests;
