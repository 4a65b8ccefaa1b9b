//! What the listener decides: who may shake hands, who is turned away, who gets a session. Pure.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use dh_host::net::PeerKey;
use dh_machine::{Digest, Machine, Micros, Outbox};

use super::ListenerMsg;
use crate::PeerId;
use crate::prefs::players_max;

/// Unfinished handshakes above which unvalidated arrivals must prove their address.
pub(super) const UNVALIDATED_MAX: usize = 64;
/// Unfinished handshakes above which arrivals are ignored.
pub(super) const UNFINISHED_MAX: usize = 1_024;
/// Unfinished handshakes from one /24 (or /56) above which its arrivals are ignored.
pub(super) const PREFIX_MAX: u32 = 32;
/// The age at which an unfinished handshake is forgotten. The runtime ends each after 3 s and says
/// so; this is for one it had given up before it was accepted.
pub(super) const UNFINISHED_AGE_MAX: Micros = Micros::from_secs(5);

/// What becomes of an arrival before its handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Shake hands.
    Accept,
    /// Prove your address first.
    Retry,
    /// No answer at all.
    Ignore,
}

/// What the listener wants done.
#[derive(Debug, PartialEq, Eq)]
pub enum Effect {
    /// Answer the knock.
    Answer(u64, Admission),
    /// Tell the gate before the endpoint whether to shed unknown addresses unread.
    Shed(bool),
    /// Give the finished handshake a session.
    Open {
        /// The knock that finished.
        knock: u64,
        /// Its number from now on.
        peer: PeerId,
    },
    /// End the finished handshake as full.
    TurnAway {
        /// The knock that finished.
        knock: u64,
        /// What the peer is told.
        reason: String,
    },
}

/// A first packet that asks to be let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arriving {
    /// The endpoint's number for it.
    pub id: u64,
    /// Where it says it comes from; `None` inside the process.
    pub address: Option<SocketAddr>,
    /// Whether the address has proved that it reads what is sent to it.
    pub validated: bool,
}

/// A handshake that has finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// The number of its knock.
    pub knock: u64,
    /// The key it has proved, where keys decide who a peer is.
    pub key: Option<PeerKey>,
}

/// Admission state: nothing of it outlives a restart but the sessions that stand.
#[derive(Debug)]
pub struct Listener {
    /// By knock, which grow with time.
    unfinished: BTreeMap<u64, Unfinished>,
    by_prefix: BTreeMap<Prefix, u32>,
    open: BTreeMap<PeerId, Option<PeerKey>>,
    players_max: usize,
    next_peer: u32,
    shedding: bool,
}

#[derive(Clone, Copy, Debug)]
struct Unfinished {
    since: Micros,
    prefix: Option<Prefix>,
}

impl Listener {
    /// A listener for at most `players_max` sessions, of which `open` stand already.
    #[must_use]
    pub fn new(
        players_max: usize,
        open: BTreeMap<PeerId, Option<PeerKey>>,
        next_peer: u32,
    ) -> Self {
        Self {
            unfinished: BTreeMap::new(),
            by_prefix: BTreeMap::new(),
            open,
            players_max,
            next_peer,
            shedding: false,
        }
    }

    fn knock(&mut self, now: Micros, knock: Arriving, out: &mut Outbox<Effect>) {
        if self.unfinished.contains_key(&knock.id) {
            // Told twice, as after a restart; its answer is on its way.
            return;
        }
        let prefix = knock.address.map(Prefix::of);
        let from_prefix = prefix.and_then(|p| self.by_prefix.get(&p)).copied().unwrap_or(0);
        let admission = if UNFINISHED_MAX <= self.unfinished.len() || PREFIX_MAX <= from_prefix {
            Admission::Ignore
        } else if UNVALIDATED_MAX <= self.unfinished.len() && !knock.validated {
            Admission::Retry
        } else {
            Admission::Accept
        };
        if admission == Admission::Accept {
            self.unfinished.insert(knock.id, Unfinished { since: now, prefix });
            if let Some(prefix) = prefix {
                *self.by_prefix.entry(prefix).or_insert(0) += 1;
            }
        }
        out.push(Effect::Answer(knock.id, admission));
        self.review_shedding(out);
    }

