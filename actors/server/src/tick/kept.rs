//! Kept: what outlives a panic, and what a journal begins with: the world between two ticks, and
//! who is in it.

use std::collections::BTreeMap;

use dh_machine::{Damage, Micros, TickRate, Words, halves, joined};
use dh_messages::{EntityId, WorldSettings};
use dh_netcode::InputQueue;
use dh_sim::{Checkpoint, Ground};

use super::schedule::Schedule;
use crate::PeerId;

/// What outlives a panic: the world between two ticks, and who is in it.
#[derive(Debug)]
pub struct Kept {
    pub(super) world: Checkpoint,
    pub(super) seats: BTreeMap<PeerId, Seat>,
    pub(super) schedule: Schedule,
}

/// One peer's place in the world.
#[derive(Clone, Debug)]
pub(super) struct Seat {
    pub(super) pawn: EntityId,
    pub(super) queue: InputQueue,
}

/// The fewest words of a seat.
const SEAT_WORDS: usize = 8;

impl Kept {
    /// Appends the world and its peers. The schedule is this process's own.
    pub(super) fn to_words(&self, out: &mut Vec<u64>) {
        self.world.to_words(out);
        out.push(self.seats.len() as u64);
        for (peer, seat) in &self.seats {
            out.push(joined(peer.0, seat.pawn.0));
            seat.queue.to_words(out);
        }
    }

    /// What was kept in these words, on the ground of its map.
    pub(super) fn of_words(
        words: &mut Words<'_>,
        rate: TickRate,
        ground: Ground,
    ) -> Result<Self, Damage> {
        let world = Checkpoint::of_words(words, rate, ground)?;
        let mut seats = BTreeMap::new();
        for _ in 0..words.count("peers", SEAT_WORDS)? {
            let here = words.damage("peers in the order of their numbers");
            let (peer, pawn) = halves(words.next("a peer")?);
            if seats.last_key_value().is_some_and(|(last, _)| *last >= PeerId(peer)) {
                return Err(here);
            }
            let queue = InputQueue::of_words(words)?;
            seats.insert(PeerId(peer), Seat { pawn: EntityId(pawn), queue });
        }
        Ok(Self { world, seats, schedule: Schedule::new(rate, Micros(0)) })
    }

    /// Bytes it takes, the map aside.
    pub(super) fn bytes(&self) -> usize {
        let queue = size_of::<Seat>() + InputQueue::MAX * size_of::<dh_messages::PlayerInput>();
        self.world.bytes() + self.seats.len() * queue * 2
    }

    /// The settings of the world.
    pub(super) fn settings(&self) -> WorldSettings {
        self.world.settings()
    }

    /// Who is in it.
    pub(super) fn peers(&self) -> Vec<PeerId> {
        self.seats.keys().copied().collect()
    }
}
