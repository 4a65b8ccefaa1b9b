//! Sieve: which packets pass the gate. Pure: the time is told.

use std::net::SocketAddr;

use dh_machine::Micros;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::addresses::Addresses;
use super::kind::Kind;
use super::shares::Shares;

/// What is known of the packets of the last seconds.
#[derive(Debug)]
pub(super) struct Sieve {
    seed: u64,
    addresses: Addresses,
    shares: Shares,
    now: Micros,
    /// When the current window began, and the packets counted in it.
    window: Micros,
    first: u32,
    dropped: u32,
    tokened: u32,
    was_flood: bool,
    was_busy: bool,
}

impl Sieve {
    pub(super) fn new(now: Micros, seed: u64) -> Self {
        Self {
            seed,
            addresses: Addresses::new(),
            shares: Shares::new(seed),
            now,
            window: now,
            first: 0,
            dropped: 0,
            tokened: 0,
            was_flood: false,
            was_busy: false,
        }
    }

    /// The time; starts a new window when the current one is over.
    pub(super) fn turn(&mut self, now: Micros) {
        self.now = now;
        let since = now.since(self.window);
        if since >= WINDOW {
            // After a quiet time the last whole window was empty.
            let follows = since < WINDOW + WINDOW;
            self.was_flood = self.first > FIRST_MAX && follows;
            self.was_busy = self.dropped > FIRST_MAX && follows;
            self.shares.turn(follows);
            self.window = now;
            (self.first, self.dropped, self.tokened) = (0, 0, 0);
        }
    }

    /// Whether first packets come faster than any crowd of players.
    pub(super) fn is_flooded(&self) -> bool {
        self.was_flood || self.first > FIRST_MAX
    }

    /// Whether most of what comes is dropped, so that it is worth reading many at once.
    pub(super) fn is_busy(&self) -> bool {
        self.was_flood || self.was_busy
    }

    /// Whether a datagram passes.
    pub(super) fn passes(&mut self, datagram: &[u8], from: SocketAddr, is_told: bool) -> bool {
        let passes = match Kind::of(datagram) {
            Kind::Other => true,
            Kind::Void => false,
            Kind::Tokened => self.follows(from, is_told) || self.knocks(from, is_told),
            Kind::First => self.knocks(from, is_told),
        };
        self.dropped += u32::from(!passes);
        passes
    }

    fn follows(&mut self, from: SocketAddr, is_told: bool) -> bool {
        let is_shedding = is_told || self.is_flooded();
        let hash = self.hash(from);
        if is_shedding && self.tokened >= TOKENED_MAX || !self.addresses.follows(hash, self.now) {
            return false;
        }
        self.tokened += 1;
        true
    }

    fn knocks(&mut self, from: SocketAddr, is_told: bool) -> bool {
        self.first += 1;
        let hash = self.hash(from);
        let passes = if is_told || self.is_flooded() {
            let patience = self.addresses.knock(hash, self.now);
            patience.is_some_and(|patience| self.shares.ask(from, patience))
        } else {
            true
        };
        if passes {
            self.addresses.let_in(hash, self.now);
        }
        passes
    }

    fn hash(&self, address: SocketAddr) -> u64 {
        let mut key = [0; 18];
        match address {
            SocketAddr::V4(v4) => key[..4].copy_from_slice(&v4.ip().octets()),
            SocketAddr::V6(v6) => key[..16].copy_from_slice(&v6.ip().octets()),
        }
        key[16..].copy_from_slice(&address.port().to_le_bytes());
        xxh3_64_with_seed(&key, self.seed)
    }
}

/// What the rates below are counted in.
const WINDOW: Micros = Micros::from_millis(100);
/// First packets a window beyond which they are a flood: 640 a second.
const FIRST_MAX: u32 = 64;
/// Packets with tokens that pass in a window of a flood.
const TOKENED_MAX: u32 = 128;

#[cfg(test)]
mod tests;
