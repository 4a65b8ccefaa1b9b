//! Heard: when a packet last came from each peer that has a connection over a socket.
//!
//! Noted as packets are read, so that nobody has to ask; of strangers nothing is kept.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use dh_machine::Micros;

use crate::net::lock;

/// Who is listened for at one socket, by address, and when each was last heard.
#[derive(Debug, Default)]
pub(crate) struct Heard(Mutex<BTreeMap<SocketAddr, Arc<AtomicU64>>>);

/// Listens for one peer until it is dropped.
#[derive(Debug)]
pub(crate) struct Ear {
    heard: Arc<Heard>,
    at: Mutex<SocketAddr>,
    /// [`NEVER`] until something has come from where the peer is.
    last: Arc<AtomicU64>,
}

const NEVER: u64 = u64::MAX;

impl Heard {
    /// Packets have come from these addresses.
    pub(crate) fn note(&self, from: impl Iterator<Item = SocketAddr>, now: Micros) {
        let peers = lock(&self.0);
        for last in from.filter_map(|from| peers.get(&from)) {
            last.store(now.0, Relaxed);
        }
    }

    /// Listen for a peer that was just heard from there.
    pub(crate) fn listen(self: &Arc<Self>, from: SocketAddr, now: Micros) -> Ear {
        let last = Arc::new(AtomicU64::new(now.0));
        lock(&self.0).insert(from, Arc::clone(&last));
        Ear { heard: Arc::clone(self), at: Mutex::new(from), last }
    }
}

impl Ear {
    /// When a packet last came from the peer, which is at this address now. Where it has moved
    /// since this was last asked nothing is known before the next packet comes.
    pub(crate) fn last(&self, from: SocketAddr) -> Option<Micros> {
        let mut at = lock(&self.at);
        if *at != from {
            self.forget(*at);
            *at = from;
            self.last.store(NEVER, Relaxed);
            lock(&self.heard.0).insert(from, Arc::clone(&self.last));
        }
        Some(self.last.load(Relaxed)).filter(|last| *last != NEVER).map(Micros)
    }

    /// Another may be listened for at the same address by now.
    fn forget(&self, at: SocketAddr) {
        let mut peers = lock(&self.heard.0);
        if peers.get(&at).is_some_and(|last| Arc::ptr_eq(last, &self.last)) {
            peers.remove(&at);
        }
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        self.forget(*lock(&self.at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    #[test]
    fn each_peer_is_heard_by_its_own_packets_and_strangers_leave_nothing() {
        let heard = Arc::new(Heard::default());
        let (ada, bob) = (heard.listen(at(1), Micros(5)), heard.listen(at(2), Micros(6)));
        heard.note([at(1), at(3), at(1)].into_iter(), Micros(70));
        assert_eq!((ada.last(at(1)), bob.last(at(2))), (Some(Micros(70)), Some(Micros(6))));
        assert_eq!(lock(&heard.0).len(), 2);
        drop((ada, bob));
        assert!(lock(&heard.0).is_empty());
    }

    #[test]
    fn a_peer_that_moved_is_heard_from_where_it_is_and_unknown_until_then() {
        let heard = Arc::new(Heard::default());
        let ear = heard.listen(at(1), Micros(5));
        assert_eq!(ear.last(at(9)), None);
        heard.note([at(1)].into_iter(), Micros(8));
        assert_eq!(ear.last(at(9)), None, "another may be there now");
        heard.note([at(9)].into_iter(), Micros(9));
        assert_eq!(ear.last(at(9)), Some(Micros(9)));
    }

    #[test]
    fn whoever_comes_again_from_the_same_address_is_not_forgotten_with_the_one_before() {
        let heard = Arc::new(Heard::default());
        let old = heard.listen(at(1), Micros(5));
        let new = heard.listen(at(1), Micros(7));
        drop(old);
        heard.note([at(1)].into_iter(), Micros(11));
        assert_eq!(new.last(at(1)), Some(Micros(11)));
    }
}
