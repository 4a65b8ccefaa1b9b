//! Tickets: which peer waits for the answer to which of its lines.
//!
//! The console's own lines are numbered by whoever types them, below [`FIRST`]; a line of a peer
//! is given a ticket, a number from there on, which the world and the map switch hand back.

use std::collections::BTreeMap;

use crate::PeerId;

/// The first number that stands for a line of a peer.
const FIRST: u32 = 1 << 31;
/// Lines of peers that may wait for an answer.
pub(super) const WAITING_MAX: usize = 256;

/// Who waits, by ticket.
#[derive(Clone, Debug)]
pub(super) struct Tickets {
    next: u32,
    waiting: BTreeMap<u32, Asked>,
}

/// A line of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) peer: PeerId,
    /// The peer's own number of it.
    pub(super) id: u32,
}

impl Default for Tickets {
    /// Nobody waits.
    fn default() -> Self {
        Self { next: FIRST, waiting: BTreeMap::new() }
    }
}

impl Tickets {
    /// Whether a number stands for a line of a peer.
    pub(super) const fn is_ticket(id: u32) -> bool {
        FIRST <= id
    }

    /// A ticket for this line; none where too many wait.
    pub(super) fn issue(&mut self, asked: Asked) -> Option<u32> {
        if WAITING_MAX <= self.waiting.len() {
            return None;
        }
        let ticket = self.next;
        self.next = FIRST | self.next.wrapping_add(1);
        self.waiting.insert(ticket, asked);
        Some(ticket)
    }

    /// Whom an answer is for; nobody where the peer has gone.
    pub(super) fn redeem(&mut self, ticket: u32) -> Option<Asked> {
        self.waiting.remove(&ticket)
    }

    /// The peer has gone; whether it waited for anything.
    pub(super) fn forget(&mut self, peer: PeerId) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|_, asked| asked.peer != peer);
        self.waiting.len() < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_redeemed_once_by_who_is_still_here_and_only_so_many_wait() {
        let mut tickets = Tickets::default();
        let asked = |peer, id| Asked { peer: PeerId(peer), id };
        let first = tickets.issue(asked(1, 7)).unwrap();
        let second = tickets.issue(asked(2, 7)).unwrap();
        assert!(Tickets::is_ticket(first) && !Tickets::is_ticket(7));
        assert_eq!(tickets.redeem(first), Some(asked(1, 7)));
        assert_eq!(tickets.redeem(first), None);
        assert!(tickets.forget(PeerId(2)) && !tickets.forget(PeerId(2)));
        assert_eq!(tickets.redeem(second), None);
        let issued = (0..1_000).filter_map(|id| tickets.issue(asked(3, id))).count();
        assert_eq!(issued, WAITING_MAX);
    }

    #[test]
    fn the_number_after_the_last_is_a_ticket_again() {
        let mut tickets = Tickets { next: u32::MAX, waiting: BTreeMap::new() };
        let asked = Asked { peer: PeerId(1), id: 1 };
        assert_eq!(tickets.issue(asked), Some(u32::MAX));
        assert!(tickets.issue(asked).is_some_and(Tickets::is_ticket));
    }
}