    fn finished(&mut self, arrived: Arrived, out: &mut Outbox<Effect>) {
        let Arrived { knock, key } = arrived;
        self.forget(knock, out);
        if self.is_full_for(key) {
            let players = self.players_max;
            let s = if players == 1 { "" } else { "s" };
            let reason = format!("server is full ({players} player{s})");
            out.push(Effect::TurnAway { knock, reason });
            return;
        }
        let peer = PeerId(self.next_peer);
        self.next_peer += 1;
        self.open.insert(peer, key);
        out.push(Effect::Open { knock, peer });
    }

    /// Whoever comes back with the key of a session that stands takes its place, so that one
    /// session does not count: a player whose client died is not kept out by what is left of it.
    fn is_full_for(&self, key: Option<PeerKey>) -> bool {
        let replaces = key.is_some() && self.open.values().any(|open| *open == key);
        self.players_max <= self.open.len() - usize::from(replaces)
    }

    fn forget(&mut self, knock: u64, out: &mut Outbox<Effect>) {
        let known = self.unfinished.remove(&knock);
        if let Some(prefix) = known.and_then(|unfinished| unfinished.prefix) {
            let left = self.by_prefix.get_mut(&prefix).map_or(0, |count| {
                *count -= 1;
                *count
            });
            if left == 0 {
                self.by_prefix.remove(&prefix);
            }
        }
        self.review_shedding(out);
    }

    fn review_shedding(&mut self, out: &mut Outbox<Effect>) {
        let shedding = UNVALIDATED_MAX <= self.unfinished.len();
        if shedding != self.shedding {
            self.shedding = shedding;
            out.push(Effect::Shed(shedding));
        }
    }

    /// The oldest unfinished handshake, and when it is forgotten.
    fn oldest(&self) -> Option<(u64, Micros)> {
        let (knock, unfinished) = self.unfinished.first_key_value()?;
        Some((*knock, unfinished.since + UNFINISHED_AGE_MAX))
    }
}

impl Machine for Listener {
    type Msg = ListenerMsg;
    type Effect = Effect;

    fn handle(&mut self, now: Micros, msg: ListenerMsg, out: &mut Outbox<Effect>) {
        match msg {
            ListenerMsg::Incoming(knock) => self.knock(now, knock, out),
            ListenerMsg::Arrived(arrived) => self.finished(arrived, out),
            ListenerMsg::Failed(knock) => self.forget(knock, out),
            ListenerMsg::Closed(peer) => {
                self.open.remove(&peer);
            }
            ListenerMsg::Prefs(prefs) => self.players_max = players_max(&prefs),
        }
    }

    fn wake(&mut self, now: Micros, out: &mut Outbox<Effect>) {
        while let Some((knock, until)) = self.oldest()
            && until <= now
        {
            self.forget(knock, out);
        }
    }

    fn next_deadline(&self) -> Option<Micros> {
        self.oldest().map(|(_, until)| until)
    }

    fn digest(&self, digest: &mut Digest) {
        digest.word(self.unfinished.len() as u64);
        digest.word(self.open.len() as u64);
    }
}

/// The network an address belongs to: a /24, or a /56.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Prefix(u64);

impl Prefix {
    fn of(address: SocketAddr) -> Self {
        match address.ip().to_canonical() {
            IpAddr::V4(ip) => Self(u64::from(u32::from(ip) >> 8)),
            IpAddr::V6(ip) => {
                let [a, b, c, d, e, f, g, ..] = ip.octets();
                Self(u64::from_be_bytes([1, a, b, c, d, e, f, g]))
            }
        }
    }
}
