//! What the listener decides: who may shake hands, who is turned away, who gets a session. Pure.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::net::{IpAddr, SocketAddr};

use dh_host::net::PeerKey;
use dh_machine::{Digest, Machine, Micros, Outbox};

use super::ListenerMsg;
use crate::PeerId;
use crate::prefs::players_max;

/// Unfinished handshakes above which unvalidated arrivals must prove their address.
pub(crate) const UNVALIDATED_MAX: usize = 64;
/// Unfinished handshakes of validated arrivals above which they are ignored.
pub(crate) const UNFINISHED_MAX: usize = 1_024;
/// Unfinished handshakes from one /24 (or /56): above so many, unvalidated arrivals from it must
/// prove their address; above so many of validated ones, those are ignored.
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
    by_prefix: BTreeMap<Prefix, Count>,
    /// How many of them have proved their address.
    validated: usize,
    open: BTreeMap<PeerId, Option<PeerKey>>,
    players_max: usize,
    next_peer: u32,
    shedding: bool,
}

#[derive(Clone, Copy, Debug)]
struct Unfinished {
    since: Micros,
    prefix: Option<Prefix>,
    validated: bool,
}

/// Unfinished handshakes of one network. What was claimed is counted apart from what was proved,
/// so that nobody takes a place with an address that is not theirs.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    validated: u32,
    unvalidated: u32,
}

impl Count {
    fn of(&mut self, validated: bool) -> &mut u32 {
        if validated { &mut self.validated } else { &mut self.unvalidated }
    }

    fn all(self) -> u32 {
        self.validated + self.unvalidated
    }
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
            validated: 0,
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
        let (validated, prefix) = (knock.validated, knock.address.map(Prefix::of));
        let admission = self.admission(validated, prefix);
        if admission == Admission::Accept {
            self.unfinished.insert(knock.id, Unfinished { since: now, prefix, validated });
            self.validated += usize::from(validated);
            if let Some(prefix) = prefix {
                *self.by_prefix.entry(prefix).or_default().of(validated) += 1;
            }
        }
        out.push(Effect::Answer(knock.id, admission));
        self.review_shedding(out);
    }

    /// Whoever has proved an address is kept out only by others who have.
    fn admission(&self, validated: bool, prefix: Option<Prefix>) -> Admission {
        let nearby = prefix.and_then(|p| self.by_prefix.get(&p)).copied().unwrap_or_default();
        if validated {
            let is_full = UNFINISHED_MAX <= self.validated || PREFIX_MAX <= nearby.validated;
            return if is_full { Admission::Ignore } else { Admission::Accept };
        }
        let are_many = UNVALIDATED_MAX <= self.unfinished.len() || PREFIX_MAX <= nearby.all();
        if are_many { Admission::Retry } else { Admission::Accept }
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
        if let Some(Unfinished { prefix, validated, .. }) = self.unfinished.remove(&knock) {
            self.validated -= usize::from(validated);
            if let Some(prefix) = prefix
                && let Entry::Occupied(mut count) = self.by_prefix.entry(prefix)
            {
                *count.get_mut().of(validated) -= 1;
                if count.get().all() == 0 {
                    count.remove();
                }
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
