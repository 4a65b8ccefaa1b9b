//! Players: how far the peers of a runtime's servers have come.
//!
//! Counted by servers where it changes, read by the inspector: nobody is asked.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// The peers of all servers of one runtime.
#[derive(Debug, Default)]
pub struct Players(Arc<Counts>);

/// How many peers stand where, and how many may be there.
#[derive(Debug, Default)]
struct Counts {
    /// By [`Stage`].
    peers: [AtomicU64; 3],
    max: AtomicU64,
}

/// The room of one server; its places are gone when this is dropped.
#[derive(Debug)]
pub struct Room {
    counts: Arc<Counts>,
    max: AtomicU64,
}

/// One peer, which is counted until this is dropped.
#[derive(Debug)]
pub struct Player {
    counts: Arc<Counts>,
    stage: Stage,
}

/// How far a peer has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It is connected and has not said who it is.
    Connecting,
    /// It loads the map, or waits for its pawn.
    Loading,
    /// It plays.
    Playing,
}

/// All of them at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Census {
    pub(crate) connecting: u64,
    pub(crate) loading: u64,
    pub(crate) playing: u64,
    pub(crate) max: u64,
}

impl Players {
    /// A room for at most `max` peers.
    #[must_use]
    pub fn room(&self, max: usize) -> Room {
        let room = Room { counts: Arc::clone(&self.0), max: AtomicU64::new(0) };
        room.bound(max);
        room
    }

    /// All of them; none where there is no room at all.
    pub(crate) fn census(&self) -> Option<Census> {
        let [connecting, loading, playing] = self.0.peers.each_ref().map(|it| it.load(Relaxed));
        let max = self.0.max.load(Relaxed);
        (max > 0).then_some(Census { connecting, loading, playing, max })
    }
}

impl Room {
    /// It is for at most `max` peers from now on.
    pub fn bound(&self, max: usize) {
        let max = u64::try_from(max).unwrap_or(u64::MAX);
        let before = self.max.swap(max, Relaxed);
        // Wrapping, so that the sum is right whichever is larger.
        self.counts.max.fetch_add(max.wrapping_sub(before), Relaxed);
    }

    /// One more peer, which connects.
    #[must_use]
    pub fn enter(&self) -> Player {
        let player = Player { counts: Arc::clone(&self.counts), stage: Stage::Connecting };
        player.place().fetch_add(1, Relaxed);
        player
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.bound(0);
    }
}

impl Player {
    /// It has come so far.
    pub fn stands(&mut self, stage: Stage) {
        if stage != self.stage {
            self.place().fetch_sub(1, Relaxed);
            self.stage = stage;
            self.place().fetch_add(1, Relaxed);
        }
    }

    fn place(&self) -> &AtomicU64 {
        let [connecting, loading, playing] = &self.counts.peers;
        match self.stage {
            Stage::Connecting => connecting,
            Stage::Loading => loading,
            Stage::Playing => playing,
        }
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        self.place().fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_peer_is_counted_once_where_it_stands_and_the_rooms_of_all_servers_add_up() {
        let players = Players::default();
        assert_eq!(players.census(), None, "no server");
        let (small, large) = (players.room(2), players.room(16));
        let (mut ada, mut bob, cyd) = (small.enter(), large.enter(), large.enter());
        ada.stands(Stage::Loading);
        bob.stands(Stage::Loading);
        bob.stands(Stage::Playing);
        let census = Census { connecting: 1, loading: 1, playing: 1, max: 18 };
        assert_eq!(players.census(), Some(census));
        large.bound(5);
        drop((ada, cyd, small));
        let census = Census { connecting: 0, loading: 0, playing: 1, max: 5 };
        assert_eq!(players.census(), Some(census));
        drop((large, bob));
        assert_eq!(players.census(), None);
    }
}
